/** `DELETE /album?id=eq.1` with `softDeleteColumn: "deleted_at"`: the row stays in the table but is hidden. */
import {
  findColumn,
  buildColumnComparison,
  definePlugin,
  RelApiError,
  mapPlan,
  findRelation,
  restrictRows,
  sql,
  Stage,
  type Delete,
  type Insert,
  type Model,
  type Plan,
  type PluginContext,
  type Predicate,
  type Program,
  type Read,
  type Relation,
  type Session,
  type Update,
} from "../../../core/index.ts";
import { softDeleteSettings } from "./settings.ts";

/** The types that the column may have. */
const TIMES: ReadonlySet<string> = new Set(["timestamptz", "timestamp", "date"]);

/** Returns whether the relation has the column, with one of these types. @rule P-DEL-1 */
const hasDeletionColumn = (model: Model, relation: Relation | undefined, column: string): boolean => {
  const deletionColumn = relation && findColumn(relation, column);
  return deletionColumn !== undefined && TIMES.has(model.types.get(deletionColumn.type)?.name ?? "");
};

/** The plan function for the current time, so that prepared statements contain no fixed time. */
const DELETION_TIME = "soft-delete-now";

/** Returns whether a condition on the row itself compares the column. */
const comparesColumn = (where: Predicate, column: string): boolean => {
  if (where.kind === "and" || where.kind === "or") return where.predicates.some((part) => comparesColumn(part, column));
  if (where.kind === "not") return comparesColumn(where.predicate, column);
  return where.kind === "compare" && where.left.kind === "column" && where.left.name === column;
};

/**
 * Hides deleted rows and turns deletes into updates. With `seesDeleted`, reads and updates that compare the column
 * reach deleted rows.
 */
const applySoftDelete = (plan: Plan, model: Model, column: string, seesDeleted: boolean): Plan => {
  const isNotDeleted = buildColumnComparison(column, "is", { keyword: "null" });
  const restrictedPlan = restrictRows(plan, model, (relation) =>
    hasDeletionColumn(model, relation, column) ? isNotDeleted : undefined,
  );
  const revealRows = <Node extends Read | Update>(node: Node): Node => {
    const [addedCondition, requestedCondition, ...otherConditions] =
      node.where?.kind === "and" ? node.where.predicates : [];
    return addedCondition === isNotDeleted &&
      requestedCondition !== undefined &&
      otherConditions.length === 0 &&
      comparesColumn(requestedCondition, column)
      ? { ...node, where: requestedCondition }
      : node;
  };
  const filteredPlan = seesDeleted
    ? mapPlan(restrictedPlan, model, { read: revealRows, update: revealRows })
    : restrictedPlan;

  const markDeleted = (remove: Delete): Update => ({
    kind: "update",
    relation: remove.from,
    ...(remove.where && { where: remove.where }),
    ...(remove.check && { check: remove.check }),
    ...(remove.returning && { returning: remove.returning }),
    assignments: [{ column, operator: "set", operand: { constant: null, apply: DELETION_TIME } }],
  });
  if (filteredPlan.kind === "delete")
    return hasDeletionColumn(model, findRelation(model, filteredPlan.from), column)
      ? markDeleted(filteredPlan)
      : filteredPlan;
  if (filteredPlan.kind !== "sequence") return filteredPlan;
  const steps = filteredPlan.steps.map((step) =>
    step.write.kind === "delete" && hasDeletionColumn(model, findRelation(model, step.write.from), column)
      ? { ...step, write: markDeleted(step.write) }
      : step,
  );
  return { ...filteredPlan, steps };
};

/** Returns whether the caller may read deleted rows. @rule P-DEL-6 */
const maySeeDeletedRows = ({ isAdmin, role }: Session, roles: readonly string[]): boolean =>
  (isAdmin && role === "admin") || roles.includes(role);

/** Removes relationships through junctions with deletable rows, because a relationship cannot filter its junction. */
const removeSoftJunctions = (model: Model, column: string): Model => ({
  ...model,
  relations: new Map(
    [...model.relations].map(([key, relation]) => {
      const relationships = relation.relationships.filter(
        ({ junction }) =>
          junction === undefined || !hasDeletionColumn(model, findRelation(model, junction.relation), column),
      );
      return [key, relationships.length === relation.relationships.length ? relation : { ...relation, relationships }];
    }),
  ),
});

const rowDeleted = (): RelApiError =>
  new RelApiError({
    code: "row-deleted",
    status: 409,
    message: "The row with this key is deleted",
    hint: "A caller who sees deleted rows can restore it.",
    path: "$",
  });

/** Reads the deleted row with the key of a PUT. */
const buildDeletedRead = ({ into, onlyKeys = [] }: Insert, column: string): Read => ({
  kind: "read",
  from: { relation: into },
  shape: "rows",
  output: [{ kind: "constant", as: "_", value: "" }],
  where: {
    kind: "and",
    predicates: [
      ...onlyKeys.map(({ column: name, value }) => buildColumnComparison(name, "eq", { operand: value })),
      { kind: "not", predicate: buildColumnComparison(column, "is", { keyword: "null" }) },
    ],
  },
});

/** Returns the insert of the program if the program is a PUT. */
const findPutInsert = ({ planned: plannedProgram }: Program): Insert | undefined =>
  plannedProgram?.plan.kind === "insert" && plannedProgram.plan.onlyKeys !== undefined
    ? plannedProgram.plan
    : undefined;

/** Reports a PUT of a deleted row, which writes nothing, just like a PUT whose key differs. @rule P-DEL-7 */
const reportDeletedPuts = (context: PluginContext, column: string): void => {
  context.wrap({
    execute: (next) => async (execution) => {
      try {
        return await next(execution);
      } catch (error) {
        const putRun = execution.programs.find(({ program }) => findPutInsert(program) !== undefined);
        const putInsert = putRun && findPutInsert(putRun.program);
        if (putInsert === undefined || !(error instanceof RelApiError) || error.code !== "put-key-mismatch")
          throw error;
        const model = context.model();
        if (!hasDeletionColumn(model, findRelation(model, putInsert.into), column)) throw error;
        // The check runs as the caller's database role, without the condition of this plugin and the permissions of the
        // metadata.
        const session: Session = { ...execution.session, role: "admin", isAdmin: true };
        const program = context.prepare({ plan: buildDeletedRead(putInsert, column), envelope: {} }, session, "rest");
        const { check: _, ...uncheckedExecution } = execution;
        const [row] = await next({
          ...uncheckedExecution,
          session,
          programs: [{ program, values: putRun?.values ?? [] }],
        }).catch(() => []);
        throw Number(row?.["page_total"] ?? 0) > 0 ? rowDeleted() : error;
      }
    },
  });
};

/** Keeps deleted rows, with the time of the deletion. @rule P-DEL-1 … P-DEL-7 */
export const softDelete = definePlugin({
  name: "soft-delete",
  requires: ["comparison-operators", "set-operator"],
  stage: Stage.late, // core checks the right to delete before this plugin changes the plan
  settings: softDeleteSettings,
  functions: [{ name: DELETION_TIME, builtIn: ["now"], compile: () => sql`pg_catalog.now()` }],
  apply: (hooks, context) => {
    const { softDeleteColumn: column } = context.options;
    if (column === undefined) return;
    reportDeletedPuts(context, column);
    hooks.introspect.tapPromise("soft-delete", async (model) => removeSoftJunctions(model, column));
    hooks.transformPlan.tap("soft-delete", (plan, { model, session, options }) =>
      applySoftDelete(plan, model, column, maySeeDeletedRows(session, options.softDeleteRoles)),
    );
  },
});
