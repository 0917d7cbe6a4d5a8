/** The fast path for rows in a variable, which writes them directly as payload text. It gives the same result as
 *  reading them field by field, for valid rows without nested data. For other rows, the slower reader reports errors
 *  with their paths. */
import { getNamedType, isInputObjectType, type GraphQLInputObjectType, type GraphQLInputType } from "graphql";
import {
  createJsonArray,
  isRelApiError,
  MAX_LIST_LENGTH,
  memoize,
  type Json,
  type SentValue,
  type TextRow,
} from "../../../core/index.ts";
import { coerceColumn, isJson } from "../coerce/columns.ts";
import { isPlainObject } from "../coerce/leaf.ts";
import { getFieldPart } from "../parts.ts";
import type { GqlValueType } from "../value-types.ts";
import type { InputCell, InputRow } from "./insert-input.ts";

/** A field of a row that is a column. */
interface PlainCell {
  readonly column: string;
  readonly value: GqlValueType;
  /** The coerced text is already JSON. */
  readonly isText: boolean;
}

/** The properties of rows that determine the plan. */
interface RowShape {
  /** The columns that any of the rows has, sorted. */
  readonly columns: readonly string[];
  /** Every row has all of these columns. */
  readonly isComplete: boolean;
}

type PlainType = ReadonlyMap<string, PlainCell>;

const getPlainType = memoize((type: GraphQLInputObjectType): PlainType => {
  const cells = new Map<string, PlainCell>();
  for (const field of Object.values(type.getFields())) {
    const part = getFieldPart(field);
    if (part?.kind !== "column") continue;
    cells.set(field.name, {
      column: part.column.name,
      value: part.value,
      isText: isJson(part.value) && part.value.element === undefined,
    });
  }
  return cells;
});

/** Undefined if the row is not an object with only columns. @throws RelApiError of the coercion */
const coerceRow = (row: Json, cells: PlainType): TextRow | undefined => {
  if (!isPlainObject(row)) return undefined;
  const texts: [string, string | null][] = [];
  for (const name of Object.keys(row)) {
    const cell = cells.get(name);
    if (cell === undefined) return undefined;
    // it is an own key, whose path is not needed here; coerceColumn returns only these types for a column
    texts.push([cell.column, coerceColumn(cell.value, row[name] as Json, "") as string | null]);
  }
  return Object.fromEntries(texts);
};

const encodeRow = (row: TextRow, jsonColumns: ReadonlySet<string>): string =>
  `{${Object.entries(row)
    .map(([column, text]) => {
      const value = text === null ? "null" : jsonColumns.has(column) ? text : JSON.stringify(text);
      return `${JSON.stringify(column)}:${value}`;
    })
    .join(",")}}`;

interface PlainRows {
  readonly list: SentValue;
  /** The number of objects and their fields. */
  readonly valueCount: number;
}

/** Reads the value of a variable. Undefined if the slower reader has to read it. */
export type ReadPlainRows = (held: Json) => PlainRows | undefined;

/** `type` is the type of the list of objects. A list is read once, even if several callers read it. */
export const createPlainRowReader = (type: GraphQLInputType): ReadPlainRows => {
  const row = getNamedType(type);
  if (!isInputObjectType(row)) return () => undefined;
  const known = new WeakMap<object, PlainRows>();
  return (held) => {
    if (!Array.isArray(held)) return undefined;
    const before = known.get(held);
    if (before !== undefined) return before;
    const cells = getPlainType(row);
    const jsonColumns = new Set([...cells.values()].flatMap(({ column, isText }) => (isText ? [column] : [])));
    try {
      const rows: TextRow[] = [];
      const array = createJsonArray();
      let valueCount = held.length;
      for (const one of held as readonly Json[]) {
        const texts = coerceRow(one, cells);
        if (texts === undefined) return undefined;
        valueCount += Object.keys(texts).length;
        if (array.add(encodeRow(texts, jsonColumns)) < MAX_LIST_LENGTH) rows.push(texts);
      }
      const json = array.end();
      const list = json.length > MAX_LIST_LENGTH ? json : { json: json.toString("utf8"), rows: () => rows };
      const read = { list, valueCount };
      known.set(held, read);
      return read;
    } catch (error) {
      if (isRelApiError(error)) return undefined;
      throw error;
    }
  };
};

/** Null for an empty list, nested data, or a value that is not a list of objects. */
export const createShapeReader = (type: GraphQLInputType): ((held: Json) => RowShape | null) => {
  const row = getNamedType(type);
  return (held) => {
    if (!Array.isArray(held) || held.length === 0 || !isInputObjectType(row)) return null;
    const cells = getPlainType(row);
    const names = new Set<string>();
    let fewest = Infinity;
    for (const one of held as readonly Json[]) {
      if (!isPlainObject(one)) return null;
      let count = 0;
      for (const name of Object.keys(one)) {
        if (!cells.has(name)) return null;
        names.add(name);
        count++;
      }
      fewest = Math.min(fewest, count);
    }
    return { columns: [...names].sort(), isComplete: fewest === names.size };
  };
};

/** Returns example rows for planning, without values: one with all columns, and one without some of them. */
export const buildExampleRows = (type: GraphQLInputType, { columns, isComplete }: RowShape): readonly InputRow[] => {
  const row = getNamedType(type);
  if (!isInputObjectType(row)) return [];
  const fields = row.getFields();
  const cells = columns.flatMap((name): InputCell[] => {
    const field = fields[name];
    const part = field && getFieldPart(field);
    return part?.kind === "column" ? [{ column: part.column, value: part.value, source: { fixed: null } }] : [];
  });
  const whole = { cells, related: [] };
  return isComplete ? [whole] : [whole, { cells: [], related: [] }];
};
