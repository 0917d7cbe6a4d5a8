/** `Authorization: Bearer eyJ…`: who calls is said by a signed token. */
import { createHash } from "node:crypto";
import { createCache, definePlugin, isRelApiError, type Cache, type Credentials, type PluginContext, type ResolvedOptions, type Session } from "../../core/index.ts";
import { buildVariables, exactClaimsText } from "./claims.ts";
import { jwtSecretMissing } from "./errors.ts";
import { graphqlRules } from "./graphql-rules.ts";
import { parseRoleClaimKey } from "./json-path.ts";
import { remoteKeys } from "./key-ring.ts";
import { restRules } from "./rest-rules.ts";
import { isAdminSecretSet, sessionHeader } from "./session-header.ts";
import { createTokenFinder, type FindToken, type FoundToken } from "./token-place.ts";
import type { Grant, RoleSettings, TokenRules, VerifiedToken } from "./token-rules.ts";
import { parseTokenSettings, type TokenConfiguration } from "./token-settings.ts";
import { peekIssuer, readToken } from "./token.ts";

/** @rule R-AUT-1 … R-AUT-7 R-AUT-12 G-AUTH-6 G-AUTH-10 … G-AUTH-19 */
export const jwtTokens = definePlugin({
  name: "jwt-tokens",
  apply: (hooks, context) => {
    const tokens = createTokens(context);
    context.onClose(tokens.close);
    hooks.authorize.tapPromise("jwt-tokens", tokens.authorize);
  },
});

/** Settings as they were read last. */
interface State {
  readonly options: ResolvedOptions;
  readonly configurations: readonly TokenConfiguration[];
  readonly find: FindToken;
  readonly roles: RoleSettings;
  /** The header that asks for a role counts. */
  readonly takesRoleHeader: boolean;
}

/** A verified token with what it leads to, made once per surface and role. */
interface KnownToken extends VerifiedToken {
  readonly grants: Map<TokenRules, Grant>;
  readonly sessions: Map<TokenRules, Map<string, Session>>;
}

interface Tokens {
  authorize(credentials: Credentials): Promise<Session | undefined>;
  close(): void;
}

const createTokens = (context: PluginContext): Tokens => {
  const known = createKnownTokens(context);

  const read = (options: ResolvedOptions): State => {
    const roles: RoleSettings = { anonRole: options.anonRole || undefined, readRoleClaim: parseRoleClaimKey(options.jwtRoleClaimKey) };
    const configurations = parseTokenSettings(options, (url) => remoteKeys({ url, logger: context.logger, changed: known.clear }));
    return { options, configurations, find: createTokenFinder(configurations, options.corsAllowedOrigins), roles, takesRoleHeader: isAdminSecretSet(options) };
  };

  let state = read(context.options);
  let seen = context.options;

  /** Options change as a whole when settings are reloaded; wrong ones leave everything as it was. @rule R-AUT-7 R-AUT-12 R-SC-4 */
  const current = (): State => {
    if (context.options === seen) return state;
    seen = context.options;
    try {
      const next = read(seen);
      closeKeys(state);
      state = next;
      known.clear();
    } catch (error) {
      if (!isRelApiError(error)) throw error;
      context.logger.error("token settings were not taken over, the old ones stay", { reason: error.message });
    }
    return state;
  };

  return {
    authorize: async (credentials) => {
      const { configurations, find, roles, options, takesRoleHeader } = current();
      const rules = credentials.surface === "graphql" ? graphqlRules : restRules;
      if (configurations.length === 0) return refuseUnreadable(credentials, rules);
      const found = find(credentials, rules);
      if (found === undefined) return undefined;
      // keys that are fetched for the first time
      for (const { keys } of found.candidates) if (keys.pending !== undefined) await keys.pending;
      const token = known.get(found, () => verify(found, rules));
      rules.judge(token, Date.now() / 1000, options.jwtRequireExp);
      const grant = remembered(token.grants, rules, () => rules.grant(token, roles));
      const role = rules.choose(grant, takesRoleHeader ? sessionHeader(credentials, "role") : undefined);
      const sessions = remembered(token.sessions, rules, () => new Map<string, Session>());
      return remembered(sessions, role, () => buildSession(token, grant, role, options));
    },
    close: () => closeKeys(state),
  };
};

const closeKeys = ({ configurations }: State): void => {
  for (const { keys } of configurations) keys.close();
};

const remembered = <Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value => {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
};

/** A token, and nothing to read it with. @rule R-AUT-2 G-AUTH-10 */
const refuseUnreadable = (credentials: Credentials, rules: TokenRules): undefined => {
  if (rules === graphqlRules) return undefined;
  const sent = credentials.header("authorization");
  if (sent !== undefined && rules.readBearer(sent) !== undefined) throw jwtSecretMissing();
  return undefined;
};

/** @throws RelApiError in the words of the surface */
const verify = ({ token, candidates }: FoundToken, rules: TokenRules): VerifiedToken => {
  const configuration = candidates.length === 1 ? candidates[0] : configurationFor(token, candidates);
  if (configuration === undefined) throw rules.strangeIssuer();
  const reading = readToken(token, configuration.keys.keys(), configuration.maxJsonDepth);
  if ("failure" in reading) throw rules.failed(reading.failure);
  return { ...reading.signed, configuration };
};

/** @rule G-AUTH-12 */
const configurationFor = (token: string, candidates: readonly TokenConfiguration[]): TokenConfiguration | undefined => {
  const issuer = peekIssuer(token);
  return candidates.find((candidate) => candidate.issuer !== undefined && candidate.issuer === issuer) ?? candidates.find((candidate) => candidate.issuer === undefined);
};

/** @rule G-AUTH-19 R-AUT-10 */
const buildSession = (token: VerifiedToken, { claims }: Grant, role: string, { anonRole, adminRoleInTokens }: ResolvedOptions): Session => {
  const isAdmin = adminRoleInTokens && role === "admin";
  const { exp } = token.claims;
  const { skewSeconds } = token.configuration;
  const claimsText = exactClaimsText(token.claims, token.exact, role);
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

// --- the cache ------------------------------------------------------------------------------------------------------

interface KnownTokens {
  get(found: FoundToken, verifyIt: () => VerifiedToken): KnownToken;
  clear(): void;
}

/** Verified tokens by their hash, so that none is kept. Bounded; emptied when keys or settings change. @rule R-AUT-12 R-ADM-2 */
const createKnownTokens = ({ options: { jwtCacheMaxEntries }, counters }: PluginContext): KnownTokens => {
  const cache: Cache<KnownToken> = createCache(jwtCacheMaxEntries);
  const enter = (token: VerifiedToken): KnownToken => ({ ...token, grants: new Map(), sessions: new Map() });
  return {
    get: ({ token: text, place }, verifyIt) => {
      if (jwtCacheMaxEntries === 0) return enter(verifyIt());
      counters.add("jwt-cache-requests");
      const key = createHash("sha256").update(place).update(text).digest("base64");
      const found = cache.get(key);
      if (found !== undefined) {
        counters.add("jwt-cache-hits");
        return found;
      }
      const token = enter(verifyIt());
      const sizeBefore = cache.size;
      cache.set(key, token);
      if (cache.size === sizeBefore) counters.add("jwt-cache-evictions");
      return token;
    },
    clear: () => cache.clear(),
  };
};
