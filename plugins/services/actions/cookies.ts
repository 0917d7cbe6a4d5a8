/** Passes the cookies of webhooks on to the client. @rule X-ACT-15 */
import { createExchangeSlot, type Headers, type OpenExchange, type PluginContext } from "../../../core/index.ts";
import { createCookiePolicy } from "../../shared/cookie-policy.ts";
import type { WebhookResponse } from "../api.ts";

/** Adds the cookies of an answer to the response to a request. */
export type KeepCookies = (exchange: OpenExchange | undefined, answer: Pick<WebhookResponse, "headers">) => void;

/** Adds the request step that sends the cookies, and returns the function that keeps them. */
export const createCookieKeeper = ({ addStep, options }: PluginContext): KeepCookies => {
  const slot = createExchangeSlot<Headers>();
  const acceptsCookies = createCookiePolicy(options.corsAllowedOrigins);
  addStep({ name: "action-cookies", headers: (exchange) => slot.get(exchange) ?? [] });
  return (exchange, { headers }) => {
    const cookies = headers["set-cookie"];
    if (exchange === undefined || cookies === undefined || !acceptsCookies(exchange.credentials)) return;
    const added = cookies.map((cookie) => ["Set-Cookie", cookie] as const);
    slot.set(exchange, [...(slot.get(exchange) ?? []), ...added]);
  };
};
