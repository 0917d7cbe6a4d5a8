/** Reads and writes events of one table in the database, as the login role. */
import { sql, bindValue, type PluginContext, type Sql } from "../../../core/index.ts";
import type { ListWindow } from "../api.ts";
import type { Delivery, RetryRules } from "./delivery.ts";

/** The claim of an event outlasts the time limit of its attempt by this time. So no other process repeats an attempt
 *  that is ending. */
const LEASE_MARGIN_SECONDS = 5;
/** The time within which a process must begin the attempt of a job that it has taken. Afterwards, the process counts
 *  as ended. */
const TAKEN_SECONDS = 30;
const MAX_MISSING_JOBS = 1000;
const MAX_EVENTS_PER_CLEANING = 10_000;

/** An attempt that has ended. */
interface EndedAttempt {
  readonly id: string;
  readonly startedAt: Date;
  readonly delivery: Delivery;
}

export interface EventStore<Event> {
  /** Claims an event for an attempt. The start time comes from the clock of the database. Undefined if the event has
   *  ended, or another process has claimed it. */
  claim(id: string, retry: RetryRules): Promise<(Event & { readonly startedAt: Date }) | undefined>;
  finishDelivered(attempt: EndedAttempt): Promise<void>;
  /** Schedules the next attempt. Returns false if it was the last one. */
  finishFailed(attempt: EndedAttempt, retry: RetryRules): Promise<boolean>;
  /** Releases the claim of an event without an attempt. */
  release(id: string): Promise<void>;
  /** Adds jobs for events whose process has ended, and for events without a job. */
  addMissingJobs(): Promise<void>;
  /** Deletes the events that were delivered more than `hours` hours ago. */
  clean(hours: number): Promise<void>;
}

/** The tables of one kind of events. */
interface EventTables {
  readonly events: Sql;
  readonly invocations: Sql;
  /** The members of a claimed event. */
  readonly columns: Sql;
  /** The column or expression that names the job of an event. */
  readonly job: Sql;
  /** The condition under which an event `e` waits for another one. By default, no event waits. */
  readonly isBlocked?: Sql;
  /** Adds the job of the event that waits for the event `stored`, which has ended. */
  readonly nextJob?: Sql;
}

/** Compiles the end of a statement that lists a part of the events or attempts. */
export const compileWindow = ({ limit, offset }: ListWindow): Sql =>
  sql`limit ${bindValue(String(limit), "int8")} offset ${bindValue(String(offset), "int8")}`;

const compileInterval = (count: number): Sql =>
  sql`pg_catalog.make_interval(secs => ${bindValue(String(count), "float8")})`;

/** Inserts the log of an attempt for the event of the statement `ended`. */
const logAttempt = (invocations: Sql, { startedAt, delivery: { status, response, error } }: EndedAttempt): Sql => sql`
  insert into ${invocations} (event_id, started_at, status, response, error)
  select id, ${bindValue(startedAt.toISOString(), "timestamptz")}, ${bindValue(status === undefined ? null : String(status), "int4")},
    ${bindValue(response ?? null, "text")}, ${bindValue(error ?? null, "text")}
  from ended`;

/** Creates the functions that read and write the events of these tables. @rule X-EVT-7 X-EVT-8 X-EVT-10 X-EVT-12
 *  X-EVT-22 */
export const createEventStore = <Event extends object>(
  { query }: Pick<PluginContext, "query">,
  { events, invocations, columns, job, isBlocked = sql`false`, nextJob = sql`null` }: EventTables,
): EventStore<Event> => ({
  claim: async (id, { timeoutSeconds }) => {
    const [event] = await query<Event & { readonly startedAt: Date }>(sql`
      update ${events} e
      set locked_until = pg_catalog.clock_timestamp() + ${compileInterval(timeoutSeconds + LEASE_MARGIN_SECONDS)}
      where id = ${bindValue(id, "uuid")} and status = 'pending' and next_try_at <= pg_catalog.clock_timestamp()
        and (locked_until is null or locked_until <= pg_catalog.clock_timestamp())
        and not ${isBlocked}
      returning ${columns}, pg_catalog.clock_timestamp() as "startedAt"`);
    return event;
  },
  finishDelivered: async (attempt) => {
    await query(sql`
      with ended as (
        update ${events} e set status = 'delivered', locked_until = null, ended_at = pg_catalog.clock_timestamp()
        where id = ${bindValue(attempt.id, "uuid")} and status = 'pending'
        returning id, e as stored
      ), logged as (${logAttempt(invocations, attempt)})
      select ${nextJob} from ended`);
  },
  finishFailed: async (attempt, { retryCount, intervalSeconds }) => {
    const { retryAfterSeconds, isDropped = false } = attempt.delivery;
    // A receiver that sends `Retry-After` gets another attempt, as in Hasura.
    const isLast = sql`tries >= ${bindValue(String(retryCount), "int4")} and ${bindValue(String(retryAfterSeconds === undefined), "bool")}`;
    const [endedEvent] = await query<{ readonly status: string }>(sql`
      with ended as (
        update ${events} e
        set tries = tries + 1, locked_until = null,
          status = case when ${bindValue(String(isDropped), "bool")} then 'dropped' when ${isLast} then 'dead' else 'pending' end,
          ended_at = case when ${bindValue(String(isDropped), "bool")} or ${isLast} then pg_catalog.clock_timestamp() end,
          next_try_at = pg_catalog.clock_timestamp() + ${compileInterval(retryAfterSeconds ?? intervalSeconds)}
        where id = ${bindValue(attempt.id, "uuid")} and status = 'pending'
        returning id, trigger_name, status, next_try_at, e as stored
      ), logged as (${logAttempt(invocations, attempt)})
      select status, case when status = 'pending' then relapi.add_event_job(id, ${job}, next_try_at) else ${nextJob} end
      from ended`);
    return endedEvent?.status === "pending";
  },
  release: async (id) => {
    await query(sql`
      with released as (
        update ${events} set locked_until = null where id = ${bindValue(id, "uuid")} and status = 'pending'
        returning id, trigger_name, next_try_at
      )
      select relapi.add_event_job(id, ${job}, next_try_at) from released`);
  },
  addMissingJobs: async () => {
    // A waiting job will run, and so will one that a process has taken recently.
    await query(sql`
      select relapi.add_event_job(id, ${job}, next_try_at)
      from ${events} e
      where e.status = 'pending'
        and e.next_try_at <= pg_catalog.clock_timestamp()
        and (e.locked_until is null or e.locked_until <= pg_catalog.clock_timestamp())
        and not ${isBlocked}
        and not exists (
          select from relapi_queue.jobs j
          where j.key = 'event/' || e.id::text and (
            (j.locked_at is null and j.attempts < j.max_attempts)
            or (e.locked_until is null and j.locked_at > pg_catalog.clock_timestamp() - ${compileInterval(TAKEN_SECONDS)})
          )
        )
      order by e.next_try_at
      limit ${bindValue(String(MAX_MISSING_JOBS), "int8")}`);
  },
  clean: async (hours) => {
    const remove = sql`
      with deleted as (
        delete from ${events} where id in (
          select id from ${events}
          where status = 'delivered' and ended_at < pg_catalog.clock_timestamp() - ${compileInterval(hours * 3600)}
          limit ${bindValue(String(MAX_EVENTS_PER_CLEANING), "int8")}
        )
        returning id
      )
      select count(*)::int as count from deleted`;
    let count = MAX_EVENTS_PER_CLEANING;
    while (count === MAX_EVENTS_PER_CLEANING) count = (await query<{ readonly count: number }>(remove))[0]?.count ?? 0;
  },
});
