/** Values of columns as one text each, by which rows and the conditions of live queries are found. */
import { fillSlots } from "../../core/index.ts";
import type { Cell, LiveQuery } from "./api.ts";
import type { TableFacts } from "./base-tables.ts";
import type { ColumnBounds, ColumnTest, Condition, Term } from "./choices.ts";
import { commonText, isKeepable, readArray, type Kind } from "./comparable.ts";
import { keyOfRange, orderedOf, type End, type Range } from "./ranges.ts";

/** 0: it is not told. */
export const cellAt = (cells: readonly Cell[], at = -1): Cell =>
  at === -1 || cells.length === 0 ? 0 : (cells[at] ?? null);

/** The key of a row among those of a shape; undefined: not all of its values are known. */
export const keyOfCells = (
  cells: readonly Cell[],
  positions: readonly number[],
  kinds: readonly Kind[],
): string | undefined => {
  let key = "";
  for (let i = 0; i < positions.length; i++) {
    const cell = cellAt(cells, positions[i]);
    const text = typeof cell === "string" ? commonText(kinds[i] as Kind, cell) : cell; // as many as positions
    if (text === 0 || text === undefined) return undefined;
    key += partOfKey(text);
  }
  return key;
};

/** No value contains a NUL. */
export const partOfKey = (text: string | null): string => (text === null ? "n\0" : `v${text}\0`);

export const partsOfKey = (key: string): readonly (string | null)[] =>
  key
    .split("\0")
    .slice(0, -1)
    .map((part) => (part === "n" ? null : part.slice(1)));

/** Values of one item for one condition; with more it is found by fewer columns, or by none. */
const MAX_KEYS = 1000;
const MAX_LIST = 10_000;

/** What a live query is found by, for one of its conditions. */
export interface Wanted {
  readonly columns: readonly string[];
  readonly kinds: readonly Kind[];
  readonly keys: readonly string[];
  /** What the one key is of, if the one column is compared with bounds. */
  readonly range?: Range;
}

/** Undefined: any row, because a value is not one that can be compared, or there are too many. No keys: no row. */
export const wantedOf = (condition: Condition, facts: TableFacts, query: LiveQuery): Wanted | undefined => {
  const usable = [...condition].filter(([name]) => !facts.loose.has(name));
  const told = usable.filter(([name]) => facts.identity?.has(name) !== false);
  // by what the log tells in any case, where that is one row, or no row is told from another
  const isByIdentity = told.length > 0 && (facts.rowKey === undefined || told.length === facts.identity?.size);
  const parts: { readonly name: string; readonly kind: Kind; readonly values: readonly (string | null)[] }[] = [];
  for (const [name, test] of isByIdentity ? told : usable) {
    if ("bounds" in test) continue;
    const { kind } = test;
    const values = valuesOf(test.terms, kind, query);
    if (values?.length === 0) return NO_ROW;
    if (values !== undefined && values.length <= MAX_LIST) parts.push({ name, kind, values });
  }
  parts.sort((a, b) => a.values.length - b.values.length || (a.name < b.name ? -1 : 1));
  const [first, ...others] = parts;
  if (first === undefined) return rangeOf(told, query) ?? rangeOf(usable, query);
  const chosen = [first];
  let count = first.values.length;
  for (const part of others) {
    if (count * part.values.length > MAX_KEYS) continue;
    count *= part.values.length;
    chosen.push(part);
  }
  chosen.sort((a, b) => (a.name < b.name ? -1 : 1));
  let keys: readonly string[] = [""];
  for (const { values } of chosen) keys = keys.flatMap((key) => values.map((text) => key + partOfKey(text)));
  return { columns: chosen.map(({ name }) => name), kinds: chosen.map(({ kind }) => kind), keys };
};

const NO_ROW: Wanted = { columns: [], kinds: [], keys: [] };

/** By a column with bounds, one with both if there is one. @rule G-SUB-18 */
const rangeOf = (columns: readonly (readonly [string, ColumnTest])[], query: LiveQuery): Wanted | undefined => {
  let found: Wanted | undefined;
  for (const [name, test] of columns) {
    if (!("bounds" in test)) continue;
    const range = readRange(test, query);
    if (range === undefined) return NO_ROW;
    const { lower, upper } = range;
    if (lower === undefined && upper === undefined) continue;
    const wanted = { columns: [name], kinds: [test.kind], keys: [keyOfRange(range)], range };
    if (lower !== undefined && upper !== undefined) return wanted;
    found ??= wanted;
  }
  return found;
};

/** Undefined: nothing lies in it. */
const readRange = ({ kind, bounds }: ColumnBounds, query: LiveQuery): Range | undefined => {
  let lower: End | undefined;
  let upper: End | undefined;
  for (const { isLower, isIncluded, term } of bounds) {
    const values = valuesOf([term], kind, query);
    if (values === undefined) continue;
    const [text] = values;
    if (text === undefined || text === null) return undefined; // nothing compares with NULL
    const end = { text, isIncluded };
    if (isLower) lower = lower === undefined || isTighter(kind, end, lower, true) ? end : lower;
    else upper = upper === undefined || isTighter(kind, end, upper, false) ? end : upper;
  }
  return { lower, upper };
};

const isTighter = (kind: Kind, one: End, other: End, isLower: boolean): boolean => {
  if (one.text === other.text) return !one.isIncluded;
  return orderedOf(kind, one.text) > orderedOf(kind, other.text) === isLower;
};

const valuesOf = (terms: readonly Term[], kind: Kind, query: LiveQuery): readonly (string | null)[] | undefined => {
  const [only] = query.programs;
  const values = new Set<string | null>();
  for (const term of terms) {
    if ("isNull" in term) values.add(null);
    else if ("text" in term) values.add(term.text);
    else {
      const [bound] = fillSlots([term.slot], only?.values ?? [], query.session);
      if (bound === null || bound === undefined) continue; // nothing equals NULL
      if (typeof bound !== "string") return undefined;
      const items = term.isList ? readArray(bound) : [bound];
      if (items === undefined) return undefined;
      for (const item of items) {
        if (item === null) continue;
        const text = commonText(kind, item);
        if (text === undefined || !isKeepable(text)) return undefined;
        values.add(text);
      }
    }
  }
  return [...values];
};
