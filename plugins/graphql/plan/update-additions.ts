/** Plans updates with plugins' own arguments: one sequence with writes before and after the update. @rule X-GQL-10 */
import { relationOf, type Assignment, type Predicate, type Relation, type Update } from "../../../core/index.ts";
import { gqlPart, type GqlInput, type GqlInputField, type GqlWriting } from "../parts.ts";
import { checkValues, countValue, readRelated } from "./insert-input.ts";
import { isNull, itemPosition, open, positionOf, readBoolean, readList, readObject } from "./input.ts";
import { insertFirst, insertRelated, catchRefused, type InsertBuild } from "./nested-insert.ts";
import { bindColumn, countWrites, type Planner } from "./planner.ts";
import { noParts, rejectDuplicates, addPart, updateOf, type LocatedInput, type UpdateParts } from "./update-parts.ts";
import { allOf, nameOf, withoutTrue, planWhere } from "./where.ts";
import { sequenceStep, writeStep, type WriteAnswer, type StepTemplate } from "./writes.ts";

/** `path` is the path of the arguments. */
export const planUpdateAdditions = (
  planner: Planner,
  relation: Relation,
  parts: UpdateParts,
  path: string,
): ((answer: WriteAnswer) => StepTemplate) => {
  const build: InsertBuild = { planner, steps: [], pending: [] };
  const { made: root, refusal } = catchRefused(() => addUpdate(build, relation, parts, undefined, path, "$"));
  const [only, ...more] = build.steps;
  if (only?.write.kind === "update" && only.write.locks !== true && more.length === 0) {
    const { write } = only;
    return (answer) => writeStep(planner, write, answer, "$");
  }
  const rootSteps = root === undefined ? [] : [root];
  return (answer) => sequenceStep(planner, nameOf(relation), build.steps, rootSteps, answer, "$", refusal, true);
};

/** Adds the update and returns its step. `place` is the path of the update, for errors of the database. */
const addUpdate = (
  build: InsertBuild,
  relation: Relation,
  parts: UpdateParts,
  among: Predicate | undefined,
  path: string,
  place: string,
): number => {
  const { planner, steps } = build;
  countWrites(planner);
  const own = updateOf(planner, relation, parts, path);
  const writing = writingOf(build, relation);
  const further = parts.pluginArguments.flatMap(
    ({ part, ...given }) => part.writes(inputOf(planner, given), writing) ?? [],
  );
  const decided = new Map<string, Assignment>();
  for (const { assignments = [] } of further) for (const each of assignments) decided.set(each.column, each);
  const assignments = [...(own.assignments ?? []), ...decided.values()];
  rejectDuplicates(planner, relation, assignments, path);
  const conditions = [among, own.where].filter((one) => one !== undefined);
  const write: Update = {
    kind: "update",
    relation: own.relation,
    ...(conditions.length > 0 && { where: allOf(conditions) }),
    assignments,
    ...(further.length > 0 && { locks: true }),
  };
  const step = steps.length;
  const requires = further.flatMap((one) => one.requires ?? []).map((one) => ({ step, ...one }));
  steps.push({ write, path: place, ...(requires.length > 0 && { requires }) });
  for (const { after } of further) after?.(step);
  return step;
};

const writingOf = (build: InsertBuild, relation: Relation): GqlWriting => {
  const { planner, steps } = build;
  return {
    schema: planner.schema,
    relation,
    step: (make) => {
      countWrites(planner);
      return steps.push(make(steps.length)) - 1;
    },
    where: (given) => {
      const { input, place, path } = sourceOfInput(given);
      return withoutTrue(planWhere(planner, input, place, path));
    },
    value: (given, type) => {
      const { input, place, path } = sourceOfInput(given);
      return bindColumn(planner, input, place, { ...type, isNullable: false }, path);
    },
    insert: (given, along, parent) => {
      const target = relationOf(planner.schema.model, along.target);
      if (target === undefined) throw new TypeError("a relationship leads to a relation of the model");
      const found = { relationship: along, target, ...readRelated(planner, sourceOfInput(given), along.isToOne) };
      if (found.rows.length === 0) return undefined;
      const at = `${given.path}.data`;
      if (parent === undefined) return insertFirst(build, found, at);
      insertRelated(build, found, { relation, step: parent, requires: [] }, at);
      return undefined;
    },
    update: (given, target, among) => {
      const { input, place, path } = sourceOfInput(given);
      const parts = noParts();
      countValue(planner);
      readObject(planner, input, place, path, (field) => {
        countValue(planner);
        addPart(planner, parts, gqlPart(field.field), field.input, positionOf(field.field), field.path);
      });
      return addUpdate(build, target, parts, among, path, path);
    },
  };
};

/** The input with the members that plugins do not see. */
interface InputWithSource extends GqlInputField {
  readonly given: LocatedInput;
}

const sourceOfInput = (input: GqlInput): LocatedInput => (input as InputWithSource).given; // inputOf makes every GqlInput

/** `name` is the name of a field. */
const inputOf = (planner: Planner, given: LocatedInput, name = "", part?: GqlInputField["part"]): GqlInputField => {
  const { input, place, path } = given;
  const held: InputWithSource = {
    given,
    name,
    part,
    path,
    get isNull() {
      return isNull(open(planner, input, place, path));
    },
    fields: () => {
      const fields: GqlInputField[] = [];
      countValue(planner);
      readObject(planner, input, place, path, (each) => {
        countValue(planner);
        const of: LocatedInput = { input: each.input, place: positionOf(each.field), path: each.path };
        fields.push(inputOf(planner, of, each.field.name, gqlPart(each.field)));
      });
      return fields;
    },
    items: () =>
      readList(planner, input, place, path, (count) => checkValues(planner, count)).map((item) =>
        inputOf(planner, { ...item, place: itemPosition(place) }),
      ),
    isTrue: () => readBoolean(planner, input, place, path),
  };
  return held;
};
