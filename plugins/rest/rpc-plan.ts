/** Plans of function calls. */
import { isUtf8 } from "node:buffer";
import { arrayLiteral, relationOf, routinesOf, type BoundValue, type Call, type Envelope, type Read, type Routine, type RoutineArgument, type RoutineCall } from "../../core/index.ts";
import { resolveRead } from "./embed.ts";
import { createFuzzySet, THRESHOLD } from "./fuzzy.ts";
import { chooseMedia, headOf, type MediaChoice } from "./media-types.ts";
import { chooseRoutine, isCallable, type CallShape } from "./overload.ts";
import type { Payload } from "./payload.ts";
import { checkPreferences, effectiveMaxAffected } from "./prefer.ts";
import type { AppliedPreferences, ResolvedRead, RestRequest } from "./request.ts";
import { columnOfValue, maxAffectedOnSingle, routineNotFound } from "./rpc-errors.ts";
import { isWholeRow } from "./select.ts";
import { suggestRoutine } from "./routine-suggestions.ts";

/** Where a call's arguments come from. */
export type CallInput =
  /** a query string or a form: text, in order, names possibly repeated */
  | { readonly kind: "pairs"; readonly pairs: readonly (readonly [name: string, value: string])[] }
  /** a JSON body or the rows of a CSV body. `isEmpty`: the body had no byte at all */
  | { readonly kind: "payload"; readonly payload: Payload; readonly isJson: boolean; readonly isEmpty: boolean }
  | { readonly kind: "raw"; readonly type: "text" | "xml" | "bytea"; readonly body: Buffer };

