/** `X-Session-Admin-Secret: …`: the caller is administrator, or acts as the role of `X-Session-Role` with variables of their choice. */
import { createHash, timingSafeEqual } from "node:crypto";
import { createCache, definePlugin, RelApiError, Stage, tokenRefused, type Cache, type Credentials, type Session } from "../../core/index.ts";

const ADMIN = "admin";

/** Sessions kept, so that what is derived from them is derived once. */
const MAX_SESSIONS = 1000;

/** @rule R-AUT-8 G-AUTH-1 G-AUTH-2 G-AUTH-3 G-AUTH-4 */
export const adminSecret = definePlugin({
  name: "admin-secret",
  stage: Stage.early,
  apply: (hooks, { options }) => {
    const secrets = [options.adminSecret, ...(options.adminSecrets ?? [])].filter((secret) => secret !== undefined && secret !== "").map((secret) => digest(secret as string));
    if (secrets.length === 0) return;
    const sessions: Cache<Session> = createCache(MAX_SESSIONS);
    hooks.authorize.tap("admin-secret", (credentials) => {
      const sent = sessionHeader(credentials, "admin-secret");
      if (sent === undefined) return undefined;
      const hash = digest(sent);
      // every secret is compared, whichever fits
      if (!secrets.map((secret) => timingSafeEqual(secret, hash)).includes(true)) throw tokenRefused("invalid x-session-admin-secret", null, "admin-secret-refused");
      return sessionFor(credentials, sessions);
    });
  },
});

/** Equal lengths for the comparison, whatever was sent. */
const digest = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** `X-Session-…`, else `X-Hasura-…`. */
const sessionHeader = (credentials: Credentials, name: string): string | undefined =>
  credentials.header(`x-session-${name}`) ?? credentials.header(`x-hasura-${name}`);

/** Headers that say how to act and are no variables. @rule G-SES-6 */
const NO_VARIABLES: ReadonlySet<string> = new Set(["x-session-admin-secret", "x-session-role", "x-session-use-backend-only-permissions"]);

const sessionFor = (credentials: Credentials, sessions: Cache<Session>): Session => {
  const sent: Record<string, string> = {};
  for (const [name, value] of credentials.headers()) {
    if (name.startsWith("x-session-")) sent[name] = value;
    else if (name.startsWith("x-hasura-")) sent[`x-session-${name.slice("x-hasura-".length)}`] ??= credentials.header(`x-session-${name.slice("x-hasura-".length)}`) ?? value;
  }
  const role = sent["x-session-role"] || ADMIN;
  const isBackend = readFlag(sent["x-session-use-backend-only-permissions"]);
  const variables: Record<string, string> = { "x-session-role": role };
  for (const [name, value] of Object.entries(sent)) if (!NO_VARIABLES.has(name)) variables[name] = value;
  const key = JSON.stringify([isBackend, variables]);
  let session = sessions.get(key);
  if (session === undefined) {
    session = Object.freeze({
      role,
      ...(role === ADMIN ? {} : { databaseRole: role, isBackend }),
      isAdmin: role === ADMIN,
      claims: Object.freeze({ role }),
      variables: Object.freeze(variables),
    });
    sessions.set(key, session);
  }
  return session;
};

const TRUE = ["true", "t", "yes", "y"];
const FALSE = ["false", "f", "no", "n"];

/** @throws RelApiError `bad-request` @rule G-AUTH-20 */
const readFlag = (text: string | undefined): boolean => {
  if (text === undefined) return false;
  const word = text.toLowerCase();
  if (TRUE.includes(word)) return true;
  if (FALSE.includes(word)) return false;
  throw new RelApiError({
    code: "bad-request",
    status: 400,
    message: `x-session-use-backend-only-permissions:  Not a valid boolean text. True values are ${JSON.stringify(TRUE)} and  False values are ${JSON.stringify(FALSE)}. All values are case insensitive`,
    path: "$",
  });
};
