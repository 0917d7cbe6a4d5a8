/** The settings of docs/reference/settings.md as strings: their names where options cannot be given as values
 *  (environment variables, settings stored in the database), how the strings are parsed, and which values are valid. */
import { presetError, type RelApiError } from "./errors.ts";
import { LIMITS } from "./limits.ts";
import type { RelApiOptions } from "./options.ts";

/** A setting: its environment variables, its option, and how its value is read. */
export interface Setting {
  /** Environment variables that set it: its own name, then the aliases; the first that is set wins. */
  readonly names: readonly [string, ...string[]];
  readonly option: keyof RelApiOptions;
  /** Never printed. */
  readonly isSecret?: boolean;
  /** The empty string is a value (an empty list); otherwise it counts as not set. */
  readonly isEmptyMeant?: boolean;
  readonly kind: SettingKind;
}

/** How a text is read. */
export interface SettingKind<Value = unknown> {
  /** For messages: `a whole number`. */
  readonly accepts: string;
  /** Undefined: invalid. */
  readonly read: (text: string) => Value | undefined;
  /** The setting as an option of a preset; absent: a text that `read` takes. */
  readonly option?: { readonly accepts: string; readonly takes: (given: unknown) => boolean };
}

const isTexts = (given: unknown): boolean => Array.isArray(given) && given.every((item) => typeof item === "string");

const text: SettingKind<string> = { accepts: "any text", read: (given) => given };

/** As an option, it may also be the parsed value. */
const document: SettingKind = {
  ...text,
  option: {
    accepts: "a string or an object",
    takes: (given) => typeof given === "string" || (typeof given === "object" && given !== null),
  },
};

const YES = ["true", "yes", "on", "t", "y", "1"];
const NO = ["false", "no", "off", "f", "n", "0"];

const flag: SettingKind<boolean> = {
  accepts: "true or false",
  read: (given) => {
    const word = given.trim().toLowerCase();
    return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
  },
  option: { accepts: "true or false", takes: (given) => typeof given === "boolean" },
};

/** Whole numbers in a range, both ends included. */
export const wholeNumber = (from: number, to = Number.MAX_SAFE_INTEGER): SettingKind<number> => ({
  accepts:
    to === Number.MAX_SAFE_INTEGER ? `a whole number of at least ${from}` : `a whole number from ${from} to ${to}`,
  read: (given) => {
    const number = /^\s*[0-9]{1,15}\s*$/.test(given) ? Number(given) : -1;
    return number >= from && number <= to ? number : undefined;
  },
  option: {
    accepts: from > 0 ? "a positive number" : "a non-negative number",
    takes: (given) => typeof given === "number" && given <= to && (from > 0 ? given > 0 : given >= 0),
  },
});

const listOf = (accepts: string): SettingKind<readonly string[]> => ({
  accepts: `${accepts}, separated by commas`,
  read: (given) =>
    given
      .split(",")
      .map((item) => item.trim())
      .filter((item) => item !== ""),
  option: { accepts: `a list of ${accepts}`, takes: isTexts },
});

const oneOf = <Word extends string>(
  words: readonly Word[],
  aliases: Readonly<Record<string, Word>> = {},
): SettingKind<Word> => ({
  accepts: `one of ${words.join(", ")}`,
  read: (given) => {
    const word = given.trim().toLowerCase();
    return words.find((one) => one === word) ?? aliases[word];
  },
});

const textList: SettingKind = {
  accepts: 'a JSON list of strings, ["a", "b"]',
  read: (given) => {
    try {
      const list: unknown = JSON.parse(given);
      return Array.isArray(list) && list.every((item) => typeof item === "string") ? list : undefined;
    } catch {
      return undefined;
    }
  },
  option: { accepts: "a list of strings", takes: isTexts },
};

const databaseUrl: SettingKind = {
  accepts: "a connection string, postgres://user:password@host:5432/database or host=... dbname=...",
  read: (given) => (/^\s*(postgres(ql)?:\/\/|[a-z_]+\s*=)/i.test(given) ? given.trim() : undefined),
};

