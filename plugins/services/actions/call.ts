/** Calls the webhook of an action. @rule X-ACT-3 … X-ACT-7 */
import {
  isJsonObject,
  RelApiError,
  writeJson,
  type Json,
  type JsonObject,
  type OpenExchange,
  type PluginContext,
  type Session,
} from "../../../core/index.ts";
import { graphqlService, type GqlFunctionRequest } from "../../graphql/api.ts";
import { webhookService, type WebhookResponse } from "../api.ts";
import { buildForwardedHeaders } from "../webhook/forwarded-headers.ts";
import { TemplateError } from "../webhook/kriti.ts";
import type { ProblemLog } from "../webhook/problem-log.ts";
import { renameSessionVariables } from "../webhook/session-variables.ts";
import type { CustomTypes } from "./definitions.ts";
import {
  actionAnswerNotJson,
  actionCallFailed,
  actionRejected,
  actionRequestTransformFailed,
  actionResponseTransformFailed,
  actionResultInvalid,
  actionStatusInvalid,
} from "./errors.ts";
import type { WebhookAction } from "./metadata.ts";
import { findResultProblem } from "./result.ts";

/** A call of an action's webhook. */
export interface ActionCall {
  /** The body, without the name of the action. */
  readonly payload: JsonObject;
  /** The headers of the client that the webhook receives. */
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly exchange?: OpenExchange | undefined;
}

export const buildSessionVariables = ({ variables, role }: Session): JsonObject => ({
  ...renameSessionVariables(variables),
  "x-hasura-role": role,
});

/** Builds the call of an action from the request of a client. */
export const buildActionCall = (
  { options }: Pick<PluginContext, "options">,
  { forwardsHeaders }: Pick<WebhookAction, "forwardsHeaders">,
  request: GqlFunctionRequest,
): ActionCall => {
  const { arguments: input, session, signal, exchange, document } = request;
  const headers =
    forwardsHeaders && exchange !== undefined
      ? buildForwardedHeaders(exchange.credentials, options.corsAllowedOrigins)
      : {};
  const payload = { input, session_variables: buildSessionVariables(session), request_query: document };
  return { payload, headers, signal, exchange };
};

/** Calls the webhook of an action, and returns its checked result. @throws RelApiError */
type CallAction = (action: WebhookAction, types: CustomTypes, call: ActionCall) => Promise<Json>;

/** Returns the function that calls webhooks. `logProblem` receives the reason of each failure. @rule X-ACT-15 */
export const createActionCaller = (context: PluginContext, logProblem: ProblemLog): CallAction => {
  const parse = (text: string): Json => {
    try {
      return context.use(graphqlService)?.parseJson(text) ?? null;
    } catch {
      throw actionAnswerNotJson();
    }
  };

  /** Runs a transform of the action. Logs the reason of a failure. */
  const transform = <Value>(action: WebhookAction, run: () => Value, createError: () => RelApiError): Value => {
    try {
      return run();
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      logProblem(action.field.name, error.message);
      throw createError();
    }
  };

  const send = async (action: WebhookAction, request: ActionCall): Promise<WebhookResponse> => {
    const { payload, signal, exchange } = request;
    const client = context.use(webhookService);
    if (client === undefined) throw new TypeError("the plugin webhooks is missing");
    const { url, transforms } = action;
    // A header of the action takes precedence over one of the client.
    const headers = { ...request.headers, ...action.headers };
    const body = writeJson({ action: { name: action.field.name }, ...payload });
    const sessionVariables = payload["session_variables"] ?? null;
    const original = { url, headers, body, sessionVariables };
    const transformedRequest = transform(
      action,
      () => transforms.request?.(original) ?? { url, headers, body },
      actionRequestTransformFailed,
    );
    const response = await client.send({
      ...transformedRequest,
      purpose: "action",
      timeoutMs: action.timeoutMs,
      ...(action.field.root === "query" && { isRepeatable: true }),
      signal,
      exchange,
      forwardsCookies: true,
    });
    const text = transform(
      action,
      () => transforms.response?.(response, original) ?? response.text,
      actionResponseTransformFailed,
    );
    return { ...response, text };
  };

  const readResponse = ({ status, text }: WebhookResponse, action: WebhookAction, types: CustomTypes): Json => {
    if (status >= 400 && status < 500) throw readWebhookError(status, text);
    if (status < 200 || status >= 300) {
      logProblem(action.field.name, `status ${status}`);
      throw actionStatusInvalid();
    }
    const value = parse(text);
    const problem = findResultProblem(action.field.output, value, types);
    if (problem !== undefined) throw actionResultInvalid(problem);
    return value;
  };

  return async (action: WebhookAction, types: CustomTypes, request: ActionCall): Promise<Json> => {
    let response: WebhookResponse;
    try {
      response = await send(action, request);
    } catch (error) {
      if (!(error instanceof RelApiError) || error.code !== "webhook-failed") throw error;
      logProblem(action.field.name, error.message);
      throw actionCallFailed();
    }
    return readResponse(response, action, types);
  };
};

/** Reads `{"message": "…", "code": "…", "extensions": {…}}`. */
const readWebhookError = (status: number, text: string): RelApiError => {
  let value: Json;
  try {
    value = JSON.parse(text) as Json; // JSON.parse returns JSON
  } catch {
    return actionAnswerNotJson();
  }
  const { message, code = null, extensions = null } = isJsonObject(value) ? value : {};
  if (typeof message !== "string") return actionResultInvalid('an error has a "message"');
  return actionRejected(
    status,
    message,
    typeof code === "string" ? code : "unexpected",
    isJsonObject(extensions) ? extensions : undefined,
  );
};
