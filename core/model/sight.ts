/** What a caller may see of the schema: for everything that names parts of it without being asked for them, such as hints, details of errors
 *  and descriptions. What may be done is decided elsewhere. */
import type { Column, Model, Relation, Routine } from "./model.ts";
import { mayExecute, mayUseColumn, mayUseRelation, mayUseSchema, type Privilege } from "./privileges.ts";

export interface Sight {
  /** Equal keys: the same sight of one model. */
  readonly key: string;
  /** Its values may be read, though perhaps not in every row. */
  reads(relation: Relation, column: Column): boolean;
  /** Its values may be read in every row that may be read. */
  readsAlways(relation: Relation, column: Column): boolean;
  /** It may be read or written. */
  knows(relation: Relation, column: Column): boolean;
  /** Something may be done with the relation. */
  knowsRelation(relation: Relation): boolean;
  calls(routine: Routine): boolean;
}

const WAYS: readonly Privilege[] = ["select", "insert", "update"];

/** By the grants of the database. */
export const grantSight = (model: Model, role: string): Sight => {
  const has = (relation: Relation, column: Column, privilege: Privilege): boolean => mayUseColumn(model, role, relation, column, privilege);
  const mayEnter = (relation: Relation): boolean => mayUseSchema(model, role, relation.schema);
  const reads = (relation: Relation, column: Column): boolean => mayEnter(relation) && has(relation, column, "select");
  const knows = (relation: Relation, column: Column): boolean => mayEnter(relation) && WAYS.some((privilege) => has(relation, column, privilege));
  return {
    key: `grants ${role}`,
    reads,
    readsAlways: reads,
    knows,
    knowsRelation: (relation) => (mayEnter(relation) && mayUseRelation(model, role, relation, "delete")) || relation.columns.some((column) => knows(relation, column)),
    calls: (routine) => mayUseSchema(model, role, routine.schema) && mayExecute(model, role, routine),
  };
};
