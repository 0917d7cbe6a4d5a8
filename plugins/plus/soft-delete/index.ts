/** `DELETE /album?id=eq.1` with `softDeleteColumn: "deleted_at"`: the row stays, and nobody sees it any more. */
import {
  columnOf,
  compareColumn,
  definePlugin,
  relationOf,
  restrictRows,
  sql,
  Stage,
  type Delete,
  type Model,
  type Plan,
  type Relation,
  type Update,
} from "../../../core/index.ts";
import { softDeleteSettings } from "./settings.ts";

/** What a time may be kept as. */
const TIMES: ReadonlySet<string> = new Set(["timestamptz", "timestamp", "date"]);

/** Its own, so that a statement that is prepared knows no time. */
const NOW = "soft-delete-now";

/** The plan with the rows hidden, and updates in place of deletes. */
const softly = (plan: Plan, model: Model, column: string): Plan => {
  const isThere = compareColumn(column, "is", { keyword: "null" });
  const isSoft = (relation: Relation | undefined): boolean => {
    const found = relation && columnOf(relation, column);
    return found !== undefined && TIMES.has(model.types.get(found.type)?.name ?? "");
  };
  const hidden = restrictRows(plan, model, (relation) => (isSoft(relation) ? isThere : undefined));

  const marked = (remove: Delete): Update => ({
    kind: "update",
    relation: remove.from,
    ...(remove.where && { where: remove.where }),
    ...(remove.check && { check: remove.check }),
    ...(remove.returning && { returning: remove.returning }),
    assignments: [{ column, operator: "set", operand: { constant: null, apply: NOW } }],
  });
  if (hidden.kind === "delete") return isSoft(relationOf(model, hidden.from)) ? marked(hidden) : hidden;
  if (hidden.kind !== "sequence") return hidden;
  const steps = hidden.steps.map((step) =>
    step.write.kind === "delete" && isSoft(relationOf(model, step.write.from))
      ? { ...step, write: marked(step.write) }
      : step,
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
