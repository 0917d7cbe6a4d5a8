/** What a caller may see of the schema: for everything that names parts of it without being asked for them, such as
 *  hints, details of errors and descriptions. What may be done is decided elsewhere. */
import type { Column, Model, Relation, Routine } from "./model.ts";
import {
  hasRightOnColumn,
  hasRightOnRelation,
  mayExecute,
  mayUseAnyColumn,
  mayUseColumn,
  mayUseRelation,
  mayUseSchema,
} from "./privileges.ts";

export type Operation = "select" | "insert" | "update" | "delete";

export interface Sight {
  /** The database enforces it. */
  readonly isByGrants: boolean;
  /** Its values may be read, though perhaps not in every row. */
  reads(relation: Relation, column: Column): boolean;
  /** Its value may be read whichever row it stands in. */
  readsAlways(relation: Relation, column: Column): boolean;
  /** Something may be done with it: it may be named. */
  knows(relation: Relation, column: Column): boolean;
  /** Something may be done with the relation. */
  knowsRelation(relation: Relation): boolean;
  /** The operation is allowed, on some column and some row at least. */
  may(relation: Relation, operation: Operation): boolean;
  calls(routine: Routine): boolean;
}

/** By the grants of the database. */
export const grantSight = (model: Model, role: string): Sight => {
  const reads = (relation: Relation, column: Column): boolean =>
    mayUseSchema(model, role, relation.schema) && mayUseColumn(model, role, relation, column, "select");
  return {
    isByGrants: true,
    reads,
    readsAlways: reads,
    knows: (relation, column) => hasRightOnColumn(model, role, relation, column),
    knowsRelation: (relation) => hasRightOnRelation(model, role, relation),
    may: (relation, operation) =>
      operation === "delete"
        ? mayUseRelation(model, role, relation, "delete")
        : mayUseAnyColumn(model, role, relation, operation),
    calls: (routine) => mayExecute(model, role, routine),
  };
};
