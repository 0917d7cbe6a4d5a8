/** Parses `JWT_SECRET` and related settings: the location of tokens, their verification, and the required claims. */
import {
  type Json,
  type RelApiOptions,
  type ResolvedOptions,
  isJsonObject,
  type JsonObject,
} from "../../core/index.ts";
import { parseJsonPath } from "../shared/json-path.ts";
import type { JwtSecret } from "./settings.ts";
import { jwtSecretInvalid } from "./errors.ts";
import { createFixedKeys, type KeyRing } from "./key-ring.ts";
import {
  isJwk,
  isPem,
  KeyError,
  parseJwk,
  parseJwks,
  parsePem,
  decodePlainSecret,
  buildSecretKey,
  parseTypedKey,
  type VerificationKey,
} from "./keys.ts";
import { normalizeSessionName } from "./session-header.ts";

/** The location of the token in a request. */
export type TokenLocation =
  | { readonly kind: "authorization" }
  | { readonly kind: "cookie"; readonly name: string }
  | { readonly kind: "header"; readonly name: string };

/** The location of the session claims in a token. `pathText` is the configured path, for messages. */
export type ClaimsLocation =
  | { readonly kind: "namespace"; readonly key: string }
  | { readonly kind: "path"; readonly keys: readonly string[]; readonly pathText: string }
  | { readonly kind: "map"; readonly entries: readonly MappedClaim[] }
  | { readonly kind: "default" };

export interface MappedClaim {
  /** The name in lower case, with the prefix `x-session-`. */
  readonly claim: string;
  readonly from: { readonly path: readonly string[]; readonly fallback?: Json } | { readonly literal: Json };
}

export interface TokenConfiguration {
  readonly location: TokenLocation;
  readonly keys: KeyRing;
  readonly claims: ClaimsLocation;
  readonly areClaimsStringified: boolean;
  /** The accepted audiences. Undefined if audiences do not matter. */
  readonly acceptedAudiences: readonly string[] | undefined;
  readonly issuer: string | undefined;
  readonly skewSeconds: number;
  /** The allowed levels of arrays and objects in the claims. */
  readonly maxJsonDepth: number;
}

/** Opens the key ring of a `jwk_url`. */
type OpenKeys = (url: URL) => KeyRing;

type TokenOptions = Pick<RelApiOptions, "jwtSecret" | "jwtAud"> &
  Pick<ResolvedOptions, "jwtSecretIsBase64" | "maxJsonDepth">;

/** Parses the settings of tokens. Returns an empty list if no secret is configured. @throws RelApiError `preset` @rule
 *  R-AUT-3 R-AUT-5 G-AUTH-11 G-AUTH-12 */
export const parseTokenSettings = (settings: TokenOptions, openKeys: OpenKeys): readonly TokenConfiguration[] => {
  const { jwtSecret } = settings;
  if (jwtSecret === undefined || jwtSecret === "") return [];
  const openedRings: KeyRing[] = [];
  const open: OpenKeys = (url) => {
    const ring = openKeys(url);
    openedRings.push(ring);
    return ring;
  };
  try {
    const configurations = parseSecret(jwtSecret, settings).map((source) => parseConfiguration(source, settings, open));
    rejectDuplicateConfigurations(configurations);
    return configurations;
  } catch (error) {
    for (const ring of openedRings) ring.close();
    throw error instanceof KeyError ? jwtSecretInvalid(error.message) : error;
  }
};

/** The keys of a configuration, or a key object with its settings. */
type KeySource = readonly VerificationKey[] | JsonObject;

const parseSecret = (secret: JwtSecret, { jwtSecretIsBase64 }: TokenOptions): readonly KeySource[] => {
  if (typeof secret !== "string") return parseSecretJson(secret as Json); // objects of a preset are JSON
  if (!jwtSecretIsBase64) return parseSecretText(secret);
  const bytes = decodePlainSecret(secret, true);
  // A key document may be in base64 as well.
  return bytes[0] === 0x7b && isJson(bytes.toString("utf8"))
    ? parseSecretText(bytes.toString("utf8"))
    : [[buildSecretKey(bytes, ["HS256"])]];
};

