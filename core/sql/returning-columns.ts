/** Finds the columns of the written rows that the result needs. RETURNING contains only these columns, so callers
 *  without SELECT on the others may write. */
import { findColumn, findRelationship, type Model, type Relation } from "../model/model.ts";
import { findSystemColumnType } from "../model/system-columns.ts";
import type { Read } from "../plan/plan.ts";
import { visitPlan, type PlanScope } from "../plan/walk.ts";

interface Level extends PlanScope {
  /** True if the rows belong to the read itself, not to an embed or a lookup. */
  readonly isOwn: boolean;
}

export interface NeededColumns {
  /** The needed columns, in the order of their first use. */
  readonly columns: ReadonlySet<string>;
  /** True if the result also needs every column of the relation. */
  readonly isWholeRow: boolean;
}

/** Finds the columns of the written rows that the read needs. @rule R-WRT-4 */
export const findNeededColumns = (relation: Relation, read: Read, model: Model): NeededColumns => {
  const names = new Set<string>();
  let isWholeRow = false;
  const addKeys = (id: string): void => {
    const relationship = findRelationship(relation, id);
    if (relationship === undefined || relationship.routine !== undefined) isWholeRow = true;
    else for (const [source] of [...relationship.columns, ...(relationship.junction?.source ?? [])]) names.add(source);
  };
  visitPlan<Level>(read, model, {
    extendScope: (rows, _node, outerScope) => ({ ...rows, isOwn: outerScope === undefined }),
    output: (output, { isOwn }) => {
      if (!isOwn) return;
      if (output.kind === "all") isWholeRow = true;
      else if (output.kind !== "embed") return;
      else if ("relationship" in output.via) addKeys(output.via.relationship);
      else isWholeRow = true;
    },
    expression: (expression, { isOwn }) => {
      if (!isOwn) return;
      if ("relationship" in expression) addKeys(expression.relationship);
      else if ("routine" in expression) isWholeRow = true;
      else if (expression.kind === "column") {
        const { name } = expression;
        // The compiler rejects an unknown name where the row is read.
        if (findColumn(relation, name) !== undefined || findSystemColumnType(relation, name) !== undefined)
          names.add(name);
      }
    },
    predicate: (predicate, { isOwn }) => {
      if (!isOwn) return;
      if ("relationship" in predicate) addKeys(predicate.relationship);
      // Conditions on other rows may name columns of this row, so the whole row is returned.
      else if (predicate.kind === "computed-rows" || ("isRoot" in predicate && predicate.isRoot)) isWholeRow = true;
      else if (predicate.kind === "written") for (const [column] of predicate.columns) names.add(column);
      else if (predicate.kind === "keys") for (const name of predicate.columns) names.add(name);
    },
  });
  return { columns: names, isWholeRow };
};
