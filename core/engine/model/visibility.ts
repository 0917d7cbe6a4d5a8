/** The visibility of the schema to a caller: the names that hints, error details and descriptions may contain. The
 *  rights of the caller are checked elsewhere. */
import type { Column, Relation, Routine } from "./objects.ts";

/** An operation on a relation. */
export type TableOperation = "select" | "insert" | "update" | "delete";

/** The visibility of the schema to a caller, by grants or by metadata. */
export interface Visibility {
  /** The database itself enforces it. */
  readonly isByGrants: boolean;
  /** The caller may read the column, but perhaps not in every row. */
  mayRead(relation: Relation, column: Column): boolean;
  /** The caller may read the column in every row. */
  mayReadEveryRow(relation: Relation, column: Column): boolean;
  /** The caller has some right on the column, so messages may name it. */
  mayNameColumn(relation: Relation, column: Column): boolean;
  /** The caller has some right on the relation. */
  mayNameRelation(relation: Relation): boolean;
  /** The caller may perform the operation, at least on some column and some row. */
  mayPerform(relation: Relation, operation: TableOperation): boolean;
  mayCall(routine: Routine): boolean;
}
