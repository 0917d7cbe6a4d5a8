/** Conditions for plans: on a column, and on the rows of relations wherever a plan uses them. */
import { relationOf, type Model, type Relation } from "../model/model.ts";
import type { Comparison, Expression, Plan, Predicate } from "./plan.ts";
import { isLookup, lookupOf, mapPlan, type PlanScope, type PlanWay } from "./walk.ts";

/** A column, an operator by name, and its operand or keyword: `compareColumn("id", "eq", { operand })`. */
export const compareColumn = (
  name: string,
  operator: string,
  right: Pick<Comparison, "operand" | "keyword">,
): Comparison => ({ kind: "compare", left: { kind: "column", name }, operator, ...right });

/** Which rows of the relation there are for the plan; undefined: all. `way`: where they come from, if not from the
 *  relation itself. It may throw to refuse the plan. */
export type RowRule = (relation: Relation, way: PlanWay | undefined) => Predicate | undefined;

type Filtered = { readonly where?: Predicate };

/** The plan without the rows that the rule takes away: not read, embedded, filtered or ordered by, aggregated, updated,
 *  deleted, or updated by an upsert. What the plan itself has written is returned all the same. @rule X-ROW-1 */
export const restrictRows = <P extends Plan>(plan: P, model: Model, rule: RowRule): P => {
  const within = <Node extends object>(node: Node & Filtered, relation: Relation | undefined, way?: PlanWay): Node => {
    const condition = relation && rule(relation, way);
    if (condition === undefined) return node;
    return { ...node, where: node.where === undefined ? condition : { kind: "and", of: [condition, node.where] } };
  };
  /** Predicates and values that look into rows of another relation. */
  const into = <Node extends Predicate | Expression>(node: Node, { relation }: PlanScope): Node => {
    if (!isLookup(node)) return node;
    const { target, routine } = lookupOf(node, relation);
    const way = relation && node.kind !== "exists" ? { from: relation, ...(routine && { routine }) } : undefined;
    return within(node, target && relationOf(model, target), way);
  };
  return mapPlan(plan, model, {
    read: (read, { relation, way }) => ("written" in read.from ? read : within(read, relation, way)),
    predicate: into,
    expression: into,
    insert: (insert, { relation }) =>
      insert.onConflict === undefined || insert.onConflict.update.length === 0
        ? insert
        : { ...insert, onConflict: within(insert.onConflict, relation) },
    update: (update, { relation }) => within(update, relation),
    delete: (remove, { relation }) => within(remove, relation),
  });
};
