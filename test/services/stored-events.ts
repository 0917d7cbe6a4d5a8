/** Reads stored events and their attempts, as the database has them. */
import type { TestDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

interface EventKind {
  readonly table: "event" | "scheduled_event";
  /** The column whose value chooses the events. */
  readonly by: "trigger_name" | "table_name";
  readonly order: "created_at" | "scheduled_time";
}

export const EVENTS_OF_TABLE: EventKind = { table: "event", by: "table_name", order: "created_at" };
export const EVENTS_OF_TRIGGER: EventKind = { ...EVENTS_OF_TABLE, by: "trigger_name" };
export const SCHEDULED_EVENTS: EventKind = { table: "scheduled_event", by: "trigger_name", order: "scheduled_time" };

interface StoredEvent {
  readonly id: string;
  readonly status: string;
  readonly tries: number;
  /** Undefined for an event of a table. */
  readonly scheduled_time: Date;
  /** The seconds until the next attempt. */
  readonly wait: number;
}

interface StoredAttempt {
  readonly status: number | null;
  readonly response: string | null;
  readonly error: string | null;
}

interface EventReader {
  listEvents(name: string): Promise<StoredEvent[]>;
  listAttempts(name: string): Promise<StoredAttempt[]>;
  /** Waits until there are events, and all of them have the status. */
  untilEnded(name: string, status: string): Promise<void>;
  /** Waits until the first event has the status after this number of failed attempts. */
  untilEvent(name: string, status: string, tries: number): Promise<void>;
}

export const createEventReader = (database: TestDatabase, { table, by, order }: EventKind): EventReader => {
  const listEvents: EventReader["listEvents"] = (name) =>
    database.query(
      `select *, extract(epoch from next_try_at - clock_timestamp())::float8 as wait
      from relapi.${table} where ${by} = $1 order by ${order}`,
      [name],
    );
  return {
    listEvents,
    listAttempts: (name) =>
      database.query(
        `select i.status, i.response, i.error
        from relapi.${table}_invocation i join relapi.${table} e on e.id = i.event_id
        where e.${by} = $1 order by i.id`,
        [name],
      ),
    untilEnded: (name, status) =>
      until(async () => {
        const events = await listEvents(name);
        return events.length > 0 && events.every((event) => event.status === status);
      }, `all events of ${name} are ${status}`),
    untilEvent: (name, status, tries) =>
      until(async () => {
        const [event] = await listEvents(name);
        return event?.status === status && event.tries === tries;
      }, `the event of ${name} is ${status} after ${tries} attempts`),
  };
};