const databaseUrls: SettingKind = {
  accepts: "connection strings, separated by commas",
  read: (given) => {
    const urls = given.split(",").map((url) => databaseUrl.read(url));
    return urls.includes(undefined) ? undefined : urls;
  },
  option: {
    accepts: "a list of connection strings",
    takes: (given) =>
      isTexts(given) && (given as readonly string[]).every((url) => databaseUrl.read(url) !== undefined),
  },
};

const httpUrl: SettingKind<string> = {
  accepts: "an http or https URL",
  read: (given) => (/^https?:\/\/\S+$/.test(given.trim()) ? given.trim() : undefined),
};

const headerName: SettingKind = {
  accepts: "a header name",
  read: (given) => (/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(given.trim()) ? given.trim() : undefined),
};

/** Kinds of settings, for plugins that declare some. */
export const settingKinds = { text, flag, wholeNumber, listOf, oneOf, httpUrl };

const plain = (
  option: keyof RelApiOptions,
  kind: SettingKind,
  names: Setting["names"],
  more: Partial<Setting> = {},
): Setting => ({ option, kind, names, ...more });

/** In the order of the settings page. Settings of the standalone server's listener are its own. */
export const SETTINGS: readonly Setting[] = [
  plain("databaseUrl", databaseUrl, ["DATABASE_URL", "PGRST_DB_URI", "HASURA_GRAPHQL_DATABASE_URL"], {
    isSecret: true,
  }),
  plain("compatMode", flag, ["COMPAT_MODE"]),
  plain("dbSchemas", listOf("names of schemas"), ["DB_SCHEMAS", "PGRST_DB_SCHEMAS"]),
  plain("dbExtraSearchPath", listOf("names of schemas"), ["DB_EXTRA_SEARCH_PATH", "PGRST_DB_EXTRA_SEARCH_PATH"], {
    isEmptyMeant: true,
  }),
  plain("anonRole", text, ["ANON_ROLE", "PGRST_DB_ANON_ROLE", "HASURA_GRAPHQL_UNAUTHORIZED_ROLE"]),
  plain("jwtSecret", document, ["JWT_SECRET", "PGRST_JWT_SECRET", "HASURA_GRAPHQL_JWT_SECRET"], { isSecret: true }),
  plain("jwtSecretIsBase64", flag, ["JWT_SECRET_IS_BASE64", "PGRST_JWT_SECRET_IS_BASE64"]),
  plain("jwtAud", text, ["JWT_AUD", "PGRST_JWT_AUD"]),
  plain("jwtRoleClaimKey", text, ["JWT_ROLE_CLAIM_KEY", "PGRST_JWT_ROLE_CLAIM_KEY"]),
  plain("adminSecret", text, ["ADMIN_SECRET", "HASURA_GRAPHQL_ADMIN_SECRET"], { isSecret: true }),
  plain("metadata", document, ["METADATA", "HASURA_GRAPHQL_METADATA_DIR"]),
  plain("metadataPermissionsForRest", flag, ["METADATA_PERMISSIONS_FOR_REST"]),
  plain("dbPool", wholeNumber(1, 10_000), ["DB_POOL", "PGRST_DB_POOL"]),
  plain("dbPoolAcquisitionTimeout", wholeNumber(1, 2_000_000), [
    "DB_POOL_ACQUISITION_TIMEOUT",
    "PGRST_DB_POOL_ACQUISITION_TIMEOUT",
  ]),
  plain("dbPreparedStatements", flag, ["DB_PREPARED_STATEMENTS", "PGRST_DB_PREPARED_STATEMENTS"]),
  plain("dbMaxPreparedStatements", wholeNumber(1, 100_000), ["DB_MAX_PREPARED_STATEMENTS"]),
  plain("dbMaxPreparedBytes", wholeNumber(1), ["DB_MAX_PREPARED_BYTES"]),
  plain("dbMaxRows", wholeNumber(0), ["DB_MAX_ROWS", "PGRST_DB_MAX_ROWS"]),
  plain("dbPreRequest", text, ["DB_PRE_REQUEST", "PGRST_DB_PRE_REQUEST"]),
  plain("dbTxEnd", oneOf(["commit", "commit-allow-override", "rollback", "rollback-allow-override"]), [
    "DB_TX_END",
    "PGRST_DB_TX_END",
  ]),
  plain("dbAggregatesEnabled", flag, ["DB_AGGREGATES_ENABLED", "PGRST_DB_AGGREGATES_ENABLED"]),
  plain("dbPlanEnabled", flag, ["DB_PLAN_ENABLED", "PGRST_DB_PLAN_ENABLED"]),
  plain("dbChannel", text, ["DB_CHANNEL", "PGRST_DB_CHANNEL"]),
  plain("dbChannelEnabled", flag, ["DB_CHANNEL_ENABLED", "PGRST_DB_CHANNEL_ENABLED"]),
  plain("databaseReplicaUrls", databaseUrls, ["DATABASE_REPLICA_URLS", "HASURA_GRAPHQL_READ_REPLICA_URLS"], {
    isSecret: true,
  }),
  plain("liveQueryInterval", wholeNumber(1, 86_400_000), [
    "LIVE_QUERY_INTERVAL",
    "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_REFETCH_INTERVAL",
  ]),
  plain("liveQueryBatchSize", wholeNumber(1, 100_000), [
    "LIVE_QUERY_BATCH_SIZE",
    "HASURA_GRAPHQL_LIVE_QUERIES_MULTIPLEXED_BATCH_SIZE",
  ]),
  plain("maxSockets", wholeNumber(1), ["MAX_SOCKETS"]),
  plain("maxSocketOperations", wholeNumber(1), ["MAX_SOCKET_OPERATIONS"]),
  plain("maxLiveQueryBytes", wholeNumber(1), ["MAX_LIVE_QUERY_BYTES"]),
  plain("maxSocketMessageBytes", wholeNumber(1), ["MAX_SOCKET_MESSAGE_BYTES"]),
  plain("maxBodyBytes", wholeNumber(1, 268_435_456), ["MAX_BODY_BYTES"]),
  plain("maxPendingBodyBytes", wholeNumber(1), ["MAX_PENDING_BODY_BYTES"]),
  plain("maxResultBytes", wholeNumber(1, 268_435_456), ["MAX_RESULT_BYTES"]),
  plain("maxUnreadBytes", wholeNumber(1), ["MAX_UNREAD_BYTES"]),
  plain("unreadTimeout", wholeNumber(1, 2_000_000), ["UNREAD_TIMEOUT"]),
  plain("requestTimeout", wholeNumber(1, 2_000_000), ["REQUEST_TIMEOUT"]),
  plain("openapiMode", oneOf(["follow-privileges", "ignore-privileges", "disabled"]), [
    "OPENAPI_MODE",
    "PGRST_OPENAPI_MODE",
  ]),
  plain("corsAllowedOrigins", listOf("origins"), [
    "CORS_ALLOWED_ORIGINS",
    "PGRST_SERVER_CORS_ALLOWED_ORIGINS",
    "HASURA_GRAPHQL_CORS_DOMAIN",
  ]),
  plain("logLevel", oneOf(["silent", "error", "warn", "info", "debug"], { crit: "silent" }), [
    "LOG_LEVEL",
    "PGRST_LOG_LEVEL",
    "HASURA_GRAPHQL_LOG_LEVEL",
  ]),
  plain("clientErrorVerbosity", oneOf(["verbose", "minimal"]), [
    "CLIENT_ERROR_VERBOSITY",
    "PGRST_CLIENT_ERROR_VERBOSITY",
  ]),
  plain(
    "dbHoistedTxSettings",
    listOf("names of settings"),
    ["DB_HOISTED_TX_SETTINGS", "PGRST_DB_HOISTED_TX_SETTINGS"],
    { isEmptyMeant: true },
  ),
  plain("dbRootSpec", text, ["DB_ROOT_SPEC", "PGRST_DB_ROOT_SPEC"]),
  plain("dbConfig", flag, ["DB_CONFIG", "PGRST_DB_CONFIG"]),
  plain("dbPreConfig", text, ["DB_PRE_CONFIG", "PGRST_DB_PRE_CONFIG"]),
  plain("dbPoolMaxLifetime", wholeNumber(1, 2_000_000), ["DB_POOL_MAX_LIFETIME", "PGRST_DB_POOL_MAX_LIFETIME"]),
  plain("dbPoolMaxIdletime", wholeNumber(1, 2_000_000), ["DB_POOL_MAX_IDLETIME", "PGRST_DB_POOL_MAX_IDLETIME"]),
  plain("jwtCacheMaxEntries", wholeNumber(0, 10_000_000), ["JWT_CACHE_MAX_ENTRIES", "PGRST_JWT_CACHE_MAX_ENTRIES"]),
  plain("openapiSecurityActive", flag, ["OPENAPI_SECURITY_ACTIVE", "PGRST_OPENAPI_SECURITY_ACTIVE"]),
  plain("openapiServerProxyUri", httpUrl, ["OPENAPI_SERVER_PROXY_URI", "PGRST_OPENAPI_SERVER_PROXY_URI"]),
  plain("serverTimingEnabled", flag, ["SERVER_TIMING_ENABLED", "PGRST_SERVER_TIMING_ENABLED"]),
  plain("serverTraceHeader", headerName, ["SERVER_TRACE_HEADER", "PGRST_SERVER_TRACE_HEADER"]),
  plain("urlUseLegacyTargetNames", flag, ["URL_USE_LEGACY_TARGET_NAMES", "PGRST_URL_USE_LEGACY_TARGET_NAMES"]),
  plain("logQuery", flag, ["LOG_QUERY", "PGRST_LOG_QUERY"]),
  plain("adminSecrets", textList, ["ADMIN_SECRETS", "HASURA_GRAPHQL_ADMIN_SECRETS"], { isSecret: true }),
  plain("stringifyNumericTypes", flag, ["STRINGIFY_NUMERIC_TYPES", "HASURA_GRAPHQL_STRINGIFY_NUMERIC_TYPES"]),
  plain("v1BooleanNullCollapse", flag, ["V1_BOOLEAN_NULL_COLLAPSE", "HASURA_GRAPHQL_V1_BOOLEAN_NULL_COLLAPSE"]),
  plain("disablePostgresArrays", flag, ["DISABLE_POSTGRES_ARRAYS"]),
  plain("noNullUnboundVariableDefault", flag, ["NO_NULL_UNBOUND_VARIABLE_DEFAULT"]),
  plain("nullableRelationships", flag, ["NULLABLE_RELATIONSHIPS"]),
  plain("defaultNamingConvention", oneOf(["hasura-default", "graphql-default"]), [
    "DEFAULT_NAMING_CONVENTION",
    "HASURA_GRAPHQL_DEFAULT_NAMING_CONVENTION",
  ]),
  plain("inferFunctionPermissions", flag, ["INFER_FUNCTION_PERMISSIONS", "HASURA_GRAPHQL_INFER_FUNCTION_PERMISSIONS"]),
  plain("adminRoleInTokens", flag, ["ADMIN_ROLE_IN_TOKENS"]),
  plain("cacheBytes", wholeNumber(0), ["CACHE_BYTES"]),
  plain("jwtRequireExp", flag, ["JWT_REQUIRE_EXP"]),
  ...LIMITS.map((limit) => plain(limit, wholeNumber(1), [limit.replace(/[A-Z]/g, "_$&").toUpperCase()])),
];

