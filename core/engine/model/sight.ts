/** What a caller may see of the schema: for everything that names parts of it without being asked for them, such as
 *  hints, details of errors and descriptions. What may be done is decided elsewhere. */
import type { Column, Relation, Routine } from "./objects.ts";

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
