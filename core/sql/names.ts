/** Rejects unknown names before PostgreSQL sees them. PostgreSQL would read `"row"."name"` as a function of the row or
 *  a system column. @rule R-NAM-1 */
import { columnUnknown, targetColumnUnknown } from "../kernel/errors.ts";
import { findClosestNames } from "../kernel/did-you-mean.ts";
import { findBaseType, type Relation } from "../model/model.ts";
import type { Compiler, Scope } from "./scope.ts";

/** Returns the columns that messages may list for the caller. @rule R-NAM-3 */
const listShownColumns = (
  { visibility: getVisibility }: Compiler,
  { relation, columns, routine }: Pick<Scope, "relation" | "columns" | "routine">,
): readonly string[] => {
  if (getVisibility === undefined) return [];
  const callerVisibility = getVisibility();
  if (relation !== undefined)
    return relation.columns.filter((column) => callerVisibility.mayRead(relation, column)).map((column) => column.name);
  return routine !== undefined && callerVisibility.mayCall(routine) ? [...(columns?.keys() ?? [])] : [];
};

/** Rejects the name of an unknown column of a row. @throws RelApiError 42703 */
export const rejectColumn = (compiler: Compiler, scope: Scope, name: string): never => {
  const { relation, routine } = scope;
  const type = routine && findBaseType(compiler.model, routine.returns.type);
  const row = scope.displayName ?? type?.name ?? relation?.name ?? scope.row;
  throw columnUnknown(row, name, findClosestNames(name, listShownColumns(compiler, scope)));
};

/** Rejects the name of an unknown column in a conflict target. @throws RelApiError 42703 */
export const rejectTargetColumn = (compiler: Compiler, relation: Relation, name: string): never => {
  throw targetColumnUnknown(relation.name, name, findClosestNames(name, listShownColumns(compiler, { relation })));
};
