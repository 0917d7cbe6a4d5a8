/** Headers of the client that a webhook receives. */
import type { Credentials } from "../../../core/index.ts";
import { getCookiePolicy } from "../../shared/cookie-policy.ts";
import { isSendable } from "./templates.ts";

/** Headers of a caller that no webhook receives: those that Hasura omits, those of the connection itself, and the
 *  admin secret. */
const OMITTED_HEADERS = new Set([
  "accept",
  "accept-datetime",
  "accept-encoding",
  "accept-language",
  "cache-control",
  "connection",
  "content-length",
  "content-md5",
  "content-type",
  "dnt",
  "expect",
  "host",
  "keep-alive",
  "origin",
  "proxy-authorization",
  "proxy-connection",
  "referer",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "user-agent",
  "x-hasura-admin-secret",
  "x-session-admin-secret",
]);

/** Returns the headers of a caller. Cookies of a page of another origin are left out, unless the origin is allowed.
 *  @rule X-HOOK-4 */
export const listCallerHeaders = (
  credentials: Credentials,
  allowedOrigins: readonly string[],
): readonly (readonly [name: string, value: string])[] => {
  const headers = [...credentials.headers()];
  return getCookiePolicy(allowedOrigins)(credentials) ? headers : headers.filter(([name]) => name !== "cookie");
};

/** Returns the headers of a caller as headers of a request to a webhook, by lower-case name. @rule X-HOOK-2 */
export const buildForwardedHeaders = (
  credentials: Credentials,
  allowedOrigins: readonly string[],
): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {};
  for (const [name, value] of listCallerHeaders(credentials, allowedOrigins)) {
    if (OMITTED_HEADERS.has(name) || name.startsWith("sec-websocket-")) continue;
    // The values of a socket are decoded.
    const bytes = credentials.isSocket ? Buffer.from(value, "utf8").toString("latin1") : value;
    // Messages of a socket may name headers that HTTP cannot send.
    if (isSendable(name, bytes)) headers[name] = bytes;
  }
  return headers;
};
