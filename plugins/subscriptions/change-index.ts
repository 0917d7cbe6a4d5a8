/** Which live queries a changed row concerns: a look-up for each list of columns that they have conditions on, however
 *  many live queries there are. @rule G-SUB-14 G-SUB-15 G-SUB-18 */
import type { Cell, ChangedRows, LiveQuery, RowChange } from "./api.ts";
import type { RowKey, TableFacts } from "./base-tables.ts";
import { commonText, type Kind } from "./comparable.ts";
import type { Conditions } from "./conditions.ts";
import { cellAt, keyOfCells, wantedOf, type Wanted } from "./keys.ts";
import { createMembers, type LookUp, type Members, type Room } from "./members.ts";
import { orderedOf, RangeIndex, type Range } from "./ranges.ts";

/** Where an item stands, so that it can be taken out: shapes with their keys, and tables of which any row concerns
 *  it. */
export type Marks<Item> = readonly (Shape<Item> | Set<Item> | string)[];

/** Items by their values of these columns. */
interface Shape<Item> {
  readonly columns: readonly string[];
  readonly kinds: readonly Kind[];
  readonly byKey: Map<string, Item | Set<Item>>;
  /** Where the log leaves some of the columns out of old rows. */
  readonly members: Members | undefined;
  /** Where the keys are of ranges of the one column. */
  readonly ranges: RangeIndex | undefined;
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
  /** Any row of the table may have changed, or without a table: rows are not told any more. */
  forget(table?: string): void;
  /** To be done before the item runs. */
  prepare(items: readonly { readonly marks: Marks<Item> }[], run: LookUp): Promise<void> | undefined;
}

/** `whenColumns`: there are more of them. `room`: for the rows of lists. */
export const createChangeIndex = <Item extends object>(
  tables: ReadonlyMap<string, TableFacts>,
  whenColumns: () => void,
  room: Room,
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

  const shapeOf = (table: string, { shapes, facts }: TableIndex<Item>, wanted: Wanted): Shape<Item> => {
    const { range } = wanted;
    const key = JSON.stringify([range !== undefined, ...wanted.columns]);
    let shape = shapes.get(key);
    if (shape === undefined) {
      const { identity, rowKey, witness } = facts;
      const isTold = wanted.columns.every((name) => identity?.has(name) !== false);
      const members =
        isTold || rowKey === undefined || range !== undefined
          ? undefined
          : createMembers(rowKey, wanted.columns, wanted.kinds, room);
      const ranges = range && new RangeIndex(wanted.kinds[0] as Kind); // it has one column
      shapes.set(key, (shape = { columns: wanted.columns, kinds: wanted.kinds, byKey: new Map(), members, ranges }));
      const known = columns.get(table) ?? [];
      const more = witness === undefined ? members && rowKey?.columns : [witness];
      const all = [...new Set([...known, ...wanted.columns, ...(more ?? [])])];
      if (all.length > known.length) {
        columns.set(table, all);
        whenColumns();
      }
    }
    return shape;
  };

  const mark = (shape: Shape<Item>, key: string, item: Item, range: Range | undefined): void => {
    const known = shape.byKey.get(key);
    if (known === undefined) {
      shape.byKey.set(key, item);
      shape.members?.add(key);
      if (range !== undefined) shape.ranges?.add(key, range);
    } else if (known instanceof Set) known.add(item);
    else if (known !== item) shape.byKey.set(key, new Set([known, item]));
  };

  const unmark = ({ byKey, members, ranges }: Shape<Item>, key: string, item: Item): void => {
    const known = byKey.get(key);
    if (known instanceof Set) known.delete(item);
    if (known !== item && !(known instanceof Set && known.size === 0)) return;
    byKey.delete(key);
    ranges?.remove(key);
    members?.remove(key, (other) => byKey.has(other), byKey.size);
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
            mark(shape, key, item, one.range);
            marks.push(shape, key);
          }
        }
      }
      // as long as they are: they grew
      return marks.slice();
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
      const { facts } = index;
      const keyAt = positionsOf(changed.columns, [...(facts.identity ?? [])]);
      const witnessAt = facts.witness === undefined ? -1 : changed.columns.indexOf(facts.witness);
      const rows = changed.rows.map((row) => versionsOf(row, facts, keyAt, witnessAt));
      const rowKeyAt = facts.rowKey === undefined ? [] : positionsOf(changed.columns, facts.rowKey.columns);
      for (const shape of index.shapes.values()) {
        const at = positionsOf(changed.columns, shape.columns);
        if (shape.ranges !== undefined) findInRanges(shape, shape.ranges, rows, at, into);
        else findInShape(shape, rows, at, facts.rowKey, rowKeyAt, into);
      }
    },
    forget: (table) => {
      for (const [name, { shapes }] of indexes) {
        if (table !== undefined && name !== table) continue;
        for (const { members, byKey } of shapes.values())
          if (table === undefined) members?.drop();
          else if (members?.isKept === true) members.keep(byKey.keys());
      }
    },
    prepare: (items, run) => {
      const wanted = new Map<Members, string[]>();
      for (const { marks } of items)
        for (let i = 0; i < marks.length; i++) {
          const at = marks[i];
          if (at instanceof Set || typeof at !== "object") continue;
          const key = marks[++i] as string; // as placed: a shape, then its key
          if (at.members?.unknown.has(key) !== true) continue;
          const known = wanted.get(at.members);
          if (known === undefined) wanted.set(at.members, [key]);
          else known.push(key);
        }
      if (wanted.size === 0) return undefined;
      return Promise.all([...wanted].map(([members, keys]) => members.lookUp(keys, run))).then(() => undefined);
    },
  };
};

