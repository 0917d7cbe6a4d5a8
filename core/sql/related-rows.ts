/** Compiles relationships from a row to other rows. */
import { findRelationship, type Relationship } from "../model/model.ts";
import { createPlannerLevel } from "./exists.ts";
import { quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";
import {
  findAndRecordRelation,
  planInvalid,
  quoteQualifiedName,
  compileRow,
  type Compiler,
  type Scope,
} from "./scope.ts";

export interface RelatedRows {
  readonly relationship: Relationship;
  readonly scope: Scope;
  /** The FROM item `"public"."album" as "album_1"`, including a junction or a function call. */
  readonly from: Sql;
  /** The condition that relates the rows to the parent row. */
  readonly on: Sql;
}

/** Returns the relationship of the scope's relation. @throws Error if the relation has no relationship with that id */
export const requireRelationship = (scope: Scope, id: string): Relationship => {
  const relationship = scope.relation === undefined ? undefined : findRelationship(scope.relation, id);
  if (relationship === undefined) throw planInvalid(`no relationship "${id}"`);
  return relationship;
};

/** Compiles the rows that the relationship relates to the parent row. `name` is the name of these rows in messages.
 *  @rule R-SQL-7 R-SQL-8 */
export const compileRelatedRows = (compiler: Compiler, parent: Scope, id: string, name?: string): RelatedRows => {
  const relationship = requireRelationship(parent, id);
  const target = findAndRecordRelation(compiler, relationship.target);
  const row = compiler.alias(name ?? relationship.target.name);
  const scope: Scope = {
    row,
    relation: target,
    isStored: relationship.routine === undefined,
    systemColumns: relationship.routine === undefined ? "all" : undefined,
    level: createPlannerLevel(),
    root: parent.root ?? parent,
  };
  if (relationship.routine !== undefined) {
    compiler.dependencies.isOpenEnded = true;
    return {
      relationship,
      scope,
      from: sql`${quoteQualifiedName(relationship.routine)}(${compileRow(parent)}) as ${quoteIdentifier(row)}`,
      on: sql`true`,
    };
  }
  const from = sql`${quoteQualifiedName(relationship.target)} as ${quoteIdentifier(row)}`;
  const { junction } = relationship;
  if (junction === undefined) {
    const on = relationship.columns.map(
      ([sourceColumn, targetColumn]) =>
        sql`${quoteIdentifier(row, targetColumn)} = ${quoteIdentifier(parent.row, sourceColumn)}`,
    );
    return { relationship, scope, from, on: joinSql(on, " and ") };
  }
  findAndRecordRelation(compiler, junction.relation);
  const junctionRow = compiler.alias(junction.relation.name);
  const toTarget = junction.target.map(
    ([column, key]) => sql`${quoteIdentifier(junctionRow, key)} = ${quoteIdentifier(row, column)}`,
  );
  const toSource = junction.source.map(
    ([column, key]) => sql`${quoteIdentifier(junctionRow, key)} = ${quoteIdentifier(parent.row, column)}`,
  );
  return {
    relationship,
    scope,
    from: sql`${from} join ${quoteQualifiedName(junction.relation)} as ${quoteIdentifier(junctionRow)} on ${joinSql(toTarget, " and ")}`,
    on: joinSql(toSource, " and "),
  };
};
