/** Serves asynchronous actions. The mutation returns an id, the action is called in the background, and a field with
 *  that id returns the result. @rule X-ACT-12 */
import {
  createProgram,
  isJsonObject,
  parseJson,
  RelApiError,
  requireService,
  sql,
  compileSql,
  bindValue,
  writeJson,
  type Json,
  type Model,
  type PluginContext,
  type Session,
  type Sql,
} from "../../../core/index.ts";
import type { GqlField, GqlFunctionRequest, GqlLiveField, GqlScope } from "../../graphql/api.ts";
import { eventsService } from "../api.ts";
import { ACTION_DELIVERIES, type EventTrigger } from "../events/event-trigger.ts";
import { buildActionCall, buildSessionVariables, type ActionCall } from "./call.ts";
import { actionsNotInstalled } from "./errors.ts";

/** The prefix of the names of events that deliver actions. No table has a trigger for these events. */
const DELIVERY_PREFIX = "relapi/actions/";

/** The time that the database has to store a result, after the action has ended. */
const MARGIN_SECONDS = 5;

/** The SQLSTATEs of a database without the installation: the schema, the table or the function is missing. */
const MISSING_CODES: ReadonlySet<unknown> = new Set(["3F000", "42P01", "42883"]);

// Errors of the driver have the SQLSTATE as code.
const isNotInstalled = (error: unknown): boolean => MISSING_CODES.has((error as { readonly code?: unknown }).code);

/** A call as the database stores it. */
interface StoredCall {
  readonly id: string;
  /** The time in the format of JSON. */
  readonly createdAt: string;
  readonly input: Json;
  /** The session variables by their names in Hasura, with the role. */
  readonly sessionVariables: Json;
  /** The headers of the client that the webhook receives. */
  readonly headers: Readonly<Record<string, string>>;
  /** The document of the request. */
  readonly document: string;
}

/** An action that is called in the background. */
export interface BackgroundAction {
  readonly name: string;
  readonly timeoutMs: number;
  /** Returns the result as JSON text. @throws RelApiError for an error that is the result */
  call(storedCall: StoredCall, signal: AbortSignal): Promise<string>;
}

/** Builds an error in the format of GraphQL responses. */
const buildErrors = ({ message, code, facts }: RelApiError): Json => ({
  message,
  extensions: isJsonObject(facts["extensions"]) ? facts["extensions"] : { path: "$", code },
});

interface CallRow {
  readonly input: string;
  readonly session_variables: string;
  readonly request_headers: Readonly<Record<string, string>> | null;
  readonly request_query: string;
  readonly created_at: string;
}

/** Returns the event trigger that delivers the calls of an action. @rule X-ACT-12b X-ACT-12e */
export const buildDelivery = (
  { query }: Pick<PluginContext, "query">,
  { name, timeoutMs, call }: BackgroundAction,
): EventTrigger => {
  const finish = (id: string, output: string | null, errors: string | null): Promise<unknown> =>
    query(sql`
      update relapi.action_log
      set status = ${bindValue(errors === null ? "completed" : "error")}, output = ${bindValue(output, "json")},
        errors = ${bindValue(errors, "json")}, request_headers = null, ended_at = pg_catalog.clock_timestamp()
      where id = ${bindValue(id, "uuid")}`);

  const deliver: EventTrigger["deliver"] = async ({ newRow }, signal) => {
    const { id } = JSON.parse(newRow ?? "{}") as { readonly id: string }; // `startAction` wrote the row
    const [row] = await query<CallRow>(sql`
      update relapi.action_log set status = 'processing'
      where id = ${bindValue(id, "uuid")} and status in ('created', 'processing')
      returning input::text, session_variables::text, request_headers, request_query,
        pg_catalog.to_json(created_at) #>> '{}' as created_at`);
    if (row === undefined) return {};
    const storedCall: StoredCall = {
      id,
      createdAt: row.created_at,
      input: parseJson(row.input),
      sessionVariables: parseJson(row.session_variables),
      headers: row.request_headers ?? {},
      document: row.request_query,
    };
    try {
      await finish(id, await call(storedCall, signal), null);
    } catch (error) {
      signal.throwIfAborted(); // the process ends, and another one calls the action
      if (!(error instanceof RelApiError)) throw error;
      await finish(id, null, writeJson(buildErrors(error)));
    }
    return {};
  };
  return {
    name: `${DELIVERY_PREFIX}${name}`,
    table: { schema: "relapi", name: "action_log" },
    operations: {},
    isOrdered: false,
    retry: { retryCount: 10, intervalSeconds: 10, timeoutSeconds: timeoutMs / 1000 + MARGIN_SECONDS },
    allowsManual: false,
    deliver,
  };
};

