/** `POST /rpc/rename_vessel`, `GET /rpc/vessels_of?port=3`: calls functions. */
import {
  definePlugin,
  type Answer,
  type Cache,
  type Exchange,
  type Execution,
  type ResultRow,
  type Routine,
  type SentValue,
} from "../../core/index.ts";
import type { AnswerParts } from "./answer/headers.ts";
import type { RestHandler } from "./api.ts";
import { buildRowsParts } from "./answer/rows.ts";
import { maxAffectedExceeded, resultNotSingular } from "./errors.ts";
import { requireRest, withMethods } from "./routes.ts";
import { buildBodyValue, planCall, type PlannedCall } from "./plan/call.ts";
import { namesColumns, createRequestCache } from "./plan/planning.ts";
import type { PreparedRequest, RequestInput, RequestSource, RestSurface, RestRequest } from "./request.ts";
import { runPrepared } from "./run.ts";
import { rpcSettings } from "./settings.ts";
import { receiveForm } from "./syntax/form.ts";
import { buildSource } from "./syntax/parse-request.ts";
import {
  parseBodyType,
  FORM,
  JSON_TYPE,
  parsePlainValues,
  readJson,
  deferBodyErrors,
  receivePayload,
  type ReceivedBody,
} from "./syntax/payload.ts";
import { buildWindowValues } from "./syntax/range.ts";

const RAW_TYPES: ReadonlyMap<string, "text" | "xml" | "bytea"> = new Map([
  ["text/plain", "text"],
  ["text/xml", "xml"],
  ["application/octet-stream", "bytea"],
]);

/** Returns the arguments of the query or the body. @rule R-RPC-2 R-RPC-3 R-RPC-6 */
const receiveInput = async (rest: RestSurface, exchange: Exchange): Promise<ReceivedBody<RequestInput>> => {
  if (exchange.method !== "POST") return () => ({ shape: { kind: "query" } });
  const type = parseBodyType(exchange.header("content-type"));
  if (type.name === FORM) {
    const pairs = await receiveForm(exchange, rest.context.options);
    return () => ({ shape: { kind: "form", pairs } });
  }
  const raw = RAW_TYPES.get(type.name);
  if (type.name !== JSON_TYPE && raw === undefined) {
    const read = await receivePayload(rest, exchange);
    return (hasColumns) => ({ shape: { kind: "payload", isJson: false }, payload: read(hasColumns) });
  }
  if (raw !== undefined) {
    const body = await exchange.body();
    return () => ({ shape: { kind: "raw", type: raw }, body });
  }
  const text = await exchange.text();
  return (hasColumns) => readInput(rest, text, hasColumns);
};

/** Returns the payload of a call. @throws RelApiError `bad-body` */
const readInput = (rest: RestSurface, text: string | undefined, hasColumns: boolean): RequestInput => {
  const isEmpty = text === "";
  const payload = readJson(rest, isEmpty && !hasColumns ? "{}" : text, hasColumns);
  const mayBePlain = payload.shape === "object" && !payload.isUninspected && payload.keys.length > 0;
  const values =
    mayBePlain && text !== undefined && text.length <= MAX_PLAIN_LENGTH ? parsePlainValues(text) : undefined;
  return {
    shape: { kind: "payload", isJson: true, ...(values === undefined ? {} : { isPlain: true }) },
    payload,
    values,
    isEmpty,
  };
};

/** The maximum length of plain bodies. Longer bodies are sent unparsed. */
const MAX_PLAIN_LENGTH = 16 * 1024;

const buildValues = (
  { range }: RestRequest,
  { values, bodyUse, plainArgumentNames, hasWindow }: PlannedCall,
  input: RequestInput,
): readonly SentValue[] => [
  ...plainArgumentNames.map((name) => input.values?.get(name) ?? null),
  ...(bodyUse === undefined
    ? values.slice(plainArgumentNames.length)
    : [buildBodyValue(input, bodyUse), ...values.slice(1)]),
  ...(hasWindow ? buildWindowValues(range) : []),
];

/** Handles GET, HEAD and POST. A function that is not volatile runs read-only and may use a replica, also with POST.
 *  @rule R-RPC-14 R-RPC-15 R-TX-2 */
