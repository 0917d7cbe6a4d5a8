/** Reads the credentials of a socket from the headers of `connection_init`, then from the headers of the upgrade
 *  request. @rule G-WS-1 */
import type { IncomingMessage } from "node:http";
import {
  findCookie,
  isJsonObject,
  listFirstHeaders,
  decodeUtf8Header,
  type Credentials,
  type Json,
} from "../../../core/index.ts";
import type { GqlEngine } from "../../graphql/api.ts";

/** The headers that a message cannot override, because rules about cookies depend on them (G-AUTH-12). */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["origin", "host"]);

/** Returns whether a header names the caller or restricts the caller's rights. */
const isCredentialHeader = (name: string): boolean => /^(?:x-|authorization$)/i.test(name);

/** Rejects headers that are not strings, because ignoring them could give the caller more rights. The payload may have
 *  other members beside headers, unless the headers are under `headers`. @throws Error with the reason @rule G-WS-1 */
export const rejectInvalidHeaders = (payload: Json | undefined): void => {
  if (payload === undefined || payload === null) return;
  if (!isJsonObject(payload)) throw new Error("the payload of 'connection_init' is not an object");
  const { headers } = payload;
  const isNested = headers !== undefined && headers !== null;
  if (isNested && !isJsonObject(headers)) throw new Error("the headers of 'connection_init' are not an object");
  for (const [name, value] of Object.entries(isNested ? headers : payload))
    if (typeof value !== "string" && (isNested || isCredentialHeader(name)))
      throw new Error(`the header '${name}' of 'connection_init' is not a string`);
};

/** Returns the object of the payload that contains the headers. */
const findHeadersObject = (payload: Json | undefined): Readonly<Record<string, Json>> => {
  if (!isJsonObject(payload)) return {};
  const nestedHeaders = payload["headers"];
  return isJsonObject(nestedHeaders) ? nestedHeaders : payload;
};

/** Reads the header values of the payload by lower-case name. The first value of a name wins. */
const readPayloadHeaders = (payload: Json | undefined): ReadonlyMap<string, string> => {
  const headers = new Map<string, string>();
  for (const [name, header] of Object.entries(findHeadersObject(payload))) {
    const key = name.toLowerCase();
    if (typeof header === "string" && !headers.has(key) && !CONNECTION_HEADERS.has(key)) headers.set(key, header);
  }
  return headers;
};

function* readUpgradeHeaders({ rawHeaders }: IncomingMessage): Iterable<readonly [name: string, value: string]> {
  for (const [name, value] of listFirstHeaders(rawHeaders)) yield [name, decodeUtf8Header(value)];
}

/** The credentials of a socket. The class assembles headers on access, because they are usually read once, and a socket
 *  stays open for long. */
export class SocketCredentials implements Credentials {
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
    return new Map([...readUpgradeHeaders(this.request), ...readPayloadHeaders(this.#payload)]);
  }

  headerNames(): readonly string[] {
    const upgradeNames = this.request.rawHeaders.filter((_, index) => index % 2 === 0);
    return [...Object.keys(findHeadersObject(this.#payload)), ...upgradeNames];
  }

  header(name: string): string | undefined {
    const lowerName = name.toLowerCase();
    const headerValue = readPayloadHeaders(this.#payload).get(lowerName);
    if (headerValue !== undefined) return headerValue;
    for (const [headerName, value] of readUpgradeHeaders(this.request)) if (headerName === lowerName) return value;
    return undefined;
  }

  cookie(name: string): string | undefined {
    return findCookie(this.header("cookie"), name);
  }

  onDisconnect(listener: () => void): () => void {
    const { socket } = this.request;
    if (socket.destroyed) listener();
    else socket.once("close", listener);
    return () => socket.off("close", listener);
  }
}
