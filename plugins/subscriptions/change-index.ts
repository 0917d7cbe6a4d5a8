/** Which live queries a changed row concerns: a look-up for each list of columns that they have conditions on, however
 *  many live queries there are. @rule G-SUB-14 G-SUB-15 */
import { fillSlots } from "../../core/index.ts";
import type { Cell, ChangedRows, LiveQuery, RowChange } from "./api.ts";
import type { TableFacts } from "./base-tables.ts";
import { commonText, isKeepable, readArray, type Kind } from "./comparable.ts";
import type { Condition, Conditions, Term } from "./conditions.ts";

/** Where an item stands, so that it can be taken out: shapes with their keys, and tables of which any row concerns
 *  it. */
export type Marks<Item> = readonly (Shape<Item> | Set<Item> | string)[];

/** Items by their values of these columns. */
interface Shape<Item> {
  readonly columns: readonly string[];
  readonly kinds: readonly Kind[];
  readonly byKey: Map<string, Item | Set<Item>>;
}

interface TableIndex<Item> {
  readonly facts: TableFacts;
  /** Any row concerns them. */
  readonly any: Set<Item>;
  readonly shapes: Map<string, Shape<Item>>;
}

export interface ChangeIndex<Item extends object> {
  /** By table, the columns that its conditions are on. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Tables without conditions concern all items: they are not asked for here. */
  place(item: Item, query: LiveQuery, conditions: Conditions): Marks<Item>;
  remove(item: Item, marks: Marks<Item>): void;
  /** Adds the items that the rows concern. */
  find(table: string, changed: ChangedRows, into: Set<Item>): void;
}

/** Values of one item for one condition; with more it is found by fewer columns, or by none. */
const MAX_KEYS = 1000;
const MAX_LIST = 10_000;

/** `whenColumns`: there are more of them. */
export const createChangeIndex = <Item extends object>(
  tables: ReadonlyMap<string, TableFacts>,
  whenColumns: () => void,
): ChangeIndex<Item> => {
  const indexes = new Map<string, TableIndex<Item>>();
  const columns = new Map<string, readonly string[]>();

  const indexOf = (table: string): TableIndex<Item> | undefined => {
    let found = indexes.get(table);
    const facts = tables.get(table);
    if (found === undefined && facts !== undefined)
      indexes.set(table, (found = { facts, any: new Set(), shapes: new Map() }));
    return found;
  };

  const shapeOf = (table: string, { shapes }: TableIndex<Item>, wanted: Wanted): Shape<Item> => {
    const key = JSON.stringify(wanted.columns);
    let shape = shapes.get(key);
    if (shape === undefined) {
      shapes.set(key, (shape = { columns: wanted.columns, kinds: wanted.kinds, byKey: new Map() }));
      const known = columns.get(table) ?? [];
      const all = [...new Set([...known, ...wanted.columns])];
      if (all.length > known.length) {
        columns.set(table, all);
        whenColumns();
      }
    }
    return shape;
  };

  const mark = (shape: Shape<Item>, key: string, item: Item): void => {
    const known = shape.byKey.get(key);
    if (known === undefined) shape.byKey.set(key, item);
    else if (known instanceof Set) known.add(item);
    else if (known !== item) shape.byKey.set(key, new Set([known, item]));
  };

  const unmark = ({ byKey }: Shape<Item>, key: string, item: Item): void => {
    const known = byKey.get(key);
    if (known === item) byKey.delete(key);
    else if (known instanceof Set && known.delete(item) && known.size === 0) byKey.delete(key);
  };

  return {
    columns,
    place: (item, query, conditions) => {
      const marks: (Shape<Item> | Set<Item> | string)[] = [];
      for (const [table, choices] of conditions) {
        const index = choices && indexOf(table);
        if (choices === undefined || index === undefined) continue;
        const wanted = choices.map((condition) => wantedOf(condition, index.facts, query));
        if (wanted.includes(undefined)) {
          index.any.add(item);
          marks.push(index.any);
          continue;
        }
        for (const one of wanted) {
          if (one === undefined || one.keys.length === 0) continue;
          const shape = shapeOf(table, index, one);
          for (const key of one.keys) {
            mark(shape, key, item);
            marks.push(shape, key);
          }
        }
      }
      return marks;
    },
    remove: (item, marks) => {
      for (let i = 0; i < marks.length; i++) {
        const at = marks[i];
        if (at instanceof Set) at.delete(item);
        else if (typeof at === "object") unmark(at, marks[++i] as string, item); // as placed: a shape, then its key
      }
    },
    find: (table, changed, into) => {
      const index = indexes.get(table);
      if (index === undefined) return;
      for (const item of index.any) into.add(item);
      const identity = positionsOf(changed.columns, [...(index.facts.identity ?? [])]);
      const rows = changed.rows.map((row) => versionsOf(row, index.facts, identity));
      for (const shape of index.shapes.values()) {
        const positions = positionsOf(changed.columns, shape.columns);
        for (const versions of rows) if (!findByRow(shape, versions, positions, into)) break;
      }
    },
  };
};

