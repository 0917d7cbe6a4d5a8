/** Determines the FROM item of a level's rows. */
import { findRelation } from "../model/model.ts";
import type { ReadFrom } from "../plan/plan.ts";
import { compileCallSource } from "./call.ts";
import type { PlannerLevel } from "./exists.ts";
import { quoteIdentifier, sql, type Sql } from "./fragment.ts";
import type { RelatedRows } from "./related-rows.ts";
import { planInvalid, findAndRecordRelation, quoteQualifiedName, type Compiler, type Scope } from "./scope.ts";
import { compileCurrentRows, compileWrittenRows } from "./step-rows.ts";

/** The origin of a level's rows, if the read itself does not determine the origin. */
export interface ReadOptions {
  readonly relatedRows?: RelatedRows;
  /** The name of the CTE whose written rows are read. */
  readonly writeName?: Sql;
  /** The columns of the CTE, if they differ from those of the relation. */
  readonly returnedColumns?: readonly string[];
  /** The outermost scope of predicates, for a nested level. */
  readonly root?: Scope;
  /** A complete FROM item with its scope, for rows that a computed field returns. */
  readonly from?: { readonly from: Sql; readonly scope: Scope };
  /** The planner level of the condition that the rows belong to. */
  readonly level?: PlannerLevel;
  /** True if an outer level groups by these rows, so that JSON values in the rows need an equality. @rule R-AGG-2 */
  readonly isCompared?: boolean;
  /** True if an outer level groups by the columns of these rows, and adds the JSON representations itself. @rule
   *  R-REP-2 */
  readonly isStored?: boolean;
  /** True if values whose domains have a JSON representation are returned as the text of that JSON. @rule R-REP-2 */
  readonly showsText?: boolean;
}

/** A FROM item, the scope of its row, and the condition that selects its rows. */
interface FromClause {
  readonly from: Sql;
  readonly scope: Scope;
  readonly on: Sql | undefined;
}

/** Compiles the FROM item of a relation, a call, a relationship or written rows. If `options` has `relatedRows` or `from`, that item replaces `source`. @throws Error for a read of written rows without a write */
export const compileFromClause = (compiler: Compiler, source: ReadFrom, options: ReadOptions): FromClause => {
  if (options.relatedRows !== undefined)
    return { from: options.relatedRows.from, scope: options.relatedRows.scope, on: options.relatedRows.on };
  if (options.from !== undefined) return { ...options.from, on: undefined };
  if ("relation" in source) {
    const relation = findAndRecordRelation(compiler, source.relation);
    const row = compiler.alias(source.relation.name);
    // The relation's own name is used if possible, so that database messages contain that name.
    const from =
      row === source.relation.name
        ? quoteQualifiedName(source.relation)
        : sql`${quoteQualifiedName(source.relation)} as ${quoteIdentifier(row)}`;
    return {
      from,
      scope: {
        row,
        relation,
        isStored: true,
        systemColumns: "all",
      },
      on: undefined,
    };
  }
  if ("call" in source) return { ...compileCallSource(compiler, source.call), on: undefined };
  const relation = findRelation(compiler.model, source.written);
  const row = compiler.alias(source.written.name);
  if (source.steps !== undefined) {
    const key = source.isCurrent === true ? (relation?.primaryKey ?? []) : [];
    const rows =
      key.length === 0
        ? compileWrittenRows(source.steps, source.written)
        : compileCurrentRows(source.steps, source.written, key);
    return {
      from: sql`${rows} as ${quoteIdentifier(row)}`,
      scope: { row, relation, isRecord: true },
      on: undefined,
    };
  }
  if (options.writeName === undefined) throw planInvalid("a read of written rows without a write");
  return {
    from: sql`${options.writeName} as ${quoteIdentifier(row)}`,
    scope: { row, relation, isRecord: true, systemColumns: options.returnedColumns },
    on: undefined,
  };
};
