/** The credentials of a socket: those of `connection_init`, then those of the upgrade request. @rule G-WS-1 */
import type { IncomingMessage } from "node:http";
import { cookieOf, firstHeaders, utf8Text, type Credentials, type Json } from "../../core/index.ts";
import type { GqlEngine } from "../graphql/api.ts";

/** Facts of the connection, which a message cannot change: rules about cookies go by them (G-AUTH-12). */
const OF_CONNECTION: ReadonlySet<string> = new Set(["origin", "host"]);

const isRecord = (value: Json | undefined): value is Readonly<Record<string, Json>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const NONE: ReadonlyMap<string, string> = new Map();

/** A header that names the caller or gives rights away. */
const isOfCaller = (name: string): boolean => /^(?:x-|authorization$)/i.test(name);

/** A header that is not a string would leave the caller with the rights of a message without it. The payload may have
 *  other members beside headers, unless they stand under `headers`. @throws Error with the reason @rule G-WS-1 */
export const refuseOddHeaders = (payload: Json | undefined): void => {
  if (payload === undefined || payload === null) return;
  if (!isRecord(payload)) throw new Error("the payload of 'connection_init' is not an object");
  const { headers } = payload;
  const isNested = headers !== undefined && headers !== null;
  if (isNested && !isRecord(headers)) throw new Error("the headers of 'connection_init' are not an object");
  for (const [name, value] of Object.entries(isNested ? headers : payload))
    if (typeof value !== "string" && (isNested || isOfCaller(name)))
      throw new Error(`the header '${name}' of 'connection_init' is not a string`);
};

/** Header values of the payload by lower-case name, the first of a name counts. */
const headersOfPayload = (payload: Json | undefined): ReadonlyMap<string, string> => {
  if (!isRecord(payload)) return NONE;
  const found = new Map<string, string>();
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

/** Headers are put together when they are asked for: once, as a rule, and a socket is open for long. */
class SocketCredentials implements Credentials {
  readonly request: IncomingMessage;
  readonly surface = "graphql";
  readonly isSocket = true;
  readonly rules: Credentials["rules"];
  readonly #payload: Json | undefined;

  constructor(request: IncomingMessage, payload: Json | undefined, { credentialRules }: GqlEngine) {
    this.request = request;
    this.#payload = payload;
    this.rules = credentialRules;
  }

  headers(): ReadonlyMap<string, string> {
    return new Map([...headersOfUpgrade(this.request), ...headersOfPayload(this.#payload)]);
  }

  header(name: string): string | undefined {
    const wanted = name.toLowerCase();
    const given = headersOfPayload(this.#payload).get(wanted);
    if (given !== undefined) return given;
    for (const [found, value] of headersOfUpgrade(this.request)) if (found === wanted) return value;
    return undefined;
  }

  cookie(name: string): string | undefined {
    return cookieOf(this.header("cookie"), name);
  }
}

export const socketCredentials = (
  request: IncomingMessage,
  payload: Json | undefined,
  engine: GqlEngine,
): Credentials => new SocketCredentials(request, payload, engine);
