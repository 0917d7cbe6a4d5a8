/** Authorizes a caller by a signed token: `Authorization: Bearer eyJ…`. */
import { createHash } from "node:crypto";
import {
  createCaches,
  definePlugin,
  RelApiError,
  defineCacheQuestion,
  type Ask,
  type Credentials,
  type PluginContext,
  type ResolvedOptions,
  type Session,
  type JsonObject,
} from "../../core/index.ts";
import { isAdminSecretSet } from "./admin-secret-settings.ts";
import { credentialsChangedSignal } from "./api.ts";
import { buildVariables, encodeExactClaims, readSessionClaims, encodeClaim } from "./claims.ts";
import { defaultCredentialRules } from "./database-role-rules.ts";
import { parseRoleClaimKey } from "./role-path.ts";
import { createRemoteKeys, shareKeyRings } from "./key-ring.ts";
import { readSessionHeader } from "./session-header.ts";
import { adminSecretSettings, tokenSettings } from "./settings.ts";
import { adminRoleInTokens, anonRole, corsAllowedOrigins, maxJsonDepth } from "../shared/settings.ts";
import { createTokenExtractor, type ExtractToken, type ExtractedToken } from "./token-extraction.ts";
import type { TokenRoles, RoleSettings, TokenRules, VerifiedToken } from "./token-rules.ts";
import { parseTokenSettings, type TokenConfiguration } from "./token-settings.ts";
import { loadVerifier, readUnverifiedIssuer, readToken } from "./token.ts";

/** Authorizes callers by signed tokens (JWT). @rule R-AUT-1 … R-AUT-7 R-AUT-12 R-AUT-14 G-AUTH-6 G-AUTH-10 …
 *  G-AUTH-19 */
export const jwtTokens = definePlugin({
  name: "jwt-tokens",
  settings: [adminRoleInTokens, anonRole, ...adminSecretSettings, ...tokenSettings, corsAllowedOrigins, maxJsonDepth],
  apply: (hooks, context) => {
    const tokens = createTokenScheme(context);
    context.onClose(tokens.close);
    hooks.authorize.tapAsync("jwt-tokens", tokens.authorize);
  },
});

/** The settings that were valid when they were last read. */
interface TokenState {
  readonly options: ResolvedOptions;
  readonly configurations: readonly TokenConfiguration[];
  readonly extractToken: ExtractToken;
  readonly roles: RoleSettings;
  /** True if a header may request another role. */
  readonly acceptsRoleHeader: boolean;
}

/** A verified token and its sessions, which are computed on first use. */
interface CachedToken extends VerifiedToken {
  /** The claims with all digits of their numbers. */
  readonly exactClaims: JsonObject;
  grant?: TokenRoles;
  /** The sessions by role. */
  readonly sessions: Map<string, Session>;
}

interface TokenScheme {
  /** Calls `callback` synchronously, unless keys have to be fetched first. */
  authorize(credentials: Credentials, callback: (error: Error | null, session?: Session) => void): void;
  close(): void;
}

