/** Lists events and attempts for administrators, creates events manually, and delivers events again. */
import { parseJson, sql, bindValue, type Json, type PluginContext, type Sql } from "../../../core/index.ts";
import type { EventsService, ListWindow, LoggedAttempt, LoggedEvent } from "../api.ts";
import { hasEventSchema } from "../queue/install.ts";
import { compileWindow } from "../queue/store.ts";
import { EVENT_COLUMNS, type EventTrigger, type StoredEvent } from "./event-trigger.ts";
import { buildTraceContext } from "./trace.ts";
import { readSessionVariables } from "./webhook-delivery.ts";

type EventLog = Pick<
  EventsService,
  "invoke" | "redeliver" | "loadEvents" | "loadEvent" | "loadAttempts" | "loadEventAttempts"
>;

/** The session of events that an administrator creates. */
const ADMIN_SESSION = JSON.stringify({ "x-session-role": "admin" });

type EventRow = StoredEvent & Pick<LoggedEvent, "status" | "nextTryAt" | "isLocked">;

const parseRow = (text: string | null): Json => (text === null ? null : parseJson(text));

const buildEvent = ({ oldRow, newRow, session, traceParent, ...event }: EventRow): LoggedEvent => ({
  ...event,
  old: parseRow(oldRow),
  new: parseRow(newRow),
  session: readSessionVariables(session),
  traceContext: buildTraceContext(traceParent),
});

const selectEvents = (end: Sql): Sql => sql`
  select ${EVENT_COLUMNS}, status, next_try_at as "nextTryAt",
    coalesce(locked_until > pg_catalog.clock_timestamp(), false) as "isLocked"
  from relapi.event
  ${end}`;

const selectAttempts = (condition: Sql, window: ListWindow): Sql => sql`
  select i.id::text, i.event_id::text as "eventId", e.trigger_name as trigger, i.started_at as "startedAt", i.status,
    i.response, i.error
  from relapi.event_invocation i join relapi.event e on e.id = i.event_id
  where ${condition}
  order by i.id desc ${compileWindow(window)}`;

/** Creates the functions for administrators. @rule X-EVT-18 */
export const createEventLog = (
  context: Pick<PluginContext, "query">,
  findTrigger: (name: string) => EventTrigger | undefined,
): EventLog => {
  /** Runs a statement on events. Without the installation there are no events. */
  const query = async <Row extends object>(statement: Sql): Promise<readonly Row[]> =>
    (await hasEventSchema(context)) ? context.query<Row>(statement) : [];

  return {
    invoke: async (trigger, row) => {
      const { schema, name } = findTrigger(trigger)?.table ?? { schema: "", name: "" };
      const [event] = await context.query<{ readonly id: string }>(sql`
      with inserted as (
        insert into relapi.event (trigger_name, schema_name, table_name, operation, new_row, session)
        values (${bindValue(trigger)}, ${bindValue(schema)}, ${bindValue(name)}, 'MANUAL', ${bindValue(row, "json")}, ${bindValue(ADMIN_SESSION)})
        returning id, trigger_name, next_try_at
      )
      select id::text, relapi.add_event_job(id, trigger_name, next_try_at) from inserted`);
      return event?.id ?? "";
    },
    redeliver: async (id) => {
      const events = await query(sql`
      with reset_event as (
        update relapi.event
        set status = 'pending', tries = 0, locked_until = null, ended_at = null, next_try_at = pg_catalog.clock_timestamp()
        where id = ${bindValue(id, "uuid")} and (locked_until is null or locked_until <= pg_catalog.clock_timestamp())
        returning id, trigger_name, next_try_at
      )
      select relapi.add_event_job(id, trigger_name, next_try_at) from reset_event`);
      return events.length > 0;
    },
    loadEvents: async (trigger, window, status) => {
      const events = await query<EventRow>(
        selectEvents(sql`
        where trigger_name = ${bindValue(trigger)}
          and (${bindValue(status ?? null, "text")} is null or (status = 'pending') = (${bindValue(status ?? null, "text")} = 'pending'))
        order by created_at desc, position desc ${compileWindow(window)}`),
      );
      return events.map(buildEvent);
    },
    loadEvent: async (id) => {
      const [event] = await query<EventRow>(selectEvents(sql`where id = ${bindValue(id, "uuid")}`));
      return event && buildEvent(event);
    },
    loadEventAttempts: (id, window) =>
      query<LoggedAttempt>(selectAttempts(sql`e.id = ${bindValue(id, "uuid")}`, window)),
    loadAttempts: (trigger, window) =>
      query<LoggedAttempt>(selectAttempts(sql`e.trigger_name = ${bindValue(trigger)}`, window)),
  };
};