const callRoutine = async (
  rest: RestSurface,
  exchange: Exchange,
  calls: Cache<RequestSource, PreparedRequest<PlannedCall>>,
): Promise<Answer> => {
  const source = buildSource(rest, exchange);
  const readBody = await deferBodyErrors(() => receiveInput(rest, exchange));
  return runPrepared(
    calls,
    { ...source, input: readBody },
    (request, plannedCall) => {
      const input = readBody(namesColumns(request));
      const isReadOnly = request.method !== "POST" || plannedCall.routine.volatility !== "volatile";
      return {
        access: isReadOnly ? "read only" : "read write",
        values: buildValues(request, plannedCall, input),
        isolation: findRoutineIsolation(request, plannedCall.routine),
        settings: findHoistedSettings(request, plannedCall.routine),
        check: createRowCheck(plannedCall),
        mayUseReplica: isReadOnly,
        skipsCache: input.shape.kind === "form", // the values of a form are part of the key
      };
    },
    answerCall,
  );
};

const ISOLATION = "default_transaction_isolation";

/** Returns the settings of a function that apply to the whole transaction. @rule R-RPC-16 R-TX-3 */
const findHoistedSettings = ({ rest }: RestRequest, { settings }: Routine): NonNullable<Execution["settings"]> => {
  const hoistedNames = rest.context.options.dbHoistedTxSettings;
  return settings.filter(([name]) => name !== ISOLATION && hoistedNames.includes(name));
};

const findRoutineIsolation = ({ rest }: RestRequest, { settings }: Routine): string | undefined =>
  rest.context.options.dbHoistedTxSettings.includes(ISOLATION)
    ? settings.find(([name]) => name === ISOLATION)?.[1]
    : undefined;

/** Returns the number of returned rows. A single value or row counts as one, even if a filter or the window removed
 *  it. */
const readReturnedCount = ({ routine }: PlannedCall, row: ResultRow | undefined): bigint =>
  routine.returns.isSet ? BigInt(row?.page_total ?? 0) : 1n;

/** Creates the check of the rows before the transaction ends. @rule R-RPC-13 R-PRF-5 */
const createRowCheck = (plannedCall: PlannedCall): ((rows: readonly ResultRow[]) => void) | undefined => {
  const { media, maxAffected, routine, envelope } = plannedCall;
  const isSingular = media.isSingular && routine.returns.isSet;
  if (envelope.wrapper !== undefined || (!isSingular && maxAffected === undefined)) return undefined;
  return ([row]) => {
    const rows = Number(readReturnedCount(plannedCall, row));
    if (isSingular && rows !== 1) throw resultNotSingular(rows);
    if (maxAffected !== undefined && rows > maxAffected) throw maxAffectedExceeded(rows);
  };
};

/** Returns the status and the headers of the answer to a call. @rule R-RPC-14 R-CNT-4 */
const answerCall = (request: RestRequest, plannedCall: PlannedCall, row: ResultRow): AnswerParts => {
  const { plan, media, routine } = plannedCall;
  const { count } = request.preferences;
  const rows = readReturnedCount(plannedCall, row);
  const counts = count === "exact" || count === "estimated";
  const total = !counts ? undefined : routine.returns.isSet ? BigInt(row.total ?? row.page_total ?? 0) : rows;
  const parts = buildRowsParts(request, media, row, rows, total);
  return plan.returns === "void" && parts.status !== 416 ? { status: 204, headers: parts.headers } : parts;
};

/** Serves calls of functions: `/rpc/<function>`. */
export const restRpc = definePlugin({
  name: "rest-rpc",
  settings: rpcSettings,
  requires: ["rest"],
  apply: (hooks, context) => {
    const rest = requireRest(context);
    const calls = createRequestCache(rest, "rest calls", planCall);
    const call: RestHandler = (exchange) => callRoutine(rest, exchange, calls);
    const handlers = ["POST", "GET", "HEAD"].map((method) => [method, call] as const);
    hooks.buildRestRoute.tap("rest-rpc", (route) =>
      route.target.kind === "routine" ? withMethods(route, handlers) : route,
    );
  },
});
