/** A session for makers of cached values: every read is a cache question, and so part of the key. @rule R-CAC-1 */
import { membersIn, questionsAbout, type Ask, type Question } from "./cache.ts";
import { planKey } from "./key.ts";
import type { Session } from "./session.ts";

/** A source of cache questions that has a session. */
export interface WithSession {
  readonly session: Session;
}

const question = questionsAbout(({ session }: WithSession) => session);
const sessionQuestion = membersIn<WithSession>()("session");

const ROLE = sessionQuestion("role");
const DATABASE_ROLE = sessionQuestion("databaseRole");
const IS_ADMIN = sessionQuestion("isAdmin");
const IS_ANONYMOUS = sessionQuestion("isAnonymous");
const IS_BACKEND = sessionQuestion("isBackend");
const EXPIRES = sessionQuestion("expiresAtMs");
const CLAIMS = sessionQuestion("claims", planKey);
const CLAIMS_TEXT = sessionQuestion("claimsText");
// `Object.keys` would read the variables of an observed session, whose values would become part of the key
const VARIABLE_NAMES = question("variable names", ({ variables }) => Reflect.ownKeys(variables) as string[], planKey); // they have no symbols

const variableQuestion = (name: string): Question<WithSession, string | undefined> =>
  question(`variable ${name}`, ({ variables }) => (Object.hasOwn(variables, name) ? variables[name] : undefined));

const observedVariables = (ask: Ask<WithSession>): Session["variables"] => {
  const valueOf = (name: string | symbol): string | undefined =>
    typeof name === "string" ? ask(variableQuestion(name)) : undefined;
  return new Proxy<Record<string, string>>(Object.create(null) as Record<string, string>, {
    get: (_, name) => valueOf(name),
    has: (_, name) => valueOf(name) !== undefined,
    ownKeys: () => [...ask(VARIABLE_NAMES)],
    getOwnPropertyDescriptor: (_, name) => {
      const value = valueOf(name);
      return value === undefined ? undefined : { value, enumerable: true, configurable: true };
    },
  });
};

/** Returns a session with all optional members defined, because readers do not distinguish undefined members from
 *  missing ones. */
export const observeSession = (ask: Ask<WithSession>): Session => {
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
    variables: observedVariables(ask),
  };
  return session as Session; // members that may be missing are undefined here
};
