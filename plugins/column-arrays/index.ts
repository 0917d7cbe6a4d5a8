/** Lists of rows that are inserted, as one array per column: PostgreSQL reads them in three quarters of the time that it
 *  takes for JSON. Only of types, and with values, of which it is certain that PostgreSQL reads the same either way and
 *  refuses none: what it refuses, and when, stays what it is for JSON. */
import {
  columnOf,
  definePlugin,
  ident,
  join,
  relationOf,
  sql,
  type Insert,
  type ListedValues,
  type Model,
  type RowSource,
} from "../../core/index.ts";
import { kindOf, NULL, type Kind } from "./kinds.ts";

const OPEN = 0x7b;
const CLOSE = 0x7d;
const COMMA = 0x2c;

interface Target {
  readonly name: string;
  readonly kind: Kind;
}

/** `{1,null,3}`: the texts of the values are those of the elements. Undefined: not all are certain. */
const arraysOf = ({ bytes, keys, places }: ListedValues, targets: readonly Target[]): readonly Buffer[] | undefined => {
  // each value has more bytes around it in the list than in its array
  const out = Buffer.allocUnsafe(bytes.length + 2 * targets.length);
  const step = 2 * keys.length;
  const arrays: Buffer[] = [];
  let end = 0;
  for (const { name, kind } of targets) {
    const at = keys.indexOf(name);
    if (at === -1) return undefined;
    const { starts, parts, takes } = kind;
    const start = end;
    out[end++] = OPEN;
    for (let i = 2 * at; i < places.length; i += step) {
      const from = places[i]!; // i is within its length
      const to = places[i + 1]!; // pairs
      const first = bytes[from]!; // from < to
      if (first !== NULL && (starts[first] === 0 || takes?.(bytes, from, to) === false)) return undefined;
      out[end++] = first;
      for (let j = from + 1; j < to; j++) {
        const byte = bytes[j]!; // j < to
        if (parts[byte] === 0 && first !== NULL) return undefined;
        out[end++] = byte;
      }
      out[end++] = COMMA;
    }
    out[end - 1] = CLOSE;
    arrays.push(out.subarray(start, end));
  }
  return arrays;
};

/** Undefined: rows that are not only values of columns, or one of a type of which nothing is certain. @rule X-INS-2 */
const prepare = ({ into, rows, only }: Insert, model: Model): RowSource | undefined => {
  const relation = relationOf(model, into);
  if (relation === undefined || only !== undefined || !("payload" in rows) || rows.shape !== "array") return undefined;
  const { payload, columns, missing } = rows;
  // a default that is computed for every row is computed out of JSON
  if (!("param" in payload) || columns.length === 0 || missing === "computed-default") return undefined;
  const targets = columns.map(({ name, apply }) => {
    const column = apply === undefined ? columnOf(relation, name) : undefined;
    return { name, kind: column && kindOf(column, model) };
  });
  if (!targets.every((target): target is Target => target.kind !== undefined)) return undefined;
  return {
    list: payload.param,
    compile: (alias, value) => {
      const arrays = targets.map(({ kind }, i) => sql`pg_catalog.unnest(${value(i, `pg_catalog.${kind.type}[]`)})`);
      return sql`(select ${join(arrays)}) as ${alias}(${join(targets.map(({ name }) => ident(name)))})`;
    },
    values: (listed) => arraysOf(listed, targets)?.map((array) => ({ utf8: [array] })),
  };
};

export const columnArrays = definePlugin({
  name: "column-arrays",
  rowSources: [{ name: "column-arrays", builtIn: [], prepare }],
});
