/** `DELETE /album?id=eq.1` with `softDeleteColumn: "deleted_at"`: the row stays, and nobody sees it any more. */
import {
  columnOf,
  definePlugin,
  mapPlan,
  relationOf,
  relationshipOf,
  sql,
  Stage,
  type Delete,
  type Model,
  type Plan,
  type Predicate,
  type QualifiedName,
  type Relation,
  type Update,
} from "../../../core/index.ts";
import { softDeleteSettings } from "./settings.ts";

/** What a time may be kept as. */
const TIMES: ReadonlySet<string> = new Set(["timestamptz", "timestamp", "date"]);

/** Its own, so that a statement that is prepared knows no time. */
const NOW = "soft-delete-now";

type Filtered = { readonly where?: Predicate };

/** The plan with the rows hidden, and updates in place of deletes. */
const softly = (plan: Plan, model: Model, column: string): Plan => {
  const isThere: Predicate = {
    kind: "compare",
    left: { kind: "column", name: column },
    operator: "is",
    keyword: "null",
  };
  const isSoft = (relation: Relation | undefined): relation is Relation => {
    const found = relation && columnOf(relation, column);
    return found !== undefined && TIMES.has(model.types.get(found.type)?.name ?? "");
  };
  const left = <Node extends Filtered>(node: Node, relation: Relation | undefined): Node =>
    isSoft(relation)
      ? { ...node, where: node.where === undefined ? isThere : { kind: "and", of: [isThere, node.where] } }
      : node;
  const named = (name: QualifiedName | undefined): Relation | undefined => name && relationOf(model, name);
  const along = (relation: Relation | undefined, id: string): Relation | undefined =>
    named(relation && relationshipOf(relation, id)?.target);

  const hidden = mapPlan(plan, model, {
    // what was just written is answered
    read: (read, { relation }) => ("written" in read.from ? read : left(read, relation)),
    predicate: (predicate, { relation }) => {
      if (predicate.kind === "related") return left(predicate, along(relation, predicate.relationship));
      if (predicate.kind === "exists") return left(predicate, named(predicate.from));
      return predicate.kind === "computed-rows" ? left(predicate, named(predicate.target)) : predicate;
    },
    expression: (expression, { relation }) => {
      if (expression.kind === "related" || expression.kind === "related-aggregate")
        return left(expression, along(relation, expression.relationship));
      return expression.kind === "computed-aggregate" ? left(expression, named(expression.target)) : expression;
    },
    insert: (insert, { relation }) =>
      insert.onConflict === undefined || insert.onConflict.update.length === 0
        ? insert
        : { ...insert, onConflict: left(insert.onConflict, relation) },
    update: (update, { relation }) => left(update, relation),
    delete: (remove, { relation }) => left(remove, relation),
  });

  const marked = (remove: Delete): Update => ({
    kind: "update",
    relation: remove.from,
    ...(remove.where && { where: remove.where }),
    ...(remove.check && { check: remove.check }),
    ...(remove.returning && { returning: remove.returning }),
    assignments: [{ column, operator: "set", operand: { constant: null, apply: NOW } }],
  });
  if (hidden.kind === "delete") return isSoft(named(hidden.from)) ? marked(hidden) : hidden;
  if (hidden.kind !== "sequence") return hidden;
  const steps = hidden.steps.map((step) =>
    step.write.kind === "delete" && isSoft(named(step.write.from)) ? { ...step, write: marked(step.write) } : step,
  );
  return { ...hidden, steps };
};

/** Rows of a junction cannot be filtered on the way through it, so the ways through deleted ones are closed. */
const withoutSoftJunctions = (model: Model, column: string): Model => ({
  ...model,
  relations: new Map(
    [...model.relations].map(([key, relation]) => {
      const kept = relation.relationships.filter(({ junction }) => {
        const through = junction && relationOf(model, junction.relation);
        return through === undefined || columnOf(through, column) === undefined;
      });
      return [key, kept.length === relation.relationships.length ? relation : { ...relation, relationships: kept }];
    }),
  ),
});

/** Rows that are deleted stay, with the time. @rule P-DEL-1 … P-DEL-5 */
export const softDelete = definePlugin({
  name: "soft-delete",
  requires: ["comparison-operators", "set-operator"],
  stage: Stage.late, // the right to delete decides, and is asked before
  settings: softDeleteSettings,
  functions: [{ name: NOW, builtIn: ["now"], compile: () => sql`pg_catalog.now()` }],
  apply: (hooks, context) => {
    const { softDeleteColumn: column } = context.options;
    if (column === undefined) return;
    hooks.introspect.tapPromise("soft-delete", async (model) => withoutSoftJunctions(model, column));
    hooks.transformPlan.tap("soft-delete", (plan, { model }) => softly(plan, model, column));
  },
});