const positionsOf = (columns: readonly string[], wanted: readonly string[]): readonly number[] =>
  wanted.map((name) => columns.indexOf(name));

/** A row before and after a change. */
interface Versions {
  /** Null: there was none. */
  readonly was: readonly Cell[] | null;
  /** Null: there is none. */
  readonly is: readonly Cell[] | null;
}

/** What the log leaves out of the row before is NULL if the log tells whole rows, and is as it was if the column belongs
 *  to the identity, which has not changed. */
const versionsOf = (
  [before, after]: RowChange,
  { identity }: TableFacts,
  keyAt: readonly number[],
  witnessAt: number,
): Versions => {
  if (before === null) return { was: null, is: after };
  if (identity === undefined) {
    // a long value that has not changed
    const is = after && after.map((cell, i) => (cell === 0 ? (before[i] === undefined ? 0 : before[i]) : cell));
    const isWhole = typeof before[witnessAt] === "string";
    return { was: isWhole ? before.map((cell) => (cell === 0 ? null : cell)) : before, is };
  }
  if (after === null || before.length > 0) return { was: before, is: after };
  const was: Cell[] = after.map(() => 0);
  for (const at of keyAt) if (at !== -1) was[at] = after[at] ?? null;
  return { was, is: after };
};

const addOf = <Item extends object>({ byKey }: Shape<Item>, key: string, into: Set<Item>): void => {
  const found = byKey.get(key);
  if (found instanceof Set) for (const item of found) into.add(item);
  else if (found !== undefined) into.add(found);
};

const findInRanges = <Item extends object>(
  shape: Shape<Item>,
  ranges: RangeIndex,
  rows: readonly Versions[],
  positions: readonly number[],
  into: Set<Item>,
): void => {
  const [kind] = shape.kinds as readonly [Kind]; // there is one column
  for (const { was, is } of rows)
    for (const cells of [was, is]) {
      const cell = cells && cellAt(cells, positions[0]);
      if (cell === null) continue;
      const text = cell === 0 ? undefined : commonText(kind, cell);
      if (text === undefined) {
        for (const key of shape.byKey.keys()) addOf(shape, key, into);
        return;
      }
      ranges.find(orderedOf(kind, text), (key) => addOf(shape, key, into));
    }
};

const findInShape = <Item extends object>(
  shape: Shape<Item>,
  rows: readonly Versions[],
  positions: readonly number[],
  rowKey: RowKey | undefined,
  rowKeyAt: readonly number[],
  into: Set<Item>,
): void => {
  const { kinds, byKey, members } = shape;
  let areAll = false;
  const touch = (key: string): void => addOf(shape, key, into);
  const touchAll = (): void => {
    if (areAll) return;
    areAll = true;
    for (const key of byKey.keys()) touch(key);
  };
  for (const { was, is } of rows) {
    const wasKey = was && keyOfCells(was, positions, kinds);
    const isKey = is && keyOfCells(is, positions, kinds);
    if (typeof wasKey === "string") touch(wasKey);
    if (typeof isKey === "string") touch(isKey);
    if (members?.isKept !== true || rowKey === undefined) {
      if (wasKey !== undefined && isKey !== undefined) continue;
      touchAll();
      if (members === undefined) return;
      // the rows of each list are looked up before it runs
      members.keep(byKey.keys());
      continue;
    }
    const wasRow = was && keyOfCells(was, rowKeyAt, rowKey.kinds);
    const isRow = is && keyOfCells(is, rowKeyAt, rowKey.kinds);
    const keys = typeof wasRow === "string" ? members.keysOf(wasRow) : [];
    if (wasKey === undefined) {
      for (const key of keys) touch(key);
      for (const key of members.unknown) touch(key);
    }
    if (wasRow === undefined || isRow === undefined || isKey === undefined) {
      // a long value that has not changed is not told: the row is where it was
      if (isKey === undefined && positions.length === 1 && was !== null && wasRow !== undefined && wasRow === isRow)
        continue;
      touchAll();
      // the columns of the log are not those that are wanted yet
      if ([...positions, ...rowKeyAt].includes(-1)) members.keep(byKey.keys());
      else members.giveUp();
      continue;
    }
    if (wasRow !== null) members.set(wasRow, undefined);
    if (isRow !== null && isKey !== null && byKey.has(isKey)) members.set(isRow, isKey);
  }
};