const parseSecretText = (text: string): readonly KeySource[] => {
  if (isPem(text)) return [[parsePem(text)]];
  if (!/^\s*[[{]/.test(text)) return [[buildSecretKey(decodePlainSecret(text, false), ["HS256"])]];
  // A public key whose quotes a shell removed must not become a secret, with which others could sign tokens.
  if (!isJson(text))
    throw new KeyError(
      "looks like JSON but does not parse: expected a plain secret, a PEM key, or a JWK, JWKS or key object in JSON",
    );
  return parseSecretJson(JSON.parse(text) as Json);
};

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

const parseSecretJson = (value: Json): readonly KeySource[] => {
  const items = Array.isArray(value) ? (value as readonly Json[]) : [value];
  if (items.length === 0) throw new KeyError("is an empty list");
  return items.map((item) => {
    if (!isJsonObject(item)) throw new KeyError("must be a list of key objects");
    if ("keys" in item) return parseJwks(item, false);
    if (!isJwk(item)) return item;
    const key = parseJwk(item);
    if (key === undefined)
      throw new KeyError("is a JWK that is not for signatures, or has an unsupported type or algorithm");
    return [key];
  });
};

const KNOWN_KEYS = [
  "type",
  "key",
  "jwk_url",
  "claims_namespace",
  "claims_namespace_path",
  "claims_format",
  "claims_map",
  "header",
  "audience",
  "issuer",
  "allowed_skew",
];

const parseConfiguration = (
  source: KeySource,
  { jwtAud, maxJsonDepth }: TokenOptions,
  openKeys: OpenKeys,
): TokenConfiguration => {
  const audience = jwtAud === undefined || jwtAud === "" ? undefined : [jwtAud];
  if (isKeyList(source))
    return {
      location: AUTHORIZATION,
      keys: createFixedKeys(source),
      claims: { kind: "default" },
      areClaimsStringified: false,
      acceptedAudiences: audience,
      issuer: undefined,
      skewSeconds: 0,
      maxJsonDepth,
    };
  const unknown = Object.keys(source).find((key) => !KNOWN_KEYS.includes(key));
  if (unknown !== undefined)
    throw new KeyError(`has the unknown key ${JSON.stringify(unknown)}; known keys: ${KNOWN_KEYS.join(", ")}`);
  return {
    location: parseLocation(source.header),
    keys: parseKeys(source, openKeys),
    claims: parseClaimsLocation(source),
    areClaimsStringified: parseClaimsFormat(source.claims_format),
    acceptedAudiences: parseAudience(source.audience) ?? audience,
    issuer: readOptionalText(source, "issuer"),
    skewSeconds: parseSkew(source.allowed_skew),
    maxJsonDepth,
  };
};

const isKeyList = (source: KeySource): source is readonly VerificationKey[] => Array.isArray(source);

const AUTHORIZATION: TokenLocation = { kind: "authorization" };

const readOptionalText = (object: JsonObject, key: string): string | undefined => {
  const text = object[key];
  if (text === undefined || text === null) return undefined;
  if (typeof text !== "string" || text === "") throw new KeyError(`has a ${key} that is not a string`);
  return text;
};

const parseKeys = (object: JsonObject, openKeys: OpenKeys): KeyRing => {
  const address = readOptionalText(object, "jwk_url");
  const type = readOptionalText(object, "type");
  const key = readOptionalText(object, "key");
  if (address === undefined) {
    if (type === undefined || key === undefined)
      throw new KeyError("is a key object without a key: expected type and key, or jwk_url");
    return createFixedKeys([parseTypedKey(type, key)]);
  }
  if (key !== undefined) throw new KeyError("has both key and jwk_url: expected one of them");
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    throw new KeyError("has a jwk_url that is not an http or https URL");
  return openKeys(url);
};

const parseLocation = (header: Json | undefined): TokenLocation => {
  if (header === undefined || header === null) return AUTHORIZATION;
  const { type, name } = isJsonObject(header) ? header : {};
  if (type === "Authorization") return AUTHORIZATION;
  const isNamed = typeof name === "string" && /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name); // for example `X-Token`
  if (type === "Cookie" && isNamed) return { kind: "cookie", name };
  if (type === "CustomHeader" && isNamed) return { kind: "header", name: name.toLowerCase() };
  throw new KeyError(
    'has an invalid header: expected one of {"type":"Authorization"}, {"type":"Cookie","name":…}, {"type":"CustomHeader","name":…}',
  );
};

const parseClaimsFormat = (format: Json | undefined): boolean => {
  if (format === undefined || format === null || format === "json") return false;
  if (format === "stringified_json") return true;
  throw new KeyError("has a claims_format that is neither json nor stringified_json");
};

const parseAudience = (audience: Json | undefined): readonly string[] | undefined => {
  if (audience === undefined || audience === null) return undefined;
  const audiences = Array.isArray(audience) ? (audience as readonly Json[]) : [audience];
  if (audiences.length === 0 || !audiences.every((item) => typeof item === "string"))
    throw new KeyError("has an audience that is neither a string nor a list of strings");
  return audiences as readonly string[]; // checked above
};

const parseSkew = (skew: Json | undefined): number => {
  if (skew === undefined || skew === null) return 0;
  if (typeof skew !== "number" || !(skew >= 0) || !Number.isFinite(skew))
    throw new KeyError("has an allowed_skew that is not a number of seconds");
  return skew;
};

const parseClaimsLocation = (object: JsonObject): ClaimsLocation => {
  const key = readOptionalText(object, "claims_namespace");
  const pathText = readOptionalText(object, "claims_namespace_path");
  if (key !== undefined && pathText !== undefined)
    throw new KeyError("has both claims_namespace and claims_namespace_path: expected one of them");
  const map = object.claims_map;
  if (map !== undefined && map !== null) return { kind: "map", entries: parseClaimsMap(map) };
  if (key !== undefined) return { kind: "namespace", key };
  if (pathText === undefined) return { kind: "default" };
  const keys = parseJsonPath(pathText);
  if (keys === undefined)
    throw new KeyError(
      `has a claims_namespace_path that is not a path like $.a.b['c'][0]: ${JSON.stringify(pathText)}`,
    );
  return { kind: "path", keys, pathText };
};

/** Returns the entries of `claims_map`. @rule G-AUTH-18 */
const parseClaimsMap = (map: Json): readonly MappedClaim[] => {
  if (!isJsonObject(map)) throw new KeyError("has a claims_map that is not an object");
  const entries = new Map(
    Object.entries(map).map(([name, source]): [string, MappedClaim] => {
      const claim = normalizeSessionName(name.toLowerCase());
      if (claim === undefined)
        throw new KeyError(
          `has a claims_map with ${JSON.stringify(name)}: keys must begin with x-session- or x-hasura-`,
        );
      return [claim, { claim, from: parseMappedClaim(claim, source) }];
    }),
  );
  const missingClaim = ["x-session-allowed-roles", "x-session-default-role"].find((claim) => !entries.has(claim));
  if (missingClaim !== undefined) throw new KeyError(`has a claims_map without ${missingClaim}`);
  return [...entries.values()];
};

const parseMappedClaim = (claim: string, source: Json): MappedClaim["from"] => {
  if (!isJsonObject(source)) {
    const fits =
      claim === "x-session-allowed-roles"
        ? Array.isArray(source) && source.every((role) => typeof role === "string")
        : typeof source === "string";
    if (!fits)
      throw new KeyError(
        `has a claims_map whose ${claim} is neither a path nor ${claim === "x-session-allowed-roles" ? "a list of roles" : "a string"}`,
      );
    return { literal: source };
  }
  const path = typeof source.path === "string" ? parseJsonPath(source.path) : undefined;
  if (path === undefined) throw new KeyError(`has a claims_map whose ${claim} has no "path" like $.a.b['c'][0]`);
  return source.default === undefined ? { path } : { path, fallback: source.default };
};

/** Rejects two configurations for the same tokens, because a token must have one configuration. @rule G-AUTH-12 */
const rejectDuplicateConfigurations = (configurations: readonly TokenConfiguration[]): void => {
  const locationKeys = new Set<string>();
  for (const { location, issuer } of configurations) {
    const key = JSON.stringify([location, issuer ?? null]);
    if (locationKeys.has(key)) throw new KeyError("has two configurations for the same token location and issuer");
    locationKeys.add(key);
  }
};
