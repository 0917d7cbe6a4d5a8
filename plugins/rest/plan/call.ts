/** Plans of function calls. */
import { isUtf8 } from "node:buffer";
import {
  encodeArrayLiteral,
  findBaseType,
  columnUnknown,
  findRelation,
  findRoutines,
  type BoundValue,
  type SentValue,
  type Call,
  type Read,
  type Routine,
  type RoutineArgument,
  type RoutineCall,
  type RoutineParameter,
} from "../../../core/index.ts";
import { maxAffectedUnsupported, routineNotFound } from "../errors.ts";
import type { CallShape, LogicTree, ParsedQuery, PlannedRequest, RequestInput, ResolvedRead } from "../request.ts";
import { buildNestedHookName } from "../syntax/parameters.ts";
import { checkPreferences, findEffectiveMaxAffected } from "../syntax/prefer.ts";
import { removeWindow } from "../syntax/range.ts";
import { isWholeRow } from "../syntax/select.ts";
import { bind } from "./conditions.ts";
import { chooseMedia, buildHeadEnvelope } from "./media.ts";
import { chooseRoutine, isCallable, takesBodyAsArgument } from "./overload.ts";
import type { PlanInput } from "./planning.ts";
import { applyPreferences } from "./preferences.ts";
import { resolveRelationship } from "./relationship.ts";
import { resolveRead } from "./resolve-select.ts";

export interface PlannedCall extends PlannedRequest {
  readonly plan: Call;
  readonly routine: Routine;
  /** Values by index. The body, if used, is at index 0, and the values of the range come last. */
  readonly values: readonly BoundValue[];
  /** True if the result is limited by the window. */
  readonly hasWindow: boolean;
  /** The arguments of a plain body, whose values come first. */
  readonly plainArgumentNames: readonly string[];
  /** The way in which the body is bound: as the JSON text of all arguments, or as the only argument. */
  readonly bodyUse: "arguments" | "argument" | undefined;
  readonly maxAffected: number | undefined;
}

/** Plans a call. Checks are made in the order of R-PIPE-1 steps 10 and 10a. @throws RelApiError */
export const planCall = (planInput: PlanInput): PlannedCall => {
  const { model, schema, name, input, preferences } = planInput;
  const callable = findRoutines(model, { schema, name }).filter((routine) => isCallable(model, routine));
  const ownInput = separatePluginParameters(planInput, callable);
  const shape = buildCallShape(ownInput);
  const chosenRoutine = chooseRoutine(model, callable, shape);
  if (chosenRoutine === undefined) {
    if (ownInput.rest.findHints() !== undefined && input.kind === "query" && callable.some(takesBodyAsArgument))
      throw routineNotFound(schema, name, shape, undefined, BODY_HINT);
    throw routineNotFound(schema, name, shape, suggestRoutine(ownInput, callable, shape));
  }
  const { routine, takesBody: isRaw } = chosenRoutine;
  const plainParameters = isRaw ? [] : findPlainParameters(ownInput, routine, shape);
  const isText = input.kind === "payload" && shape.names.length > 0 && plainParameters.length === 0;
  const body = isRaw ? "argument" : isText ? "arguments" : undefined;
  const values: BoundValue[] = body === undefined ? plainParameters.map(() => null) : [null];
  const call = isRaw ? buildRawCall(routine) : buildNamedCall(ownInput, routine, shape, values, plainParameters);
  const { plan: callPlan, isWholeRow: isWhole, legacyNames } = planResult(ownInput, routine, call, values);
  const hasWindow = callPlan.result !== undefined;
  const relation = routine.returns.relation === undefined ? undefined : findRelation(model, routine.returns.relation);
  const media = chooseMedia(ownInput, { relation, routine, isWholeRow: isWhole });
  checkPreferences(preferences);
  const maxAffected = findEffectiveMaxAffected(preferences);
  if (maxAffected !== undefined && !routine.returns.isSet) throw maxAffectedUnsupported();
  const { plan, appliedPreferences } = applyPreferences(ownInput, callPlan);
  return {
    plan,
    routine,
    envelope: { ...(ownInput.method === "HEAD" ? buildHeadEnvelope(media) : media.envelope), count: preferences.count },
    values: hasWindow ? removeWindow(values, ownInput.window) : values,
    hasWindow,
    plainArgumentNames: plainParameters.map(({ name }) => name),
    bodyUse: body,
    media,
    maxAffected,
    appliedPreferences: { ...appliedPreferences, "max-affected": maxAffected !== undefined },
    legacyNames,
  };
};

const BODY_HINT = "The function takes its argument as the body of a POST request";

/** Separates parameters of plugins from arguments. A parameter that the function declares is an argument. @rule
 *  X-PAR-1 */
