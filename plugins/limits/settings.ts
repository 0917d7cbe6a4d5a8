/** Settings of limits that depend on the role or the caller. The surfaces declare the limits on the size of a
 *  request. */
import {
  defineSetting,
  isJsonObject,
  settingKinds,
  type Json,
  type SettingKind,
  type ValuesOf,
} from "../../core/index.ts";

const jsonObject: SettingKind<Readonly<Record<string, Json>>> = {
  accepts: "a JSON object",
  parse: (text) => {
    try {
      const value: unknown = JSON.parse(text);
      return isJsonObject(value) ? value : undefined;
    } catch {
      return undefined;
    }
  },
  option: { accepts: "an object", isValid: isJsonObject },
};

/** Settings of the plugin `safe-writes`. */
export const safeWriteSettings = [
  defineSetting({
    name: "safeWrites",
    environment: ["SAFE_WRITES"],
    kind: settingKinds.flag,
    default: false,
    description: "`true`: updates and deletes without a filter are rejected (R-LIM-5, G-LIM-7)",
    isFixed: true,
    isLimit: true,
  }),
] as const;

const isPositiveInteger = (value: unknown): value is number =>
  typeof value === "number" && Number.isInteger(value) && value > 0;

/** Parses limits such as `anonymous=60,*=600`. */
const parseLimits = (text: string): Readonly<Record<string, number>> | undefined => {
  const pairs = text.split(",").map((pair) => pair.split("=").map((part) => part.trim()));
  if (!pairs.every((pair) => pair.length === 2 && /^\d{1,9}$/.test(pair[1] ?? ""))) return undefined;
  const limits = pairs.map(([role = "", limit]) => [role, Number(limit)] as const);
  return limits.every(([role, limit]) => role !== "" && isPositiveInteger(limit))
    ? Object.fromEntries(limits)
    : undefined;
};

const numbersByRole: SettingKind<Readonly<Record<string, number>>> = {
  accepts: "roles with whole numbers from 1, such as anonymous=60,*=600",
  parse: parseLimits,
  option: {
    accepts: "an object of roles and whole numbers from 1",
    isValid: (value) => isJsonObject(value) && Object.values(value).every(isPositiveInteger),
  },
};

/** Settings of the plugin `rate-limits`. */
export const rateLimitSettings = [
  defineSetting({
    name: "rateLimits",
    environment: ["RATE_LIMITS"],
    kind: numbersByRole,
    description:
      "the maximum number of requests per minute of each role, `*` for all other roles: `anonymous=60,*=600`; each entry of a GraphQL batch counts as one request (R-LIM-6). Overrides the rate limits of the metadata",
    whenUnset: "only the rate limits of the metadata apply",
    isFixed: true,
    isLimit: true,
  }),
  defineSetting({
    name: "rateLimitBurst",
    environment: ["RATE_LIMIT_BURST"],
    kind: settingKinds.wholeNumber(1),
    description: "the number of requests that a caller may send at once after a pause",
    whenUnset: "the number of requests per minute",
  }),
  defineSetting({
    name: "rateLimitBy",
    environment: ["RATE_LIMIT_BY"],
    kind: settingKinds.listOf("address, names of claims or of session variables"),
    default: [],
    description:
      "the facts that distinguish the callers of a role, separated by commas: `address`, a claim (`sub`) or a session variable (`x-session-user-id`)",
    whenUnset: "all callers of a role share its limit",
  }),
  defineSetting({
    name: "trustedProxies",
    environment: ["TRUSTED_PROXIES"],
    kind: settingKinds.wholeNumber(0),
    default: 0,
    description:
      "the number of proxies in front of the server: this many entries of `X-Forwarded-For`, counted from the right, are trusted. `0`: the caller's address is the one that Express reports (`trust proxy`), or that of the connection",
  }),
] as const;

/** Settings of the plugin `anonymous-timeout`. */
export const anonymousTimeoutSettings = [
  defineSetting({
    name: "anonStatementTimeout",
    environment: ["ANON_STATEMENT_TIMEOUT"],
    kind: settingKinds.wholeNumber(0, 2_000_000),
    unit: "seconds",
    whenUnset: "10 seconds, or no timeout with `COMPAT_MODE`",
    description:
      "the `statement_timeout` of callers with the anonymous role; `0`: no timeout. It applies if neither the server, the database, the role, the login role nor the request sets a timeout (R-LIM-9, G-LIM-12)",
    isLimit: true,
  }),
] as const;

/** Settings of the plugin `row-limits`. */
export const rowLimitSettings = [
  defineSetting({
    name: "rowLimits",
    environment: ["ROW_LIMITS"],
    kind: numbersByRole,
    description:
      "the maximum number of rows in each list by role, `*` for all other roles: `anonymous=100,*=10000`; other rows are omitted, as with `DB_MAX_ROWS` (R-LIM-7, G-LIM-10). Overrides the `row_limit` of `API_LIMITS` and of the metadata",
    whenUnset: "only the other row limits apply",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `cost-limits`. */
export const costLimitSettings = [
  defineSetting({
    name: "costLimits",
    environment: ["COST_LIMITS"],
    kind: numbersByRole,
    description:
      "the maximum total cost of a request as the planner of PostgreSQL estimates it, by role, `*` for all other roles: `anonymous=10000` (R-LIM-8, G-LIM-11). Overrides the `cost_limit` of `API_LIMITS` and of the metadata",
    whenUnset: "only the other cost limits apply",
    isFixed: true,
    isLimit: true,
  }),
  defineSetting({
    name: "estimatedRowLimits",
    environment: ["ESTIMATED_ROW_LIMITS"],
    kind: numbersByRole,
    description:
      "the maximum number of rows that the planner of PostgreSQL estimates for the largest step of a statement, with its repetitions, by role: `anonymous=100000` (R-LIM-8, G-LIM-11). Overrides the `estimated_row_limit` of `API_LIMITS` and of the metadata",
    whenUnset: "only the other limits on estimated rows apply",
    isFixed: true,
    isLimit: true,
  }),
] as const;

/** Settings of the plugins `rate-limits`, `api-limits`, `row-limits` and `cost-limits`. */
export const apiLimitSettings = [
  defineSetting({
    name: "apiLimits",
    environment: ["API_LIMITS"],
    kind: jsonObject,
    description:
      'limits as JSON in the format of the metadata\'s `api_limits`, which they override: `{"depth_limit":{"global":7,"per_role":{"editor":12}}}` (G-LIM-8)',
    whenUnset: "only the limits of the metadata apply",
    isFixed: true,
    isLimit: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof safeWriteSettings>,
      ValuesOf<typeof rateLimitSettings>,
      ValuesOf<typeof anonymousTimeoutSettings>,
      ValuesOf<typeof rowLimitSettings>,
      ValuesOf<typeof costLimitSettings>,
      ValuesOf<typeof apiLimitSettings> {}
}