/** One line: setting, value (never that of a secret), what was expected. */
const settingRefused = (name: string, given: unknown, accepts: string, isSecret = false): RelApiError =>
  presetError(`invalid ${name}${isSecret ? "" : ` ${JSON.stringify(given)}`}: expected ${accepts}`);

/** @throws RelApiError `preset` */
export const readSetting = (name: string, given: string, kind: SettingKind, isSecret = false): unknown => {
  const value = kind.read(given);
  if (value === undefined) throw settingRefused(name, given, kind.accepts, isSecret);
  return value;
};

/** @throws RelApiError `preset` when the value is not of its kind */
export const checkKind = (name: string, given: unknown, kind: SettingKind, isSecret = false): void => {
  const { accepts, takes } = kind.option ?? {
    accepts: kind.accepts,
    takes: (one: unknown) => typeof one === "string" && kind.read(one) !== undefined,
  };
  if (!takes(given)) throw settingRefused(name, given, accepts, isSecret);
};

/** Options may come from JavaScript that no compiler has checked. @throws RelApiError `preset` at the first invalid
 *  one */
export const checkKinds = (options: RelApiOptions): void => {
  for (const { option, kind, isSecret } of SETTINGS) {
    const given: unknown = options[option];
    if (given === undefined) continue;
    checkKind(`option ${option}`, given, kind, isSecret);
  }
};
