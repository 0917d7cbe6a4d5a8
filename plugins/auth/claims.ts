/** Reads the `x-session-*` claims of a token from their configured location, and derives roles and session
 *  variables. */
import {
  encodeArrayLiteral,
  holdsRawNumber,
  exceedsJsonDepth,
  parseJson,
  writeJson,
  type Json,
  isJsonObject,
  type JsonObject,
} from "../../core/index.ts";
import { readMember } from "../shared/json-values.ts";
import { normalizeSessionName } from "./session-header.ts";
import type { ClaimsLocation, MappedClaim, TokenConfiguration } from "./token-settings.ts";

const INDEX = /^(?:0|[1-9]\d*)$/;

/** Returns the value at the path of keys, outermost first. Undefined if a key is missing. @rule G-AUTH-11 */
export const readClaimPath = (from: Json, keys: readonly string[]): Json | undefined => {
  let current: Json | undefined = from;
  for (const key of keys) current = readMember(current, Array.isArray(current) && INDEX.test(key) ? Number(key) : key);
  return current;
};

/** Returns whether a JavaScript number keeps all digits of the number, in any notation. */
const isExactAsNumber = (number: string): boolean => {
  const digits = number
    .replace(/[eE][^]*$/, "")
    .replace(/\D/g, "")
    .replace(/^0+/, "");
  return String(Number(number)) === number || (digits.length < 16 && Number.isFinite(Number(number)));
};

/** Parses JSON, and keeps all digits of numbers: user 12345678901234567890 must not become another user. @throws
 *  SyntaxError */
export const parseClaims = (text: string): Json => parseJson(text, isExactAsNumber);

/** Returns a string unchanged, and any other value as JSON text. */
export const encodeClaim = (value: Json): string => (typeof value === "string" ? value : writeJson(value));

/** Claims by lower-case name with the prefix `x-session-`. @experimental */
export type SessionClaims = ReadonlyMap<string, Json>;

/** The claims that were read from a token, or the reason why they could not be read. @experimental */
export type ClaimsReading =
  /** With `areTopLevel`, the claims are among the registered claims, and only the default role is required. */
  | { readonly claims: SessionClaims; readonly areTopLevel: boolean }
  /** The token has no roles in this format. */
  | { readonly claimsWithoutRoles: SessionClaims }
  /** The claims are missing at the configured location, or have another format. */
  | { readonly reason: string };

export const ALLOWED_ROLES = "x-session-allowed-roles";
export const DEFAULT_ROLE = "x-session-default-role";

/** The default namespace of Hasura's tokens. */
const DEFAULT_NAMESPACE = "https://hasura.io/jwt/claims";

/** The format of the object of claims. */
type ClaimsFormat = Pick<TokenConfiguration, "areClaimsStringified" | "maxJsonDepth">;

/** The location and the format of the claims. */
export type ClaimsConfiguration = ClaimsFormat & Pick<TokenConfiguration, "claims">;

/** Reads the session claims of a verified token. @rule G-AUTH-15 G-AUTH-16 G-AUTH-18 R-AUT-6 */
export const readSessionClaims = (configuration: ClaimsConfiguration, token: JsonObject): ClaimsReading => {
  const { claims: location } = configuration;
  switch (location.kind) {
    case "map":
      return readMapped(location.entries, token);
    case "namespace":
      return Object.hasOwn(token, location.key)
        ? readClaimsObject(token[location.key] as Json, configuration, `claims_namespace ${location.key}`)
        : { reason: `claims key: '${location.key}' not found` };
    case "path":
      return readAtPath(location, configuration, token);
    case "default":
      return readDefaultFormat(configuration, token);
  }
};

const readAtPath = (
  location: Extract<ClaimsLocation, { readonly kind: "path" }>,
  format: ClaimsFormat,
  token: JsonObject,
): ClaimsReading => {
  const claim = readClaimPath(token, location.keys);
  if (claim === undefined) return { reason: `claims not found at claims_namespace_path: '${location.pathText}'` };
  return readClaimsObject(claim, format, `claims_namespace_path ${location.pathText}`);
};

