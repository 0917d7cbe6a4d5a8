/** Settings that plugins of several folders read. Each plugin lists those that it reads. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { flag, listOf, oneOf, text, wholeNumber } = settingKinds;

export const adminRoleInTokens = defineSetting({
  name: "adminRoleInTokens",
  environment: ["ADMIN_ROLE_IN_TOKENS"],
  kind: flag,
  default: false,
  description:
    "`true`: a token or an answer of the auth webhook with the role `admin` makes the caller an administrator, as in Hasura; `false`: `admin` is an ordinary role (G-AUTH-19b, X-HOOK-5a)",
});

/** The role of callers without a credential. */
export const anonRole = defineSetting({
  name: "anonRole",
  environment: ["ANON_ROLE", "PGRST_DB_ANON_ROLE", "HASURA_GRAPHQL_UNAUTHORIZED_ROLE"],
  kind: text,
  description: "the role of callers without a credential",
  whenUnset: "callers without a credential get 401",
});

export const compatMode = defineSetting({
  name: "compatMode",
  environment: ["COMPAT_MODE"],
  kind: flag,
  default: false,
  description:
    "`true`: REST paths also work at the root, without `/api`, and errors contain only what PostgREST and Hasura report (R-HNT-6, G-HNT-4)",
  isFixed: true,
});

/** Matches values of the `Origin` header, which have a scheme, a host and no path. `*` matches every origin, and as the
 *  first label every subdomain. `null` is the origin of files and sandboxed frames. */
const ORIGIN = /^(?:\*|null|[a-z][a-z0-9+.-]*:\/\/(?:\*\.)?[^\s*/?#@]+)$/i;

const isOrigin = (item: unknown): boolean => typeof item === "string" && ORIGIN.test(item);

const originList = listOf("origins");

const ORIGIN_FORMS = "origins such as https://app.example or https://*.app.example, without a path";

/** The kind of a setting that lists origins. @rule R-COR-4 */
const origins: SettingKind<readonly string[]> = {
  accepts: `${ORIGIN_FORMS}, separated by commas, or *`,
  parse: (value) => {
    const read = originList.parse(value) ?? [];
    return read.every(isOrigin) ? read : undefined;
  },
  option: {
    accepts: `a list of ${ORIGIN_FORMS}, or *`,
    isValid: (value) => Array.isArray(value) && value.every(isOrigin),
  },
};

/** The allowed origins apply to CORS, to WebSockets and to tokens in cookies. */
export const corsAllowedOrigins = defineSetting({
  name: "corsAllowedOrigins",
  environment: ["CORS_ALLOWED_ORIGINS", "PGRST_SERVER_CORS_ALLOWED_ORIGINS", "HASURA_GRAPHQL_CORS_DOMAIN"],
  kind: origins,
  default: ["*"],
  description:
    "the origins whose pages may use the API in a browser, separated by commas, such as `https://app.example`; `*`: all origins, but cookies count only from the server's own pages",
});

export const dbChannel = defineSetting({
  name: "dbChannel",
  environment: ["DB_CHANNEL", "PGRST_DB_CHANNEL"],
  kind: text,
  default: "pgrst",
  description:
    "the channel of `NOTIFY` on which the server receives requests to reload the schema and the settings (R-SC-3)",
  isFixed: true,
});

const dbMaxRows = defineSetting({
  name: "dbMaxRows",
  environment: ["DB_MAX_ROWS", "PGRST_DB_MAX_ROWS"],
  kind: wholeNumber(0),
  description: "the maximum number of rows of each list that a read returns; other rows are omitted",
  whenUnset: "no limit",
});

export const dbTxEnd = defineSetting({
  name: "dbTxEnd",
  environment: ["DB_TX_END", "PGRST_DB_TX_END"],
  kind: oneOf(["commit", "commit-allow-override", "rollback", "rollback-allow-override"]),
  default: "commit",
  description:
    "how each transaction ends: `commit`, or `rollback`, which stores nothing. With `commit-allow-override` and `rollback-allow-override`, a request can choose the other end with `Prefer: tx=rollback` or `tx=commit`",
});

export const metadataPermissionsForRest = defineSetting({
  name: "metadataPermissionsForRest",
  environment: ["METADATA_PERMISSIONS_FOR_REST"],
  kind: flag,
  default: false,
  description:
    "`true`: for roles of the metadata, the permissions of the metadata replace the grants of the database on the REST surface too",
});

const sharedOptions = [
  adminRoleInTokens,
  anonRole,
  compatMode,
  corsAllowedOrigins,
  dbChannel,
  dbMaxRows,
  dbTxEnd,
  metadataPermissionsForRest,
] as const;

export const maxJsonDepth = defineSetting({
  name: "maxJsonDepth",
  environment: ["MAX_JSON_DEPTH"],
  kind: wholeNumber(1),
  default: 500,
  description:
    "the maximum depth of nested arrays and objects in a request body, in GraphQL variables and in the claims of a token. Deeper JSON could exhaust the stack here or in PostgreSQL",
  isLimit: true,
});

const maxRelationDepth = defineSetting({
  name: "maxRelationDepth",
  environment: ["MAX_RELATION_DEPTH"],
  kind: wholeNumber(1),
  default: 20,
  description:
    "the maximum depth of nested relationships: embeds of a `select`, and conditions of a GraphQL `where`. PostgreSQL plans nested relationships together, as with `MAX_EMBEDS`",
  isLimit: true,
});

const maxFilters = defineSetting({
  name: "maxFilters",
  environment: ["MAX_FILTERS"],
  kind: wholeNumber(1),
  default: 10_000,
  description:
    "the maximum number of conditions in a request: filters of a URL with their logic trees, or comparisons and boolean expressions of a GraphQL operation",
  isLimit: true,
});

const maxOrderTerms = defineSetting({
  name: "maxOrderTerms",
  environment: ["MAX_ORDER_TERMS"],
  kind: wholeNumber(1),
  default: 200,
  description: "the maximum number of terms in an `order` or `order_by`",
  isLimit: true,
});

const maxPathKeys = defineSetting({
  name: "maxPathKeys",
  environment: ["MAX_PATH_KEYS"],
  kind: wholeNumber(1),
  default: 100,
  description:
    "the maximum number of keys in a JSON path such as `data->a->b`; PostgreSQL itself rejects some thousands of keys (`max_stack_depth`)",
  isLimit: true,
});

/** The limits that both surfaces read. */
const surfaceLimits = [maxJsonDepth, maxRelationDepth, maxFilters, maxOrderTerms, maxPathKeys] as const;

/** The settings that both surfaces read. */
export const surfaceSettings = [compatMode, dbMaxRows, dbTxEnd, ...surfaceLimits] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof sharedOptions> {}
  interface RequestLimits extends ValuesOf<typeof surfaceLimits> {}
}
