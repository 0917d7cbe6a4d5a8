/** Sends events to webhooks as Hasura v2 does. */
import type { WebhookClient } from "../api.ts";
import { MAX_RULES, type Delivery } from "./delivery.ts";
import type { WebhookTarget } from "./webhook-definition.ts";

/** The length of the answer in the log of an attempt. */
const MAX_LOGGED_LENGTH = 4000;

/** Sends one attempt. `body` is JSON text. A status of 2xx delivers the event. @throws RelApiError `webhook-failed`
 *  @rule X-EVT-16 X-SCH-10 */
export const sendEvent = async (
  client: WebhookClient,
  { url, headers }: WebhookTarget,
  body: string,
  timeoutSeconds: number,
  signal: AbortSignal,
): Promise<Delivery> => {
  const {
    status,
    headers: answered,
    text,
  } = await client.send({ url, headers, body, timeoutMs: timeoutSeconds * 1000, signal });
  // PostgreSQL stores no NUL in a text
  const response = text.replaceAll("\u0000", "").slice(0, MAX_LOGGED_LENGTH);
  if (status >= 200 && status < 300) return { status, response };
  const retryAfterSeconds = readRetryAfter(answered["retry-after"]);
  return {
    status,
    response,
    error: `the webhook answered with status ${status}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
};

/** Reads seconds. A date is ignored, as in Hasura. */
const readRetryAfter = (header: string | undefined): number | undefined =>
  header !== undefined && /^\d{1,9}$/.test(header) ? Math.min(Number(header), MAX_RULES.intervalSeconds) : undefined;
