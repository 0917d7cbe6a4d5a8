import { catalogText, join, sql, type Sql } from "./fragment.ts";
import { planFault } from "./scope.ts";

/** Aggregates a plan may name. Unqualified in the text: extensions bring their own `max` and `sum`. @rule G-OUT-3
 *  G-AGP-2 R-AGG-1 */
const AGGREGATES: ReadonlySet<string> = new Set([
  "count",
  "sum",
  "avg",
  "max",
  "min",
  "stddev",
  "stddev_pop",
  "stddev_samp",
  "var_pop",
  "var_samp",
  "variance",
  "bool_and",
  "bool_or",
  "corr",
  "covar_samp",
]);

/** `count(*)`, `sum(x)`, `count(distinct (a, b))`. @rule G-AGG-3 */
export const compileAggregateCall = (fn: string, of: readonly Sql[], isDistinct: boolean): Sql => {
  if (!AGGREGATES.has(fn)) throw planFault(`"${fn}" is no aggregate`);
  const name = catalogText(fn);
  if (of.length === 0) return sql`${name}(*)`;
  const distinct = isDistinct ? sql`distinct ` : sql``;
  // several columns of a count are one row value; other functions take them as arguments
  const argument = of.length > 1 && fn === "count" ? sql`(${join(of)})` : join(of);
  return sql`${name}(${distinct}${argument})`;
};