const separatePluginParameters = (planInput: PlanInput, callable: readonly Routine[]): PlanInput => {
  const { query, rest } = planInput;
  const isOfPlugin = ([name]: readonly [string, string]): boolean =>
    rest.grammar.isPluginParameter(buildNestedHookName(name)) &&
    !callable.some(({ parameters }) => parameters.some((parameter) => parameter.name === name));
  const pluginPairs = query.argumentPairs.filter(isOfPlugin);
  if (pluginPairs.length === 0) return planInput;
  const routineQuery: ParsedQuery = {
    ...query,
    argumentPairs: query.argumentPairs.filter((pair) => !isOfPlugin(pair)),
    pluginParameters: [
      ...query.pluginParameters,
      ...pluginPairs.map(([name, text]) => ({ path: [], part: { hook: buildNestedHookName(name), name, text } })),
    ],
  };
  // Getters of the prototype compute the other members.
  return Object.create(planInput, { query: { value: routineQuery } }) as PlanInput;
};

/** Returns the arguments as strings. */
const findArgumentPairs = ({ input, query }: PlanInput): readonly (readonly [name: string, value: string])[] =>
  input.kind === "form" ? input.pairs : query.argumentPairs;

/** Builds the shape of a call, which chooses the overload. @rule R-RPC-2 R-RPC-3 R-RPC-6 */
const buildCallShape = (planInput: PlanInput): CallShape => {
  const { input, payload, query } = planInput;
  if (input.kind === "raw") return { names: [], bodyType: input.type };
  if (input.kind !== "payload")
    return { names: [...new Set(findArgumentPairs(planInput).map(([name]) => name))].sort() };
  const names = payload === undefined ? [] : payload.isUninspected ? [...new Set(query.columns)].sort() : payload.keys;
  return input.isJson ? { names, bodyType: "json" } : { names };
};

/** Suggests another overload by its parameters, or another function by its name. @rule R-RPC-10 */
const suggestRoutine = (
  { rest, model, schema, name }: PlanInput,
  overloads: readonly Routine[],
  { names, bodyType }: CallShape,
): string | undefined => {
  if (bodyType !== undefined && bodyType !== "json") return undefined;
  const suggestions = rest.findSuggestions();
  if (overloads.length === 0) return suggestions?.routine(model, schema, name);
  const list = suggestions?.overload(overloads, names);
  return list === undefined ? undefined : `${name}${list}`;
};

const buildQualifiedName = ({ schema, name }: Routine): { readonly schema: string; readonly name: string } => ({
  schema,
  name,
});

/** Returns a call whose argument is the body. @rule R-RPC-6 */
const buildRawCall = (routine: Routine): RoutineCall => ({
  routine: buildQualifiedName(routine),
  oid: routine.oid,
  arguments: [{ value: { param: 0, type: routine.parameters[0]?.sqlType } }],
});

/** Returns parameters whose arguments are bound one by one although they come in a JSON body, because PostgreSQL plans
 *  better with known values. Values other than arrays, rows and JSON have the same text in both forms. @rule X-PLN-8 */
const findPlainParameters = (
  { model, input }: PlanInput,
  { parameters }: Routine,
  { names }: CallShape,
): readonly RoutineParameter[] => {
  if (input.kind !== "payload" || input.isPlain !== true) return [];
  const namedParameters = parameters.filter(({ name }) => names.includes(name));
  const isPlain = ({ type, mode }: RoutineParameter): boolean => {
    const { kind = "pseudo", name = "" } = findBaseType(model, type) ?? {};
    return mode !== "variadic" && PLAIN_KINDS.has(kind) && !JSON_TYPES.has(name);
  };
  return namedParameters.every(isPlain) && parameters.every(({ mode }) => mode !== "variadic") ? namedParameters : [];
};

const PLAIN_KINDS: ReadonlySet<string> = new Set(["base", "enum", "range", "multirange"]);
const JSON_TYPES: ReadonlySet<string> = new Set(["json", "jsonb"]);

/**
 * Returns a call with named arguments: text cast to the parameter's type, or values that the database reads from JSON
 * text. @rule R-RPC-3 R-RPC-4 R-RPC-5
 */
const buildNamedCall = (
  planInput: PlanInput,
  routine: Routine,
  { names }: CallShape,
  values: BoundValue[],
  plainParameters: readonly RoutineParameter[],
): RoutineCall => {
  const { payload } = planInput;
  const base = { routine: buildQualifiedName(routine), oid: routine.oid };
  if (names.length === 0) return { ...base, arguments: [] };
  if (plainParameters.length > 0)
    return {
      ...base,
      arguments: plainParameters.map(({ name, sqlType: type }, param) => ({ name, value: { param, type } })),
    };
  if (payload !== undefined)
    return { ...base, arguments: [], payload: { json: { param: 0 }, shape: payload.shape, names } };
  const pairs = findArgumentPairs(planInput);
  const namedParameters = routine.parameters.filter((parameter) => names.includes(parameter.name));
  return {
    ...base,
    arguments: namedParameters.map((parameter): RoutineArgument => {
      const argumentTexts = pairs.filter(([name]) => name === parameter.name).map(([, text]) => text);
      const param =
        values.push(parameter.mode === "variadic" ? encodeArrayLiteral(argumentTexts) : (argumentTexts.at(-1) ?? "")) -
        1;
      return { name: parameter.name, value: { param, type: parameter.sqlType } };
    }),
  };
};