const positionsOf = (columns: readonly string[], wanted: readonly string[]): readonly number[] =>
  wanted.map((name) => columns.indexOf(name));

/** The row before and after. What the log leaves out of the row before is NULL if the log tells whole rows, and is as it
 *  was if the column belongs to the identity, which has not changed. */
const versionsOf = (
  [before, after]: RowChange,
  { identity }: TableFacts,
  identityAt: readonly number[],
): readonly (readonly Cell[])[] => {
  if (before === null) return after === null ? [] : [after];
  if (identity === undefined) {
    if (before.length === 0) return after === null ? [before] : [before, after]; // not as it was said to be
    const was = before.map((cell) => (cell === 0 ? null : cell));
    // a long value that has not changed
    return after === null ? [was] : [was, after.map((cell, i) => (cell === 0 ? (was[i] ?? null) : cell))];
  }
  if (after === null || before.length > 0) return after === null ? [before] : [before, after];
  const same: Cell[] = after.map(() => 0);
  for (const at of identityAt) if (at !== -1) same[at] = after[at] ?? 0;
  return [same, after];
};

/** False: all are found. */
const findByRow = <Item extends object>(
  { kinds, byKey }: Shape<Item>,
  versions: readonly (readonly Cell[])[],
  positions: readonly number[],
  into: Set<Item>,
): boolean => {
  for (const cells of versions) {
    let key = "";
    for (let i = 0; i < positions.length; i++) {
      const at = positions[i] ?? -1;
      const cell = at === -1 || cells.length === 0 ? 0 : (cells[at] ?? null);
      const text = typeof cell === "string" ? commonText(kinds[i] as Kind, cell) : cell; // as many as positions
      if (text === 0 || text === undefined) {
        addAll(byKey, into);
        return false;
      }
      key += partOf(text);
    }
    const found = byKey.get(key);
    if (found instanceof Set) for (const item of found) into.add(item);
    else if (found !== undefined) into.add(found);
  }
  return true;
};

const addAll = <Item extends object>(byKey: ReadonlyMap<string, Item | Set<Item>>, into: Set<Item>): void => {
  for (const found of byKey.values())
    if (found instanceof Set) for (const item of found) into.add(item);
    else into.add(found);
};

/** No value contains a NUL. */
const partOf = (text: string | null): string => (text === null ? "\0\0" : `${text}\0`);

interface Wanted {
  readonly columns: readonly string[];
  readonly kinds: readonly Kind[];
  readonly keys: readonly string[];
}

/** Undefined: any row, because a value is not one that can be compared, or there are too many. No keys: no row. */
const wantedOf = (condition: Condition, facts: TableFacts, query: LiveQuery): Wanted | undefined => {
  const usable = [...condition].filter(([name]) => !facts.loose.has(name));
  const told = usable.filter(([name]) => facts.identity?.has(name) !== false);
  // by what the log tells in any case
  const parts: { readonly name: string; readonly kind: Kind; readonly values: readonly (string | null)[] }[] = [];
  for (const [name, { kind, terms }] of told.length > 0 ? told : usable) {
    const values = valuesOf(terms, kind, query);
    if (values?.length === 0) return NO_ROW;
    if (values !== undefined && values.length <= MAX_LIST) parts.push({ name, kind, values });
  }
  parts.sort((a, b) => a.values.length - b.values.length || (a.name < b.name ? -1 : 1));
  const [first, ...others] = parts;
  if (first === undefined) return undefined;
  const chosen = [first];
  let count = first.values.length;
  for (const part of others) {
    if (count * part.values.length > MAX_KEYS) continue;
    count *= part.values.length;
    chosen.push(part);
  }
  chosen.sort((a, b) => (a.name < b.name ? -1 : 1));
  let keys: readonly string[] = [""];
  for (const { values } of chosen) keys = keys.flatMap((key) => values.map((text) => key + partOf(text)));
  return { columns: chosen.map(({ name }) => name), kinds: chosen.map(({ kind }) => kind), keys };
};

const NO_ROW: Wanted = { columns: [], kinds: [], keys: [] };

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
