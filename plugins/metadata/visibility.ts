/** The part of the schema that is visible to a role of the metadata. */
import { nameKey, relationOf, type Column, type Model, type Relation, type Visibility } from "../../core/index.ts";
import type { TablePermissions } from "./permissions.ts";
import type { MayCall } from "./role-access.ts";

/** @rule G-PRM-3 R-NAM-3 */
export const createVisibility = (
  tables: ReadonlyMap<string, Readonly<TablePermissions>>,
  model: Model,
  mayCall: MayCall,
): Visibility => {
  const of = (relation: Relation): Readonly<TablePermissions> => tables.get(nameKey(relation)) ?? {};
  const reads = (relation: Relation, { name }: Column): boolean => of(relation).select?.columns.has(name) === true;
  return {
    isByGrants: false,
    reads,
    readsAlways: (relation, column) => {
      const { select } = of(relation);
      return (
        select !== undefined &&
        select.filter === undefined &&
        select.masked?.has(column.name) !== true &&
        reads(relation, column)
      );
    },
    knows: (relation, column) =>
      reads(relation, column) ||
      [of(relation).insert, of(relation).update].some((write) => write?.columns.has(column.name) === true),
    knowsRelation: (relation) => Object.values(of(relation)).some((permission) => permission !== undefined),
    mayPerform: (relation, operation) => of(relation)[operation] !== undefined,
    calls: (routine) =>
      mayCall(
        routine,
        routine.returns.relation !== undefined && relationOf(model, routine.returns.relation) !== undefined,
        routine.volatility === "volatile",
      ),
  };
};
