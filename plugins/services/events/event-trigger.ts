/** Declares event triggers. An event trigger names the changes of a table that become events, and the receiver of
 *  these events. */
import { sql, type QualifiedName, type Sql } from "../../../core/index.ts";
import type { Delivery, RetryRules } from "../queue/delivery.ts";

/** The key in `model.pluginFacts` of the triggers that deliver actions. Actions write the list. */
export const ACTION_DELIVERIES = "action-deliveries";

export const OPERATIONS = ["insert", "update", "delete"] as const;

export type RowOperation = (typeof OPERATIONS)[number];

/** The columns of one operation. */
export interface OperationColumns {
  /** An update is an event only if one of these columns changes. Undefined if any column counts. */
  readonly listenedColumns?: readonly string[];
  /** The columns of the rows in the event. Undefined if the event has all columns. */
  readonly payload?: readonly string[];
}

export interface EventTrigger {
  /** The name, which is unique in a database. Events refer to it. */
  readonly name: string;
  readonly table: QualifiedName;
  readonly operations: Readonly<Partial<Record<RowOperation, OperationColumns>>>;
  readonly retry: RetryRules;
  /** True if the events of a row are delivered one after another. */
  readonly isOrdered: boolean;
  /** The primary key of the table, if events are ordered. */
  readonly keyColumns?: readonly string[];
  /** True if the table has partitions or children, or is a partition or child. */
  readonly isInherited?: boolean;
  /** True if an administrator may create events of a row that has not changed. */
  readonly allowsManual: boolean;
  /** Delivers an event. The signal ends the attempt. @throws Error if the attempt failed without a response */
  readonly deliver: (event: StoredEvent, signal: AbortSignal) => Promise<Delivery>;
}

/** The columns of a stored event. */
export const EVENT_COLUMNS: Sql = sql`id::text, trigger_name as trigger,
    pg_catalog.json_build_object('schema', schema_name, 'name', table_name) as "table", operation,
    old_row::text as "oldRow", new_row::text as "newRow", session, trace_parent as "traceParent",
    created_at as "createdAt", tries`;

/** An event as the database stores it. */
export interface StoredEvent {
  readonly id: string;
  readonly trigger: string;
  readonly table: QualifiedName;
  readonly operation: "INSERT" | "UPDATE" | "DELETE" | "MANUAL";
  /** The rows as JSON text, with all digits of their numbers. */
  readonly oldRow: string | null;
  readonly newRow: string | null;
  /** The session variables of the change as JSON text. Null if the change came from outside of the api. */
  readonly session: string | null;
  /** The setting with the header `traceparent` of the request that made the change. Null without a trace. */
  readonly traceParent: string | null;
  readonly createdAt: Date;
  /** The number of failed attempts. */
  readonly tries: number;
}
