/** Reads events of triggers, as the database stores them. */
import { sql, type PluginContext } from "../../../core/index.ts";
import { createEventStore, type EventStore } from "../queue/store.ts";
import type { StoredEvent } from "./event-trigger.ts";
import { readTraceParent } from "./trace.ts";

export interface EventRow {
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
  readonly started_at: Date;
}

export const buildEvent = (row: EventRow): StoredEvent => ({
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

/** Creates the store of the events of triggers. @rule X-EVT-21 X-EVT-21a */
export const createTriggerStore = (context: Pick<PluginContext, "query">): EventStore<EventRow> =>
  createEventStore(context, {
    events: sql`relapi.event`,
    invocations: sql`relapi.event_invocation`,
    columns: sql`id::text, trigger_name, schema_name, table_name, operation, old_row::text, new_row::text, session, trace_parent, created_at, tries`,
    job: sql`trigger_name`,
    isBlocked: sql`relapi.has_earlier(e)`,
    nextJob: sql`relapi.add_next_job(stored)`,
  });