/** Adds deliveries to the model, from which the plugin `events` takes them. The delivery of an earlier plugin stays. */
export const addDeliveries = (model: Model, deliveries: readonly EventTrigger[]): Model => {
  // Only this function writes the list.
  const earlier = (model.pluginFacts[ACTION_DELIVERIES] ?? []) as readonly EventTrigger[];
  const addedDeliveries = deliveries.filter(({ name }) => !earlier.some((delivery) => delivery.name === name));
  return { ...model, pluginFacts: { ...model.pluginFacts, [ACTION_DELIVERIES]: [...earlier, ...addedDeliveries] } };
};

/** Stores a call of an action, and returns its id. @rule X-ACT-12 */
const startAction = async (
  context: PluginContext,
  name: string,
  { payload, headers }: Pick<ActionCall, "payload" | "headers">,
  document: string,
): Promise<string> => {
  const storedHeaders = Object.keys(headers).length === 0 ? null : JSON.stringify(headers);
  const insert = sql`
    with stored_call as (
      insert into relapi.action_log (action_name, input, session_variables, request_headers, request_query)
      values (${bindValue(name)}, ${bindValue(writeJson(payload["input"] ?? {}), "json")},
        ${bindValue(writeJson(payload["session_variables"] ?? {}), "json")},
        ${bindValue(storedHeaders, "json")}, ${bindValue(document)})
      returning id
    ), inserted_event as (
      insert into relapi.event (trigger_name, schema_name, table_name, operation, new_row)
      select ${bindValue(`${DELIVERY_PREFIX}${name}`, "text")}, 'relapi', 'action_log', 'INSERT', pg_catalog.json_build_object('id', id) from stored_call
      returning id, trigger_name, next_try_at
    )
    select stored_call.id::text, relapi.add_event_job(inserted_event.id, trigger_name, next_try_at)
    from stored_call, inserted_event`;
  const run = async (): Promise<string> => (await context.query<{ readonly id: string }>(insert))[0]?.id ?? "";
  try {
    return await run();
  } catch (error) {
    if (!isNotInstalled(error)) throw error;
    if (!context.options.eventsInstall) throw actionsNotInstalled();
    await requireService(context, eventsService).install(); // the start of the api has not installed the tables yet
    return run();
  }
};

const compileRead = (name: string, id: Json | undefined, session: Session): Sql => {
  // Administrators see the calls of all sessions.
  const variables = session.isAdmin && session.role === "admin" ? null : writeJson(buildSessionVariables(session));
  return sql`select relapi.read_action(${bindValue(String(id), "uuid")}, ${bindValue(name, "text")}, ${bindValue(variables, "text")})::text as body`;
};

/** Returns the call with its result, or null if the caller's session has no such call. @rule X-ACT-12a */
const findAction = async (
  { query }: Pick<PluginContext, "query">,
  name: string,
  { arguments: { id }, session }: GqlFunctionRequest,
): Promise<Json> => {
  try {
    const [row] = await query<{ readonly body: string | null }>(compileRead(name, id, session));
    return parseJson(row?.body ?? "null");
  } catch (error) {
    if (isNotInstalled(error)) return null;
    throw error;
  }
};

/** Returns the live query of a call. @rule X-ACT-12c */
const watchAction = (
  name: string,
  { arguments: { id }, session }: Pick<GqlFunctionRequest, "arguments" | "session">,
): GqlLiveField => {
  const fragment = compileRead(name, id, session);
  const statement = { ...compileSql(fragment), columns: ["body"], fragment };
  return {
    program: createProgram([statement], { relations: new Set(["relapi.action_log"]), isOpenEnded: false }),
    read: parseJson,
    convertError: (error) => (isNotInstalled(error) ? actionsNotInstalled() : error),
  };
};

/** Returns the plan of an action's field in a root. `checkInput` rejects if the arguments are rejected.
 *  @rule X-ACT-12 X-ACT-16 */
export const buildBackgroundPlan = (
  context: PluginContext,
  name: string,
  forwardsHeaders: boolean,
  scope: GqlScope,
  checkInput?: (input: GqlFunctionRequest["arguments"]) => Promise<unknown>,
): GqlField["toPlan"] => ({
  kind: "custom",
  run: async (request) => {
    if (scope !== "mutation_root") return findAction(context, name, request);
    await checkInput?.(request.arguments);
    return startAction(context, name, buildActionCall(context, { forwardsHeaders }, request), request.document);
  },
  live: (request) => watchAction(name, request),
});
