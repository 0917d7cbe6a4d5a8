/** Which rows the live lists have, by primary key, where the log does not tell what a row was like before a change: a
 *  list that has lost a row must run again. Rows are looked up once for each list, before it runs, and followed by the
 *  log from then on. Kept from the first such change of the table. @rule G-SUB-16 */
import { catalogText, ident, join, literal, slot, sql, toStatement, type Program } from "../../core/index.ts";
import type { RowKey } from "./base-tables.ts";
import type { Kind } from "./comparable.ts";
import { isLost, isOfAll } from "./failures.ts";
import { keyOfCells, partsOfKey } from "./keys.ts";

/** Runs the program of a look-up; its body. */
export type LookUp = (program: Program, value: string) => Promise<string | null>;

export interface Members {
  /** Keys of lists whose rows are not known: any such change concerns them. */
  readonly unknown: ReadonlySet<string>;
  /** They are looked up, or are about to be. */
  readonly isKept: boolean;
  /** From now on. */
  keep(keys: Iterable<string>): void;
  /** Nothing is kept any more. */
  drop(): void;
  /** Nothing is kept ever after: the log does not tell what it takes. */
  giveUp(): void;
  /** Somebody wants this key for the first time. */
  add(key: string): void;
  /** Nobody wants it any more. */
  remove(key: string, isWanted: (key: string) => boolean, wantedCount: number): void;
  /** The keys that the row may have had. */
  keysOf(row: string): readonly string[];
  /** Undefined: it has none that is wanted. */
  set(row: string, key: string | undefined): void;
  /** Once it has ended, each of the keys is known, or stays unknown. Never fails. */
  lookUp(keys: readonly string[], run: LookUp): Promise<void>;
}

/** What may be kept together with everything else that live queries keep. @rule G-SUB-12 */
export interface Room {
  /** Whether there is room for them; then they count. */
  take(bytes: number): boolean;
  give(bytes: number): void;
}

/** As measured: a row and its key. */
const BYTES_PER_ROW = 100;

const bytesOf = (row: string): number => BYTES_PER_ROW + row.length;

/** A look-up that has not ended. */
interface Running {
  readonly ended: Promise<void>;
}

/** Of one shape; beyond it nothing is kept. */
const MAX_ROWS = 500_000;
/** Of one look-up. */
const MAX_FOUND = 100_000;
/** Keys that nobody wants any more may have so many rows, before those are looked for. */
const MAX_LEFT = 1000;

/** `columns`, `kinds`: of the shape. */
export const createMembers = (
  table: RowKey,
  columns: readonly string[],
  kinds: readonly Kind[],
  room: Room,
): Members => {
  let isKept = false;
  let isGivenUp = false;
  /** By the key of the row: keys of the shape, several where it is not certain which. */
  let rows = new Map<string, string | readonly string[]>();
  let unknown = new Set<string>();
  let running = new Map<string, Running>();
  let leftCount = 0;
  let keptBytes = 0;

  const drop = (): void => {
    isKept = false;
    room.give(keptBytes);
    keptBytes = 0;
    rows = new Map();
    unknown = new Set();
    running = new Map();
    leftCount = 0;
  };

  const giveUp = (): void => {
    isGivenUp = true;
    drop();
  };

  const addRow = (row: string, key: string): void => {
    const known = rows.get(row);
    if (known === undefined) {
      const bytes = bytesOf(row);
      if (rows.size === MAX_ROWS || !room.take(bytes)) return giveUp();
      keptBytes += bytes;
      rows.set(row, key);
    } else if (known !== key && !(typeof known === "object" && known.includes(key)))
      rows.set(row, typeof known === "string" ? [known, key] : [...known, key]);
  };

  const removeRow = (row: string): void => {
    if (!rows.delete(row)) return;
    const bytes = bytesOf(row);
    keptBytes -= bytes;
    room.give(bytes);
  };

  /** The rows of the keys; calls `finished` with those whose rows are all there. @throws what `run` throws */
  const load = async (
    keys: readonly string[],
    run: LookUp,
    finished: (keys: readonly string[]) => void,
  ): Promise<void> => {
    const into = rows;
    try {
      const found = await findRows(table, columns, kinds, keys, run);
      if (into !== rows) return; // dropped meanwhile
      if (found === "too many") return giveUp();
      for (const [index, row] of found) if (into === rows) addRow(row, keys[index] as string); // an index of ours
      if (into === rows) finished(keys);
    } catch (error) {
      if (keys.length === 1 || isOfAll(error) || isLost(error)) return; // they stay unknown
      const half = keys.length >> 1;
      await load(keys.slice(0, half), run, finished);
      await load(keys.slice(half), run, finished);
    }
  };

  return {
    get unknown() {
      return unknown;
    },
    get isKept() {
      return isKept;
    },
    keep: (keys) => {
      if (isGivenUp) return;
      drop();
      isKept = true;
      unknown = new Set(keys);
    },
    drop,
    giveUp,
    add: (key) => {
      if (isKept) unknown.add(key);
    },
    remove: (key, isWanted, wantedCount) => {
      if (!isKept) return;
      unknown.delete(key);
      running.delete(key); // whoever wants it again looks it up again
      if (++leftCount <= MAX_LEFT + wantedCount) return;
      leftCount = 0;
      for (const [row, known] of rows)
        if (typeof known === "string" ? !isWanted(known) : !known.some(isWanted)) removeRow(row);
    },
    keysOf: (row) => {
      const known = rows.get(row);
      return known === undefined ? [] : typeof known === "string" ? [known] : known;
    },
    set: (row, key) => {
      removeRow(row);
      if (key !== undefined) addRow(row, key);
    },
    lookUp: async (keys, run) => {
      const waited = new Set<Promise<void>>();
      const own: string[] = [];
      for (const key of keys) {
        if (!unknown.has(key)) continue;
        const other = running.get(key);
        if (other === undefined) own.push(key);
        else waited.add(other.ended);
      }
      if (own.length > 0) {
        const among = running;
        const finished = (loaded: readonly string[]): void => {
          for (const key of loaded) if (among.get(key) === mine) unknown.delete(key);
        };
        const mine: Running = {
          ended: Promise.resolve()
            .then(() => load(own, run, finished))
            .finally(() => {
              for (const key of own) if (among.get(key) === mine) among.delete(key);
            }),
        };
        for (const key of own) running.set(key, mine);
        waited.add(mine.ended);
      }
      await Promise.all(waited);
    },
  };
};

