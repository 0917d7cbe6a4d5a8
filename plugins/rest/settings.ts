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
    isValid: (value) =>
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
      "the paths at which REST is served, separated by commas, such as `/api,/rest/v1` for supabase-js; `api.rest` and the line at the start use the first one",
    whenUnset: "`/api`",
  }),
  defineSetting({
    name: "restPath",
    kind: text,
    default: "/api",
    description: "a single path, which is used if `REST_PREFIXES` is unset; it is an option only",
  }),
  defineSetting({
    name: "dbAggregatesEnabled",
    environment: ["DB_AGGREGATES_ENABLED", "PGRST_DB_AGGREGATES_ENABLED"],
    kind: flag,
    default: false,
    description: "`true`: the `select` of a REST request may contain aggregate functions",
  }),
  defineSetting({
    name: "dbRootSpec",
    environment: ["DB_ROOT_SPEC", "PGRST_DB_ROOT_SPEC"],
    kind: text,
    description:
      "a function in the database whose result is the response of the REST root, in place of the OpenAPI document",
    whenUnset: "the OpenAPI document",
  }),
  defineSetting({
    name: "openapiMode",
    environment: ["OPENAPI_MODE", "PGRST_OPENAPI_MODE"],
    kind: oneOf(["follow-privileges", "ignore-privileges", "disabled"]),
    default: "follow-privileges",
    description:
      "the content of the OpenAPI document. `follow-privileges`: what the caller may use; `ignore-privileges`: all exposed objects; `disabled`: there is no document",
  }),
  defineSetting({
    name: "clientErrorVerbosity",
    environment: ["CLIENT_ERROR_VERBOSITY", "PGRST_CLIENT_ERROR_VERBOSITY"],
    kind: oneOf(["verbose", "minimal"]),
    default: "verbose",
    description: "`minimal`: the bodies of errors have only `code` and `message`; `verbose`: also `details` and `hint`",
  }),
  defineSetting({
    name: "urlUseLegacyTargetNames",
    environment: ["URL_USE_LEGACY_TARGET_NAMES", "PGRST_URL_USE_LEGACY_TARGET_NAMES"],
    kind: flag,
    default: true,
    description:
      "`true`: filters and orders may name an embed with an alias by its original name too, and the response then has a `Warning` header (R-EMB-7)",
  }),
] as const;

export const restLimits = [
  defineSetting({
    name: "maxColumns",
    environment: ["MAX_COLUMNS"],
    kind: wholeNumber(1),
    default: 1600,
    description:
      "the maximum number of columns that a REST body, a row or `columns` names; a table of PostgreSQL has at most 1600",
    isLimit: true,
  }),
  defineSetting({
    name: "maxParameters",
    environment: ["MAX_PARAMETERS"],
    kind: wholeNumber(1),
    default: 2000,
    description:
      "the maximum number of parameters in a URL; the 16 KB of headers that Node accepts by default have room for few more",
    isLimit: true,
  }),
  defineSetting({
    name: "maxSelectFields",
    environment: ["MAX_SELECT_FIELDS"],
    kind: wholeNumber(1),
    default: 1600,
    description: "the maximum number of fields in a `select` with its embeds; PostgreSQL returns at most 1664 columns",
    isLimit: true,
  }),
  defineSetting({
    name: "maxEmbeds",
    environment: ["MAX_EMBEDS"],
    kind: wholeNumber(1),
    default: 50,
    description:
      "the maximum number of embeds in a `select`. Each `!inner` embed adds a relation to one join: PostgreSQL plans 50 in half a second, and 200 in a minute",
    isLimit: true,
  }),
  defineSetting({
    name: "maxLogicDepth",
    environment: ["MAX_LOGIC_DEPTH"],
    kind: wholeNumber(1),
    default: 100,
    description: "the maximum depth of nested `and` and `or` in a URL",
    isLimit: true,
  }),
] as const;

export const rpcSettings = [
  defineSetting({
    name: "dbHoistedTxSettings",
    environment: ["DB_HOISTED_TX_SETTINGS", "PGRST_DB_HOISTED_TX_SETTINGS"],
    kind: listOf("names of settings"),
    default: ["statement_timeout", "plan_filter.statement_cost_limit", "default_transaction_isolation"],
    description:
      "the settings that a call of a function applies to its whole transaction, separated by commas, if the function sets them in its `SET` clauses",
    acceptsEmpty: true,
  }),
] as const;

export const openapiSettings = [
  defineSetting({
    name: "openapiSecurityActive",
    environment: ["OPENAPI_SECURITY_ACTIVE", "PGRST_OPENAPI_SECURITY_ACTIVE"],
    kind: flag,
    default: false,
    description: "`true`: the OpenAPI document declares that requests need a token",
  }),
  defineSetting({
    name: "openapiServerProxyUri",
    environment: ["OPENAPI_SERVER_PROXY_URI", "PGRST_OPENAPI_SERVER_PROXY_URI"],
    kind: httpUrl,
    description: "the public URL of the API in the OpenAPI document, for servers behind a proxy",
  }),
] as const;

export const etagSettings = [
  defineSetting({
    name: "etags",
    environment: ["ETAGS"],
    kind: flag,
    default: false,
    description:
      "`true`: responses to REST reads have an `ETag`, and requests may use `If-None-Match` and `If-Match` (R-ETG)",
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
    description:
      "`true`: requests with `Accept: application/vnd.pgrst.plan` receive the execution plan of their statement",
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
  interface RequestLimits extends ValuesOf<typeof restLimits> {}
}
