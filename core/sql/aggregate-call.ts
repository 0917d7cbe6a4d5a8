import { trustedSql, joinSql, sql, type Sql } from "./fragment.ts";
import { planInvalid, type Compiler } from "./scope.ts";

/** Compiles the call of an aggregate function: `count(*)`, `sum(x)`, `count(distinct (a, b))`. @rule G-OUT-3 G-AGG-3
 *  G-AGP-2 R-AGG-1 X-AGG-1 */
export const compileAggregateCall = (
  { registry }: Compiler,
  fn: string,
  operands: readonly Sql[],
  isDistinct: boolean,
): Sql => {
  const spec = registry.aggregates.get(fn);
  if (spec === undefined) throw planInvalid(`no plugin declares the aggregate "${fn}"`);
  if (spec.compile !== undefined) return spec.compile(operands, isDistinct);
  const name = trustedSql(spec.name);
  if (operands.length === 0) return sql`${name}(*)`;
  const distinct = isDistinct ? sql`distinct ` : sql``;
  // An aggregate that accepts any columns takes several of them as one row value; others take arguments.
  const argument =
    operands.length > 1 && spec.predicate?.columns !== 2 ? sql`(${joinSql(operands)})` : joinSql(operands);
  return sql`${name}(${distinct}${argument})`;
};
