/** Plans updates with plugins' own arguments: one sequence with writes before and after the update. @rule X-GQL-10 */
import type { StepTemplate } from "./function-field.ts";
import {
  getQualifiedName,
  findRelation,
  type Assignment,
  type Predicate,
  type Relation,
  type Update,
} from "../../../core/index.ts";
import { getFieldPart, type GqlInput, type GqlInputField, type GqlWriting } from "../plan-parts.ts";
import { checkValues, countValue, readRelated } from "./insert-input.ts";
import { isNull, openVariable, readBoolean, visitInputItems, visitInputFields, type LocatedInput } from "./input.ts";
import { insertFirst, insertRelated, catchRejected, type InsertBuild } from "./nested-insert.ts";
import { bindColumn, countWrites, type Planner } from "./planner.ts";
import { createParts, rejectDuplicates, addPart, buildUpdate, type UpdateParts } from "./update-parts.ts";
import { combinePredicates, omitTrue, planWhere } from "./where.ts";
import { planSequenceStep, planWriteStep, type WriteResult } from "./writes.ts";

/** Plans an update with plugins' own arguments. `path` is the path of the arguments. */
export const planUpdateAdditions = (
  planner: Planner,
  relation: Relation,
  parts: UpdateParts,
  path: string,
): ((result: WriteResult) => StepTemplate) => {
  const build: InsertBuild = { planner, steps: [], pendingRequirements: [] };
  const { result: root, rejection } = catchRejected(() => addUpdate(build, relation, parts, undefined, path, "$"));
  const [step, ...otherSteps] = build.steps;
  if (step?.write.kind === "update" && step.write.locks !== true && otherSteps.length === 0) {
    const { write } = step;
    return (result) => planWriteStep(planner, write, result, "$");
  }
  const rootSteps = root === undefined ? [] : [root];
  return (result) =>
    planSequenceStep(planner, getQualifiedName(relation), build.steps, rootSteps, result, "$", rejection, true);
};

/** Adds the update and returns its step. `sourcePath` is the path of the update, for errors of the database. */
const addUpdate = (
  build: InsertBuild,
  relation: Relation,
  parts: UpdateParts,
  condition: Predicate | undefined,
  path: string,
  sourcePath: string,
): number => {
  const { planner, steps } = build;
  countWrites(planner);
  const update = buildUpdate(planner, relation, parts, path);
  const writing = createWriting(build, relation);
  const additions = parts.pluginArguments.flatMap(
    ({ part, locatedInput }) => part.writes(createInput(planner, locatedInput), writing) ?? [],
  );
  const pluginAssignments = new Map<string, Assignment>();
  for (const { assignments = [] } of additions)
    for (const assignment of assignments) pluginAssignments.set(assignment.column, assignment);
  const assignments = [...(update.assignments ?? []), ...pluginAssignments.values()];
  rejectDuplicates(planner, relation, assignments, path);
  const conditions = [condition, update.where].filter((predicate) => predicate !== undefined);
  const write: Update = {
    kind: "update",
    relation: update.relation,
    ...(conditions.length > 0 && { where: combinePredicates(conditions) }),
    assignments,
    ...(additions.length > 0 && { locks: true }),
  };
  const step = steps.length;
  const requires = additions
    .flatMap((addition) => addition.requires ?? [])
    .map((requirement) => ({ step, ...requirement }));
  steps.push({ write, path: sourcePath, ...(requires.length > 0 && { requires }) });
  for (const { addLaterSteps } of additions) addLaterSteps?.(step);
  return step;
};

const createWriting = (build: InsertBuild, relation: Relation): GqlWriting => {
  const { planner, steps } = build;
  return {
    schema: planner.schema,
    relation,
    addStep: (make) => {
      countWrites(planner);
      return steps.push(make(steps.length)) - 1;
    },
    planCondition: (gqlInput) => omitTrue(planWhere(planner, getLocatedInput(gqlInput))),
    bindValue: (gqlInput, type) => bindColumn(planner, getLocatedInput(gqlInput), { ...type, isNullable: false }),
    insert: (gqlInput, relationship, parent) => {
      const target = findRelation(planner.schema.model, relationship.target);
      if (target === undefined) throw new TypeError("a relationship leads to a relation of the model");
      const relatedInput = {
        relationship,
        target,
        ...readRelated(planner, getLocatedInput(gqlInput), relationship.isToOne),
      };
      if (relatedInput.rows.length === 0) return undefined;
      const at = `${gqlInput.path}.data`;
      if (parent === undefined) return insertFirst(build, relatedInput, at);
      insertRelated(build, relatedInput, { relation, step: parent, requires: [] }, at);
      return undefined;
    },
    update: (gqlInput, target, condition) => {
      const { path } = gqlInput;
      const parts = createParts();
      countValue(planner);
      visitInputFields(planner, getLocatedInput(gqlInput), (member) => {
        countValue(planner);
        addPart(planner, parts, member, getFieldPart(member.field));
      });
      return addUpdate(build, target, parts, condition, path, path);
    },
  };
};

/** The input with members that plugins do not see. */
interface InputWithSource extends GqlInputField {
  readonly locatedInput: LocatedInput;
}

// `createInput` makes every GqlInput.
const getLocatedInput = (input: GqlInput): LocatedInput => (input as InputWithSource).locatedInput;

/** Creates the input that a plugin receives. `name` is the name of a field. */
const createInput = (
  planner: Planner,
  locatedInput: LocatedInput,
  name = "",
  part?: GqlInputField["part"],
): GqlInputField => {
  const { path } = locatedInput;
  const gqlInput: InputWithSource = {
    locatedInput,
    name,
    part,
    path,
    get isNull() {
      return isNull(openVariable(planner, locatedInput));
    },
    fields: () => {
      const fields: GqlInputField[] = [];
      countValue(planner);
      visitInputFields(planner, locatedInput, (member) => {
        countValue(planner);
        fields.push(createInput(planner, member, member.field.name, getFieldPart(member.field)));
      });
      return fields;
    },
    items: () =>
      visitInputItems(planner, locatedInput, (count) => checkValues(planner, count)).map((item) =>
        createInput(planner, item),
      ),
    isTrue: () => readBoolean(planner, locatedInput),
  };
  return gqlInput;
};
