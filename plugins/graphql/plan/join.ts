/** Plans fields of results of functions that have rows of a table: one statement reads the rows for all objects of a
 *  result. @rule X-GQL-13 */
import {
  getQualifiedName,
  createBatchProgram,
  type PluginContext,
  type Predicate,
  type Session,
} from "../../../core/index.ts";
import type { VariableValues } from "../document/variables.ts";
import type { GqlJoinedRead, GqlStep } from "../operations.ts";
import type { FindRead, JoinTemplate, StepTemplate } from "./function-field.ts";
import { getRowLimit, planListArguments } from "./list-arguments.ts";
import { collectLoads, fillLoads } from "./loaded-fields.ts";
import { bind, openStep, type PlanJoin } from "./planner.ts";
import { planRows } from "./row-selection.ts";
import { combinePredicates } from "./where.ts";
import { buildStep } from "./writes.ts";

/** Plans the read of the rows for one object. The values of the object come first, and then the list of all objects. */
export const planJoin: PlanJoin = (planner, selectedField, { join: { relation, columns, isToOne } }) => {
  const stepPlanner = openStep(planner);
  const keys = columns.map(([, name]): Predicate => {
    const column = relation.columns.find((candidate) => candidate.name === name);
    const type = column && planner.schema.model.types.get(column.type)?.sqlName;
    if (type === undefined) throw new TypeError(`table "${relation.name}" has no column "${name}"`);
    const operand = { param: bind(stepPlanner, { fixed: null }), type };
    return { kind: "compare", left: { kind: "column", name }, operator: "eq", operand };
  });
  bind(stepPlanner, { fixed: null });
  const list = planListArguments(stepPlanner, selectedField);
  const where = combinePredicates(list.where === undefined ? keys : [...keys, list.where]);
  const limit = isToOne ? {} : getRowLimit(stepPlanner);
  const read = planRows(
    stepPlanner,
    selectedField,
    { relation: getQualifiedName(relation) },
    { ...list, where, ...limit },
  );
  const step = buildStep(stepPlanner, read, selectedField.path, isToOne);
  const join = { ...step, members: columns.map(([member]) => member), loads: collectLoads(stepPlanner, [step]) };
  planner.joins.push(join);
  return join;
};

/** A read with its program. */
export interface PreparedJoin extends JoinTemplate, Pick<GqlStep, "program"> {}

/** Finds the program of a join. */
export const prepareJoin = (prepare: PluginContext["prepare"], join: JoinTemplate, session: Session): PreparedJoin => ({
  ...join,
  program: createBatchProgram(prepare(join.planned, session, "graphql"), join.members.length),
});

/** Fills the template of a join with the variables of a request. */
export const fillJoin = (
  { planned: plannedProgram, program, path, sources, loads }: PreparedJoin,
  variables: VariableValues,
  fill: (sources: StepTemplate["sources"]) => GqlStep["values"],
  findRead: FindRead,
): GqlJoinedRead => ({
  planned: plannedProgram,
  program,
  path,
  values: fill(sources),
  loads: loads.map((load) => fillLoads(load, variables, findRead)),
});