const createTokenScheme = (context: PluginContext): TokenScheme => {
  const verifiedTokens = createVerifiedTokens(context);
  const changedSignal = context.use(credentialsChangedSignal);
  const openKeys = shareKeyRings((url) =>
    createRemoteKeys({
      url,
      logger: context.logger,
      onChange: () => {
        verifiedTokens.clear();
        changedSignal.emit(undefined);
      },
    }),
  );

  const readState = (options: ResolvedOptions): TokenState => {
    const readRoleClaim = parseRoleClaimKey(options.jwtRoleClaimKey);
    const roles: RoleSettings = {
      anonymousRole: options.anonRole || undefined,
      readRoleClaim: (claims) => {
        const roleClaim = readRoleClaim(claims);
        return roleClaim === undefined ? undefined : encodeClaim(roleClaim);
      },
    };
    const configurations = parseTokenSettings(options, openKeys);
    return {
      options,
      configurations,
      extractToken: createTokenExtractor(configurations, options.corsAllowedOrigins),
      roles,
      acceptsRoleHeader: isAdminSecretSet(options),
    };
  };

  let state = readState(context.options);
  let lastOptions = context.options;

  /** Options change as a whole when settings are reloaded. If the new ones are invalid, the previous state stays. @rule
   *  R-AUT-7 R-AUT-12 R-SC-4 */
  context.onModel(() => {
    if (context.options === lastOptions) return;
    lastOptions = context.options;
    try {
      const next = readState(lastOptions);
      closeKeys(state);
      state = next;
      verifiedTokens.clear();
      context.healthProblems.set("token settings", undefined);
    } catch (error) {
      if (!(error instanceof RelApiError)) throw error;
      context.logger.error("invalid token settings; keeping the previous settings", { reason: error.message });
      context.healthProblems.set("token settings", `${error.message}; keeping the previous settings`);
    }
  });

  // The fetch is deferred, so that requests that wait for the model are answered first.
  context.onModel(() => {
    if (state.configurations.length > 0) setImmediate(() => void loadVerifier());
  });

  const getSession = (extractedToken: ExtractedToken, credentials: Credentials, tokenState: TokenState): Session => {
    const { roles, options, acceptsRoleHeader } = tokenState;
    const { rules } = extractedToken;
    const token = verifiedTokens.verify(extractedToken);
    rules.checkClaims(token, Date.now() / 1000, options.jwtRequireExp);
    const grant = (token.grant ??= rules.grant(token, roles));
    const role = rules.chooseRole(grant, acceptsRoleHeader ? readSessionHeader(credentials, "role") : undefined);
    let session = token.sessions.get(role);
    if (session === undefined) token.sessions.set(role, (session = buildTokenSession(token, grant, role, options)));
    return session;
  };

  return {
    authorize: (credentials, callback) => {
      const currentState = state;
      const rules = credentials.rules ?? defaultCredentialRules;
      if (currentState.configurations.length === 0) {
        if (rules.createMissingKeyError !== undefined)
          rejectTokenWithoutKey(credentials, rules, rules.createMissingKeyError);
        return callback(null);
      }
      const extractedToken = currentState.extractToken(credentials, rules);
      if (extractedToken === undefined) return callback(null);
      // A token waits for the first fetch of the keys, and for the package that verifies it.
      let pendingLoads = [
        loadVerifier() ?? [],
        extractedToken.candidates.flatMap(({ keys }) => keys.firstFetch ?? []),
      ].flat();
      if (pendingLoads.length === 0) {
        let session: Session | undefined;
        try {
          session = getSession(extractedToken, credentials, currentState);
        } catch (error) {
          // The keys may have been replaced.
          if (unverifiedErrors.has(error as object))
            pendingLoads = extractedToken.candidates.flatMap(({ keys }) => keys.refetch() ?? []);
          if (pendingLoads.length === 0) throw error;
        }
        if (session !== undefined) return callback(null, session);
      }
      Promise.all(pendingLoads)
        .then(() => getSession(extractedToken, credentials, currentState))
        .then((session) => callback(null, session), callback);
    },
    close: () => closeKeys(state),
  };
};

const closeKeys = ({ configurations }: TokenState): void => {
  for (const { keys } of configurations) keys.close();
};

/** Rejects a token when no key is configured. @rule R-AUT-2 G-AUTH-10 */
const rejectTokenWithoutKey = (
  credentials: Credentials,
  rules: TokenRules,
  createError: NonNullable<TokenRules["createMissingKeyError"]>,
): void => {
  const header = credentials.header("authorization");
  if (header !== undefined && rules.readBearer(header) !== undefined) throw createError();
};

/** Errors for tokens that no current key verifies. Newly fetched keys may verify these tokens. */
const unverifiedErrors = new WeakSet<object>();

const hashToken = (text: string): string => createHash("sha256").update(text).digest("binary");

/** The hash of the token is the cache key, so that no token is stored. */
const TOKEN = defineCacheQuestion("token", ({ token }: ExtractedToken) => token, hashToken);
const CANDIDATES = defineCacheQuestion("candidates", ({ candidates }: ExtractedToken) => candidates);
const RULES = defineCacheQuestion("rules", ({ rules }: ExtractedToken) => rules);

