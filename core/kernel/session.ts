/** Sessions and credentials, and the values that plugins store for a request. */
import type { IncomingMessage } from "node:http";
import type { Json } from "../plan/plan.ts";

/** The prefix of the name of each session variable. */
export const VARIABLE_PREFIX = "x-session-";

/** The identity of a caller. Return the same frozen object for the same caller, because values derived from it are
 *  cached with it. */
export interface Session {
  /** The role that permissions and messages use; `admin` for an administrator without a role. */
  readonly role: string;
  /** The database role of `SET ROLE`. If undefined, statements run as the login role. */
  readonly databaseRole?: string;
  readonly isAdmin: boolean;
  /** True if the caller sent no credentials, or a token selected the anonymous role (R-AUT-10). */
  readonly isAnonymous?: boolean;
  /** The claims of the verified token, including `role`. */
  readonly claims: Readonly<Record<string, Json>>;
  /** The claims as JSON text for SQL, if JavaScript numbers would lose digits. */
  readonly claimsText?: string;
  /** The session variables by lower-case `x-session-` name; the values are text. */
  readonly variables: Readonly<Record<string, string>>;
  /** True if the caller may use backend-only permissions (G-AUTH-20). */
  readonly isBackend?: boolean;
  /** The time at which the token expires, in milliseconds since 1970. */
  readonly expiresAtMs?: number;
}

/** A surface's rules for reading credentials, and its wording for invalid ones. The auth plugins declare the
 *  members. @experimental */
export interface CredentialRules {} // oxlint-disable-line typescript/no-empty-object-type -- declared by plugins

/** The credentials of a request or WebSocket. */
export interface Credentials {
  /** Returns the first value of the header; the name is case-insensitive. */
  header(name: string): string | undefined;
  /** Returns all headers: lower-case name, first value. */
  headers(): Iterable<readonly [name: string, value: string]>;
  /** Returns the names of the headers in the case in which the client wrote them. @rule X-AUTH-5 */
  headerNames?(): readonly string[];
  cookie(name: string): string | undefined;
  /** The request that carried the credentials, with the properties that earlier middleware added (`request.user`). For
   *  a WebSocket it is the upgrade request. */
  readonly request: IncomingMessage;
  readonly surface: string;
  /** The rules of the surface. If undefined, the auth plugins use their defaults. */
  readonly rules: CredentialRules | undefined;
  readonly isSocket: boolean;
  /** Reads the whole body, which the surface can still read afterwards. Undefined for a WebSocket. @rule X-AUTH-4 */
  body?(): Promise<Buffer>;
  /** Calls the listener if the client disconnects before the scheme has decided. Returns a function that removes the
   *  listener. @rule X-AUTH-4 */
  onDisconnect?(listener: () => void): () => void;
  /** The values that plugins store (`createExchangeSlot`). The credentials of an HTTP request share them with its
   *  exchange. */
  slots?: unknown[] | undefined;
}

/** The exchange of a request, or its credentials. All operations of a WebSocket have the same credentials. */
type SlotHolder = Pick<Credentials, "slots">;

/** The value that one plugin stores for each request. @experimental */
export interface ExchangeSlot<Value> {
  get(holder: SlotHolder): Value | undefined;
  set(holder: SlotHolder, value: Value): void;
}

let count = 0;

/** Creates a slot. A slot is an index into the list of values of each exchange, and no other plugin uses that index. */
export const createExchangeSlot = <Value>(): ExchangeSlot<Value> => {
  const index = count++;
  return {
    get: ({ slots }) => slots?.[index] as Value | undefined, // only `set` of this slot writes the value
    set: (holder, value) => {
      (holder.slots ??= [])[index] = value;
    },
  };
};
