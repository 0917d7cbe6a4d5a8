/** Collects changed rows by relation. */
import type { ChangedRows, RowChange, ChangedKeys, TableChanges } from "../api.ts";

/** The largest number of rows that are collected for each relation. Beyond this number, any row counts as changed. */
const MAX_ROWS = 10_000;

interface ChangeCollector {
  readonly tables: TableChanges;
  isAny(relation: string): boolean;
  addAny(relation: string): void;
  add(relation: string, changedRows: ChangedRows): void;
  addAll(tableChanges: TableChanges): void;
}

export const createChangeCollector = (): ChangeCollector => {
  const tables = new Map<string, { readonly columns: readonly string[]; readonly rows: RowChange[] } | undefined>();
  const add = (relation: string, { columns, rows }: ChangedRows): void => {
    const knownRows = tables.get(relation);
    if (knownRows === undefined) {
      if (!tables.has(relation)) tables.set(relation, { columns, rows: [...rows] });
      return;
    }
    const areAlike = knownRows.columns === columns || knownRows.columns.join("\0") === columns.join("\0");
    if (!areAlike || knownRows.rows.length + rows.length > MAX_ROWS) tables.set(relation, undefined);
    else for (const row of rows) knownRows.rows.push(row);
  };
  return {
    tables,
    isAny: (relation) => tables.has(relation) && tables.get(relation) === undefined,
    addAny: (relation) => void tables.set(relation, undefined),
    add,
    addAll: (tableChanges) => {
      for (const [relation, rows] of tableChanges)
        if (rows === undefined) tables.set(relation, undefined);
        else add(relation, rows);
    },
  };
};

/** Extracts the values of the first column, which is the key of the rows. */
export const extractKeys = (changes: TableChanges): ChangedKeys =>
  new Map([...changes].map(([relation, changedRows]) => [relation, changedRows && extractRowKeys(changedRows.rows)]));

const extractRowKeys = (rows: readonly RowChange[]): ReadonlySet<string> | undefined => {
  const keys = new Set<string>();
  for (const versions of rows)
    for (const cells of versions) {
      if (cells === null || (cells.length === 0 && versions[1] !== null)) continue;
      const [key] = cells;
      if (typeof key !== "string") return undefined;
      keys.add(key);
    }
  return keys;
};
