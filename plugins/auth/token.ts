/** A token in compact form: decodes it and verifies its signature. Its claims are checked elsewhere, by the rules of
 *  each surface. */
import { verify as verifySignature } from "node:crypto";
import { createRequire } from "node:module";
import type { Algorithm } from "jsonwebtoken";
import { isNestedDeeper, type Json } from "../../core/index.ts";
import { parseClaims } from "./claims.ts";
import { ALGORITHMS, isJsonObject, type JsonObject, type VerificationKey } from "./keys.ts";

export interface SignedClaims {
  /** As JavaScript reads them. */
  readonly claims: JsonObject;
  /** With all digits of their numbers. */
  readonly exact: JsonObject;
}

export type TokenFailure =
  | { readonly kind: "empty" }
  | { readonly kind: "parts"; readonly count: number }
  /** A part is not base64url, the header is not a JSON object, its algorithm is unknown, … */
  | { readonly kind: "undecodable"; readonly reason: string }
  | { readonly kind: "unsecured" }
  /** No key is for its `kid` and algorithm. */
  | { readonly kind: "no-key" }
  | { readonly kind: "bad-signature" }
  /** The claims have more levels than they may. */
  | { readonly kind: "too-deep"; readonly levels: number }
  /** The payload is not a JSON object. */
  | { readonly kind: "no-claims"; readonly reason: string };

export type TokenReading = { readonly failure: TokenFailure } | { readonly signed: SignedClaims };

/** More than Node allows for all headers together; sockets have no limit otherwise. */
export const MAX_TOKEN_CHARACTERS = 32_768;

// `eyJhbGciOiJIUzI1NiJ9`; a length of 4n + 1 characters is invalid
const isBase64url = (part: string): boolean => /^[A-Za-z0-9_-]*$/.test(part) && part.length % 4 !== 1;

const failed = (failure: TokenFailure): TokenReading => ({ failure });

const undecodable = (reason: string): TokenReading => failed({ kind: "undecodable", reason });

const load = createRequire(import.meta.url);

/** With some seventy files: not loaded where there are no tokens. Node keeps what it has loaded. */
export const loadVerifier = (): typeof import("jsonwebtoken") => load("jsonwebtoken") as typeof import("jsonwebtoken");

/** @rule R-AUT-3 G-AUTH-11 G-AUTH-14 R-LIM-4 */
export const readToken = (token: string, keys: readonly VerificationKey[], maxJsonDepth: number): TokenReading => {
  if (token === "") return failed({ kind: "empty" });
  if (token.length > MAX_TOKEN_CHARACTERS) return undecodable(`a token is ${MAX_TOKEN_CHARACTERS} characters at most`);
  const parts = token.split(".");
  const [head, body, signature] = parts;
  if (parts.length !== 3 || head === undefined || body === undefined || signature === undefined)
    return failed({ kind: "parts", count: parts.length });
  if (!isBase64url(head) || !isBase64url(body) || !isBase64url(signature))
    return undecodable("a part is not base64url");
  const header = parseObject(decode(head));
  if (header === undefined) return undecodable("the header is no JSON object");
  const { alg, kid, crit, b64 } = header;
  if (alg === "none") return failed({ kind: "unsecured" });
  if (typeof alg !== "string" || !ALGORITHMS.has(alg)) return undecodable("the header's alg is missing or unknown");
  // extensions that must be understood, and none is
  if (crit !== undefined) return undecodable("the header names critical extensions");
  // RFC 7797: a payload that is not base64url: the signed bytes differ from those read here
  if (b64 !== undefined && b64 !== true) return undecodable("the header says that the payload is not base64url");
  const fitting = keys.filter(
    (key) => key.algorithms.includes(alg) && (kid === undefined || kid === null || key.takesAnyKid || key.kid === kid),
  );
  if (fitting.length === 0) return failed({ kind: "no-key" });
  const text = decode(body);
  // checked before the signature, because code that walks the claims recurses
  if (isNestedDeeper(text, maxJsonDepth)) return failed({ kind: "too-deep", levels: maxJsonDepth });
  const claims = parseObject(text);
  // jsonwebtoken could not say whether such a token is well signed; it is refused either way
  if (claims === undefined) return failed({ kind: "no-claims", reason: "the payload is no JSON object" });
  if (!fitting.some(({ key }) => isSignedBy(token, alg, key))) return failed({ kind: "bad-signature" });
  return { signed: { claims, exact: parseClaims(text) as JsonObject } }; // an object, as the claims are
};

const decode = (part: string): string => Buffer.from(part, "base64url").toString("utf8");

const parseObject = (text: string): JsonObject | undefined => {
  try {
    const parsed = JSON.parse(text) as Json; // what JSON.parse gives
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
};

const isSignedBy = (token: string, algorithm: string, key: VerificationKey["key"]): boolean => {
  if (key.asymmetricKeyType === "ed25519") {
    const end = token.lastIndexOf(".");
    return verifySignature(null, Buffer.from(token.slice(0, end)), key, Buffer.from(token.slice(end + 1), "base64url"));
  }
  try {
    // times are compared by each surface's rules, on every request
    const algorithms = [algorithm as Algorithm]; // one of ALGORITHMS
    loadVerifier().verify(token, key, { algorithms, ignoreExpiration: true, ignoreNotBefore: true });
    return true;
  } catch {
    return false;
  }
};

/** `iss` before anything is verified: it chooses which configuration the token is verified with, and is compared again
 *  afterwards. @rule G-AUTH-12 */
export const peekIssuer = (token: string): Json | undefined => {
  if (token.length > MAX_TOKEN_CHARACTERS) return undefined;
  return parseObject(decode(token.split(".")[1] ?? ""))?.iss;
};
