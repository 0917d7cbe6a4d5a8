/** The SQL of the triggers of tables. */
import { createHash } from "node:crypto";
import {
  encodeArrayLiteral,
  empty,
  quoteIdentifier,
  joinSql,
  quoteLiteral,
  sql,
  type Sql,
} from "../../../core/index.ts";
import { buildFingerprint } from "../queue/schema.ts";
import { OPERATIONS, type EventTrigger, type RowOperation } from "./event-trigger.ts";

/** A trigger of a table, which one operation of an event trigger needs. */
export interface TableTrigger {
  readonly schema: string;
  readonly table: string;
  /** The name of the trigger in the database. */
  readonly name: string;
  /** The name of the event trigger. */
  readonly event: string;
  readonly operation: RowOperation;
  readonly definition: Sql;
  readonly fingerprint: string;
}

/** The largest length of a name of PostgreSQL in bytes. */
const MAX_NAME_BYTES = 63;

const buildTriggerName = (event: string, operation: RowOperation): string => {
  const name = `relapi_event_${event}_${operation}`;
  if (Buffer.byteLength(name) <= MAX_NAME_BYTES) return name;
  return `relapi_event_${createHash("sha256").update(event).digest("hex").slice(0, 32)}_${operation}`;
};

/** Compares the binary images of rows, because some types have no operator for equality. */
const compileCondition = (operation: RowOperation, listenedColumns: readonly string[] | undefined): Sql => {
  if (operation !== "update") return empty;
  const compileRow = (row: "old" | "new"): Sql =>
    listenedColumns === undefined
      ? quoteIdentifier(row)
      : sql`row(${joinSql(listenedColumns.map((column) => quoteIdentifier(row, column)))})`;
  return sql` when (pg_catalog.record_image_ne(${compileRow("old")}, ${compileRow("new")}))`;
};

const writeList = (columns: readonly string[] | undefined): string =>
  columns === undefined ? "" : encodeArrayLiteral(columns);

/** Compiles the level of a trigger. One call for each statement costs a tenth of the calls for each row. But an update
 *  needs its rows in pairs, and a statement on a partitioned table does not fire the statement triggers of
 *  partitions. */
const compileLevel = (operation: RowOperation, isInherited: boolean | undefined, condition: Sql): Sql => {
  if (operation === "update" || isInherited !== false)
    return sql`for each row${condition} execute function relapi.record_event`;
  const rows = operation === "insert" ? sql`new table` : sql`old table`;
  return sql`referencing ${rows} as changed for each statement execute function relapi.record_statement`;
};

/** Builds the triggers of tables. */
export const buildTableTriggers = (triggers: readonly EventTrigger[]): readonly TableTrigger[] =>
  triggers.flatMap(({ name: event, table: { schema, name: table }, operations, keyColumns, isInherited }) =>
    OPERATIONS.flatMap((operation) => {
      const columns = operations[operation];
      if (columns === undefined) return [];
      const name = buildTriggerName(event, operation);
      const { listenedColumns, payload } = columns;
      const settings = [event, writeList(payload), schema, table, writeList(keyColumns)].map((setting) =>
        quoteLiteral(setting),
      );
      const definition = sql`create or replace trigger ${quoteIdentifier(name)} after ${OPERATION_KEYWORDS[operation]} on ${quoteIdentifier(schema, table)} ${compileLevel(operation, isInherited, compileCondition(operation, listenedColumns))}(${joinSql(settings)})`;
      return [{ schema, table, name, event, operation, definition, fingerprint: buildFingerprint(definition) }];
    }),
  );

const OPERATION_KEYWORDS: Readonly<Record<RowOperation, Sql>> = {
  insert: sql`insert`,
  update: sql`update`,
  delete: sql`delete`,
};
