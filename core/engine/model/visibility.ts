/** What a caller may see of the schema: decides what hints, error details and descriptions may name. What a caller may
 *  do is decided elsewhere. */
import type { Column, Relation, Routine } from "./objects.ts";

/** What may be done with a relation. */
export type TableOperation = "select" | "insert" | "update" | "delete";

/** What a caller may see of the schema, by grants or by metadata. */
export interface Visibility {
  /** The database enforces it. */
  readonly isByGrants: boolean;
  /** Its values may be read, but perhaps not in every row. */
  reads(relation: Relation, column: Column): boolean;
  /** Its value may be read in every row. */
  readsAlways(relation: Relation, column: Column): boolean;
  /** The caller has some right on it, so it may be named. */
  knows(relation: Relation, column: Column): boolean;
  /** The caller has some right on the relation. */
  knowsRelation(relation: Relation): boolean;
  /** The operation is allowed, on some column and some row at least. */
  may(relation: Relation, operation: TableOperation): boolean;
  calls(routine: Routine): boolean;
}
