/** Sends events to webhooks as Hasura v2 does. */
import type { Json } from "../../../core/index.ts";
import type { WebhookClient, WebhookResponse } from "../api.ts";
import { TemplateError } from "../webhook/kriti.ts";
import type { TransformedRequest, Transforms } from "../webhook/transform.ts";
import { MAX_RULES, type Delivery } from "./delivery.ts";
import type { WebhookTarget } from "./webhook-definition.ts";

/** The largest length of a webhook's response in the log of an attempt. */
const MAX_LOGGED_LENGTH = 4000;

/** The event as it is sent. */
interface EventMessage {
  readonly purpose: "event" | "schedule";
  /** The body as JSON text. */
  readonly body: string;
  /** The session variables by their names in Hasura, or null. Transforms read them. */
  readonly sessionVariables: Json;
  /** The header `traceparent`. */
  readonly traceParent?: string | undefined;
}

/** Sends one attempt. A status of 2xx delivers the event. @throws RelApiError `webhook-failed`, TemplateError
 *  @rule X-EVT-16 X-EVT-19 X-SCH-10 */
export const sendEvent = async (
  client: WebhookClient,
  { url, headers, transforms }: WebhookTarget,
  { purpose, body, sessionVariables, traceParent }: EventMessage,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Delivery> => {
  const original = {
    url,
    headers: { ...(traceParent === undefined ? {} : { traceparent: traceParent }), ...headers },
    body,
    sessionVariables,
  };
  const webhookResponse = await client.send({
    ...(transforms.request?.(original) ?? { url, headers: original.headers, body }),
    purpose,
    timeoutMs: timeoutSeconds * 1000,
    isRepeatable: true, // an event arrives at least once (X-EVT-6)
    signal,
  });
  const { status, headers: responseHeaders } = webhookResponse;
  // PostgreSQL stores no NUL in a text.
  const response = transformResponse(webhookResponse, original, transforms)
    .replaceAll("\u0000", "")
    .slice(0, MAX_LOGGED_LENGTH);
  if (status >= 200 && status < 300) return { status, response };
  const retryAfterSeconds = readRetryAfter(responseHeaders["retry-after"]);
  return {
    status,
    response,
    error: `the webhook answered with status ${status}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
};

/** Returns the original response if the transform fails, because the webhook has already accepted the event. */
const transformResponse = (
  webhookResponse: Pick<WebhookResponse, "status" | "text">,
  request: TransformedRequest,
  { response }: Transforms,
): string => {
  try {
    return response?.(webhookResponse, request) ?? webhookResponse.text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return webhookResponse.text;
  }
};

/** Reads the seconds of the header `Retry-After`. A date is ignored, as in Hasura. */
const readRetryAfter = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,9}$/.test(header) ? Math.min(Number(header), MAX_RULES.intervalSeconds) : undefined;
