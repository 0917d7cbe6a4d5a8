/** Sends events to webhooks, with the body and the headers of Hasura v2. */
import type { Json } from "../../../core/index.ts";
import type { WebhookClient } from "../api.ts";
import type { Delivery, RetryRules } from "../queue/delivery.ts";
import type { WebhookTarget } from "../queue/webhook-definition.ts";
import { sendEvent } from "../queue/webhook-delivery.ts";
import { renameSessionVariables } from "../webhook/session-variables.ts";
import type { StoredEvent } from "./event-trigger.ts";
import { parseSession } from "./handlers.ts";
import { buildTraceContext, readTraceParent } from "./trace.ts";

/** Returns the session variables with the names that webhooks receive. Null if the event has none. */
export const readSessionVariables = (session: string | null): Readonly<Record<string, string>> | null => {
  const variables = parseSession(session);
  return variables === undefined ? null : renameSessionVariables(variables);
};

/** Sends one attempt. A status of 2xx delivers the event. @throws RelApiError `webhook-failed`, TemplateError
 *  @rule X-EVT-15 X-EVT-16 X-EVT-19 */
export const deliverToWebhook = (
  client: WebhookClient,
  target: WebhookTarget,
  retry: RetryRules,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Delivery> => {
  const sessionVariables = readSessionVariables(event.session);
  const body = buildBody(event, retry, sessionVariables);
  return sendEvent(
    client,
    target,
    { purpose: "event", body, sessionVariables, traceParent: readTraceParent(event.traceParent) },
    retry.timeoutSeconds,
    signal,
  );
};

/** Builds the body. The rows have the text that the database sent, so that no digit of a number is lost. */
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