export interface PlannedCall {
  readonly plan: Call;
  readonly routine: Routine;
  readonly envelope: Envelope;
  /** Values by index; the body's own place, where it is taken, is 0. */
  readonly values: readonly BoundValue[];
  /** The body is bound: as the JSON text of the arguments, or as the one argument itself. */
  readonly body: "arguments" | "argument" | undefined;
  readonly media: MediaChoice;
  readonly maxAffected: number | undefined;
  readonly applied: AppliedPreferences;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

/** `hasBody`: not HEAD. Checks in the order of R-PIPE-1 steps 10 and 10a. @throws RelApiError */
export const planCall = (request: RestRequest, input: CallInput, hasBody: boolean): PlannedCall => {
  const { model, schema, name, preferences } = request;
  const shape = callShape(request, input);
  const callable = routinesOf(model, { schema, name }).filter((routine) => isCallable(model, routine));
  const chosen = chooseRoutine(model, callable, shape);
  if (chosen === undefined) throw routineNotFound(schema, name, shape, suggest(request, callable, shape));
  const { routine, isRaw } = chosen;
  const body = isRaw ? "argument" : input.kind === "payload" && shape.names.length > 0 ? "arguments" : undefined;
  const values: BoundValue[] = body === undefined ? [] : [null];
  const call = isRaw ? rawCall(routine) : namedCall(routine, input, shape, values);
  const { plan, isWholeRow: isWhole, legacyNames } = planResult(request, routine, call, values);
  const relation = routine.returns.relation === undefined ? undefined : relationOf(model, routine.returns.relation);
  const media = chooseMedia(request, { relation, routine, isWholeRow: isWhole });
  checkPreferences(preferences);
  const maxAffected = effectiveMaxAffected(preferences);
  if (maxAffected !== undefined && !routine.returns.isSet) throw maxAffectedOnSingle();
  return {
    plan,
    routine,
    envelope: { ...(hasBody ? media.envelope : headOf(media)), count: preferences.count },
    values,
    body,
    media,
    maxAffected,
    applied: { "max-affected": maxAffected !== undefined },
    legacyNames,
  };
};

/** @rule R-RPC-2 R-RPC-3 R-RPC-6 */
const callShape = ({ query }: RestRequest, input: CallInput): CallShape => {
  if (input.kind === "raw") return { names: [], raw: input.type };
  if (input.kind === "pairs") return { names: [...new Set(input.pairs.map(([name]) => name))].sort() };
  const names = input.payload.isUninspected ? [...new Set(query.columns)].sort() : input.payload.keys;
  return input.isJson ? { names, raw: "json" } : { names };
};

/** Another overload by its parameters, another function by its name. @rule R-RPC-10 */
const suggest = ({ model, schema, name }: RestRequest, overloads: readonly Routine[], { names, raw }: CallShape): string | undefined => {
  if (raw !== undefined && raw !== "json") return undefined;
  if (overloads.length === 0) return suggestRoutine(model, schema, name);
  const lists = overloads.map((routine) => `(${routine.parameters.map((parameter) => parameter.name).sort().join(", ")})`);
  const list = createFuzzySet(lists).suggest(`(${names.join(", ")})`, THRESHOLD.argument);
  return list === undefined ? undefined : `${name}${list}`;
};

const nameOf = ({ schema, name }: Routine): { readonly schema: string; readonly name: string } => ({ schema, name });

/** The body is the argument. @rule R-RPC-6 */
const rawCall = (routine: Routine): RoutineCall => ({ routine: nameOf(routine), oid: routine.oid, arguments: [{ value: { param: 0, type: routine.parameters[0]?.sqlType } }] });

/** Arguments by name: text cast to the parameter's type, or read from the JSON text by the database. @rule R-RPC-3 R-RPC-4 R-RPC-5 */
const namedCall = (routine: Routine, input: CallInput, { names }: CallShape, values: BoundValue[]): RoutineCall => {
  const base = { routine: nameOf(routine), oid: routine.oid };
  if (names.length === 0) return { ...base, arguments: [] };
  if (input.kind === "payload") return { ...base, arguments: [], payload: { json: { param: 0 }, shape: input.payload.shape, names } };
  const pairs = input.kind === "pairs" ? input.pairs : [];
  const given = routine.parameters.filter((parameter) => names.includes(parameter.name));
  return {
    ...base,
    arguments: given.map((parameter): RoutineArgument => {
      const texts = pairs.filter(([name]) => name === parameter.name).map(([, text]) => text);
      const param = values.push(parameter.mode === "variadic" ? arrayLiteral(texts) : (texts.at(-1) ?? "")) - 1;
      return { name: parameter.name, value: { param, type: parameter.sqlType } };
    }),
  };
};

/** What the body is bound as. */
export const bodyValue = (input: CallInput, body: PlannedCall["body"]): BoundValue => {
  // bytes that are no text are the database's to refuse
  if (input.kind === "raw") return input.type === "bytea" || !isUtf8(input.body) ? input.body : input.body.toString("utf8");
  if (input.kind === "pairs") return null;
  return body === "argument" && input.isEmpty ? "" : input.payload.text;
};

interface PlannedResult {
  readonly plan: Call;
  readonly isWholeRow: boolean;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

/** What the function's result is read as. @rule R-RPC-11 R-RPC-12 */
const planResult = (request: RestRequest, routine: Routine, call: RoutineCall, values: BoundValue[]): PlannedResult => {
  const { rest, model, schema, query, range } = request;
  const { kind, isSet, relation: returned } = routine.returns;
  if (kind === "void") return { plan: { kind: "call", call, returns: "void" }, isWholeRow: true, legacyNames: [] };
  if (kind !== "composite") {
    refuseColumns(request);
    return { plan: { kind: "call", call, returns: isSet ? "values" : "value", result: valuesWindow(request, call, values) }, isWholeRow: isWholeRow(query.select), legacyNames: [] };
  }
  const relation = returned === undefined ? undefined : relationOf(model, returned);
  const resolved = resolveRead({
    rest,
    model,
    schema,
    query,
    from: { call },
    relation,
    name: relation?.name ?? routine.name,
    hasRootFilters: true,
    range,
    values,
  });
  return { plan: { kind: "call", call, returns: isSet ? "rows" : "row", result: resolved.read }, isWholeRow: resolved.isWholeRow, legacyNames: resolved.legacyNames };
};

/** Values have no columns to filter or sort by. @throws RelApiError 42703 */
const refuseColumns = ({ query, name }: RestRequest): void => {
  const filter = query.filters[0]?.part.field.name ?? query.orders[0]?.part[0]?.field.name;
  if (filter !== undefined) throw columnOfValue(name, filter);
};

/** The window of values; a single value may be taken away by it. @rule R-RPC-14 R-RNG-1 R-RNG-5 */
const valuesWindow = ({ range, rest }: RestRequest, call: RoutineCall, values: BoundValue[]): Read | undefined => {
  const cap = rest.context.options.dbMaxRows;
  if (range.limit === undefined && range.offset === 0n && cap === undefined) return undefined;
  const bind = (number: bigint): { readonly param: number } => ({ param: values.push(String(number)) - 1 });
  return {
    kind: "read",
    from: { call },
    shape: "rows",
    output: [{ kind: "value", as: "value", value: { kind: "column", name: "value" } }],
    limit: range.limit === undefined ? undefined : bind(range.limit),
    offset: range.offset === 0n ? undefined : bind(range.offset),
    cap,
  };
};
