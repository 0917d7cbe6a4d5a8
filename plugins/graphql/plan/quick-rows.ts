/** Rows that a variable holds, straight to the payload's text: the same as reading them field by field, for rows
 *  without nested data and without faults. Everything else is left to the slower reader, whose errors have their
 *  places. */
import { getNamedType, isInputObjectType, type GraphQLInputObjectType, type GraphQLInputType } from "graphql";
import { isRelApiError, type Json, type TextBytes } from "../../../core/index.ts";
import { coerceColumn, isJson } from "../coerce/columns.ts";
import { heldBytes } from "../coerce/held-lists.ts";
import { isPlainObject } from "../coerce/leaf.ts";
import { gqlPart } from "../parts.ts";
import { readHeldRows, type HeldRows, type QuickCell, type RowShape } from "./held-rows.ts";
import type { InputCell, InputRow } from "./insert-input.ts";

type QuickType = ReadonlyMap<string, QuickCell>;

const quickTypes = new WeakMap<GraphQLInputObjectType, QuickType>();

const quickType = (type: GraphQLInputObjectType): QuickType => {
  let quick = quickTypes.get(type);
  if (quick === undefined) {
    const cells = new Map<string, QuickCell>();
    for (const field of Object.values(type.getFields())) {
      const part = gqlPart(field);
      if (part?.kind !== "column") continue;
      cells.set(field.name, {
        column: part.column.name,
        key: `${JSON.stringify(part.column.name)}:`,
        value: part.value,
        isText: isJson(part.value) && part.value.element === undefined,
      });
    }
    quick = cells;
    quickTypes.set(type, quick);
  }
  return quick;
};

const rowText = (row: Json, cells: QuickType): string | undefined => {
  if (!isPlainObject(row)) return undefined;
  let text = "{";
  for (const name of Object.keys(row)) {
    const cell = cells.get(name);
    if (cell === undefined) return undefined;
    const coerced = coerceColumn(cell.value, row[name] as Json, ""); // an own key; the place does not matter here
    if (text.length > 1) text += ",";
    text += cell.key + (coerced === null ? "null" : cell.isText ? coerced : JSON.stringify(coerced));
  }
  return `${text}}`;
};

interface ReadRows {
  readonly text: string | TextBytes;
  /** Objects and their fields. */
  readonly valueCount: number;
}

const heldRows = new WeakMap<object, Map<GraphQLInputObjectType, HeldRows | undefined>>();

/** Undefined: it is not held as bytes, or its rows are left to the slower reader. Read once, for its shape and its
 *  text. */
const rowsHeld = (type: GraphQLInputObjectType, list: Json): HeldRows | undefined => {
  const bytes = heldBytes(list);
  if (bytes === undefined) return undefined;
  let byType = heldRows.get(bytes);
  if (byType === undefined) heldRows.set(bytes, (byType = new Map()));
  if (byType.has(type)) return byType.get(type);
  let read: HeldRows | undefined;
  try {
    read = readHeldRows(bytes, quickType(type));
  } catch (error) {
    if (!isRelApiError(error)) throw error;
  }
  byType.set(type, read);
  return read;
};

/** Takes what a variable holds; undefined: read it the slow way. */
export type QuickRows = (held: Json) => ReadRows | undefined;

/** `type`: of the list of objects. A list is read once, however often it is asked for. */
export const quickRows = (type: GraphQLInputType): QuickRows => {
  const row = getNamedType(type);
  if (!isInputObjectType(row)) return () => undefined;
  const known = new WeakMap<object, ReadRows>();
  return (held) => {
    if (!Array.isArray(held)) return undefined;
    const before = known.get(held);
    if (before !== undefined) return before;
    const ofBytes = rowsHeld(row, held);
    if (ofBytes !== undefined) return ofBytes;
    const cells = quickType(row);
    try {
      let text = "[";
      let valueCount = held.length;
      for (const one of held as readonly Json[]) {
        const next = rowText(one, cells);
        if (next === undefined) return undefined;
        valueCount += Object.keys(one as object).length; // it was read as one
        text += text.length === 1 ? next : `,${next}`;
      }
      const read = { text: `${text}]`, valueCount };
      known.set(held, read);
      return read;
    } catch (error) {
      if (isRelApiError(error)) return undefined;
      throw error;
    }
  };
};

/** Null: no row, nested data, or no list of objects. */
export const shapeOfRows = (type: GraphQLInputType): ((held: Json) => RowShape | null) => {
  const row = getNamedType(type);
  return (held) => {
    if (!Array.isArray(held) || held.length === 0 || !isInputObjectType(row)) return null;
    const ofBytes = rowsHeld(row, held);
    if (ofBytes !== undefined) return ofBytes.shape;
    const cells = quickType(row);
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

/** Rows as planning needs them, without values: one with each of the columns, and one that leaves some out. */
export const rowsOfShape = (type: GraphQLInputType, { columns, isComplete }: RowShape): readonly InputRow[] => {
  const row = getNamedType(type);
  if (!isInputObjectType(row)) return [];
  const fields = row.getFields();
  const cells = columns.flatMap((name): InputCell[] => {
    const field = fields[name];
    const part = field && gqlPart(field);
    return part?.kind === "column" ? [{ column: part.column, value: part.value, source: { fixed: null } }] : [];
  });
  const whole = { cells, related: [] };
  return isComplete ? [whole] : [whole, { cells: [], related: [] }];
};
