/** Sends scheduled events to webhooks, with the body of Hasura v2. */
import type { WebhookClient } from "../api.ts";
import type { Delivery, RetryRules } from "../queue/delivery.ts";
import type { WebhookTarget } from "../queue/webhook-definition.ts";
import { sendEvent } from "../queue/webhook-delivery.ts";
import type { ScheduledEvent } from "./schedule.ts";

/** Sends one attempt. A status of 2xx delivers the event. @throws RelApiError `webhook-failed` @rule X-SCH-10 */
export const deliverToWebhook = (
  client: WebhookClient,
  target: WebhookTarget,
  { timeoutSeconds }: RetryRules,
  event: ScheduledEvent,
  signal: AbortSignal,
): Promise<Delivery> =>
  sendEvent(
    client,
    target,
    { purpose: "schedule", body: buildBody(event), sessionVariables: null },
    timeoutSeconds,
    signal,
  );

/** Writes a time as Hasura does, without a fraction of zero: `2026-11-30T03:00:00Z`. */
const formatTime = (at: Date): string => at.toISOString().replace(/\.000Z$/, "Z");

/** Builds the body. The payload has the text of the metadata, so that no digit of a number is lost. */
const buildBody = ({ id, name, scheduledAt, payload, comment, createdAt }: ScheduledEvent): string => {
  const members: readonly (readonly [name: string, json: string])[] = [
    ["id", JSON.stringify(id)],
    ...(name === null ? [] : ([["name", JSON.stringify(name)]] as const)),
    ["scheduled_time", JSON.stringify(formatTime(scheduledAt))],
    ["payload", payload],
    ...(comment === null ? [] : ([["comment", JSON.stringify(comment)]] as const)),
    ...(name === null ? ([["created_at", JSON.stringify(createdAt)]] as const) : []),
  ];
  return `{${members.map(([key, json]) => `${JSON.stringify(key)}:${json}`).join(",")}}`;
};
