/** The state that all parts of the planner share: the schema, the document, the variables, and the bound values of the
 *  current step. */
import type {
  FieldNode,
  FragmentDefinitionNode,
  DocumentNode,
  GraphQLField,
  GraphQLObjectType,
  OperationTypeNode,
  SelectionSetNode,
} from "graphql";
import type { BoundValue, Json, RequestLimits, Output, ValueRef } from "../../../core/index.ts";
import { coerceColumn, findInputFunction, isJson } from "../values/columns.ts";
import { boundValuesTooLarge, valueUnexpected, graphqlLimitExceeded } from "../errors.ts";
import { computeValue, mapSource, type Source, type ValueSource } from "../document/variables.ts";
import { describeInput, readLeaf, type InputContext, type LocatedInput } from "./input.ts";
import type { CustomPartWith, JoinTemplate, LoadTemplate } from "./function-field.ts";
import type { GqlPart } from "../plan-parts.ts";
import type { RoleSchema } from "../types/role-schema.ts";
import type { GqlValueType } from "../value-types.ts";

/** The counters of an operation during its planning. Unless stated otherwise, a counter holds the remaining budget. */
interface Budget {
  /** The number of fields planned so far. */
  fields: number;
  conditions: number;
  relatedConditions: number;
  introspectionLists: number;
  /** The number of additional levels of relationships in the current condition. */
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
const BOUND_LENGTH_FACTOR = 4;

export const getMaxBoundLength = ({ maxVariablesBytes }: RequestLimits): number =>
  maxVariablesBytes * BOUND_LENGTH_FACTOR;

/** Creates the budget that the limits allow one request. */
export const createBudget = (limits: RequestLimits): Budget => ({
  fields: 0,
  conditions: limits.maxFilters,
  relatedConditions: limits.maxRelatedConditions,
  introspectionLists: limits.maxIntrospectionLists,
  relationLevels: limits.maxRelationDepth,
  insertValues: limits.maxInsertValues,
  variableInsertValues: 0,
  writeStatements: limits.maxWriteStatements,
  boundLength: getMaxBoundLength(limits),
});

/** A field of a selection with all its occurrences. */
export interface SelectedField {
  /** The response name of the field. */
  readonly as: string;
  readonly name: string;
  readonly node: FieldNode;
  readonly field: GraphQLField<unknown, unknown>;
  readonly part: GqlPart | undefined;
  readonly path: string;
  /** The selection sets of all occurrences of the field. */
  readonly selections: readonly SelectionSetNode[];
}

/** The selection sets of a field or an operation, with the path of the field. */
export type SelectionSets = Pick<SelectedField, "selections" | "path">;

/** Plans a field with rows of a table. */
export type PlanJoin = (planner: Planner, selectedField: SelectedField, part: CustomPartWith<"join">) => JoinTemplate;

/** Plans the selection on rows. */
export type PlanRow = (planner: Planner, type: GraphQLObjectType, selections: SelectionSets) => readonly Output[];

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
  // The files of these functions import files that call them.
  readonly planJoin: PlanJoin;
  readonly planRow: PlanRow;
}

/** Returns a planner for the next statement, whose parameters are counted from 0. */
export const openStep = (planner: Planner): Planner => {
  const sources: ValueSource[] = [];
  planner.allSources.push(sources);
  return { ...planner, sources };
};

/** Counts writes against the limit before any of them is planned or run. @rule G-LIM-4 */
export const countWrites = ({ budget, schema: { options } }: Planner, count = 1): void => {
  budget.writeStatements -= count;
  if (budget.writeStatements < 0) throw graphqlLimitExceeded(options, "maxWriteStatements", "statements that write");
};

/** Adds the source of a value, and returns the index of its parameter. */
export const bind = (planner: Planner, source: ValueSource): number => planner.sources.push(source) - 1;

/** Coerces a value that does not affect the plan: now, to report errors, and again for other values of the
 *  variables. */
export const coerceLeaf = <Value>(
  planner: Planner,
  leaf: Source<Json>,
  coerce: (value: Json) => Value,
): { readonly value: Value; readonly source: Source<Value> } => {
  const source = mapSource(leaf, coerce);
  return { value: computeValue(source, planner.variables.boundValues), source };
};

/** Binds a value that does not affect the plan. */
export const bindLeaf = (
  planner: Planner,
  locatedInput: LocatedInput,
  isJsonPosition: boolean,
  coerce: (value: Json) => BoundValue,
): number => {
  const { value, source } = coerceLeaf(planner, readLeaf(planner, locatedInput, isJsonPosition), coerce);
  planner.budget.boundLength -= value?.length ?? 0;
  if (planner.budget.boundLength < 0) throw boundValuesTooLarge(getMaxBoundLength(planner.schema.options));
  return bind(planner, source);
};

/** Rejects a string literal for an enum. Strings in variables are allowed. @rule G-COE-7 */
export const rejectStringLiteral = (value: GqlValueType, { input, path }: LocatedInput): void => {
  const { enumTable } = value.element ?? value;
  if (
    enumTable === undefined ||
    input.kind !== "literal" ||
    ["EnumValue", "NullValue", "Variable", "ListValue"].includes(input.node.kind)
  )
    return;
  throw valueUnexpected("an enum value", value.scalar, describeInput(input), path);
};

export const isJsonValue = (value: GqlValueType): boolean =>
  isJson(value) || (value.element !== undefined && isJson(value.element));

/** Binds a value of a column's type. @rule G-OP-36 G-TYP-34 */
export const bindColumn = (planner: Planner, locatedInput: LocatedInput, value: GqlValueType): ValueRef => {
  const { path } = locatedInput;
  rejectStringLiteral(value, locatedInput);
  const param = bindLeaf(planner, locatedInput, isJsonValue(value), (json) => coerceColumn(value, json, path));
  return buildColumnRef(value, param);
};

/** Returns the reference to a bound column value: text cast to the type, or text that the type's input function
 *  reads. */
export const buildColumnRef = (value: GqlValueType, param: number): ValueRef => {
  const apply = findInputFunction(value);
  return apply === undefined ? { param, type: value.cast } : { param, type: "text", apply };
};
