/** Authorizes a caller by the admin secret (`X-Session-Admin-Secret: …`). The caller acts as the role of
 *  `X-Session-Role`, or is an administrator without that header. The other session headers become session variables. */
import { createHash, timingSafeEqual } from "node:crypto";
import {
  definePlugin,
  Stage,
  type Cache,
  type Credentials,
  type ResolvedOptions,
  type Session,
} from "../../core/index.ts";
import { listAdminSecrets } from "./admin-secret-settings.ts";
import { adminSecretRejected } from "./errors.ts";
import { defaultCredentialRules } from "./database-role-rules.ts";
import { decodeHeader, readSessionHeader, normalizeSessionName } from "./session-header.ts";
import { adminSecretSettings } from "./settings.ts";
import { createSessionCache } from "../shared/session-cache.ts";
import { anonRole } from "../shared/settings.ts";

const ADMIN = "admin";

type Sessions = Cache<Session, Session>;

/** Authorizes callers by the admin secret. @rule R-AUT-8 G-AUTH-1 G-AUTH-2 G-AUTH-3 G-AUTH-4 */
export const adminSecret = definePlugin({
  name: "admin-secret",
  settings: [anonRole, ...adminSecretSettings],
  stage: Stage.early,
  secretHeaders: ["x-session-admin-secret", "x-hasura-admin-secret"],
  apply: (hooks, context) => {
    let secrets = listAdminSecrets(context.options).map(hashSecret);
    context.onModel(() => {
      secrets = listAdminSecrets(context.options).map(hashSecret);
    });
    const sessions = createSessionCache(context.caches, "administrators");
    hooks.authorize.tap("admin-secret", (credentials) => {
      if (secrets.length === 0) return undefined;
      const sentSecret = readSessionHeader(credentials, "admin-secret");
      if (sentSecret === undefined) return undefined;
      const hash = hashSecret(sentSecret);
      // Compares every secret, so that the duration does not depend on the match.
      if (!secrets.map((secret) => timingSafeEqual(secret, hash)).includes(true)) throw adminSecretRejected();
      return buildAdminSession(credentials, context.options, sessions);
    });
  },
});

/** Hashes have equal lengths, which the comparison requires. */
const hashSecret = (secret: string): Buffer => createHash("sha256").update(secret).digest();

/** Headers that control the session and are not session variables. @rule G-SES-6 */
const CONTROL_HEADERS: ReadonlySet<string> = new Set([
  "x-session-admin-secret",
  "x-session-role",
  "x-session-use-backend-only-permissions",
]);

/** Builds the session of a caller with the admin secret. An administrator runs as the login role. The header for
 *  backend-only permissions counts only with a role. */
const buildAdminSession = (credentials: Credentials, { anonRole }: ResolvedOptions, sessions: Sessions): Session => {
  const role = readSessionHeader(credentials, "role") || ADMIN;
  const isBackend = readBackendOnlyFlag(credentials);
  const variables: Record<string, string> = { "x-session-role": role };
  for (const [header, value] of credentials.headers()) {
    const name = normalizeSessionName(header);
    // If both prefixes are sent with one name, `x-session-` takes precedence.
    if (name === undefined || CONTROL_HEADERS.has(name) || (name !== header && credentials.header(name) !== undefined))
      continue;
    variables[name] = decodeHeader(credentials, value);
  }
  const isAnonymous = role === anonRole;
  return sessions.getAndCommit({
    role,
    ...(role === ADMIN ? {} : { databaseRole: role, isBackend }),
    isAdmin: role === ADMIN,
    ...(isAnonymous ? { isAnonymous } : {}),
    claims: Object.freeze({ role }),
    variables: Object.freeze(variables),
  });
};

const TRUE = ["true", "t", "yes", "y"];
const FALSE = ["false", "f", "no", "n"];

/** Reads the header for backend-only permissions. An unknown value is an error on surfaces whose credential rules
 *  define one, and false on others. @throws RelApiError `bad-request` @rule G-AUTH-20 */
const readBackendOnlyFlag = (credentials: Credentials): boolean => {
  const word = readSessionHeader(credentials, "use-backend-only-permissions")?.toLowerCase();
  if (word === undefined || FALSE.includes(word)) return false;
  if (TRUE.includes(word)) return true;
  const error = (credentials.rules ?? defaultCredentialRules).createInvalidFlagError?.(TRUE, FALSE);
  if (error !== undefined) throw error;
  return false;
};
