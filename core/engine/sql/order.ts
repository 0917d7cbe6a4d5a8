/** Terms of an order. */
import type { OrderBy } from "../plan/plan.ts";
import { compileExpression, type Compiled } from "./expression.ts";
import { empty, sql, type Sql } from "./fragment.ts";
import { hasPath } from "./predicate.ts";
import type { Compiler, Scope } from "./scope.ts";

/** `known`: the value, where the level has it under a name. */
export const compileOrder = (compiler: Compiler, term: OrderBy, scope: Scope, known?: Sql): Sql => {
  const by = compileExpression(compiler, term.by, scope);
  if (hasPath(term.by)) compiler.seen.plansEachTime = true;
  const direction = term.direction === undefined ? empty : term.direction === "asc" ? sql` asc` : sql` desc`;
  const nulls =
    term.nulls === undefined || (known === undefined && isNeverNull(compiler, by, scope))
      ? empty
      : term.nulls === "first"
        ? sql` nulls first`
        : sql` nulls last`;
  return sql`${known ?? by.sql}${direction}${nulls}`;
};

/** The place of nulls would keep PostgreSQL from using an index whose nulls are elsewhere, though the column has none. A
 *  domain's NOT NULL does not hold everywhere, nor does one of a foreign or a child table. @rule X-PLN-1 */
const isNeverNull = ({ model }: Compiler, { declared }: Compiled, { relation, isStored }: Scope): boolean =>
  isStored === true &&
  declared?.notNull === true &&
  (relation?.kind === "table" || relation?.kind === "partitioned") &&
  relation.mayHideNulls !== true &&
  model.types.get(declared.type)?.kind !== "domain";