/** Returns the value that binds the body. */
export const buildBodyValue = (input: RequestInput, body: PlannedCall["bodyUse"]): SentValue => {
  // The database rejects bytes that are not text.
  const { shape, payload, isEmpty } = input;
  if (input.body !== undefined)
    return (shape.kind === "raw" && shape.type === "bytea") || !isUtf8(input.body)
      ? input.body
      : input.body.toString("utf8");
  if (payload === undefined) return null;
  return body === "argument" && isEmpty === true ? "" : payload.text;
};

interface PlannedResult {
  readonly plan: Call;
  readonly isWholeRow: boolean;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

/** Plans how the result of the function is read. @rule R-RPC-11 R-RPC-12 */
const planResult = (planInput: PlanInput, routine: Routine, call: RoutineCall, values: BoundValue[]): PlannedResult => {
  const { rest, model, schema, query, window } = planInput;
  const { kind, isSet, relation: returnedRelation } = routine.returns;
  if (kind !== "composite") rejectNames(planInput, kind === "void");
  if (kind === "void") return { plan: { kind: "call", call, returns: "void" }, isWholeRow: true, legacyNames: [] };
  if (kind !== "composite") {
    return {
      plan: {
        kind: "call",
        call,
        returns: isSet ? "values" : "value",
        result: planValuesWindow(planInput, call, values),
      },
      isWholeRow: isWholeRow(query.select),
      legacyNames: [],
    };
  }
  const relation = returnedRelation === undefined ? undefined : findRelation(model, returnedRelation);
  const type = findBaseType(model, routine.returns.type);
  const name = type?.name ?? routine.name;
  const selectsAll = query.select?.some(({ kind: item }) => item === "all") ?? true;
  const resolvedRead = resolveRead({
    rest,
    model,
    schema,
    query,
    from: { call },
    relation,
    columns: relation === undefined ? routine.returns.columns.map((column) => column.name) : undefined,
    rowType: type?.kind === "composite" ? type.oid : undefined,
    name,
    rowName: selectsAll ? undefined : CALLED_ROW, // selected columns are read directly from the call
    hasRootFilters: true,
    window,
    values,
  });
  return {
    plan: { kind: "call", call, returns: isSet ? "rows" : "row", result: resolvedRead.read },
    isWholeRow: resolvedRead.isWholeRow,
    legacyNames: resolvedRead.legacyNames,
  };
};

/** The name of a call's row in messages, and of the column of values. @rule R-NAM-1 R-MED-2 */
const CALLED_ROW = "pgrst_call";
const VALUE_COLUMN = "pgrst_scalar";

/**
 * Rejects names, because values have neither columns nor relationships. @throws RelApiError `relationship-not-found`,
 * 42703 @rule R-RPC-17
 */
const rejectNames = ({ rest, model, schema, name, query }: PlanInput, isVoid: boolean): void => {
  const { filters, orders, logic, select } = query;
  const embed = select?.find((item) => item.kind === "embed");
  if (embed !== undefined) resolveRelationship({ rest, model, schema, source: undefined, sourceName: name }, embed);
  const field = select?.find((item) => item.kind === "field" && item.field.name !== VALUE_COLUMN);
  const selectedName = field?.kind === "field" ? field.field.name : undefined;
  const columnName =
    filters[0]?.part.field.name ?? orders[0]?.part[0]?.field.name ?? findFirstName(logic[0]?.part) ?? selectedName;
  if (columnName !== undefined && !isVoid) throw columnUnknown(name, columnName);
};

const findFirstName = (tree: LogicTree | undefined): string | undefined => {
  if (tree === undefined) return undefined;
  return tree.kind === "condition" ? tree.condition.field.name : findFirstName(tree.members[0]);
};

/** Applies the window to values. The window may also remove a single value. @rule R-RPC-14 R-RNG-1 R-RNG-5 */
const planValuesWindow = ({ window, rest }: PlanInput, call: RoutineCall, values: BoundValue[]): Read | undefined => {
  const cap = rest.context.options.dbMaxRows;
  const { hasLimit, hasOffset } = window;
  if (!hasLimit && !hasOffset && cap === undefined) return undefined;
  return {
    kind: "read",
    from: { call },
    shape: "rows",
    output: [{ kind: "value", as: "value", value: { kind: "column", name: "value" } }],
    limit: hasLimit ? bind(values, null) : undefined,
    offset: hasOffset ? bind(values, null) : undefined,
    cap,
  };
};
