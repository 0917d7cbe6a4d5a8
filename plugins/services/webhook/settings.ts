/** Settings of the client for webhooks. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

const { listOf, wholeNumber } = settingKinds;

const DEFAULT_ANSWER_BYTES = 10 * 1024 * 1024;
const DEFAULT_CONNECTIONS = 256;

export const webhookSettings = [
  defineSetting({
    name: "webhookAllowedHosts",
    environment: ["WEBHOOK_ALLOWED_HOSTS"],
    kind: listOf("host names, addresses and ranges such as 10.0.0.0/8"),
    default: [],
    description:
      "the hosts with private, loopback or link-local addresses that webhooks may have, or `*` for all of them (X-HTTP-4)",
    isFixed: true,
  }),
  defineSetting({
    name: "webhookMaxAnswerBytes",
    environment: ["WEBHOOK_MAX_ANSWER_BYTES"],
    kind: wholeNumber(1),
    default: DEFAULT_ANSWER_BYTES,
    unit: "bytes",
    description: "the largest accepted answer of a webhook (X-HTTP-2)",
    isFixed: true,
  }),
  defineSetting({
    name: "webhookMaxConnections",
    environment: ["WEBHOOK_MAX_CONNECTIONS"],
    kind: wholeNumber(1),
    default: DEFAULT_CONNECTIONS,
    description:
      "the largest number of requests that one server of webhooks, actions or remote schemas gets at the same time; others wait (X-HTTP-2a)",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof webhookSettings> {}
}
