/** The messages about changes that processes exchange on the bus, as JSON. */
import { isJsonObject } from "../../../core/index.ts";
import type { ChangedRows, RowChange, TableChanges } from "../api.ts";

/** The names of columns by `schema.name`. */
export type ColumnsByRelation = Readonly<Record<string, readonly string[]>>;

/** `want` is repeated every few seconds by a process with live queries. It requests the values of these columns, by
 *  relation. `leave` says that the sender has no live queries left. `lead` is repeated every second by the process that
 *  reads the changes for all. A later `epoch`, in milliseconds of the database's clock, means that changes in between
 *  may be missing. `change` lists changed relations, then the known rows of each in the same order. `end` says that the
 *  sender has stopped reading. Earlier versions only read the first parts; the empty object of `want` exists for
 *  them. */
export type ChangeMessage =
  | readonly ["want", Readonly<Record<string, never>>, ColumnsByRelation?]
  | readonly ["leave"]
  | readonly ["lead", number]
  | readonly ["change", number, readonly (readonly [relation: string])[], (readonly (MessageRows | 0)[])?]
  | readonly ["end"];

type MessageRows = readonly [columns: readonly string[], rows: readonly RowChange[]];

const isStringList = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === "string");

const isCells = (value: unknown): boolean =>
  value === null ||
  (Array.isArray(value) && value.every((cell) => cell === null || cell === 0 || typeof cell === "string"));

const isRowsMessage = (value: unknown): boolean => {
  if (value === 0) return true;
  if (!Array.isArray(value)) return false;
  const [columns, rows] = value as readonly unknown[];
  return (
    isStringList(columns) &&
    Array.isArray(rows) &&
    rows.every((row) => Array.isArray(row) && row.length === 2 && row.every(isCells))
  );
};

const isMessage = (value: unknown): value is ChangeMessage => {
  if (!Array.isArray(value)) return false;
  const [kind, first, second, third] = value as readonly unknown[];
  if (kind === "leave" || kind === "end") return true;
  if (kind === "want")
    return (
      isJsonObject(first) &&
      (second === undefined || (isJsonObject(second) && Object.values(second).every(isStringList)))
    );
  if (typeof first !== "number") return false;
  if (kind === "lead") return true;
  if (kind !== "change" || !Array.isArray(second)) return false;
  const areNamed = second.every((item) => Array.isArray(item) && typeof item[0] === "string");
  return areNamed && (third === undefined || (Array.isArray(third) && third.every(isRowsMessage)));
};

/** Returns undefined if the text is not a message of this version. */
export const parseMessage = (text: string): ChangeMessage | undefined => {
  try {
    const value: unknown = JSON.parse(text);
    return isMessage(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

export const readTableChanges = ([, , relations, rowsByRelation]: Extract<
  ChangeMessage,
  readonly ["change", ...unknown[]]
>): TableChanges =>
  new Map(
    relations.map(([relation], i) => {
      const rows = rowsByRelation?.[i] ?? 0;
      return [relation, rows === 0 ? undefined : { columns: rows[0], rows: rows[1] }];
    }),
  );

/** Encodes as many columns as fit. The values of the other columns are not reported. */
export const encodeColumns = (columns: ReadonlyMap<string, readonly string[]>, maxBytes: number): string => {
  const includedColumns: Record<string, readonly string[]> = {};
  let bytes = FRAME_BYTES;
  for (const [relation, names] of columns) {
    bytes += Buffer.byteLength(JSON.stringify(relation) + JSON.stringify(names)) + 2;
    if (bytes > maxBytes) break;
    includedColumns[relation] = names;
  }
  return JSON.stringify(["want", {}, includedColumns] satisfies ChangeMessage);
};

/** The length of an empty message such as `["change",9007199254740991,[],[]]`. */
const FRAME_BYTES = 40;
/** The fraction of a message that the rows of one relation may use. A relation with longer rows is reported without
 *  rows. */
const RELATION_FRACTION = 4;

/** Encodes the changes in as few messages as the size allows. */
export const encodeChanges = (epoch: number, changes: TableChanges, maxBytes: number): readonly string[] => {
  const texts: string[] = [];
  let names: string[] = [];
  let items: string[] = [];
  let bytes = FRAME_BYTES;
  const flush = (): void => {
    if (names.length > 0) texts.push(`["change",${epoch},[${names.join(",")}],[${items.join(",")}]]`);
    names = [];
    items = [];
    bytes = FRAME_BYTES;
  };
  for (const [relation, rows] of changes) {
    const name = JSON.stringify([relation]);
    const item = encodeRows(rows, maxBytes / RELATION_FRACTION);
    const size = Buffer.byteLength(name) + Buffer.byteLength(item) + 2;
    if (bytes + size > maxBytes) flush();
    names.push(name);
    items.push(item);
    bytes += size;
  }
  flush();
  return texts;
};

const encodeRows = (changedRows: ChangedRows | undefined, maxBytes: number): string => {
  if (changedRows === undefined) return "0";
  const columns = JSON.stringify(changedRows.columns);
  const rows: string[] = [];
  let bytes = columns.length;
  let last = "";
  for (const row of changedRows.rows) {
    const text = JSON.stringify(row);
    if (text === last) continue; // a row that repeats the previous row is omitted, because it adds nothing
    rows.push(text);
    last = text;
    bytes += Buffer.byteLength(text) + 1;
    if (bytes > maxBytes) return "0";
  }
  return `[${columns},[${rows.join(",")}]]`;
};