/** Types that values of a kind are compared as. */
const typeOf = (kind: Kind, declared: string): string =>
  kind === "whole" ? "pg_catalog.int8" : kind === "text" ? "pg_catalog.text" : declared;

/** Rows of the table with these keys, as index of the key and key of the row. */
const findRows = async (
  table: RowKey,
  columns: readonly string[],
  kinds: readonly Kind[],
  keys: readonly string[],
  run: LookUp,
): Promise<readonly (readonly [index: number, row: string])[] | "too many"> => {
  /** By which of the values are NULL. */
  const patterns = new Map<string, number[]>();
  const parts = keys.map(partsOfKey);
  parts.forEach((values, i) => {
    const pattern = values.map((value) => (value === null ? "n" : "v")).join("");
    const known = patterns.get(pattern);
    if (known === undefined) patterns.set(pattern, [i]);
    else known.push(i);
  });
  const found: (readonly [number, string])[] = [];
  for (const [pattern, indexes] of patterns) {
    const program = lookUpProgram(table, columns, kinds, pattern);
    const wanted = indexes.map((i) => ({
      i,
      ...Object.fromEntries((parts[i] ?? []).map((value, column) => [`c${column}`, value])),
    }));
    const body = await run(program, JSON.stringify(wanted));
    // row policies count meanwhile, so that this caller does not see all rows
    if (body === null) throw new TypeError("the rows of a table with row policies are not known");
    const rows = JSON.parse(body) as readonly (readonly [number, ...(string | null)[]])[]; // as the statement makes them
    if (rows.length > MAX_FOUND) return "too many";
    for (const [index, ...values] of rows) {
      const key = keyOfCells(values, table.positions, table.kinds);
      if (key === undefined) throw new TypeError("a primary key is not printed as the log prints it");
      found.push([index, key]);
    }
  }
  return found;
};

/** Its one value is the JSON of the keys, `[{"i":0,"c0":"5"}]`. */
const lookUpProgram = (
  { name, columns: keyColumns, typeOfColumn }: RowKey,
  columns: readonly string[],
  kinds: readonly Kind[],
  pattern: string,
): Program => {
  const compared = columns.map((column, i) => ({
    column: ident("_t", column),
    given: ident("_k", `c${i}`),
    isNull: pattern[i] === "n",
    declared: sql`${ident(`c${i}`)} ${catalogText(typeOf(kinds[i] as Kind, typeOfColumn(column)))}`, // as many as columns
  }));
  const declared = [sql`i int`, ...compared.map((one) => one.declared)];
  const on = compared.map(({ column, given, isNull }) => (isNull ? sql`${column} is null` : sql`${column} = ${given}`));
  const cells = [sql`_k.i`, ...keyColumns.map((column) => sql`${ident("_t", column)}::text`)];
  const relation = toStatement(ident(name.schema, name.name)).text;
  const fragment = sql`select case when pg_catalog.row_security_active(${literal(relation)}::pg_catalog.regclass) then null else (select coalesce(pg_catalog.json_agg(_r.cells), '[]')::text from (select pg_catalog.json_build_array(${join(cells)}) as cells from pg_catalog.json_to_recordset(${slot({ param: 0 })}::json) as _k(${join(declared)}) join ${ident(name.schema, name.name)} as _t on ${join(on, " and ")} limit ${catalogText(String(MAX_FOUND + 1))}) as _r) end as body`;
  return {
    statements: [{ ...toStatement(fragment), columns: ["body"] }],
    main: 0,
    checks: [],
    relations: new Set([`${name.schema}.${name.name}`]),
    isOpenEnded: false,
  };
};
