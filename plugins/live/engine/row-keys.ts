/** Builds the text keys by which rows are matched with the conditions of live queries. */
import { fillSlots } from "../../../core/index.ts";
import type { ReportedCell, LiveQuery } from "../api.ts";
import type { TableProperties } from "./base-tables.ts";
import type { Condition, Term } from "./row-alternatives.ts";
import { normalizeText, fitsInKey, parseArrayLiteral, type ComparableKind } from "./comparable-types.ts";

/** Returns a cell of the row, or 0 if the cell was not reported. */
const getCell = (cells: readonly ReportedCell[], index = -1): ReportedCell =>
  index === -1 || cells.length === 0 ? 0 : (cells[index] ?? null);

/** Builds the key of a row in a shape of the index. Undefined if not all values of the key are known. */
export const buildRowKey = (
  cells: readonly ReportedCell[],
  positions: readonly number[],
  kinds: readonly ComparableKind[],
): string | undefined => {
  let key = "";
  for (let i = 0; i < positions.length; i++) {
    const cell = getCell(cells, positions[i]);
    // The lists have equal lengths.
    const text = typeof cell === "string" ? normalizeText(kinds[i] as ComparableKind, cell) : cell;
    if (text === 0 || text === undefined) return undefined;
    key += encodeKeyPart(text);
  }
  return key;
};

/** Encodes one value of a key. The separator is unambiguous, because no value contains a NUL. */
const encodeKeyPart = (text: string | null): string => (text === null ? "n\0" : `v${text}\0`);

/** The largest number of keys of an item for each condition. With more keys, the item is indexed by fewer columns, or
 *  by none. */
const MAX_KEYS = 1000;
const MAX_VALUES = 10_000;

/** The columns and values by which a live query is indexed, for one of its conditions. */
export interface IndexedValues {
  readonly columns: readonly string[];
  readonly kinds: readonly ComparableKind[];
  readonly keys: readonly string[];
}

/** Every row has the key of `ANY_ROW`; no row has a key of `NO_ROW`. */
const ANY_ROW: IndexedValues = { columns: [], kinds: [], keys: [""] };
const NO_ROW: IndexedValues = { columns: [], kinds: [], keys: [] };

/** Builds the columns and keys of a condition. The function uses the columns that the WAL contains for every row, or
 *  else all columns. Any row matches if no value can be compared, or if there are too many values. */
export const buildIndexedValues = (
  condition: Condition,
  properties: TableProperties,
  query: LiveQuery,
): IndexedValues => {
  const usable = [...condition].filter(([name]) => !properties.looselyEqualColumns.has(name));
  const reportedColumns = usable.filter(([name]) => properties.identity?.has(name) !== false);
  const parts: { readonly name: string; readonly kind: ComparableKind; readonly values: readonly (string | null)[] }[] =
    [];
  for (const [name, { kind, terms }] of reportedColumns.length > 0 ? reportedColumns : usable) {
    const values = resolveTerms(terms, kind, query);
    if (values?.length === 0) return NO_ROW;
    if (values !== undefined && values.length <= MAX_VALUES) parts.push({ name, kind, values });
  }
  parts.sort((a, b) => a.values.length - b.values.length || (a.name < b.name ? -1 : 1));
  const [first, ...otherParts] = parts;
  if (first === undefined) return ANY_ROW;
  const chosenParts = [first];
  let count = first.values.length;
  for (const part of otherParts) {
    if (count * part.values.length > MAX_KEYS) continue;
    count *= part.values.length;
    chosenParts.push(part);
  }
  chosenParts.sort((a, b) => (a.name < b.name ? -1 : 1));
  let keys: readonly string[] = [""];
  for (const { values } of chosenParts) keys = keys.flatMap((key) => values.map((text) => key + encodeKeyPart(text)));
  return { columns: chosenParts.map(({ name }) => name), kinds: chosenParts.map(({ kind }) => kind), keys };
};

const resolveTerms = (
  terms: readonly Term[],
  kind: ComparableKind,
  query: LiveQuery,
): readonly (string | null)[] | undefined => {
  const [program] = query.programs;
  const values = new Set<string | null>();
  for (const term of terms) {
    if ("isNull" in term) values.add(null);
    else if ("text" in term) values.add(term.text);
    else {
      const [boundValue] = fillSlots([term.slot], program?.values ?? [], query.session);
      if (boundValue === null || boundValue === undefined) continue; // no value equals NULL, so NULL adds no key
      if (typeof boundValue !== "string") return undefined;
      const items = term.isList ? parseArrayLiteral(boundValue) : [boundValue];
      if (items === undefined) return undefined;
      for (const item of items) {
        if (item === null) continue;
        const text = normalizeText(kind, item);
        if (text === undefined || !fitsInKey(text)) return undefined;
        values.add(text);
      }
    }
  }
  return [...values];
};
