/** Reads the parts of an update from arguments, or from an element of `updates`. @rule G-UPD-1a … G-UPD-5 */
import {
  getQualifiedName,
  type Assignment,
  type Column,
  type Predicate,
  type Relation,
  type Update,
  type ValueRef,
} from "../../../core/index.ts";
import { validationFailed } from "../errors.ts";
import { getFieldPart, type GqlPart } from "../plan-parts.ts";
import { bindList } from "./comparison.ts";
import { visitInputFields, type FieldInput, type LocatedInput } from "./input.ts";
import { bindColumn, type Planner } from "./planner.ts";
import { planKeyColumn } from "./query.ts";
import { combinePredicates, omitTrue, planWhere } from "./where.ts";

/** A plugin's own argument. */
interface PluginArgument {
  readonly locatedInput: LocatedInput;
  readonly part: Extract<GqlPart, { readonly kind: "update-additions" }>;
}

export interface UpdateParts {
  readonly assignments: { readonly column: Column; readonly operator: string; readonly operand: ValueRef }[];
  readonly pluginArguments: PluginArgument[];
  where: Predicate | undefined;
}

export const createParts = (): UpdateParts => ({ assignments: [], pluginArguments: [], where: undefined });

/** Adds the part of an argument to the parts of an update. */
export const addPart = (
  planner: Planner,
  parts: UpdateParts,
  locatedInput: LocatedInput,
  part: GqlPart | undefined,
): void => {
  if (part?.kind === "update-operator") {
    const { operator } = part;
    visitInputFields(planner, locatedInput, (member) => {
      const operand = planOperand(planner, member, operator.rejectsNull === true);
      if (operand !== undefined) parts.assignments.push({ ...operand, operator: operator.name });
    });
  } else if (part?.kind === "argument" && part.name === "where") {
    parts.where = omitTrue(planWhere(planner, locatedInput));
  } else if (part?.kind === "argument" && part.name === "pk_columns") {
    parts.where = planKeyObject(planner, locatedInput);
  } else if (part?.kind === "update-additions") {
    parts.pluginArguments.push({ part, locatedInput });
  }
};

/** Plans the operand of an update operator. @rule G-UPD-5 */
const planOperand = (
  planner: Planner,
  member: FieldInput,
  rejectsNull: boolean,
): { readonly column: Column; readonly operand: ValueRef } | undefined => {
  const part = getFieldPart(member.field);
  if (part?.kind !== "update-column") return undefined;
  // Null is rejected for operands that are lists themselves (keys of a path), not for a column's array.
  if (rejectsNull && part.value.element !== undefined) {
    return {
      column: part.column,
      operand: bindList(planner, member, { ...part.value.element, isNullable: false }),
    };
  }
  const value = rejectsNull ? { ...part.value, isNullable: false } : part.value;
  return { column: part.column, operand: bindColumn(planner, member, value) };
};

const planKeyObject = (planner: Planner, locatedInput: LocatedInput): Predicate => {
  const parts: Predicate[] = [];
  visitInputFields(planner, locatedInput, (member) =>
    parts.push(...planKeyColumn(planner, member, getFieldPart(member.field))),
  );
  return combinePredicates(parts);
};

/** Builds the plan of an update from its parts. */
export const buildUpdate = (planner: Planner, relation: Relation, parts: UpdateParts, path: string): Update => {
  const assignments = parts.assignments.map(({ column, operator, operand }): Assignment => ({
    column: column.name,
    operator,
    operand,
  }));
  rejectDuplicates(planner, relation, assignments, path);
  return {
    kind: "update",
    relation: getQualifiedName(relation),
    ...(parts.where && { where: parts.where }),
    assignments,
  };
};

/** Rejects a column that two operators set. @rule G-UPD-4 */
export const rejectDuplicates = (
  planner: Planner,
  relation: Relation,
  assignments: readonly Assignment[],
  path: string,
): void => {
  const isDuplicate = ({ name }: Column): boolean => assignments.filter(({ column }) => column === name).length > 1;
  const names = relation.columns
    .filter(isDuplicate)
    .map((column) => `'${planner.schema.columnName(relation, column.name)}'`);
  if (names.length > 0) throw validationFailed(`Column found in multiple operators: [${names.join(", ")}].`, path);
};
