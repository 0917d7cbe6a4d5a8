/** Who calls. */
import type { IncomingMessage } from "node:http";
import type { Json } from "../engine/plan/plan.ts";

/** In front of the name of each session variable. */
export const VARIABLE_PREFIX = "x-session-";

/** Who calls. Return the same frozen object for the same caller: what is derived from it is cached with it. */
export interface Session {
  /** The role acted as, as messages and policies name it; `admin` for an administrator without a role. */
  readonly role: string;
  /** The database role of `SET ROLE`; absent: statements run as the login role. */
  readonly databaseRole?: string;
  readonly isAdmin: boolean;
  /** The caller sent no credentials, or a token led to the anonymous role (R-AUT-10). */
  readonly isAnonymous?: boolean;
  /** Claims of the verified token, `role` included. */
  readonly claims: Readonly<Record<string, Json>>;
  /** The claims as JSON text for SQL, if JavaScript numbers would lose digits. */
  readonly claimsText?: string;
  /** Session variables by lower-case `x-session-` name; values are text. */
  readonly variables: Readonly<Record<string, string>>;
  /** May use backend-only permissions (G-AUTH-20). */
  readonly isBackend?: boolean;
  /** The token ends then, milliseconds since 1970. */
  readonly expiresAtMs?: number;
}

/** How a surface reads credentials, and its words for what is wrong with them: the auth plugins declare what there is to
 *  say. */
export interface CredentialRules {} // oxlint-disable-line typescript/no-empty-object-type -- declared by plugins

/** What a request or socket brings to show who calls. */
export interface Credentials {
  /** First value of the header, name in any case. */
  header(name: string): string | undefined;
  /** All headers: lower-case name, first value. */
  headers(): Iterable<readonly [name: string, value: string]>;
  cookie(name: string): string | undefined;
  /** What brought them: the request, with whatever middleware before the api has put on it (`request.user`), or the
   *  upgrade request of a socket. */
  readonly request: IncomingMessage;
  /** Which surface asks. */
  readonly surface: string;
  /** Those of the surface. Absent: the auth plugins have their usual ones. */
  readonly rules: CredentialRules | undefined;
  readonly isSocket: boolean;
}
