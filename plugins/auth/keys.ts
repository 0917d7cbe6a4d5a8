/** Keys that verify tokens: a secret, PEM, JWK or JWKS. The key determines the accepted algorithms; the token does
 *  not. */
import { createPublicKey, createSecretKey, type KeyObject } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../core/index.ts";
import { formatCount } from "../shared/plural.ts";

export interface VerificationKey {
  readonly key: KeyObject;
  readonly algorithms: readonly string[];
  /** The `kid` of a JWK. */
  readonly kid: string | undefined;
  /** True if the key matches tokens with any `kid`. A key object has one key, which has no `kid`. */
  readonly acceptsAnyKid: boolean;
}

/** A mistake in a key. The message contains no part of the key. */
export class KeyError extends Error {}

/** The minimum length of a secret. RFC 7518, PostgREST and Hasura require a secret as long as the hash. */
const MIN_SECRET_BYTES = 32;

const MIN_RSA_BITS = 2048;

const HMAC_ALGORITHMS = ["HS256", "HS384", "HS512"];
const RSA_ALGORITHMS = ["RS256", "RS384", "RS512"];
const RSA_PSS_ALGORITHMS = ["PS256", "PS384", "PS512"];
const EDDSA_ALGORITHMS = ["EdDSA", "Ed25519"];

const ALGORITHM_BY_CURVE: Readonly<Record<string, string>> = {
  prime256v1: "ES256",
  secp384r1: "ES384",
  secp521r1: "ES512",
};

/** All algorithms that a key may have. */
export const ALGORITHMS: ReadonlySet<string> = new Set([
  ...HMAC_ALGORITHMS,
  ...RSA_ALGORITHMS,
  ...RSA_PSS_ALGORITHMS,
  ...Object.values(ALGORITHM_BY_CURVE),
  ...EDDSA_ALGORITHMS,
]);

/** The algorithms that a public key supports, and those that it accepts by default. */
const findAlgorithms = (
  key: KeyObject,
): { readonly supportedAlgorithms: readonly string[]; readonly defaults: readonly string[] } => {
  switch (key.asymmetricKeyType) {
    case "rsa": {
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      if (bits < MIN_RSA_BITS)
        throw new KeyError(`is an RSA key of ${bits} bits: ${MIN_RSA_BITS} or more are required`);
      return { supportedAlgorithms: [...RSA_ALGORITHMS, ...RSA_PSS_ALGORITHMS], defaults: RSA_ALGORITHMS };
    }
    case "rsa-pss":
      return { supportedAlgorithms: RSA_PSS_ALGORITHMS, defaults: RSA_PSS_ALGORITHMS };
    case "ec": {
      const algorithm = ALGORITHM_BY_CURVE[key.asymmetricKeyDetails?.namedCurve ?? ""];
      if (algorithm === undefined)
        throw new KeyError("is a key on a curve that no token algorithm uses: accepted are P-256, P-384 and P-521");
      return { supportedAlgorithms: [algorithm], defaults: [algorithm] };
    }
    case "ed25519":
      return { supportedAlgorithms: EDDSA_ALGORITHMS, defaults: EDDSA_ALGORITHMS };
    default:
      throw new KeyError(`is a key of the type ${key.asymmetricKeyType ?? "secret"}: accepted are RSA, EC and Ed25519`);
  }
};

const restrictToAlgorithm = (algorithm: string, supportedAlgorithms: readonly string[]): readonly string[] => {
  const algorithms = EDDSA_ALGORITHMS.includes(algorithm) ? EDDSA_ALGORITHMS : [algorithm];
  if (!algorithms.every((name) => supportedAlgorithms.includes(name)))
    throw new KeyError(
      `does not support the algorithm ${algorithm}; its algorithms: ${supportedAlgorithms.join(", ")}`,
    );
  return algorithms;
};

/** Returns the key of a shared secret. @throws KeyError @rule R-AUT-3 */
export const buildSecretKey = (
  secret: Buffer,
  algorithms: readonly string[],
  kid?: string,
  acceptsAnyKid = false,
): VerificationKey => {
  if (secret.length < MIN_SECRET_BYTES)
    throw new KeyError(
      `is a secret of ${formatCount(secret.length, "byte")}: ${MIN_SECRET_BYTES} or more are required`,
    );
  return { key: createSecretKey(secret), algorithms, kid, acceptsAnyKid };
};

/** Decodes the plain secret of the settings. With `isBase64`, it is base64 in either alphabet. @throws
 *  KeyError @rule R-AUT-3 */
