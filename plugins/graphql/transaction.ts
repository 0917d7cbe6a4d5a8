/** What a GraphQL request sets for its transaction, and how that ends. @rule G-SES-10 G-TX-6 */
import type { Exchange, GqlRunOptions, ResolvedOptions } from "../../core/index.ts";

/** Never shown to SQL. */
const SECRET_HEADERS: ReadonlySet<string> = new Set(["x-session-admin-secret", "x-hasura-admin-secret"]);

/** Node reads header bytes as Latin-1. */
const asUtf8 = (value: string): string => (/[\u0080-\u00ff]/.test(value) ? Buffer.from(value, "latin1").toString("utf8") : value);

const encodeHeaders = (exchange: Exchange): string => {
  const { rawHeaders } = exchange.request;
  const headers = new Map<string, string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // pairs, so both are there
    if (name !== "cookie" && !SECRET_HEADERS.has(name)) headers.set(name, asUtf8(rawHeaders[i + 1] as string));
  }
  return JSON.stringify(Object.fromEntries(headers));
};

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

const endOf = (exchange: Exchange, { dbTxEnd }: ResolvedOptions): "commit" | "rollback" => {
  const wanted = dbTxEnd.endsWith("-allow-override") ? /(?:^|[\s,])tx=(commit|rollback)(?:$|[\s,])/.exec(exchange.header("prefer") ?? "")?.[1] : undefined;
  return (wanted ?? dbTxEnd).startsWith("rollback") ? "rollback" : "commit";
};

export const runOptionsOf = (exchange: Exchange, options: ResolvedOptions): GqlRunOptions => ({
  settings: [
    ["request.method", exchange.method],
    ["request.path", exchange.path],
    ["request.headers", encodeHeaders(exchange)],
    ["request.cookies", encodeCookies(exchange.request.headers.cookie)],
  ],
  onGone: (listener) => exchange.onGone(listener),
  end: endOf(exchange, options),
});
