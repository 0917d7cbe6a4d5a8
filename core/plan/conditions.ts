/** Builds conditions for plans: on a column, and on the rows of a relation wherever a plan uses these rows. */
import { findRelation, type Model, type Relation } from "../model/model.ts";
import type { Comparison, Expression, Plan, Predicate } from "./plan.ts";
import { isLookup, resolveLookup } from "./lookups.ts";
import { mapPlan, type PlanScope, type PlanPath } from "./walk.ts";

/** Compares a column by an operator's name with an operand or keyword: `buildColumnComparison("id", "eq", { operand })`. */
export const buildColumnComparison = (
  name: string,
  operator: string,
  right: Pick<Comparison, "operand" | "keyword">,
): Comparison => ({ kind: "compare", left: { kind: "column", name }, operator, ...right });

/** Returns the condition for the rows of the relation that the plan may use, or undefined for all rows. `path` is the
 *  path to the rows, or undefined if the read names the relation itself. The rule may throw to reject the plan. */
export type RowRule = (relation: Relation, path: PlanPath | undefined) => Predicate | undefined;

type FilteredNode = { readonly where?: Predicate };

/** Returns the plan without the rows that the rule excludes. The plan does not read, embed, aggregate, update, upsert
 *  or delete these rows, and uses them in no filter or order. Rows that the plan itself has written are still returned.
 *  @rule X-ROW-1 */
export const restrictRows = <P extends Plan>(plan: P, model: Model, rule: RowRule): P => {
  const addCondition = <Node extends object>(
    node: Node & FilteredNode,
    relation: Relation | undefined,
    path?: PlanPath,
  ): Node => {
    const condition = relation && rule(relation, path);
    if (condition === undefined) return node;
    return {
      ...node,
      where: node.where === undefined ? condition : { kind: "and", predicates: [condition, node.where] },
    };
  };
  /** Adds the condition to predicates and expressions that read rows of another relation. */
  const restrictLookup = <Node extends Predicate | Expression>(node: Node, { relation }: PlanScope): Node => {
    if (!isLookup(node)) return node;
    const { target, routine } = resolveLookup(node, relation);
    const path = relation && node.kind !== "exists" ? { from: relation, routine } : undefined;
    return addCondition(node, target && findRelation(model, target), path);
  };
  return mapPlan(plan, model, {
    read: (read, { relation, path }) => ("written" in read.from ? read : addCondition(read, relation, path)),
    predicate: restrictLookup,
    expression: restrictLookup,
    insert: (insert, { relation }) =>
      insert.onConflict === undefined || insert.onConflict.update.length === 0
        ? insert
        : { ...insert, onConflict: addCondition(insert.onConflict, relation) },
    update: (update, { relation }) => addCondition(update, relation),
    delete: (remove, { relation }) => addCondition(remove, relation),
  });
};
