/** Gives the client the cookies that a webhook sets. */
import { createExchangeSlot, type Credentials, type Headers, type PluginContext } from "../../../core/index.ts";
import { getCookiePolicy } from "../../shared/cookie-policy.ts";
import type { WebhookResponse } from "../api.ts";

const NO_HEADERS: Headers = [];

/** Adds a pipeline step, and returns the function by which each `Set-Cookie` of a response becomes a header of the
 *  response to the caller. Pages of another origin get none, unless the origin is allowed. @rule X-HOOK-11 X-HTTP-10 */
export const createCookieForwarding = (
  context: PluginContext,
  step: string,
): ((credentials: Credentials, response: Pick<WebhookResponse, "headers">) => void) => {
  const cookieSlot = createExchangeSlot<Headers>();
  context.addStep({ name: step, headers: ({ credentials }) => cookieSlot.get(credentials) ?? NO_HEADERS });
  return (credentials, { headers }) => {
    const cookies = headers["set-cookie"]?.map((cookie) => ["Set-Cookie", cookie] as const);
    if (cookies === undefined || credentials.isSocket) return;
    if (!getCookiePolicy(context.options.corsAllowedOrigins)(credentials)) return;
    cookieSlot.set(credentials, [...(cookieSlot.get(credentials) ?? []), ...cookies]);
  };
};
