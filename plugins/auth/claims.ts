/** Reads the `x-session-*` claims of a token from their configured location, and derives roles and session
 *  variables. */
import { holdsRawNumber, isNestedDeeper, parseJson, writeJson, type Json } from "../../core/index.ts";
import { isJsonObject, type JsonObject } from "./keys.ts";
import { sessionName } from "./session-header.ts";
import type { ClaimsLocation, MappedClaim, TokenConfiguration } from "./token-settings.ts";

/** The value at the path of keys, outermost first. Undefined if a key is missing. @rule G-AUTH-11 */
export const readClaimPath = (from: Json, keys: readonly string[]): Json | undefined => {
  let at: Json | undefined = from;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return undefined;
    if (Array.isArray(at) && !/^\d+$/.test(key)) return undefined;
    at = (at as Readonly<Record<string, Json>>)[key]; // arrays are objects whose keys are indexes
  }
  return at;
};

/** Whether a JavaScript number keeps all digits of the number, in any notation. */
const hasAllDigits = (number: string): boolean => {
  const digits = number
    .replace(/[eE][^]*$/, "")
    .replace(/\D/g, "")
    .replace(/^0+/, "");
  return String(Number(number)) === number || (digits.length < 16 && Number.isFinite(Number(number)));
};

/** Like `JSON.parse`, but numbers keep all their digits: user 12345678901234567890 must not become another user.
 *  @throws SyntaxError */
export const parseClaims = (text: string): Json => parseJson(text, hasAllDigits);

/** Strings are returned unchanged, other values as JSON text. */
export const claimText = (value: Json): string => (typeof value === "string" ? value : writeJson(value));

/** Claims by lower-case name with the prefix `x-session-`. */
export type SessionClaims = ReadonlyMap<string, Json>;

export type ClaimsReading =
  /** `areTopLevel` says that they are among the registered claims. Only the default role is required then. */
  | { readonly claims: SessionClaims; readonly areTopLevel: boolean }
  /** The token has no roles in this format. */
  | { readonly others: SessionClaims }
  /** The claims are missing at the configured location, or have another format. */
  | { readonly refusal: string };

export const ALLOWED_ROLES = "x-session-allowed-roles";
export const DEFAULT_ROLE = "x-session-default-role";

/** The default namespace of Hasura's tokens. */
const DEFAULT_NAMESPACE = "https://hasura.io/jwt/claims";

/** @rule G-AUTH-15 G-AUTH-16 G-AUTH-18 R-AUT-6 */
export const readSessionClaims = (configuration: TokenConfiguration, token: JsonObject): ClaimsReading => {
  const { claims: place } = configuration;
  switch (place.kind) {
    case "map":
      return readMapped(place.entries, token);
    case "namespace":
      return Object.hasOwn(token, place.key)
        ? readObject(token[place.key] as Json, configuration, `claims_namespace ${place.key}`)
        : { refusal: `claims key: '${place.key}' not found` };
    case "path":
      return readAtPath(place, configuration, token);
    case "usual":
      return readUsualFormat(configuration, token);
  }
};

/** The format of the object of claims. */
type ClaimsFormat = Pick<TokenConfiguration, "isStringified" | "maxJsonDepth">;

const readAtPath = (
  place: Extract<ClaimsLocation, { readonly kind: "path" }>,
  format: ClaimsFormat,
  token: JsonObject,
): ClaimsReading => {
  const found = readClaimPath(token, place.keys);
  if (found === undefined) return { refusal: `claims not found at claims_namespace_path: '${place.written}'` };
  return readObject(found, format, `claims_namespace_path ${place.written}`);
};

const readUsualFormat = (format: ClaimsFormat, token: JsonObject): ClaimsReading => {
  const top = collectVariables(token);
  if (top.has(ALLOWED_ROLES) || top.has(DEFAULT_ROLE)) return { claims: top, areTopLevel: true };
  if (Object.hasOwn(token, DEFAULT_NAMESPACE))
    return readObject(token[DEFAULT_NAMESPACE] as Json, format, `claims_namespace ${DEFAULT_NAMESPACE}`);
  return { others: top };
};

const readObject = (found: Json, { isStringified, maxJsonDepth }: ClaimsFormat, place: string): ClaimsReading => {
  if (!isStringified)
    return isJsonObject(found)
      ? { claims: collectVariables(found), areTopLevel: false }
      : { refusal: "expecting a json object when claims_format is json" };
  if (typeof found !== "string") return { refusal: "expecting a string when claims_format is stringified_json" };
  const parsed = isNestedDeeper(found, maxJsonDepth) ? undefined : parseStringified(found);
  if (!isJsonObject(parsed)) return { refusal: `expecting stringified json at: '${place}', but found: ${found}` };
  return { claims: collectVariables(parsed), areTopLevel: false };
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
    const found = "literal" in from ? from.literal : (readClaimPath(token, from.path) ?? from.fallback);
    if (found !== undefined) claims.set(claim, found);
    else if (claim !== ALLOWED_ROLES && claim !== DEFAULT_ROLE)
      return { refusal: `JWT claim from claims_map, ${claim} not found` };
  }
  return { claims, areTopLevel: false };
};

/** Accepts names in any case. If several names are equal, `x-session-` wins over `x-hasura-`, then lower case, then the
 *  last one. */
const collectVariables = (from: JsonObject): SessionClaims => {
  const claims = new Map<string, { readonly value: Json; readonly rank: number }>();
  for (const [name, value] of Object.entries(from)) {
    const claim = sessionName(name.toLowerCase());
    if (claim === undefined) continue;
    const rank = name === claim ? 2 : name.toLowerCase() === claim ? 1 : 0;
    if (rank >= (claims.get(claim)?.rank ?? 0)) claims.set(claim, { value, rank });
  }
  return new Map([...claims].map(([claim, { value }]) => [claim, value]));
};

// --- variables ------------------------------------------------------------------------------------------------------

/** Claims and headers that control the session. Tokens cannot set variables of these names. @rule G-SES-6 */
const NO_VARIABLES: ReadonlySet<string> = new Set([
  ALLOWED_ROLES,
  DEFAULT_ROLE,
  "x-session-role",
  "x-session-admin-secret",
  "x-session-use-backend-only-permissions",
]);

/** `role` is the role that the caller acts as. @rule G-AUTH-19 G-SES-6 */
export const buildVariables = (claims: SessionClaims, role: string): Readonly<Record<string, string>> => {
  const variables: Record<string, string> = { "x-session-role": role };
  for (const [claim, value] of claims) if (!NO_VARIABLES.has(claim)) variables[claim] = variableText(value);
  return Object.freeze(variables);
};

const variableText = (value: Json): string => {
  const isList = Array.isArray(value) && value.every((item) => typeof item === "string");
  // every item of a list is a string, as checked above
  return isList ? `{${(value as readonly string[]).map(arrayItem).join(",")}}` : claimText(value);
};

/** Quotes an element of a PostgreSQL array literal: `"a \"b\""`. */
const arrayItem = (item: string): string => `"${item.replace(/["\\]/g, "\\$&")}"`;

/** The claims with all digits of their numbers, as JSON text for SQL. Undefined if JavaScript numbers represent them
 *  exactly. @rule G-SES-3 R-TX-6 */
export const exactClaimsText = (exact: JsonObject, role: string): string | undefined =>
  holdsRawNumber(exact) ? writeJson({ ...exact, role }) : undefined;
