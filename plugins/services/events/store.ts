/** Reads and writes events in the database, as the login role. */
import { sql, value, type PluginContext, type Sql } from "../../../core/index.ts";
import type { Delivery, RetryRules, StoredEvent } from "./event-trigger.ts";
import { readTraceParent } from "./trace.ts";

/** Waits longer than a receiver, so that an event is not tried again while its attempt ends. */
const LEASE_MARGIN_SECONDS = 5;
/** The time in which a job that a process has taken becomes an attempt, or has no process any more. */
const TAKEN_SECONDS = 30;
const MAX_EVENTS_PER_SWEEP = 1000;
const MAX_EVENTS_PER_CLEANING = 10_000;

/** An attempt that has ended. */
interface EndedAttempt {
  readonly id: string;
  readonly startedAt: Date;
  readonly delivery: Delivery;
}

export interface EventStore {
  /** Returns the event for an attempt. Undefined if it has ended, or another process has it. */
  claim(id: string, retry: RetryRules): Promise<StoredEvent | undefined>;
  finishDelivered(attempt: EndedAttempt): Promise<void>;
  /** Schedules the next attempt. Returns false if it was the last one. */
  finishFailed(attempt: EndedAttempt, retry: RetryRules): Promise<boolean>;
  /** Gives an event back without an attempt. */
  release(id: string): Promise<void>;
  /** Adds jobs for events whose process has ended, and for events without a job. */
  sweep(): Promise<void>;
  /** Deletes delivered events after some hours. */
  clean(hours: number): Promise<void>;
}

const EVENT_COLUMNS = sql`id::text, trigger_name, schema_name, table_name, operation, old_row::text, new_row::text, session, trace_parent, created_at, tries`;

interface EventRow {
  readonly id: string;
  readonly trigger_name: string;
  readonly schema_name: string;
  readonly table_name: string;
  readonly operation: StoredEvent["operation"];
  readonly old_row: string | null;
  readonly new_row: string | null;
  readonly session: string | null;
  readonly trace_parent: string | null;
  readonly created_at: Date;
  readonly tries: number;
}

const buildEvent = (row: EventRow): StoredEvent => ({
  id: row.id,
  trigger: row.trigger_name,
  table: { schema: row.schema_name, name: row.table_name },
  operation: row.operation,
  oldRow: row.old_row,
  newRow: row.new_row,
  session: row.session,
  traceParent: readTraceParent(row.trace_parent),
  createdAt: row.created_at,
  tries: row.tries,
});

const seconds = (count: number): Sql => sql`pg_catalog.make_interval(secs => ${value(String(count), "float8")})`;

/** Inserts the log of an attempt for the event of the statement `ended`. */
const logAttempt = ({ startedAt, delivery: { status, response, error } }: EndedAttempt): Sql => sql`
  insert into relapi.event_invocation (event_id, started_at, status, response, error)
  select (event).id, ${value(startedAt.toISOString(), "timestamptz")}, ${value(status === undefined ? null : String(status), "int4")},
    ${value(response ?? null, "text")}, ${value(error ?? null, "text")}
  from ended`;

/** Creates the functions that read and write events. @rule X-EVT-7 X-EVT-8 X-EVT-10 X-EVT-12 X-EVT-21 */
export const createEventStore = ({ query }: Pick<PluginContext, "query">): EventStore => ({
  claim: async (id, { timeoutSeconds }) => {
    const [row] = await query<EventRow>(sql`
      update relapi.event
      set locked_until = pg_catalog.clock_timestamp() + ${seconds(timeoutSeconds + LEASE_MARGIN_SECONDS)}
      where id = ${value(id, "uuid")} and status = 'pending' and next_try_at <= pg_catalog.clock_timestamp()
        and (locked_until is null or locked_until <= pg_catalog.clock_timestamp())
        and not relapi.has_earlier(event)
      returning ${EVENT_COLUMNS}`);
    return row && buildEvent(row);
  },
  finishDelivered: async (attempt) => {
    await query(sql`
      with ended as (
        update relapi.event set status = 'delivered', locked_until = null, ended_at = pg_catalog.clock_timestamp()
        where id = ${value(attempt.id, "uuid")} and status = 'pending'
        returning event
      ), logged as (${logAttempt(attempt)})
      select relapi.add_next_job(event) from ended`);
  },
  finishFailed: async (attempt, { retryCount, intervalSeconds }) => {
    const { retryAfterSeconds } = attempt.delivery;
    // a receiver that says when to come again gets another attempt, as in Hasura
    const isLast = sql`tries >= ${value(String(retryCount), "int4")} and ${value(String(retryAfterSeconds === undefined), "bool")}`;
    const [ended] = await query<{ readonly status: string }>(sql`
      with ended as (
        update relapi.event
        set tries = tries + 1, locked_until = null,
          status = case when ${isLast} then 'dead' else 'pending' end,
          ended_at = case when ${isLast} then pg_catalog.clock_timestamp() end,
          next_try_at = pg_catalog.clock_timestamp() + ${seconds(retryAfterSeconds ?? intervalSeconds)}
        where id = ${value(attempt.id, "uuid")} and status = 'pending'
        returning event
      ), logged as (${logAttempt(attempt)})
      select (event).status, case
        when (event).status = 'pending'
        then relapi.add_event_job((event).id, (event).trigger_name, (event).next_try_at)
        else relapi.add_next_job(event)
      end
      from ended`);
    return ended?.status !== "dead";
  },
  release: async (id) => {
    await query(sql`
      with released as (
        update relapi.event set locked_until = null where id = ${value(id, "uuid")} and status = 'pending'
        returning id, trigger_name, next_try_at
      )
      select relapi.add_event_job(id, trigger_name, next_try_at) from released`);
  },
  sweep: async () => {
    // a waiting job will run, and so will one that a process has taken recently
    await query(sql`
      select relapi.add_event_job(e.id, e.trigger_name, e.next_try_at)
      from relapi.event e
      where e.status = 'pending'
        and e.next_try_at <= pg_catalog.clock_timestamp()
        and (e.locked_until is null or e.locked_until <= pg_catalog.clock_timestamp())
        and not relapi.has_earlier(e)
        and not exists (
          select from relapi_queue.jobs j
          where j.key = 'event/' || e.id::text and (
            (j.locked_at is null and j.attempts < j.max_attempts)
            or (e.locked_until is null and j.locked_at > pg_catalog.clock_timestamp() - ${seconds(TAKEN_SECONDS)})
          )
        )
      order by e.next_try_at
      limit ${value(String(MAX_EVENTS_PER_SWEEP), "int8")}`);
  },
  clean: async (hours) => {
    const remove = sql`
      with gone as (
        delete from relapi.event where id in (
          select id from relapi.event
          where status = 'delivered' and ended_at < pg_catalog.clock_timestamp() - ${seconds(hours * 3600)}
          limit ${value(String(MAX_EVENTS_PER_CLEANING), "int8")}
        )
        returning id
      )
      select count(*)::int as count from gone`;
    let count = MAX_EVENTS_PER_CLEANING;
    while (count === MAX_EVENTS_PER_CLEANING) count = (await query<{ readonly count: number }>(remove))[0]?.count ?? 0;
  },
});
