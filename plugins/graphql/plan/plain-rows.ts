/** Reads rows in a variable on a fast path, which writes them directly as payload text. Valid rows without nested data
 *  give the same result as when read field by field. For other rows, the slower reader reports errors with their
 *  paths. */
import { getNamedType, type GraphQLInputObjectType, type GraphQLInputType } from "graphql";
import {
  createJsonArray,
  RelApiError,
  MAX_LIST_LENGTH,
  type Column,
  type Json,
  type SentValue,
  type TextRow,
} from "../../../core/index.ts";
import { coerceColumn, isJson } from "../values/columns.ts";
import { isPlainObject } from "../values/leaf.ts";
import { getFieldPart } from "../plan-parts.ts";
import type { GqlValueType } from "../value-types.ts";
import type { InputRow } from "./insert-input.ts";

/** A field of a row that is a column. */
interface PlainCell {
  readonly column: Column;
  readonly value: GqlValueType;
  /** The start of the column in the JSON text of a row: `"name":`. */
  readonly jsonKey: string;
  /** True if the coerced text is already JSON. */
  readonly isJson: boolean;
}

/** A row as texts of its columns, and as JSON text. */
interface CoercedRow {
  readonly texts: TextRow;
  readonly json: string;
  readonly columnCount: number;
}

/** The properties of rows that determine the plan. */
interface RowShape {
  /** The fields that any of the rows has, sorted. */
  readonly fields: readonly string[];
  /** True if every row has all of these fields. */
  readonly isComplete: boolean;
}

export interface PlainRows {
  readonly list: SentValue;
  /** The number of objects and their fields. */
  readonly valueCount: number;
}

/** Reads values of variables that are rows of one type. */
export interface PlainRowReader {
  /** Reads the rows. Returns undefined if the slower reader has to read the value. */
  read(list: Json): PlainRows | undefined;
  /** Returns the shape of the rows. Null for an empty list, nested data, or a value that is not a list of objects. */
  readShape(list: Json): RowShape | null;
  /** Returns example rows for planning, without values: one with all fields, and one without some of them. */
  buildExamples(shape: RowShape): readonly InputRow[];
}

/** Creates a reader for `type`, which is the type of a list of insert inputs. */
export const createPlainRowReader = (type: GraphQLInputType): PlainRowReader => {
  const row = getNamedType(type) as GraphQLInputObjectType; // rows are input objects
  const cells = new Map<string, PlainCell>();
  for (const field of Object.values(row.getFields())) {
    const part = getFieldPart(field);
    if (part?.kind !== "column") continue;
    const { column, value } = part;
    cells.set(field.name, {
      column,
      value,
      jsonKey: `${JSON.stringify(column.name)}:`,
      isJson: isJson(value) && value.element === undefined,
    });
  }

  /** Returns undefined if the row is not an object with only columns. @throws RelApiError of the coercion */
  const coerceRow = (row: Json): CoercedRow | undefined => {
    if (!isPlainObject(row)) return undefined;
    const texts: [string, string | null][] = [];
    let json = "{";
    for (const name of Object.keys(row)) {
      const cell = cells.get(name);
      if (cell === undefined) return undefined;
      // The name is an own key of the row, whose path is not needed here.
      const text = coerceColumn(cell.value, row[name] as Json, "");
      if (texts.length > 0) json += ",";
      json += cell.jsonKey + (text === null ? "null" : cell.isJson ? text : JSON.stringify(text));
      texts.push([cell.column.name, text]);
    }
    return { texts: Object.fromEntries(texts), json: `${json}}`, columnCount: texts.length };
  };

  return {
    read: (value) => {
      if (!Array.isArray(value)) return undefined;
      try {
        const rows: TextRow[] = [];
        const array = createJsonArray(value.length);
        let valueCount = value.length;
        for (const element of value as readonly Json[]) {
          const row = coerceRow(element);
          if (row === undefined) return undefined;
          valueCount += row.columnCount;
          if (array.add(row.json) < MAX_LIST_LENGTH) rows.push(row.texts);
        }
        const json = array.end();
        const list = json.length > MAX_LIST_LENGTH ? json : { json: json.toString("utf8"), rows: () => rows };
        return { list, valueCount };
      } catch (error) {
        if (error instanceof RelApiError) return undefined;
        throw error;
      }
    },
    readShape: (list) => {
      if (!Array.isArray(list) || list.length === 0) return null;
      const names = new Set<string>();
      let fewest = Infinity;
      for (const element of list as readonly Json[]) {
        if (!isPlainObject(element)) return null;
        const memberNames = Object.keys(element);
        if (!memberNames.every((name) => cells.has(name))) return null;
        for (const name of memberNames) names.add(name);
        fewest = Math.min(fewest, memberNames.length);
      }
      return { fields: [...names].sort(), isComplete: fewest === names.size };
    },
    buildExamples: ({ fields, isComplete }) => {
      const inputRow: InputRow = {
        // `readShape` found every field in the cells.
        cells: fields.flatMap((name) => ({ ...(cells.get(name) as PlainCell), source: { fixed: null } })),
        relatedInserts: [],
      };
      return isComplete ? [inputRow] : [inputRow, { cells: [], relatedInserts: [] }];
    },
  };
};
