/** The client for webhooks, which other plugins use to call services over HTTP: `context.use(webhookService)`. */
import { definePlugin } from "../../../core/index.ts";
import { corsAllowedOrigins } from "../../shared/settings.ts";
import { webhookService } from "../api.ts";
import { createWebhookClient } from "./client.ts";
import { createCookieForwarding } from "./forwarded-cookies.ts";
import { webhookSettings } from "./settings.ts";

/** Offers a client for webhooks to other plugins. @rule X-HTTP-1 … X-HTTP-10 */
export const webhooks = definePlugin({
  name: "webhooks",
  settings: [corsAllowedOrigins, ...webhookSettings],
  apply: (_hooks, context) => {
    const { options } = context;
    const client = createWebhookClient(context, {
      allowedHosts: options.webhookAllowedHosts,
      maxAnswerBytes: options.webhookMaxAnswerBytes,
      maxConnections: options.webhookMaxConnections,
    });
    const forwardCookies = createCookieForwarding(context, "webhook-cookies");
    context.offer(webhookService, {
      ...client,
      send: async (request) => {
        const { exchange, forwardsCookies = false } = request;
        const response = await client.send(request);
        if (forwardsCookies && exchange !== undefined) forwardCookies(exchange.credentials, response);
        return response;
      },
    });
  },
});
