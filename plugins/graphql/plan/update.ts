/** `update_T`, `update_T_by_pk`, `update_T_many`. @rule G-UPD-1a … G-UPD-9 */
import {
  type Assignment,
  type Column,
  type Predicate,
  type Relation,
  type Update,
  type ValueRef,
} from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import {
  itemPosition,
  positionOf,
  readList,
  readObject,
  type FieldInput,
  type Input,
  type InputPosition,
} from "./input.ts";
import { bindColumn, openStep, type Planner } from "./planner.ts";
import { eachArgument, type Selected } from "./selection.ts";
import { bindList } from "./comparison.ts";
import { allOf, narrowed, nameOf, planWhere } from "./where.ts";
import { planOneRow, planResponse, writeStep, type StepTemplate } from "./writes.ts";
import { gqlPart, type GqlPart } from "../parts.ts";

/** The parts of an update, collected from arguments or from an element of `updates`. */
interface Parts {
  readonly assignments: { readonly column: Column; readonly operator: string; readonly operand: ValueRef }[];
  where: Predicate | undefined;
}

const noParts = (): Parts => ({ assignments: [], where: undefined });

export const planUpdate = (planner: Planner, selected: Selected, relation: Relation): StepTemplate => {
  const parts = noParts();
  eachArgument(planner, selected, ({ part, input, place, path }) => takePart(planner, parts, part, input, place, path));
  const update = updateOf(planner, relation, parts, `${selected.path}.args`);
  const isOne = selected.part?.kind === "update-by-pk";
  return writeStep(planner, update, isOne ? planOneRow(planner, selected) : planResponse(planner, selected), "$");
};

/** One step per element, in order. @rule G-UPD-8 */
export const planUpdateMany = (planner: Planner, selected: Selected, relation: Relation): readonly StepTemplate[] => {
  const updates: { readonly planner: Planner; readonly update: Update }[] = [];
  eachArgument(planner, selected, ({ part, input, place, path }) => {
    if (part?.kind !== "argument" || part.name !== "updates") return;
    for (const item of readList(planner, input, place, path)) {
      const own = openStep(planner);
      const parts = noParts();
      readObject(own, item.input, itemPosition(place), item.path, (field) =>
        takePart(own, parts, gqlPart(field.field), field.input, positionOf(field.field), field.path),
      );
      updates.push({ planner: own, update: updateOf(own, relation, parts, item.path) });
    }
  });
  // checked also when there is nothing to update
  if (updates.length === 0) planResponse(planner, selected);
  return updates.map(({ planner: own, update }) => writeStep(own, update, planResponse(own, selected), "$"));
};

const takePart = (
  planner: Planner,
  parts: Parts,
  part: GqlPart | undefined,
  input: Input,
  place: InputPosition,
  path: string,
): void => {
  if (part?.kind === "update-operator") {
    const { operator } = part;
    readObject(planner, input, place, path, (given) => {
      const operand = planOperand(planner, given, operator.refusesNull === true);
      if (operand !== undefined) parts.assignments.push({ ...operand, operator: operator.name });
    });
  } else if (part?.kind === "argument" && part.name === "where") {
    parts.where = narrowed(planWhere(planner, input, place, path));
  } else if (part?.kind === "argument" && part.name === "pk_columns") {
    parts.where = planKeyObject(planner, input, place, path);
  }
};

/** @rule G-UPD-5 */
const planOperand = (
  planner: Planner,
  { field, input, path }: FieldInput,
  refusesNull: boolean,
): { readonly column: Column; readonly operand: ValueRef } | undefined => {
  const part = gqlPart(field);
  if (part?.kind !== "update-column") return undefined;
  const place = positionOf(field);
  // an operand that is itself a list (keys of a path), not a column's array
  if (refusesNull && part.value.element !== undefined) {
    return {
      column: part.column,
      operand: bindList(planner, input, place, { ...part.value.element, isNullable: false }, path),
    };
  }
  const value = refusesNull ? { ...part.value, isNullable: false } : part.value;
  return { column: part.column, operand: bindColumn(planner, input, place, value, path) };
};

const planKeyObject = (planner: Planner, input: Input, place: InputPosition, path: string): Predicate => {
  const parts: Predicate[] = [];
  readObject(planner, input, place, path, (given) => {
    const part = gqlPart(given.field);
    if (part?.kind !== "column") return;
    const operand = bindColumn(
      planner,
      given.input,
      positionOf(given.field),
      { ...part.value, isNullable: false },
      given.path,
    );
    parts.push({ kind: "compare", left: { kind: "column", name: part.column.name }, operator: "eq", operand });
  });
  return allOf(parts);
};

const updateOf = (planner: Planner, relation: Relation, parts: Parts, path: string): Update => {
  refuseDoubled(planner, relation, parts, path);
  const assignments = parts.assignments.map(({ column, operator, operand }): Assignment => ({
    column: column.name,
    operator,
    operand,
  }));
  return { kind: "update", relation: nameOf(relation), ...(parts.where && { where: parts.where }), assignments };
};

/** @rule G-UPD-4 */
const refuseDoubled = (planner: Planner, relation: Relation, { assignments }: Parts, path: string): void => {
  const isDoubled = (column: Column): boolean =>
    assignments.filter((assignment) => assignment.column.name === column.name).length > 1;
  const names = relation.columns
    .filter(isDoubled)
    .map((column) => `'${planner.schema.columnName(relation, column.name)}'`);
  if (names.length > 0) throw validationFailed(`Column found in multiple operators: [${names.join(", ")}].`, path);
};
