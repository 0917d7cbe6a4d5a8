/** Signs tokens without a library, so that tests can send tokens that a library would not make. */
import { createHmac, generateKeyPairSync, sign, type KeyObject } from "node:crypto";

/** The secret of `startApi`. */
export const jwtSecret = "a-secret-of-the-tests-with-more-than-32-bytes";

/** The admin secret of `startApi`. */
export const adminSecret = "admin-secret-of-the-tests";

export interface SignOptions {
  readonly secret?: string | Buffer;
  /** The private key, for all algorithms without a shared secret. */
  readonly key?: KeyObject;
  /** The algorithm, by default `HS256`. `none` leaves the signature empty. */
  readonly algorithm?: string;
  /** Merged into the token's header. */
  readonly header?: Readonly<Record<string, unknown>>;
}

const encode = (part: unknown): string =>
  Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");

const computeSignature = (text: string, algorithm: string, { secret = jwtSecret, key }: SignOptions): string => {
  if (algorithm === "none") return "";
  const digest = `sha${algorithm.slice(2)}`;
  if (algorithm.startsWith("HS")) return createHmac(digest, secret).update(text).digest("base64url");
  if (key === undefined) throw new Error(`algorithm ${algorithm} needs a key`);
  // The constants are RSA_PKCS1_PSS_PADDING and RSA_PSS_SALTLEN_DIGEST.
  const padding = algorithm.startsWith("PS") ? { padding: 6, saltLength: -1 } : {};
  const text_ = Buffer.from(text);
  return (
    algorithm === "EdDSA" ? sign(null, text_, key) : sign(digest, text_, { key, dsaEncoding: "ieee-p1363", ...padding })
  ).toString("base64url");
};

/** Signs a token. `claims` is an object, or the text of an invalid payload. */
export const signToken = (claims: Readonly<Record<string, unknown>> | string, options: SignOptions = {}): string => {
  const algorithm = options.algorithm ?? "HS256";
  const text = `${encode({ typ: "JWT", alg: algorithm, ...options.header })}.${encode(claims)}`;
  return `${text}.${computeSignature(text, algorithm, options)}`;
};

/** The header of a caller whose token has the claims: `bearer({ role: "sea_clerk" })`. */
export const bearer = (
  claims: Readonly<Record<string, unknown>> | string,
  options?: SignOptions,
): { authorization: string } => ({
  authorization: `Bearer ${signToken(claims, options)}`,
});

export interface RsaKeys {
  /** A key as key sets have it. */
  getJwk(i: number): Readonly<Record<string, unknown>>;
  /** Signs a token with a key. `kid` is the id in its header. */
  sign(i: number, claims: Readonly<Record<string, unknown>>, kid?: string): string;
}

/** Creates keys with the ids `k0`, `k1` … */
export const createRsaKeys = (count: number): RsaKeys => {
  const keys = Array.from({ length: count }, () => generateKeyPairSync("rsa", { modulusLength: 2048 }));
  return {
    getJwk: (i) => ({ ...keys[i]!.publicKey.export({ format: "jwk" }), kid: `k${i}`, alg: "RS256" }),
    sign: (i, claims, kid = `k${i}`) =>
      signToken(claims, { key: keys[i]!.privateKey, algorithm: "RS256", header: { kid } }),
  };
};
