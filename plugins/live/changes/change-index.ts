/** Finds the live queries that a changed row concerns. The cost is one look-up per list of condition columns,
 *  independent of the number of live queries. @rule G-SUB-14 G-SUB-15 */
import type { ReportedCell, ChangedRows, LiveQuery, RowChange } from "../api.ts";
import type { TableProperties } from "../engine/base-tables.ts";
import type { ComparableKind } from "../engine/comparable-types.ts";
import type { Conditions } from "../engine/conditions.ts";
import { buildRowKey, buildIndexedValues, type IndexedValues } from "../engine/row-keys.ts";

/** The items that have conditions on these columns, by their values. */
interface ColumnIndex<Item> {
  readonly columns: readonly string[];
  readonly kinds: readonly ComparableKind[];
  readonly byKey: Map<string, Set<Item>>;
}

/** An entry of the index, which the owner keeps to remove it. */
export interface IndexEntry<Item> {
  readonly byKey: ColumnIndex<Item>["byKey"];
  readonly key: string;
}

interface TableIndex<Item> {
  readonly properties: TableProperties;
  readonly columnIndexes: Map<string, ColumnIndex<Item>>;
}

export interface ChangeIndex<Item extends object> {
  /** The columns that have conditions, by table. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Adds an item. Tables without conditions concern every item and are not part of the index. */
  add(item: Item, query: LiveQuery, conditions: Conditions): readonly IndexEntry<Item>[];
  remove(item: Item, indexEntries: readonly IndexEntry<Item>[]): void;
  /** Adds the items that the rows concern to `items`. */
  find(table: string, changedRows: ChangedRows, items: Set<Item>): void;
}

/** Creates an empty index. `onColumns` is called when columns are added. */
export const createChangeIndex = <Item extends object>(
  tables: ReadonlyMap<string, TableProperties>,
  onColumns: () => void,
): ChangeIndex<Item> => {
  const indexes = new Map<string, TableIndex<Item>>();
  const columns = new Map<string, readonly string[]>();

  const getTableIndex = (table: string): TableIndex<Item> | undefined => {
    let tableIndex = indexes.get(table);
    const tableProperties = tables.get(table);
    if (tableIndex === undefined && tableProperties !== undefined)
      indexes.set(table, (tableIndex = { properties: tableProperties, columnIndexes: new Map() }));
    return tableIndex;
  };

  const getColumnIndex = (
    table: string,
    { columnIndexes, properties }: TableIndex<Item>,
    indexedValues: IndexedValues,
  ): ColumnIndex<Item> => {
    const key = JSON.stringify(indexedValues.columns);
    let columnIndex = columnIndexes.get(key);
    if (columnIndex === undefined) {
      columnIndexes.set(
        key,
        (columnIndex = { columns: indexedValues.columns, kinds: indexedValues.kinds, byKey: new Map() }),
      );
      const knownColumns = columns.get(table) ?? [];
      const requiredColumns = properties.requiredNonKeyColumn === undefined ? [] : [properties.requiredNonKeyColumn];
      const allColumns = [...new Set([...knownColumns, ...indexedValues.columns, ...requiredColumns])];
      if (allColumns.length > knownColumns.length) {
        columns.set(table, allColumns);
        onColumns();
      }
    }
    return columnIndex;
  };

  return {
    columns,
    add: (item, query, conditions) => {
      const indexEntries: IndexEntry<Item>[] = [];
      for (const [table, alternatives] of conditions) {
        const index = alternatives && getTableIndex(table);
        if (alternatives === undefined || index === undefined) continue;
        for (const condition of alternatives) {
          const indexedValues = buildIndexedValues(condition, index.properties, query);
          if (indexedValues.keys.length === 0) continue;
          const { byKey } = getColumnIndex(table, index, indexedValues);
          for (const key of indexedValues.keys) {
            const items = byKey.get(key);
            if (items === undefined) byKey.set(key, new Set([item]));
            else items.add(item);
            indexEntries.push({ byKey, key });
          }
        }
      }
      return indexEntries;
    },
    remove: (item, indexEntries) => {
      for (const { byKey, key } of indexEntries) {
        const items = byKey.get(key);
        items?.delete(item);
        if (items?.size === 0) byKey.delete(key);
      }
    },
    find: (table, changedRows, items) => {
      const index = indexes.get(table);
      if (index === undefined) return;
      const { properties, columnIndexes } = index;
      const keyPositions = findPositions(changedRows.columns, [...(properties.identity ?? [])]);
      const requiredColumnAt =
        properties.requiredNonKeyColumn === undefined
          ? -1
          : changedRows.columns.indexOf(properties.requiredNonKeyColumn);
      const rows = changedRows.rows.map((row) => completeVersions(row, properties, keyPositions, requiredColumnAt));
      for (const columnIndex of columnIndexes.values())
        findInColumnIndex(columnIndex, rows, findPositions(changedRows.columns, columnIndex.columns), items);
    },
  };
};

const findPositions = (columns: readonly string[], names: readonly string[]): readonly number[] =>
  names.map((name) => columns.indexOf(name));

/** A row before and after a change. The old version is null for an insert, the new one for a delete. */
type Versions = readonly [before: readonly ReportedCell[] | null, after: readonly ReportedCell[] | null];

/** Completes the cells that the log omits. In complete rows, missing cells are NULL. Otherwise the columns of the
 *  identity have the same values before and after. */
const completeVersions = (
  [before, after]: RowChange,
  { identity }: TableProperties,
  keyPositions: readonly number[],
  requiredColumnAt: number,
): Versions => {
  if (before === null) return [null, after];
  if (identity === undefined) {
    // The log omits long values that did not change.
    const newCells = after && after.map((cell, i) => (cell === 0 ? (before[i] === undefined ? 0 : before[i]) : cell));
    const isWhole = typeof before[requiredColumnAt] === "string";
    return [isWhole ? before.map((cell) => (cell === 0 ? null : cell)) : before, newCells];
  }
  if (after === null || before.length > 0) return [before, after];
  const oldCells: ReportedCell[] = after.map(() => 0);
  for (const at of keyPositions) if (at !== -1) oldCells[at] = after[at] ?? null;
  return [oldCells, after];
};

const findInColumnIndex = <Item extends object>(
  { byKey, kinds }: ColumnIndex<Item>,
  rows: readonly Versions[],
  positions: readonly number[],
  foundItems: Set<Item>,
): void => {
  const addAll = (items: Iterable<Item>): void => {
    for (const item of items) foundItems.add(item);
  };
  for (const cells of rows.flat()) {
    if (cells === null) continue;
    const key = buildRowKey(cells, positions, kinds);
    if (key !== undefined) addAll(byKey.get(key) ?? []);
    else return byKey.forEach(addAll);
  }
};
