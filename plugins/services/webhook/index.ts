/** The client for webhooks, which other plugins use to call services over HTTP: `context.use(webhookService)`. */
import { definePlugin } from "../../../core/index.ts";
import { webhookService } from "../api.ts";
import { createWebhookClient } from "./client.ts";
import { webhookSettings } from "./settings.ts";

/** Offers a client for webhooks to other plugins. @rule X-HTTP-1 … X-HTTP-6 */
export const webhooks = definePlugin({
  name: "webhooks",
  settings: webhookSettings,
  apply: (_hooks, context) => {
    const { webhookAllowedHosts: allowedHosts, webhookMaxAnswerBytes: maxAnswerBytes } = context.options;
    context.offer(webhookService, createWebhookClient(context, { allowedHosts, maxAnswerBytes }));
  },
});
