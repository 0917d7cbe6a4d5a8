/** Refuses unknown names before PostgreSQL sees them. If no column has the name, PostgreSQL reads `"row"."name"` as a
 *  function of the row or a system column. @rule R-NAM-1 */
import { columnUnknown, targetColumnUnknown } from "../../kernel/errors.ts";
import { nearestNames } from "../../kernel/near-names.ts";
import { baseTypeOf, type Relation } from "../model/model.ts";
import type { Compiler, Scope } from "./scope.ts";

/** Returns the columns that messages may name to the caller. @rule R-NAM-3 */
const shownColumns = (
  { sight: look }: Compiler,
  { relation, columns, routine }: Pick<Scope, "relation" | "columns" | "routine">,
): readonly string[] => {
  if (look === undefined) return [];
  const sight = look();
  if (relation !== undefined)
    return relation.columns.filter((column) => sight.reads(relation, column)).map((column) => column.name);
  return routine !== undefined && sight.calls(routine) ? [...(columns?.keys() ?? [])] : [];
};

/** @throws RelApiError 42703 */
export const refuseColumn = (compiler: Compiler, scope: Scope, name: string): never => {
  const { relation, routine } = scope;
  const type = routine && baseTypeOf(compiler.model, routine.returns.type);
  const row = scope.shown ?? type?.name ?? relation?.name ?? scope.row;
  throw columnUnknown(row, name, nearestNames(name, shownColumns(compiler, scope)));
};

/** @throws RelApiError 42703 */
export const refuseTargetColumn = (compiler: Compiler, relation: Relation, name: string): never => {
  throw targetColumnUnknown(relation.name, name, nearestNames(name, shownColumns(compiler, { relation })));
};
