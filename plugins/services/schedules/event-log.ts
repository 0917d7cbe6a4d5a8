/** Creates, deletes and lists scheduled events for administrators. */
import {
  parseJson,
  RelApiError,
  sql,
  bindValue,
  writeJson,
  type PluginContext,
  type Sql,
} from "../../../core/index.ts";
import { readObjectOrEmpty } from "../../shared/json-values.ts";
import type {
  CountedList,
  LoggedAttempt,
  LoggedScheduledEvent,
  ScheduledEventFilter,
  ScheduledEventsService,
  WebhookClient,
} from "../api.ts";
import { hasEventSchema } from "../queue/install.ts";
import { compileWindow } from "../queue/store.ts";
import { InvalidDefinition } from "../queue/webhook-definition.ts";
import { eventInvalid } from "./errors.ts";
import { readEventDefinition } from "./metadata-schedules.ts";
import type { Schedule } from "./schedule.ts";
import { JOB } from "./store.ts";

/** The words of Hasura for the status of an event. */
const STATUS = sql`case
  when e.status = 'pending' then case when e.locked_until > pg_catalog.clock_timestamp() then 'locked' else 'scheduled' end
  when e.status = 'dead' then 'error'
  when e.status = 'dropped' then 'dead'
  else e.status
end`;

const compileFilter = ({ trigger, id, statuses }: ScheduledEventFilter): Sql => sql`
  e.trigger_name is not distinct from ${bindValue(trigger ?? null, "text")}
  and (${bindValue(id ?? null, "uuid")} is null or e.id = ${bindValue(id ?? null, "uuid")})
  and (${bindValue(statuses === undefined ? null : JSON.stringify(statuses), "json")} is null or ${STATUS} in (
    select filter.status from pg_catalog.json_array_elements_text(${bindValue(JSON.stringify(statuses ?? []), "json")}) filter (status)
  ))`;

type EventRow = Omit<LoggedScheduledEvent, "definition"> & { readonly definition: string | null };

const parseDefinition = (text: string | null): LoggedScheduledEvent["definition"] =>
  readObjectOrEmpty(parseJson(text ?? "{}"));

const EMPTY_LIST: CountedList<never> = { entries: [], count: 0 };

/** Creates the functions for administrators. `prepare` installs what events need. @rule X-SCH-12 */
export const createScheduledEventLog = (
  context: Pick<PluginContext, "query">,
  getClient: () => WebhookClient,
  prepare: () => Promise<void>,
): Omit<ScheduledEventsService, "checkQueue"> => {
  const { query } = context;

  const readDefinition = (definition: LoggedScheduledEvent["definition"]): Pick<Schedule, "payload" | "comment"> => {
    try {
      return readEventDefinition(definition, getClient);
    } catch (error) {
      if (!(error instanceof InvalidDefinition || error instanceof RelApiError)) throw error;
      throw eventInvalid(error.message);
    }
  };

  /** Loads a part of a list, and counts the entries of the whole list. */
  const load = async <Row extends object>(from: Sql, rows: Sql): Promise<CountedList<Row>> => {
    if (!(await hasEventSchema(context))) return EMPTY_LIST;
    const [total] = await query<{ readonly count: number }>(sql`select count(*)::int as count ${from}`);
    return { entries: await query<Row>(rows), count: total?.count ?? 0 };
  };

  return {
    create: async (definition, scheduledAt) => {
      const { payload, comment } = readDefinition(definition);
      await prepare();
      const at = bindValue(scheduledAt.toISOString(), "timestamptz");
      const [event] = await query<{ readonly id: string }>(sql`
        with inserted as (
          insert into relapi.scheduled_event (scheduled_time, next_try_at, definition, payload, comment)
          values (${at}, ${at}, ${bindValue(writeJson(definition), "json")}, ${bindValue(payload, "json")}, ${bindValue(comment, "text")})
          returning id, trigger_name, next_try_at
        )
        select id::text, relapi.add_event_job(id, ${JOB}, next_try_at) from inserted`);
      return event?.id ?? "";
    },
    remove: async (id, isCron) => {
      if (!(await hasEventSchema(context))) return false;
      const removedRows = await query(sql`
        delete from relapi.scheduled_event
        where id = ${bindValue(id, "uuid")} and (trigger_name is not null) = ${bindValue(String(isCron), "bool")}
        returning id`);
      return removedRows.length > 0;
    },
    loadEvents: async (filter, window) => {
      const from = sql`from relapi.scheduled_event e where ${compileFilter(filter)}`;
      const { entries, count } = await load<EventRow>(
        from,
        sql`
          select id::text, scheduled_time as "scheduledAt", ${STATUS} as status, tries, created_at as "createdAt",
            next_try_at as "nextTryAt", definition::text
          ${from} order by scheduled_time, id ${compileWindow(window)}`,
      );
      return { entries: entries.map((row) => ({ ...row, definition: parseDefinition(row.definition) })), count };
    },
    loadAttempts: (filter, window) => {
      const from = sql`
        from relapi.scheduled_event_invocation i join relapi.scheduled_event e on e.id = i.event_id
        where ${compileFilter(filter)}`;
      return load<LoggedAttempt>(
        from,
        sql`
          select i.id::text, i.event_id::text as "eventId", i.started_at as "startedAt", i.status, i.response, i.error
          ${from} order by i.id desc ${compileWindow(window)}`,
      );
    },
  };
};
