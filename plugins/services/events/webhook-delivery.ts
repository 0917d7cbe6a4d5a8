/** Sends events to webhooks, with the body and the headers of Hasura v2. */
import type { Json } from "../../../core/index.ts";
import type { WebhookClient, WebhookResponse } from "../api.ts";
import { TemplateError } from "../webhook/kriti.ts";
import { renameSessionVariables } from "../webhook/session-variables.ts";
import type { TransformedRequest, Transforms } from "../webhook/transform.ts";
import { buildTraceContext } from "./trace.ts";
import type { Delivery, RetryRules, StoredEvent } from "./event-trigger.ts";
import { MAX_RULES, parseSession } from "./handlers.ts";

interface WebhookTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: RetryRules;
  readonly transforms: Transforms;
}

/** The length of the answer in the log of an attempt. */
const MAX_LOGGED_LENGTH = 4000;

/** Sends one attempt. A status of 2xx delivers the event. @throws RelApiError `webhook-failed`, TemplateError
 *  @rule X-EVT-15 X-EVT-16 X-EVT-19 */
export const deliverToWebhook = async (
  client: WebhookClient,
  { url, headers, retry, transforms }: WebhookTarget,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Delivery> => {
  const variables = parseSession(event.session);
  const sessionVariables = variables === undefined ? null : renameSessionVariables(variables);
  const request = {
    url,
    headers: { ...(event.traceParent === undefined ? {} : { traceparent: event.traceParent }), ...headers },
    body: buildBody(event, retry, sessionVariables),
    sessionVariables,
  };
  const answer = await client.send({
    ...(transforms.request?.(request) ?? { url, headers: request.headers, body: request.body }),
    timeoutMs: retry.timeoutSeconds * 1000,
    signal,
  });
  const { status, headers: answered } = answer;
  // PostgreSQL stores no NUL in a text
  const response = transformAnswer(answer, request, transforms).replaceAll("\u0000", "").slice(0, MAX_LOGGED_LENGTH);
  if (status >= 200 && status < 300) return { status, response };
  const retryAfterSeconds = readRetryAfter(answered["retry-after"]);
  return {
    status,
    response,
    error: `the webhook answered with status ${status}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
};

/** A transform that fails must not repeat an event that the webhook has accepted. */
const transformAnswer = (
  answer: Pick<WebhookResponse, "status" | "text">,
  request: TransformedRequest,
  { response }: Transforms,
): string => {
  try {
    return response?.(answer, request) ?? answer.text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return answer.text;
  }
};

/** Reads seconds. A date is ignored, as in Hasura. */
const readRetryAfter = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,9}$/.test(header) ? Math.min(Number(header), MAX_RULES.intervalSeconds) : undefined;

/** The rows are the texts of the database, so that no digit of a number is lost. */
const buildBody = (event: StoredEvent, { retryCount }: RetryRules, sessionVariables: Json): string => {
  const { id, trigger, table, operation, oldRow, newRow, traceParent, createdAt, tries } = event;
  const members: readonly (readonly [name: string, json: string])[] = [
    ["created_at", JSON.stringify(createdAt)],
    ["delivery_info", JSON.stringify({ current_retry: tries, max_retries: retryCount })],
    [
      "event",
      `{"data":{"new":${newRow ?? "null"},"old":${oldRow ?? "null"}},"op":${JSON.stringify(operation)},"session_variables":${JSON.stringify(sessionVariables)},"trace_context":${JSON.stringify(buildTraceContext(traceParent))}}`,
    ],
    ["id", JSON.stringify(id)],
    ["table", JSON.stringify({ name: table.name, schema: table.schema })],
    ["trigger", JSON.stringify({ name: trigger })],
  ];
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
};
