/** Compiles reads such as `{ aggregate { count sum { … } } nodes { … } }`, which return one object over all rows of the
 *  read. */
import type { Expression, Output, Predicate, Read } from "../plan/plan.ts";
import { compileAggregateCall } from "./aggregate-call.ts";
import { quoteIdentifier, inlineInteger, joinSql, quoteLiteral, sql, type Sql } from "./fragment.ts";
import { joinObject } from "./json.ts";
import type { ReadOptions } from "./from-clause.ts";
import { compileRows } from "./read.ts";
import { planInvalid, type Compiler } from "./scope.ts";
import { compileTypeName } from "./value.ts";

const hasDistinct = (outputs: readonly Output[]): boolean =>
  outputs.some((output) =>
    output.kind === "aggregate" ? output.distinct === true : output.kind === "object" && hasDistinct(output.outputs),
  );

const removeKeyset = (where: Predicate): Predicate =>
  where.kind === "and"
    ? { ...where, predicates: where.predicates.filter(({ kind }) => kind !== "keyset").map(removeKeyset) }
    : where;

/** Returns the read of all rows, without the limits of a page. @rule P-RLY-4 */
const buildUnpagedRead = ({ from, row, where, distinctOn }: Read): Read => ({
  kind: "read",
  from,
  row,
  shape: "rows",
  output: [],
  where: where && removeKeyset(where),
  distinctOn,
});

/** Returns a scalar subquery with the object as `json`. The subquery has three levels: the rows, with the columns that
 *  aggregates and node lists need; the aggregates over these rows; the object. `affectedCount` is the number of written
 *  rows. Undefined if that number is the number of rows. @rule G-AGG-1 G-AGG-2 G-OUT-7 */
export const compileAggregateRead = (
  compiler: Compiler,
  read: Read,
  options: ReadOptions,
  affectedCount?: Sql,
): Sql => {
  const inner = compiler.alias("_n");
  const outer = compiler.alias("_a");
  const rowOutputs: Output[] = [];
  const rowOutputNames = new Map<string, string>();
  const aggregates: { readonly as: string; readonly sql: Sql }[] = [];
  const objects: Sql[] = [];
  let isNumbered = false;
  // PostgreSQL may sort the input of a distinct aggregate, and other aggregates would see that order.
  const isSorted = hasDistinct(read.output);

  const compileArgument = (value: Expression): Sql => {
    const key = JSON.stringify(value);
    const existingName = rowOutputNames.get(key);
    if (existingName !== undefined) return quoteIdentifier(inner, existingName);
    const as = `v${rowOutputs.length}`;
    rowOutputNames.set(key, as);
    rowOutputs.push({ kind: "value", as, value });
    return quoteIdentifier(inner, as);
  };
  const addAggregate = (fragment: Sql): Sql => {
    const as = `a${aggregates.length}`;
    aggregates.push({ as, sql: fragment });
    return quoteIdentifier(outer, as);
  };
  const compileMember = (output: Output): Sql => {
    switch (output.kind) {
      case "constant":
        return sql`${quoteLiteral(output.value)}::text`;
      case "affected":
        return affectedCount ?? addAggregate(sql`count(*)`);
      case "aggregate": {
        const call = compileAggregateCall(
          compiler,
          output.fn,
          (output.expressions ?? []).map(compileArgument),
          output.distinct === true,
        );
        return addAggregate(
          output.cast === undefined ? call : sql`cast(${call} as ${compileTypeName(compiler, output.cast)})`,
        );
      }
      case "total":
        return sql`(select count(*) from (${compileRows(compiler, buildUnpagedRead(read), options).sql}) as ${quoteIdentifier(compiler.alias("_t"))})`;
      case "object":
        return joinObject(compiler, objects, compileMembers(output.outputs));
      case "nodes": {
        const as = `n${rowOutputs.length}`;
        rowOutputs.push({ kind: "object", as, outputs: output.outputs });
        const order = isSorted ? sql` order by ${quoteIdentifier(inner, "rn")}` : sql``;
        if (output.cap !== undefined || isSorted) isNumbered = true;
        const filter =
          output.cap === undefined
            ? sql``
            : sql` filter (where ${quoteIdentifier(inner, "rn")} <= ${inlineInteger(output.cap)})`;
        const rows = sql`array_agg(${quoteIdentifier(inner, as)}${order})${filter}`;
        if (output.isReversed !== true) return addAggregate(sql`coalesce(array_to_json(${rows}), '[]')`);
        // The list is reversed afterwards, because other aggregates would see an order inside this aggregate.
        const unnestedRow = quoteIdentifier(compiler.alias("_u"));
        return sql`coalesce((select array_to_json(array_agg(${unnestedRow}.e order by ${unnestedRow}.n desc)) from pg_catalog.unnest(${addAggregate(rows)}) with ordinality as ${unnestedRow} (e, n)), '[]')`;
      }
      default:
        throw planInvalid(`output "${output.kind}" in an aggregate read`);
    }
  };
  const compileMembers = (outputs: readonly Output[]) =>
    outputs.map((output) => ({ as: output.kind === "all" ? "" : output.as, sql: compileMember(output) }));

  const object = joinObject(compiler, objects, compileMembers(read.output));
  const select = (from: Sql): Sql =>
    sql`(${joinSql([sql`select ${object} from (${from}) as ${quoteIdentifier(outer)}`, ...objects], " ")})`;
  if (aggregates.length === 0) return select(sql`select`);
  const rows = compileRows(compiler, { ...read, shape: "rows", output: rowOutputs, cap: undefined }, options).sql;
  // Rows are numbered above the sorted level, because a window in the same level would number them before the sort.
  const numberedRows = isNumbered ? sql`select *, row_number() over () as rn from (${rows}) as _s` : rows;
  const selectList = joinSql(aggregates.map((aggregate) => sql`${aggregate.sql} as ${quoteIdentifier(aggregate.as)}`));
  return select(sql`select ${selectList} from (${numberedRows}) as ${quoteIdentifier(inner)}`);
};
