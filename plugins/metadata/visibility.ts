/** Determines which columns, relations and functions a role of the metadata may name. */
import {
  buildNameKey,
  findRelation,
  type Column,
  type Model,
  type Relation,
  type Visibility,
} from "../../core/index.ts";
import type { TablePermissions } from "./permissions.ts";
import type { MayCall } from "./role-access.ts";

/** Creates the visibility of roles. @rule G-PRM-3 R-NAM-3 */
export const createVisibility = (
  tables: ReadonlyMap<string, Readonly<TablePermissions>>,
  model: Model,
  mayCall: MayCall,
): Visibility => {
  const findPermissions = (relation: Relation): Readonly<TablePermissions> => tables.get(buildNameKey(relation)) ?? {};
  const mayRead = (relation: Relation, { name }: Column): boolean =>
    findPermissions(relation).select?.columns.has(name) === true;
  return {
    isByGrants: false,
    mayRead,
    mayReadEveryRow: (relation, column) => {
      const { select } = findPermissions(relation);
      return (
        select !== undefined &&
        select.filter === undefined &&
        select.maskConditions?.has(column.name) !== true &&
        mayRead(relation, column)
      );
    },
    mayNameColumn: (relation, column) =>
      mayRead(relation, column) ||
      [findPermissions(relation).insert, findPermissions(relation).update].some(
        (write) => write?.columns.has(column.name) === true,
      ),
    mayNameRelation: (relation) =>
      Object.values(findPermissions(relation)).some((permission) => permission !== undefined),
    mayPerform: (relation, operation) => findPermissions(relation)[operation] !== undefined,
    mayCall: (routine) =>
      mayCall(
        routine,
        routine.returns.relation !== undefined && findRelation(model, routine.returns.relation) !== undefined,
        routine.volatility === "volatile",
      ),
  };
};
