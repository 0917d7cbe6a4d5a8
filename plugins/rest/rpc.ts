/** `POST /rpc/rename_vessel`, `GET /rpc/vessels_of?port=3`: calls functions. */
import {
  definePlugin,
  type Answer,
  type Ask,
  type Cache,
  type CacheSpec,
  type Execution,
  type ResultRow,
  type Routine,
  type SentValue,
} from "../../core/index.ts";
import type { AnswerParts } from "./answer/headers.ts";
import { answerRows } from "./answer/rows.ts";
import { maxAffectedExceeded, notSingular } from "./errors.ts";
import { onTarget, restOf, withMethods } from "./routes.ts";
import { bodyValue, planCall, type CallInput, type PlannedCall } from "./plan/call.ts";
import { planningOf, type PlanSource } from "./plan/planning.ts";
import type { RestRequest } from "./request.ts";
import { runPlanned } from "./run.ts";
import { rpcSettings } from "./settings.ts";
import { receiveForm } from "./syntax/form.ts";
import { bodyType, FORM, JSON_TYPE, plainValues, readPayload, receivePayload } from "./syntax/payload.ts";
import { windowValues } from "./syntax/range.ts";

const RAW_TYPES: ReadonlyMap<string, "text" | "xml" | "bytea"> = new Map([
  ["text/plain", "text"],
  ["text/xml", "xml"],
  ["application/octet-stream", "bytea"],
]);

const NOTHING = Buffer.from("{}");

/** Reads the arguments from the query or the body. @throws RelApiError `bad-body` @rule R-RPC-2 R-RPC-3 R-RPC-6 */
const readInput = async ({ rest, exchange, query, method }: RestRequest): Promise<CallInput> => {
  if (method !== "POST") return { shape: { kind: "query" } };
  const type = bodyType(exchange.header("content-type"));
  const hasColumns = query.columns !== undefined;
  if (type.name === FORM) return { shape: { kind: "form", pairs: await receiveForm(exchange, rest.context.options) } };
  const raw = RAW_TYPES.get(type.name);
  if (type.name !== JSON_TYPE && raw === undefined)
    return { shape: { kind: "payload", isJson: false }, payload: await receivePayload(rest, exchange, hasColumns) };
  const body = await exchange.body();
  if (raw !== undefined) return { shape: { kind: "raw", type: raw }, body };
  const isEmpty = body.length === 0;
  const payload = readPayload(rest, isEmpty && !hasColumns ? NOTHING : body, type, hasColumns);
  const mayBePlain = payload.shape === "object" && !payload.isUninspected && body.length <= MAX_PLAIN_BYTES;
  const values = mayBePlain && payload.keys.length > 0 ? plainValues(body.toString("utf8")) : undefined;
  return {
    shape: { kind: "payload", isJson: true, ...(values === undefined ? {} : { isPlain: true }) },
    payload,
    values,
    isEmpty,
  };
};

/** The size limit of plain bodies. Longer ones are sent unparsed. */
const MAX_PLAIN_BYTES = 16 * 1024;

type PlannedCalls = Cache<PlanSource, PlannedCall>;

/** The estimated size of a cached plan, without the names in the query, which the cache key contains too. */
const BYTES_PER_CALL = 4000;

const plannedCalls: CacheSpec<PlanSource, PlannedCall> = {
  name: "rest calls",
  make: (ask: Ask<PlanSource>) => planCall(planningOf(ask)),
  bytesOf: ({ values }) => BYTES_PER_CALL + values.length * 200,
};

const valuesOf = (
  { range }: RestRequest,
  { values, body, named, hasWindow }: PlannedCall,
  input: CallInput,
): readonly SentValue[] => [
  ...named.map((name) => input.values?.get(name) ?? null),
  ...(body === undefined ? values.slice(named.length) : [bodyValue(input, body), ...values.slice(1)]),
  ...(hasWindow ? windowValues(range) : []),
];

const nothing = (): void => undefined;

/** The handler of GET, HEAD and POST. @rule R-RPC-14 R-RPC-15 R-TX-2 */
const callRoutine = async (request: RestRequest, calls: PlannedCalls): Promise<Answer> => {
  const input = await readInput(request);
  const found = calls.get({ request, input: input.shape, payload: input.payload });
  return runPlanned(
    request,
    // not cached, because the key would contain the values of the form, which rarely repeat
    input.shape.kind === "form" ? { made: found.made, keep: nothing } : found,
    (made) => {
      const isReading = request.method !== "POST" || made.routine.volatility !== "volatile";
      return {
        access: isReading ? "read only" : "read write",
        values: valuesOf(request, made, input),
        isolation: routineIsolation(request, made.routine),
        settings: hoistedSettings(request, made.routine),
        check: checkOf(made),
        mayUseReplica: isReading,
      };
    },
    (made, row) => answerCall(request, made, row),
  );
};

const ISOLATION = "default_transaction_isolation";

/** @rule R-RPC-16 R-TX-3 */
const hoistedSettings = ({ rest }: RestRequest, { settings }: Routine): NonNullable<Execution["settings"]> => {
  const hoisted = rest.context.options.dbHoistedTxSettings;
  return settings.filter(([name]) => name !== ISOLATION && hoisted.includes(name));
};

const routineIsolation = ({ rest }: RestRequest, { settings }: Routine): string | undefined =>
  rest.context.options.dbHoistedTxSettings.includes(ISOLATION)
    ? settings.find(([name]) => name === ISOLATION)?.[1]
    : undefined;

/** The number of returned rows. A single value or row counts as one, even if a filter or the window removed it. */
const returnedRows = ({ routine }: PlannedCall, row: ResultRow | undefined): bigint =>
  routine.returns.isSet ? BigInt(row?.page_total ?? 0) : 1n;

/** Checks the rows before the transaction ends. @rule R-RPC-13 R-PRF-5 */
const checkOf = (found: PlannedCall): ((rows: readonly ResultRow[]) => void) | undefined => {
  const { media, maxAffected, routine, envelope } = found;
  const isSingular = media.isSingular && routine.returns.isSet;
  if (envelope.wrapper !== undefined || (!isSingular && maxAffected === undefined)) return undefined;
  return ([row]) => {
    const rows = Number(returnedRows(found, row));
    if (isSingular && rows !== 1) throw notSingular(rows);
    if (maxAffected !== undefined && rows > maxAffected) throw maxAffectedExceeded(rows);
  };
};

/** @rule R-RPC-14 R-CNT-4 */
const answerCall = (request: RestRequest, found: PlannedCall, row: ResultRow): AnswerParts => {
  const { plan, media, routine } = found;
  const { count } = request.preferences;
  const rows = returnedRows(found, row);
  const counts = count === "exact" || count === "estimated";
  const total = !counts ? undefined : routine.returns.isSet ? BigInt(row.total ?? row.page_total ?? 0) : rows;
  const parts = answerRows(request, media, row, rows, total);
  return plan.returns === "void" && parts.status !== 416 ? { status: 204, headers: parts.headers } : parts;
};

/** The methods of functions. */
export const restRpc = definePlugin({
  name: "rest-rpc",
  settings: rpcSettings,
  requires: ["rest"],
  apply: (hooks, context) => {
    const calls = context.caches.create(plannedCalls);
    const call = onTarget(restOf(context), (request) => callRoutine(request, calls));
    const handlers = ["POST", "GET", "HEAD"].map((method) => [method, call] as const);
    hooks.buildRestRoute.tap("rest-rpc", (route) =>
      route.target.kind === "routine" ? withMethods(route, handlers) : route,
    );
  },
});
