/** Sends events to webhooks, with the body and the headers of Hasura v2. */
import type { WebhookClient } from "../api.ts";
import { renameSessionVariables } from "../webhook/session-variables.ts";
import type { Delivery, RetryRules, StoredEvent } from "./event-trigger.ts";
import { MAX_RULES, parseSession } from "./handlers.ts";

interface WebhookTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly retry: RetryRules;
}

/** The length of the answer in the log of an attempt. */
const MAX_LOGGED_LENGTH = 4000;

/** Sends one attempt. A status of 2xx delivers the event. @throws RelApiError `webhook-failed` @rule X-EVT-15 X-EVT-16 */
export const deliverToWebhook = async (
  client: WebhookClient,
  { url, headers, retry }: WebhookTarget,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Delivery> => {
  const {
    status,
    headers: answered,
    text,
  } = await client.send({
    url,
    headers,
    body: buildBody(event, retry),
    timeoutMs: retry.timeoutSeconds * 1000,
    signal,
  });
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

/** The rows are the texts of the database, so that no digit of a number is lost. */
const buildBody = (event: StoredEvent, { retryCount }: RetryRules): string => {
  const { id, trigger, table, operation, oldRow, newRow, session, createdAt, tries } = event;
  const variables = parseSession(session);
  const members: readonly (readonly [name: string, json: string])[] = [
    ["created_at", JSON.stringify(createdAt)],
    ["delivery_info", JSON.stringify({ current_retry: tries, max_retries: retryCount })],
    [
      "event",
      `{"data":{"new":${newRow ?? "null"},"old":${oldRow ?? "null"}},"op":${JSON.stringify(operation)},"session_variables":${JSON.stringify(variables === undefined ? null : renameSessionVariables(variables))},"trace_context":null}`,
    ],
    ["id", JSON.stringify(id)],
    ["table", JSON.stringify({ name: table.name, schema: table.schema })],
    ["trigger", JSON.stringify({ name: trigger })],
  ];
  return `{${members.map(([name, json]) => `${JSON.stringify(name)}:${json}`).join(",")}}`;
};
