/** Settings of the REST surface, grouped by the plugins that declare them. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { flag, httpUrl, listOf, oneOf, text, wholeNumber } = settingKinds;

const isPath = (value: string): boolean => /^\/[^\s?#%]*$/.test(value);

/** A list of paths, in which the empty string means the root, just as `/` does. */
const pathList: SettingKind<readonly string[]> = {
  accepts: "paths that start with a slash, separated by commas",
  parse: (value) => {
    const paths = value.split(",").map((item) => item.trim());
    return paths.every(isPath) ? paths : undefined;
  },
  option: {
    accepts: "a list of paths that start with a slash",
    takes: (value) =>
      Array.isArray(value) &&
      value.length > 0 &&
      value.every((path) => typeof path === "string" && (path === "" || isPath(path))),
  },
};

export const restSettings = [
  defineSetting({
    name: "restPrefixes",
    environment: ["REST_PREFIXES"],
    kind: pathList,
    description:
      "comma-separated paths that REST is served under: `/api,/rest/v1` for supabase-js. `api.rest` and the banner use the first",
    whenUnset: "`/api`",
  }),
  defineSetting({
    name: "restPath",
    kind: text,
    default: "/api",
    description: "the same for one path (an option only)",
  }),
  defineSetting({
    name: "dbAggregatesEnabled",
    environment: ["DB_AGGREGATES_ENABLED", "PGRST_DB_AGGREGATES_ENABLED"],
    kind: flag,
    default: false,
    description: "aggregate functions in the REST `select`",
  }),
  defineSetting({
    name: "dbRootSpec",
    environment: ["DB_ROOT_SPEC", "PGRST_DB_ROOT_SPEC"],
    kind: text,
    description: "function that answers the REST root",
  }),
  defineSetting({
    name: "openapiMode",
    environment: ["OPENAPI_MODE", "PGRST_OPENAPI_MODE"],
    kind: oneOf(["follow-privileges", "ignore-privileges", "disabled"]),
    default: "follow-privileges",
    description: "`follow-privileges`, `ignore-privileges`, `disabled`",
  }),
  defineSetting({
    name: "clientErrorVerbosity",
    environment: ["CLIENT_ERROR_VERBOSITY", "PGRST_CLIENT_ERROR_VERBOSITY"],
    kind: oneOf(["verbose", "minimal"]),
    default: "verbose",
    description: "`minimal`: error bodies have only `code` and `message`",
  }),
  defineSetting({
    name: "urlUseLegacyTargetNames",
    environment: ["URL_USE_LEGACY_TARGET_NAMES", "PGRST_URL_USE_LEGACY_TARGET_NAMES"],
    kind: flag,
    default: true,
    description: "R-EMB-7",
  }),
] as const;

export const restLimits = [
  defineSetting({
    name: "maxColumns",
    environment: ["MAX_COLUMNS"],
    kind: wholeNumber(1),
    default: 1600,
    description: "columns that one REST body, row or `columns` names; a table of PostgreSQL has no more",
    isLimit: true,
  }),
  defineSetting({
    name: "maxParameters",
    environment: ["MAX_PARAMETERS"],
    kind: wholeNumber(1),
    default: 2000,
    description: "parameters of one URL; Node's usual 16 KB of headers hold few more",
    isLimit: true,
  }),
  defineSetting({
    name: "maxSelectFields",
    environment: ["MAX_SELECT_FIELDS"],
    kind: wholeNumber(1),
    default: 1600,
    description: "fields of one `select`, those of its embeds included; PostgreSQL answers 1664 columns at most",
    isLimit: true,
  }),
  defineSetting({
    name: "maxEmbeds",
    environment: ["MAX_EMBEDS"],
    kind: wholeNumber(1),
    default: 50,
    description:
      "embeds of one `select`. Each `!inner` one is another relation in one join: PostgreSQL plans 50 in half a second, 200 in a minute",
    isLimit: true,
  }),
  defineSetting({
    name: "maxLogicDepth",
    environment: ["MAX_LOGIC_DEPTH"],
    kind: wholeNumber(1),
    default: 100,
    description: "`and` and `or` inside each other in a URL",
    isLimit: true,
  }),
] as const;

export const rpcSettings = [
  defineSetting({
    name: "dbHoistedTxSettings",
    environment: ["DB_HOISTED_TX_SETTINGS", "PGRST_DB_HOISTED_TX_SETTINGS"],
    kind: listOf("names of settings"),
    default: ["statement_timeout", "plan_filter.statement_cost_limit", "default_transaction_isolation"],
    description: "function `SET` clauses lifted to the transaction",
    acceptsEmpty: true,
  }),
] as const;

export const openapiSettings = [
  defineSetting({
    name: "openapiSecurityActive",
    environment: ["OPENAPI_SECURITY_ACTIVE", "PGRST_OPENAPI_SECURITY_ACTIVE"],
    kind: flag,
    default: false,
    description: "the OpenAPI document says that a token is needed",
  }),
  defineSetting({
    name: "openapiServerProxyUri",
    environment: ["OPENAPI_SERVER_PROXY_URI", "PGRST_OPENAPI_SERVER_PROXY_URI"],
    kind: httpUrl,
    description: "address of the API in the OpenAPI document, as clients of a proxy see it",
  }),
] as const;

export const etagSettings = [
  defineSetting({
    name: "etags",
    environment: ["ETAGS"],
    kind: flag,
    default: false,
    description: "REST reads carry an `ETag`; `If-None-Match` and `If-Match` count (R-ETG)",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `explain-media`. */
export const explainSettings = [
  defineSetting({
    name: "dbPlanEnabled",
    environment: ["DB_PLAN_ENABLED", "PGRST_DB_PLAN_ENABLED"],
    kind: flag,
    default: false,
    description: "execution plans by `Accept`",
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof restSettings>,
      ValuesOf<typeof rpcSettings>,
      ValuesOf<typeof openapiSettings>,
      ValuesOf<typeof etagSettings>,
      ValuesOf<typeof explainSettings> {}
  interface Limits extends ValuesOf<typeof restLimits> {}
}
