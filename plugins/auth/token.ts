/** Decodes a token in compact form and verifies its signature. The rules of each surface check the claims. */
import { verify as verifySignature } from "node:crypto";
import type { Algorithm, verify } from "jsonwebtoken";
import { exceedsJsonDepth, type Json, isJsonObject, type JsonObject } from "../../core/index.ts";
import { parseClaims } from "./claims.ts";
import { ALGORITHMS, type VerificationKey } from "./keys.ts";

interface SignedClaims {
  /** The claims as JavaScript values. */
  readonly claims: JsonObject;
  /** The claims with all digits of their numbers. */
  readonly exactClaims: JsonObject;
}

/** The reason why a token was rejected. @experimental */
export type TokenFailure =
  | { readonly kind: "empty" }
  | { readonly kind: "parts"; readonly count: number }
  /** A part is not base64url, the header is not a JSON object, or its algorithm is unknown. */
  | { readonly kind: "undecodable"; readonly reason: string }
  | { readonly kind: "unsecured" }
  /** No key has its `kid` and algorithm. */
  | { readonly kind: "no-key" }
  | { readonly kind: "bad-signature" }
  /** The claims are nested deeper than allowed. */
  | { readonly kind: "too-deep"; readonly levels: number }
  /** The payload is not a JSON object. */
  | { readonly kind: "no-claims"; readonly reason: string };

type TokenReading = { readonly failure: TokenFailure } | { readonly signedClaims: SignedClaims };

/** The maximum length of a token. Node limits headers to fewer characters, so this limit concerns tokens that sockets
 *  send in messages. */
export const MAX_TOKEN_CHARACTERS = 32_768;

// A length of 4n + 1 characters is invalid.
const isBase64url = (part: string): boolean => /^[A-Za-z0-9_-]*$/.test(part) && part.length % 4 !== 1;

const buildFailure = (failure: TokenFailure): TokenReading => ({ failure });

const buildUndecodableFailure = (reason: string): TokenReading => buildFailure({ kind: "undecodable", reason });

let verifyToken: typeof verify | undefined;
let loading: Promise<void> | undefined;

const importVerifier = async (): Promise<void> => {
  const { default: jsonwebtoken } = await import("jsonwebtoken");
  verifyToken = jsonwebtoken.verify;
};

/** Loads the package `jsonwebtoken`, which has about seventy files, only when there are tokens. Undefined once it is
 *  loaded. */
export const loadVerifier = (): Promise<void> | undefined =>
  verifyToken === undefined ? (loading ??= importVerifier()) : undefined;

/** Reads a token, after `loadVerifier`. @rule R-AUT-3 G-AUTH-11 G-AUTH-14 R-LIM-4 */
export const readToken = (token: string, keys: readonly VerificationKey[], maxJsonDepth: number): TokenReading => {
  if (token === "") return buildFailure({ kind: "empty" });
  if (token.length > MAX_TOKEN_CHARACTERS)
    return buildUndecodableFailure(`the token has more than ${MAX_TOKEN_CHARACTERS} characters`);
  const parts = token.split(".");
  const [head, body, signature] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined)
    return buildFailure({ kind: "parts", count: parts.length });
  if (!isBase64url(head) || !isBase64url(body) || !isBase64url(signature))
    return buildUndecodableFailure("a part is not base64url");
  const header = parseJsonObject(decodeBase64url(head));
  if (header === undefined) return buildUndecodableFailure("the header is not a JSON object");
  const { alg, kid, crit, b64 } = header;
  if (alg === "none") return buildFailure({ kind: "unsecured" });
  if (typeof alg !== "string" || !ALGORITHMS.has(alg))
    return buildUndecodableFailure("the header's alg is missing or unknown");
  // Critical extensions must be supported, and relapi supports no extension.
  if (crit !== undefined) return buildUndecodableFailure("the header names critical extensions");
  // With RFC 7797, the signed bytes differ from the payload read here.
  if (b64 !== undefined && b64 !== true)
    return buildUndecodableFailure("the header says that the payload is not base64url");
  const candidates = keys.filter(
    (key) =>
      key.algorithms.includes(alg) && (kid === undefined || kid === null || key.acceptsAnyKid || key.kid === kid),
  );
  if (candidates.length === 0) return buildFailure({ kind: "no-key" });
  const text = decodeBase64url(body);
  // The depth is checked before the signature, because code that walks the claims recurses.
  if (exceedsJsonDepth(text, maxJsonDepth)) return buildFailure({ kind: "too-deep", levels: maxJsonDepth });
  const claims = parseJsonObject(text);
  // The package jsonwebtoken cannot verify such a token, and it is rejected in any case.
  if (claims === undefined) return buildFailure({ kind: "no-claims", reason: "the payload is not a JSON object" });
  if (!candidates.some(({ key }) => isSignedBy(token, alg, key))) return buildFailure({ kind: "bad-signature" });
  // The exact claims are an object, like the claims.
  return { signedClaims: { claims, exactClaims: parseClaims(text) as JsonObject } };
};

const decodeBase64url = (part: string): string => Buffer.from(part, "base64url").toString("utf8");

const parseJsonObject = (text: string): JsonObject | undefined => {
  try {
    const parsedJson = JSON.parse(text) as Json; // JSON.parse returns JSON
    return isJsonObject(parsedJson) ? parsedJson : undefined;
  } catch {
    return undefined;
  }
};

const isSignedBy = (token: string, algorithm: string, key: VerificationKey["key"]): boolean => {
  if (key.asymmetricKeyType === "ed25519") {
    const end = token.lastIndexOf(".");
    return verifySignature(null, Buffer.from(token.slice(0, end)), key, Buffer.from(token.slice(end + 1), "base64url"));
  }
  if (verifyToken === undefined) throw new Error("the package jsonwebtoken is not loaded yet");
  try {
    // The rules of each surface compare times on every request.
    const algorithms = [algorithm as Algorithm]; // the algorithm is one of `ALGORITHMS`
    verifyToken(token, key, { algorithms, ignoreExpiration: true, ignoreNotBefore: true });
    return true;
  } catch {
    return false;
  }
};

/** Reads `iss` before the token is verified, to choose its configuration. The issuer is compared again afterwards.
 *  @rule G-AUTH-12 */
export const readUnverifiedIssuer = (token: string): Json | undefined => {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  return parseJsonObject(decodeBase64url(token.split(".")[1] ?? ""))?.iss;
};
