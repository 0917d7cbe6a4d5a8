/** What SQL can read of a request: `current_setting('request.headers', true)::json->>'x-tenant'`. */
import type { Exchange, Execution } from "../../core/index.ts";
import type { RestRequest } from "./request.ts";

/** Settings of the request's transaction, in order. `hoisted`: those of the function that is called. @rule R-TX-6 R-PRF-4 R-RPC-16 */
export const buildRequestSettings = (request: RestRequest, hoisted: readonly (readonly [name: string, value: string])[] = []): NonNullable<Execution["settings"]> => {
  const { exchange, preferences } = request;
  const settings: (readonly [string, string])[] = [
    ["request.method", request.method],
    ["request.path", request.path],
    ["request.headers", encodeHeaders(exchange)],
    ["request.cookies", encodeCookies(exchange.request.headers.cookie)],
  ];
  if (preferences.timezone !== undefined) settings.push(["timezone", preferences.timezone]);
  settings.push(...hoisted);
  return settings;
};

/** Isolation of the request's transaction by its role; what a function asks for goes before it. @rule R-TX-3 */
export const isolationOf = (request: RestRequest): string | undefined => {
  const role = request.exchange.session.databaseRole;
  return role === undefined ? undefined : request.model.roles.get(role)?.isolation;
};

/** Cookies have a setting of their own, the admin secret is for nobody. */
const HIDDEN: ReadonlySet<string> = new Set(["cookie", "x-session-admin-secret", "x-hasura-admin-secret"]);

const encodeHeaders = (exchange: Exchange): string => {
  const { rawHeaders } = exchange.request;
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // pairs, so both are there
    if (!HIDDEN.has(name)) headers.set(name, asUtf8(rawHeaders[i + 1] as string));
  }
  return JSON.stringify(Object.fromEntries(headers));
};

/** Node reads header bytes as Latin-1. */
const asUtf8 = (value: string): string => (/[\u0080-\u00ff]/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value);

const encodeCookies = (header: string | undefined): string => {
  if (header === undefined) return "{}";
  const cookies = new Map<string, string>();
  for (const part of header.split(";")) {
    const at = part.indexOf("=");
    const name = part.slice(0, Math.max(0, at)).trim();
    if (name !== "") cookies.set(name, asUtf8(part.slice(at + 1).trim().replace(/^"(.*)"$/, "$1")));
  }
  return JSON.stringify(Object.fromEntries(cookies));
};
