/** Where the rows of a level come from. */
import { relationOf } from "../model/model.ts";
import type { ReadFrom } from "../plan/plan.ts";
import { compileCallSource } from "./call.ts";
import type { PlannerLevel } from "./exists.ts";
import { ident, sql, type Sql } from "./fragment.ts";
import type { RelatedRows } from "./related.ts";
import { badPlan, lookUp, noEmbeds, qualified, type Compiler, type Scope } from "./scope.ts";
import { currentRowsOfSteps, rowsOfSteps } from "./value.ts";

/** Where the rows come from, if the read itself does not determine it. */
export interface ReadOptions {
  /** Rows of the parent's relationship. */
  readonly related?: RelatedRows;
  /** Rows of a write: the name of its CTE. */
  readonly written?: Sql;
  /** Its columns, where they are not those of the relation. */
  readonly returned?: readonly string[];
  /** For a nested level: the outermost scope of predicates. */
  readonly root?: Scope;
  /** A ready FROM item with its scope (computed rows). */
  readonly from?: { readonly from: Sql; readonly scope: Scope };
  /** Of the condition that the rows are looked at for. */
  readonly level?: PlannerLevel;
  /** A level above groups by these rows: JSON values in them need an equality. @rule R-AGG-2 */
  readonly isCompared?: boolean;
  /** A level above groups by the columns of these rows, which it shows itself. @rule R-REP-2 */
  readonly isStored?: boolean;
  /** Values whose domains have a JSON representation come as the text of that JSON. @rule R-REP-2 */
  readonly showsText?: boolean;
}

/** A FROM item, the row it gives, and how its rows are chosen. */
export interface Level {
  readonly from: Sql;
  readonly scope: Scope;
  readonly on: Sql | undefined;
}

export const openLevel = (compiler: Compiler, source: ReadFrom, place: ReadOptions): Level => {
  if (place.related !== undefined)
    return { from: place.related.from, scope: place.related.scope, on: place.related.on };
  if (place.from !== undefined) return { ...place.from, on: undefined };
  if ("relation" in source) {
    const relation = lookUp(compiler, source.relation);
    const row = compiler.alias(source.relation.name);
    // the relation's own name if possible, so that database messages name the relation
    const from =
      row === source.relation.name ? qualified(source.relation) : sql`${qualified(source.relation)} as ${ident(row)}`;
    return {
      from,
      scope: {
        row,
        relation,
        isRecord: false,
        isStored: true,
        systemColumns: "all",
        root: undefined,
        embeds: noEmbeds,
      },
      on: undefined,
    };
  }
  if ("call" in source) return { ...compileCallSource(compiler, source.call), on: undefined };
  const relation = relationOf(compiler.model, source.written);
  const row = compiler.alias(source.written.name);
  if (source.steps !== undefined) {
    const key = source.isCurrent === true ? (relation?.primaryKey ?? []) : [];
    const rows =
      key.length === 0
        ? rowsOfSteps(source.steps, source.written)
        : currentRowsOfSteps(source.steps, source.written, key);
    return {
      from: sql`${rows} as ${ident(row)}`,
      scope: { row, relation, isRecord: true, root: undefined, embeds: noEmbeds },
      on: undefined,
    };
  }
  if (place.written === undefined) throw badPlan("a read of written rows without a write");
  return {
    from: sql`${place.written} as ${ident(row)}`,
    scope: { row, relation, isRecord: true, systemColumns: place.returned, root: undefined, embeds: noEmbeds },
    on: undefined,
  };
};
