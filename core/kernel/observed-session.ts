/** A session for makers of cached values: every read is a cache question, and so part of the key. @rule R-CAC-1 */
import { defineCacheQuestion, type Ask, type CacheQuestion } from "./cache.ts";
import { planKey } from "./plan-key.ts";
import type { Session } from "./session.ts";

/** A source of cache questions that has a session. @experimental */
export interface SessionSource {
  readonly session: Session;
}

const ROLE = defineCacheQuestion("session role", ({ session }: SessionSource) => session.role);
const DATABASE_ROLE = defineCacheQuestion(
  "session database role",
  ({ session }: SessionSource) => session.databaseRole,
);
const IS_ADMIN = defineCacheQuestion("session is admin", ({ session }: SessionSource) => session.isAdmin);
const IS_ANONYMOUS = defineCacheQuestion("session is anonymous", ({ session }: SessionSource) => session.isAnonymous);
const IS_BACKEND = defineCacheQuestion("session is backend", ({ session }: SessionSource) => session.isBackend);
const EXPIRES = defineCacheQuestion("session expiry", ({ session }: SessionSource) => session.expiresAtMs);
const CLAIMS = defineCacheQuestion("session claims", ({ session }: SessionSource) => session.claims, planKey);
const CLAIMS_TEXT = defineCacheQuestion("session claims text", ({ session }: SessionSource) => session.claimsText);
const VARIABLE_NAMES = defineCacheQuestion(
  "session variable names",
  // `Object.keys` would read the variables of an observed session, whose values would become part of the key.
  ({ session }: SessionSource) => Reflect.ownKeys(session.variables) as string[], // variables have no symbols as keys
  planKey,
);

const createVariableQuestion = (name: string): CacheQuestion<SessionSource, string | undefined> =>
  defineCacheQuestion(`session variable ${name}`, ({ session: { variables } }) =>
    Object.hasOwn(variables, name) ? variables[name] : undefined,
  );

const observeVariables = (ask: Ask<SessionSource>): Session["variables"] => {
  const readVariable = (name: string | symbol): string | undefined =>
    typeof name === "string" ? ask(createVariableQuestion(name)) : undefined;
  return new Proxy<Record<string, string>>(Object.create(null) as Record<string, string>, {
    get: (_, name) => readVariable(name),
    has: (_, name) => readVariable(name) !== undefined,
    ownKeys: () => [...ask(VARIABLE_NAMES)],
    getOwnPropertyDescriptor: (_, name) => {
      const value = readVariable(name);
      return value === undefined ? undefined : { value, enumerable: true, configurable: true };
    },
  });
};

/** Returns a session with all optional members defined, because readers do not distinguish undefined members from
 *  missing ones. */
export const observeSession = (ask: Ask<SessionSource>): Session => {
  const session = {
    get role() {
      return ask(ROLE);
    },
    get databaseRole() {
      return ask(DATABASE_ROLE);
    },
    get isAdmin() {
      return ask(IS_ADMIN);
    },
    get isAnonymous() {
      return ask(IS_ANONYMOUS);
    },
    get isBackend() {
      return ask(IS_BACKEND);
    },
    get expiresAtMs() {
      return ask(EXPIRES);
    },
    get claims() {
      return ask(CLAIMS);
    },
    get claimsText() {
      return ask(CLAIMS_TEXT);
    },
    variables: observeVariables(ask),
  };
  return session as Session; // optional members are undefined instead of missing
};
