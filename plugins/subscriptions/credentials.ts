/** The credentials of a socket: those of `connection_init`, then those of the upgrade request. @rule G-WS-1 */
import type { IncomingMessage } from "node:http";
import { cookieOf, firstHeaders, utf8Text, type Credentials, type Json } from "../../core/index.ts";
import type { GqlEngine } from "../graphql/api.ts";

/** Facts of the connection, which a message cannot change: rules about cookies go by them (G-AUTH-12). */
const OF_CONNECTION: ReadonlySet<string> = new Set(["origin", "host"]);

const isRecord = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Header values of the payload by lower-case name, the first of a name counts. */
const headersOfPayload = (payload: Json | undefined): ReadonlyMap<string, string> => {
  const found = new Map<string, string>();
  if (!isRecord(payload)) return found;
  const given = payload["headers"];
  for (const [name, header] of Object.entries(isRecord(given) ? given : payload)) {
    const key = name.toLowerCase();
    if (typeof header === "string" && !found.has(key) && !OF_CONNECTION.has(key)) found.set(key, header);
  }
  return found;
};

function* headersOfUpgrade({ rawHeaders }: IncomingMessage): Iterable<readonly [name: string, value: string]> {
  for (const [name, value] of firstHeaders(rawHeaders)) yield [name, utf8Text(value)];
}

export const socketCredentials = (
  request: IncomingMessage,
  payload: Json | undefined,
  { credentialRules }: GqlEngine,
): Credentials => {
  const headers = new Map([...headersOfUpgrade(request), ...headersOfPayload(payload)]);
  return {
    header: (name) => headers.get(name.toLowerCase()),
    headers: () => headers,
    cookie: (name) => cookieOf(headers.get("cookie"), name),
    request,
    surface: "graphql",
    rules: credentialRules,
    isSocket: true,
  };
};
