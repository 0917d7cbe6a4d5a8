/** Refuses unknown names before PostgreSQL sees them. If no column has the name, PostgreSQL reads `"row"."name"` as a
 *  function of the row or a system column. @rule R-NAM-1 */
import { columnUnknown, targetColumnUnknown } from "../../kernel/errors.ts";
import { closestNames } from "../../kernel/did-you-mean.ts";
import { baseTypeOf, type Relation } from "../model/model.ts";
import type { Compiler, Scope } from "./scope.ts";

/** Returns the columns that messages may name to the caller. @rule R-NAM-3 */
const shownColumns = (
  { visibility: look }: Compiler,
  { relation, columns, routine }: Pick<Scope, "relation" | "columns" | "routine">,
): readonly string[] => {
  if (look === undefined) return [];
  const sight = look();
  if (relation !== undefined)
    return relation.columns.filter((column) => sight.reads(relation, column)).map((column) => column.name);
  return routine !== undefined && sight.calls(routine) ? [...(columns?.keys() ?? [])] : [];
};

/** @throws RelApiError 42703 */
export const rejectColumn = (compiler: Compiler, scope: Scope, name: string): never => {
  const { relation, routine } = scope;
  const type = routine && baseTypeOf(compiler.model, routine.returns.type);
  const row = scope.displayName ?? type?.name ?? relation?.name ?? scope.row;
  throw columnUnknown(row, name, closestNames(name, shownColumns(compiler, scope)));
};

/** @throws RelApiError 42703 */
export const rejectTargetColumn = (compiler: Compiler, relation: Relation, name: string): never => {
  throw targetColumnUnknown(relation.name, name, closestNames(name, shownColumns(compiler, { relation })));
};