export const decodePlainSecret = (text: string, isBase64: boolean): Buffer => {
  if (!isBase64) return Buffer.from(text, "utf8");
  const trimmedText = text.trim();
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(trimmedText))
    throw new KeyError("is not base64, although jwtSecretIsBase64 (JWT_SECRET_IS_BASE64) is set");
  return Buffer.from(trimmedText, "base64");
};

export const isPem = (text: string): boolean => /^\s*-----BEGIN [A-Z0-9 ]+-----/.test(text);

/** Reads a PEM public key or certificate. Without `algorithm`, it accepts the usual algorithms of its type. @throws
 *  KeyError */
export const parsePem = (text: string, algorithm?: string): VerificationKey => {
  let key: KeyObject;
  try {
    key = createPublicKey(text);
  } catch {
    throw new KeyError("is not a readable PEM public key or certificate");
  }
  const { supportedAlgorithms, defaults } = findAlgorithms(key);
  return {
    key,
    algorithms: algorithm === undefined ? defaults : restrictToAlgorithm(algorithm, supportedAlgorithms),
    kid: undefined,
    acceptsAnyKid: true,
  };
};

/** Reads the `type` and `key` of a key object. @throws KeyError @rule G-AUTH-11 */
export const parseTypedKey = (type: string, text: string): VerificationKey => {
  if (!ALGORITHMS.has(type))
    throw new KeyError(`has the unknown type ${JSON.stringify(type)}: accepted are ${[...ALGORITHMS].join(", ")}`);
  if (!HMAC_ALGORITHMS.includes(type)) return parsePem(text, type);
  // With a public key as secret, anyone who knows it could sign tokens.
  if (isPem(text)) throw new KeyError(`has the type ${type} and a PEM key: this type needs a secret`);
  return buildSecretKey(Buffer.from(text, "utf8"), [type], undefined, true);
};

/** Reads a JWK. Returns undefined if the key is not for signatures, or has an unsupported type. @throws KeyError if
 *  the key is broken @rule R-AUT-3 */
export const parseJwk = (jwk: JsonObject): VerificationKey | undefined => {
  const { kty, alg, use, kid, key_ops: operations } = jwk;
  if (use !== undefined && use !== "sig") return undefined;
  // A private key or secret may be marked for signing only; it can verify too.
  if (Array.isArray(operations) && !operations.includes("verify") && !operations.includes("sign")) return undefined;
  if (alg !== undefined && !(typeof alg === "string" && ALGORITHMS.has(alg))) return undefined;
  if (kid !== undefined && typeof kid !== "string") throw new KeyError('is a JWK whose "kid" is not a string');
  if (kty === "oct") {
    if (typeof jwk.k !== "string" || !/^[A-Za-z0-9_-]+={0,2}$/.test(jwk.k))
      throw new KeyError('is a JWK of kty "oct" whose "k" is not base64url');
    return buildSecretKey(
      Buffer.from(jwk.k, "base64url"),
      alg === undefined ? HMAC_ALGORITHMS : restrictToAlgorithm(alg, HMAC_ALGORITHMS),
      kid,
    );
  }
  if (kty !== "RSA" && kty !== "EC" && kty !== "OKP") return undefined;
  let key: KeyObject;
  try {
    key = createPublicKey({ key: jwk as Record<string, unknown>, format: "jwk" });
  } catch {
    throw new KeyError(`is a JWK of kty "${kty}" that cannot be read`);
  }
  const { supportedAlgorithms, defaults } = findAlgorithms(key);
  return {
    key,
    algorithms: alg === undefined ? defaults : restrictToAlgorithm(alg, supportedAlgorithms),
    kid,
    acceptsAnyKid: false,
  };
};

/** Reads the keys of a set. Keys for other purposes or of unknown types are ignored, as RFC 7517 requires. In a
 *  set that was fetched (`isForeign`), broken keys are ignored too. @throws KeyError if no key is left */
export const parseJwks = (set: JsonObject, isForeign: boolean): readonly VerificationKey[] => {
  if (!Array.isArray(set.keys)) throw new KeyError('is a JWKS whose "keys" is not a list');
  const keys = (set.keys as readonly Json[]).flatMap((jwk) => {
    if (!isJsonObject(jwk)) return [];
    try {
      return parseJwk(jwk) ?? [];
    } catch (error) {
      if (isForeign && error instanceof KeyError) return [];
      throw error;
    }
  });
  if (keys.length === 0) throw new KeyError("is a JWKS without a key that verifies tokens");
  return keys;
};

export const isJwk = (object: JsonObject): boolean => object.kty !== undefined;