/** Computes the cached value of a token. @throws RelApiError with the message of the surface */
const verifyToken = (ask: Ask<ExtractedToken>): CachedToken => {
  const token = ask(TOKEN);
  const candidates = ask(CANDIDATES);
  const rules = ask(RULES);
  const configuration = candidates.length === 1 ? candidates[0] : findConfiguration(token, candidates);
  if (configuration === undefined) throw rules.createUnknownIssuerError();
  const reading = readToken(token, configuration.keys.getKeys(), configuration.maxJsonDepth);
  if ("failure" in reading) {
    const error = rules.createFailureError(reading.failure);
    if (reading.failure.kind === "no-key" || reading.failure.kind === "bad-signature") unverifiedErrors.add(error);
    throw error;
  }
  const { claims, exactClaims } = reading.signedClaims;
  const { acceptedAudiences, issuer, skewSeconds } = configuration;
  return {
    claims,
    exactClaims,
    audiences: readAudiences(claims),
    acceptedAudiences,
    isIssuerAccepted: issuer === undefined || claims.iss === undefined || claims.iss === null || claims.iss === issuer,
    skewSeconds,
    readSessionClaims: () => readSessionClaims(configuration, exactClaims),
    sessions: new Map(),
  };
};

const readAudiences = ({ aud }: JsonObject): VerifiedToken["audiences"] => {
  if (aud === undefined || aud === null) return undefined;
  if (typeof aud === "string") return [aud];
  return Array.isArray(aud) && aud.every((audience) => typeof audience === "string")
    ? (aud as readonly string[])
    : "wrong";
};

/** Finds the configuration of the issuer, or else the one without an issuer. @rule G-AUTH-12 */
const findConfiguration = (
  token: string,
  candidates: readonly TokenConfiguration[],
): TokenConfiguration | undefined => {
  const issuer = readUnverifiedIssuer(token);
  return (
    candidates.find((candidate) => candidate.issuer !== undefined && candidate.issuer === issuer) ??
    candidates.find((candidate) => candidate.issuer === undefined)
  );
};

/** Builds the session of a caller who acts as `role`. Only with `adminRoleInTokens` is the role `admin` the
 *  administrator. @rule G-AUTH-19 R-AUT-10 */
const buildTokenSession = (
  token: CachedToken,
  { claims }: TokenRoles,
  role: string,
  { anonRole, adminRoleInTokens }: ResolvedOptions,
): Session => {
  const isAdmin = adminRoleInTokens && role === "admin";
  const { exp } = token.claims;
  const { skewSeconds } = token;
  const claimsText = encodeExactClaims(token.exactClaims, role);
  return Object.freeze({
    role,
    ...(isAdmin ? {} : { databaseRole: role }),
    isAdmin,
    ...(role === anonRole ? { isAnonymous: true } : {}),
    claims: Object.freeze({ ...token.claims, role }),
    ...(claimsText === undefined ? {} : { claimsText }),
    variables: buildVariables(claims, role),
    ...(typeof exp === "number" ? { expiresAtMs: (exp + skewSeconds) * 1000 } : {}),
  });
};

interface VerifiedTokens {
  /** Returns the token from the cache, or verifies it. @throws RelApiError with the message of the surface */
  verify(extractedToken: ExtractedToken): CachedToken;
  clear(): void;
}

/** The estimated memory of a token, with its sessions and the values derived from them. */
const BYTES_PER_TOKEN = 16 * 1024;

/** Caches verified tokens until keys or settings change. In practice, the number of entries limits the cache. @rule
 *  R-AUT-12 R-ADM-2 */
const createVerifiedTokens = (context: PluginContext): VerifiedTokens => {
  const caches = createCaches(
    "jwt-cache",
    {
      maxBytes: () => Math.max(context.options.cacheBytes, BYTES_PER_TOKEN * 64),
      maxEntries: () => context.options.jwtCacheMaxEntries,
    },
    context.counters,
  );
  const tokens = caches.create({
    name: "tokens",
    make: verifyToken,
    estimateBytes: ({ claims }) => BYTES_PER_TOKEN + JSON.stringify(claims).length * 6,
  });
  return { verify: tokens.getAndCommit, clear: caches.clear };
};