const readDefaultFormat = (format: ClaimsFormat, token: JsonObject): ClaimsReading => {
  const top = collectSessionClaims(token);
  if (top.has(ALLOWED_ROLES) || top.has(DEFAULT_ROLE)) return { claims: top, areTopLevel: true };
  if (Object.hasOwn(token, DEFAULT_NAMESPACE))
    return readClaimsObject(token[DEFAULT_NAMESPACE] as Json, format, `claims_namespace ${DEFAULT_NAMESPACE}`);
  return { claimsWithoutRoles: top };
};

const readClaimsObject = (
  value: Json,
  { areClaimsStringified, maxJsonDepth }: ClaimsFormat,
  location: string,
): ClaimsReading => {
  if (!areClaimsStringified)
    return isJsonObject(value)
      ? { claims: collectSessionClaims(value), areTopLevel: false }
      : { reason: "expecting a json object when claims_format is json" };
  if (typeof value !== "string") return { reason: "expecting a string when claims_format is stringified_json" };
  const parsedClaims = exceedsJsonDepth(value, maxJsonDepth) ? undefined : parseStringified(value);
  if (!isJsonObject(parsedClaims))
    return { reason: `expecting stringified json at: '${location}', but found: ${value}` };
  return { claims: collectSessionClaims(parsedClaims), areTopLevel: false };
};

const parseStringified = (text: string): Json | undefined => {
  try {
    return parseClaims(text);
  } catch {
    return undefined;
  }
};

const readMapped = (entries: readonly MappedClaim[], token: JsonObject): ClaimsReading => {
  const claims = new Map<string, Json>();
  for (const { claim, from } of entries) {
    const value = "literal" in from ? from.literal : (readClaimPath(token, from.path) ?? from.fallback);
    if (value !== undefined) claims.set(claim, value);
    else if (claim !== ALLOWED_ROLES && claim !== DEFAULT_ROLE)
      return { reason: `JWT claim from claims_map, ${claim} not found` };
  }
  return { claims, areTopLevel: false };
};

/** Collects the session claims, whose names may have any case. If several names are equal, `x-session-` wins over
 *  `x-hasura-`, then lower case, then the last one. */
const collectSessionClaims = (from: JsonObject): SessionClaims => {
  const claims = new Map<string, { readonly value: Json; readonly rank: number }>();
  for (const [name, value] of Object.entries(from)) {
    const claim = normalizeSessionName(name.toLowerCase());
    if (claim === undefined) continue;
    const rank = name === claim ? 2 : name.toLowerCase() === claim ? 1 : 0;
    if (rank >= (claims.get(claim)?.rank ?? 0)) claims.set(claim, { value, rank });
  }
  return new Map([...claims].map(([claim, { value }]) => [claim, value]));
};

/** Claims and headers that control the session. Tokens cannot set variables of these names. @rule G-SES-6 */
const CONTROL_CLAIMS: ReadonlySet<string> = new Set([
  ALLOWED_ROLES,
  DEFAULT_ROLE,
  "x-session-role",
  "x-session-admin-secret",
  "x-session-use-backend-only-permissions",
]);

/** Returns the session variables of a caller who acts as `role`. @rule G-AUTH-19 G-SES-6 */
export const buildVariables = (claims: SessionClaims, role: string): Readonly<Record<string, string>> => {
  const variables: Record<string, string> = { "x-session-role": role };
  for (const [claim, value] of claims) if (!CONTROL_CLAIMS.has(claim)) variables[claim] = encodeVariable(value);
  return Object.freeze(variables);
};

const encodeVariable = (value: Json): string => {
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  return isList ? encodeArrayLiteral(value as readonly string[]) : encodeClaim(value); // checked above
};

/** Returns the claims with all digits of their numbers, as JSON text for SQL. Undefined if JavaScript numbers
 *  represent them exactly. @rule G-SES-3 R-TX-6 */
export const encodeExactClaims = (exact: JsonObject, role: string): string | undefined =>
  holdsRawNumber(exact) ? writeJson({ ...exact, role }) : undefined;
