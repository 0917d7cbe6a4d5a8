/** Asynchronous actions: the mutation answers an id, the webhook is called in the background, and a field with the id
 *  has the result. @rule X-ACT-12 */
import {
  createProgram,
  isJsonObject,
  parseJson,
  RelApiError,
  requireService,
  sql,
  toStatement,
  value,
  writeJson,
  type Json,
  type PluginContext,
  type Session,
  type Sql,
} from "../../../core/index.ts";
import type { GqlFunctionRequest, GqlLiveField } from "../../graphql/api.ts";
import { eventsService } from "../api.ts";
import type { EventTrigger } from "../events/event-trigger.ts";
import { buildActionCall, buildSessionVariables, type CallAction } from "./call.ts";
import type { WebhookAction, WebhookActions } from "./metadata.ts";

/** The name of the events by which actions are delivered. No table has a trigger for them. */
const DELIVERY = "relapi/actions";

/** The time that the database has to store a result, after the webhook has answered. */
const MARGIN_SECONDS = 5;

const UNDEFINED_TABLE = "42P01";

interface StoredAction {
  readonly action_name: string;
  readonly input: string;
  readonly session_variables: string;
  readonly request_headers: Readonly<Record<string, string>> | null;
  readonly request_query: string;
  readonly created_at: string;
}

/** Builds the error in the form in which GraphQL answers it. */
const buildErrors = ({ message, code, facts }: RelApiError): Json => ({
  message,
  extensions: isJsonObject(facts["extensions"]) ? facts["extensions"] : { path: "$", code },
});

/** Returns the delivery of asynchronous actions. The list is empty without such actions. @rule X-ACT-12b */
export const buildDeliveries = (
  { query }: Pick<PluginContext, "query">,
  { actions, types }: WebhookActions,
  call: CallAction,
): readonly EventTrigger[] => {
  const asynchronous = new Map(actions.filter((one) => one.isAsynchronous).map((one) => [one.field.name, one]));
  if (asynchronous.size === 0) return [];
  const longestMs = Math.max(...[...asynchronous.values()].map(({ timeoutMs }) => timeoutMs));

  const finish = (id: string, output: string | null, errors: string | null): Promise<unknown> =>
    query(sql`
      update relapi.action_log
      set status = ${value(errors === null ? "completed" : "error")}, output = ${value(output, "json")},
        errors = ${value(errors, "json")}, request_headers = null, ended_at = pg_catalog.clock_timestamp()
      where id = ${value(id, "uuid")}`);

  const deliver: EventTrigger["deliver"] = async ({ newRow }, signal) => {
    const { id } = JSON.parse(newRow ?? "{}") as { readonly id: string }; // `startAction` writes it
    const [row] = await query<StoredAction>(sql`
      update relapi.action_log set status = 'processing'
      where id = ${value(id, "uuid")} and status in ('created', 'processing')
      returning action_name, input::text, session_variables::text, request_headers, request_query,
        pg_catalog.to_json(created_at) #>> '{}' as created_at`);
    if (row === undefined) return {};
    const action = asynchronous.get(row.action_name);
    if (action === undefined) return { error: `there is no asynchronous action "${row.action_name}"` };
    const payload = {
      id,
      created_at: row.created_at,
      input: parseJson(row.input),
      session_variables: parseJson(row.session_variables),
      request_query: row.request_query,
    };
    try {
      const output = await call(action, types, { payload, headers: row.request_headers ?? {}, signal });
      await finish(id, writeJson(output), null);
    } catch (error) {
      signal.throwIfAborted(); // the process ends, and another one calls the webhook
      if (!(error instanceof RelApiError)) throw error;
      await finish(id, null, writeJson(buildErrors(error)));
    }
    return {};
  };
  return [
    {
      name: DELIVERY,
      table: { schema: "relapi", name: "action_log" },
      operations: {},
      isOrdered: false,
      retry: { retryCount: 10, intervalSeconds: 10, timeoutSeconds: longestMs / 1000 + MARGIN_SECONDS },
      allowsManual: false,
      deliver,
    },
  ];
};

/** Stores a call of an action, and returns its id. @rule X-ACT-12 */
export const startAction = async (
  context: PluginContext,
  action: WebhookAction,
  request: GqlFunctionRequest,
): Promise<string> => {
  const { payload, headers } = buildActionCall(context, action, request);
  const insert = sql`
    with called as (
      insert into relapi.action_log (action_name, input, session_variables, request_headers, request_query)
      values (${value(action.field.name)}, ${value(writeJson(payload["input"] ?? {}), "json")},
        ${value(writeJson(payload["session_variables"] ?? {}), "json")},
        ${value(action.forwardsHeaders ? JSON.stringify(headers) : null, "json")}, ${value(request.document)})
      returning id
    ), made as (
      insert into relapi.event (trigger_name, schema_name, table_name, operation, new_row)
      select ${value(DELIVERY, "text")}, 'relapi', 'action_log', 'INSERT', pg_catalog.json_build_object('id', id) from called
      returning id, trigger_name, next_try_at
    )
    select called.id::text, relapi.add_event_job(made.id, trigger_name, next_try_at) from called, made`;
  const run = async (): Promise<string> => (await context.query<{ readonly id: string }>(insert))[0]?.id ?? "";
  try {
    return await run();
  } catch (error) {
    const isMissing = (error as { readonly code?: unknown }).code === UNDEFINED_TABLE; // errors of the driver have a code
    if (!isMissing || !context.options.eventsInstall) throw error;
    await requireService(context, eventsService).install(); // the start of the api has not come to it yet
    return run();
  }
};

const compileRead = (name: string, id: Json | undefined, session: Session): Sql => {
  // administrators see the calls of all sessions
  const variables = session.isAdmin && session.role === "admin" ? null : writeJson(buildSessionVariables(session));
  return sql`select relapi.read_action(${value(String(id), "uuid")}, ${value(name, "text")}, ${value(variables, "text")})::text as body`;
};

/** Returns the call with its result, or null if the caller's session has no such call. @rule X-ACT-12a */
export const findAction = async (
  { query }: Pick<PluginContext, "query">,
  { field }: WebhookAction,
  { arguments: { id }, session }: GqlFunctionRequest,
): Promise<Json> => {
  const [row] = await query<{ readonly body: string | null }>(compileRead(field.name, id, session));
  return parseJson(row?.body ?? "null");
};

/** Returns the live query of a call. @rule X-ACT-12c */
export const watchAction = (
  { field }: WebhookAction,
  { arguments: { id }, session }: Pick<GqlFunctionRequest, "arguments" | "session">,
): GqlLiveField => {
  const fragment = compileRead(field.name, id, session);
  const statement = { ...toStatement(fragment), columns: ["body"], fragment };
  return {
    program: createProgram([statement], { relations: new Set(["relapi.action_log"]), isOpenEnded: false }),
    read: parseJson,
    convertError: (error) => error,
  };
};
