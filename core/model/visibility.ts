/** Defines the visibility of the schema to a caller: the names that hints, error details and descriptions may contain.
 *  The rights of the caller are checked elsewhere. */
import type { Column, Relation, Routine } from "./objects.ts";

/** An operation on a relation. @experimental */
export type TableOperation = "select" | "insert" | "update" | "delete";

/** The visibility of the schema to a caller, by grants or by metadata. @experimental */
export interface Visibility {
  /** True if the database itself enforces the visibility. */
  readonly isByGrants: boolean;
  /** Returns whether the caller may read the column, at least in some rows. */
  mayRead(relation: Relation, column: Column): boolean;
  /** Returns whether the caller may read the column in every row. */
  mayReadEveryRow(relation: Relation, column: Column): boolean;
  /** Returns whether messages may name the column, because the caller has some right on the column. */
  mayNameColumn(relation: Relation, column: Column): boolean;
  /** Returns whether messages may name the relation, because the caller has some right on it. */
  mayNameRelation(relation: Relation): boolean;
  /** Returns whether the caller may perform the operation, at least on some column and some row. */
  mayPerform(relation: Relation, operation: TableOperation): boolean;
  mayCall(routine: Routine): boolean;
}
