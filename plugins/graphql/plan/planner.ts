/** The state that all parts of the planner share: the schema, the document, the variables, and the bound values of the
 *  current step. */
import type { FragmentDefinitionNode, DocumentNode, OperationTypeNode } from "graphql";
import {
  limitExceeded,
  type BoundValue,
  type Json,
  type Limits,
  type Output,
  type ValueRef,
} from "../../../core/index.ts";
import { coerceColumn, findInputFunction, isJson } from "../coerce/columns.ts";
import { unexpectedValue, tooMany } from "../errors.ts";
import type { ValueSource } from "../document/variables.ts";
import { describeInput, readLeaf, type Input, type InputContext, type InputPosition } from "./input.ts";
import type { CustomPartWith, JoinTemplate, LoadTemplate } from "./function-field.ts";
import type { SelectedField } from "./selected-field.ts";
import type { RoleSchema } from "../role-schema.ts";
import type { GqlValueType } from "../value-types.ts";

/** The counters of an operation during its planning. Unless stated otherwise, a counter holds the remaining budget. */
interface Budget {
  /** The number of fields planned so far. */
  fields: number;
  conditions: number;
  relatedConditions: number;
  introspectionLists: number;
  /** The number of further levels of relationships in the current condition. */
  relationLevels: number;
  /** The number of objects and their fields in inserts. */
  insertValues: number;
  /** The part of `insertValues` that is in lists of variables, whose length varies between requests. */
  variableInsertValues: number;
  writeStatements: number;
  /** The number of characters in bound values. */
  boundLength: number;
}

/** The maximum size of bound values, as a multiple of the limit on variables. A document may use a value in several
 *  positions, and binds a text of its own in each. */
export const BOUND_SHARE = 4;

export const createBudget = ({
  maxFilters,
  maxRelatedConditions,
  maxIntrospectionLists,
  maxRelationDepth,
  maxInsertValues,
  maxWriteStatements,
  maxVariablesBytes,
}: Limits): Budget => ({
  fields: 0,
  conditions: maxFilters,
  relatedConditions: maxRelatedConditions,
  introspectionLists: maxIntrospectionLists,
  relationLevels: maxRelationDepth,
  insertValues: maxInsertValues,
  variableInsertValues: 0,
  writeStatements: maxWriteStatements,
  boundLength: maxVariablesBytes * BOUND_SHARE,
});

/** Plans a field with rows of a table. */
export type PlanJoin = (planner: Planner, selected: SelectedField, part: CustomPartWith<"join">) => JoinTemplate;

export interface Planner extends InputContext {
  readonly schema: RoleSchema;
  readonly document: DocumentNode;
  readonly operation: OperationTypeNode;
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly budget: Budget;
  /** The values of the current step, by parameter. */
  readonly sources: ValueSource[];
  /** The values of all steps, including those that do not run. */
  readonly allSources: (readonly ValueSource[])[];
  /** Outputs that the results of plugins' functions replace. */
  readonly loads: Map<Output, LoadTemplate>;
  /** The reads of rows that belong to results of functions. */
  readonly joins: JoinTemplate[];
  readonly planJoin: PlanJoin;
}

/** Returns a planner for the next statement, whose parameters are counted from 0. */
export const openStep = (planner: Planner): Planner => {
  const sources: ValueSource[] = [];
  planner.allSources.push(sources);
  return { ...planner, sources };
};

/** Returns the error for bound values that exceed the limit. @rule G-LIM-2 */
export const tooMuchBound = ({ maxVariablesBytes }: Limits): Error =>
  limitExceeded("maxVariablesBytes", {
    code: "validation-failed",
    message: `the values of the operation are larger than ${maxVariablesBytes * BOUND_SHARE} bytes`,
    path: "$.variables",
  });

/** Counts writes against the limit before any of them is planned or run. @rule G-LIM-4 */
export const countWrites = ({ budget, schema: { options } }: Planner, count = 1): void => {
  budget.writeStatements -= count;
  if (budget.writeStatements < 0) throw tooMany(options, "maxWriteStatements", "statements that write");
};

export const bind = (planner: Planner, source: ValueSource): number => planner.sources.push(source) - 1;

/** Binds a value that does not affect the plan. The planner coerces it now to report errors, and again for other values
 *  of the variables. */
export const bindLeaf = (
  planner: Planner,
  input: Input,
  position: InputPosition,
  path: string,
  isJsonPosition: boolean,
  coerce: (value: Json) => BoundValue,
): number => {
  const leaf = readLeaf(planner, input, position, path, isJsonPosition);
  const currentValue = coerce(leaf.value);
  planner.budget.boundLength -= currentValue?.length ?? 0;
  if (planner.budget.boundLength < 0) throw tooMuchBound(planner.schema.options);
  const { recompute: recomputeValue } = leaf;
  return bind(
    planner,
    recomputeValue === undefined ? { fixed: currentValue } : { make: (variables) => coerce(recomputeValue(variables)) },
  );
};

/** Refuses a string literal for an enum. Strings in variables are allowed. @rule G-COE-7 */
export const rejectStringLiteral = (value: GqlValueType, input: Input, path: string): void => {
  const { enumTable } = value.element ?? value;
  if (
    enumTable === undefined ||
    input.kind !== "literal" ||
    ["EnumValue", "NullValue", "Variable", "ListValue"].includes(input.node.kind)
  )
    return;
  throw unexpectedValue("an enum value", value.scalar, describeInput(input), path);
};

export const isJsonValue = (value: GqlValueType): boolean =>
  isJson(value) || (value.element !== undefined && isJson(value.element));

/** Binds a value of a column's type. @rule G-OP-36 G-TYP-34 */
export const bindColumn = (
  planner: Planner,
  input: Input,
  position: InputPosition,
  value: GqlValueType,
  path: string,
): ValueRef => {
  rejectStringLiteral(value, input, path);
  const param = bindLeaf(planner, input, position, path, isJsonValue(value), (json) => coerceColumn(value, json, path));
  // for a variable, the most frequent case, later requests need not read the document
  if (input.kind === "literal" && input.node.kind === "Variable")
    planner.sources[param] = { variable: input.node.name.value, type: value, path };
  return buildColumnRef(value, param);
};

/** Returns the reference to a bound column value: text cast to the type, or text that the type's input function
 *  reads. */
export const buildColumnRef = (value: GqlValueType, param: number): ValueRef => {
  const apply = findInputFunction(value);
  return apply === undefined ? { param, type: value.cast } : { param, type: "text", apply };
};
