/** Variables that look like settings and are none: misspelt, or of the two engines and not served here. */
import { levenshtein } from "../core/index.ts";
import type { Environment } from "./environment.ts";

/** What to do instead, for settings of the engines that this server does not have. */
const UNSERVED: Readonly<Record<string, string>> = {
  PGRST_DB_POOL_AUTOMATIC_RECOVERY: "the pool always recovers: leave it out",
  PGRST_DB_TIMEZONE_ENABLED: "time zones of Prefer are always taken: leave it out",
  PGRST_DB_USE_LEGACY_GUCS: "claims are in request.jwt.claims alone, as JSON",
  PGRST_SERVER_PROXY_URI: "set OPENAPI_SERVER_PROXY_URI",
  HASURA_GRAPHQL_ADMIN_INTERNAL_ERRORS: "errors have no internal part: leave it out",
  HASURA_GRAPHQL_AUTH_HOOK: "write an auth scheme: docs/guides/write-an-auth-scheme.md",
  HASURA_GRAPHQL_AUTH_HOOK_MODE: "write an auth scheme: docs/guides/write-an-auth-scheme.md",
  HASURA_GRAPHQL_CONNECTION_COMPRESSION: "compress in the proxy in front",
  HASURA_GRAPHQL_DEV_MODE: "CLIENT_ERROR_VERBOSITY says how much errors tell",
  HASURA_GRAPHQL_DISABLE_CORS: "set CORS_ALLOWED_ORIGINS",
  HASURA_GRAPHQL_ENABLED_APIS: "leave plugins out of the preset: docs/guides/presets.md",
  HASURA_GRAPHQL_ENABLED_LOG_TYPES: "set LOG_LEVEL and LOG_QUERY",
  HASURA_GRAPHQL_ENABLE_CONSOLE: "there is no console; GraphiQL is at /v1/graphql",
  HASURA_GRAPHQL_ENABLE_TELEMETRY: "there is none: leave it out",
  HASURA_GRAPHQL_METADATA_DATABASE_URL: "metadata is a folder or a file: set METADATA, and DATABASE_URL for the data",
  HASURA_GRAPHQL_MIGRATIONS_DIR: "run migrations with a tool of your own before the start",
  HASURA_GRAPHQL_NO_OF_RETRIES: "the connection is tried for as long as the server runs: leave it out",
  HASURA_GRAPHQL_PG_CONNECTIONS: "set DB_POOL",
  HASURA_GRAPHQL_PG_TIMEOUT: "set DB_POOL_MAX_IDLETIME",
  HASURA_GRAPHQL_TX_ISOLATION: "ALTER ROLE … SET default_transaction_isolation",
  HASURA_GRAPHQL_USE_PREPARED_STATEMENTS: "set DB_PREPARED_STATEMENTS",
};

const ENGINE = /^(?:PGRST|HASURA_GRAPHQL)_/;

/** Shorter names are near to too much that has nothing to do with us. */
const MIN_LENGTH = 7;
const MAX_CHANGES = 2;

const nearest = (name: string, known: Iterable<string>): string | undefined => {
  let found: string | undefined;
  let least = MAX_CHANGES + 1;
  for (const candidate of known) {
    if (candidate.length < MIN_LENGTH || Math.abs(candidate.length - name.length) > MAX_CHANGES) continue;
    const changes = levenshtein([...name], [...candidate]);
    if (changes < least) [least, found] = [changes, candidate];
  }
  return found;
};

export interface Stray {
  readonly name: string;
  /** The setting that was probably meant. */
  readonly meant?: string;
  /** A line for whoever starts the server. */
  readonly text: string;
}

/** `known`: names of all variables that are read. @rule C-SET-1 C-SET-2 */
export const strayVariables = (environment: Environment, known: ReadonlySet<string>): readonly Stray[] =>
  Object.keys(environment)
    .filter((name) => name.length >= MIN_LENGTH && !known.has(name) && !/APP_SETTINGS_/.test(name))
    .sort()
    .flatMap((name): readonly Stray[] => {
      const advice = UNSERVED[name];
      if (advice !== undefined) return [{ name, text: `${name} is not served: ${advice}` }];
      const meant = nearest(name, known);
      if (meant !== undefined && (environment[meant] === undefined || ENGINE.test(name)))
        return [{ name, meant, text: `${name} is not a setting; did you mean ${meant}?` }];
      return ENGINE.test(name) ? [{ name, text: `${name} is not served: see docs/reference/settings.md` }] : [];
    });
