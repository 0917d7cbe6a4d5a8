/** The default credential rules: a token names the database role that statements run as. */
import { anonymousRejected, tokenRejected, type Json, type RelApiError } from "../../core/index.ts";
import { ALLOWED_ROLES, DEFAULT_ROLE, encodeClaim, type SessionClaims } from "./claims.ts";
import { tokenClaimsTooDeep, jwtSecretMissing, roleNotAllowed, tokenClaimsRejected } from "./errors.ts";
import type { TokenFailure } from "./token.ts";
import type { TokenRoles, RoleSettings, TokenRules, VerifiedToken } from "./token-rules.ts";

const CLOCK_SKEW_SECONDS = 30;

/** The rules of surfaces without rules of their own, such as REST. @rule R-AUT-1 R-AUT-3 R-AUT-4 R-AUT-5 R-AUT-6 */
export const defaultCredentialRules: TokenRules = {
  createMissingKeyError: jwtSecretMissing,
  readBearer: (value) => {
    // The scheme is case-insensitive; a scheme without a token gives an empty token.
    const [, scheme, token] = /^(\S*)\s*(.*)$/s.exec(value) ?? [];
    return scheme?.toLowerCase() === "bearer" ? (token ?? "") : undefined;
  },
  createFailureError: (failure) => createFailureError(failure),
  createSeveralTokensError: () => tokenRejected("Multiple JWTs found"),
  createUnknownIssuerError: () => tokenClaimsRejected("JWT not in issuer"),
  checkClaims: (token, nowSeconds, mustExpire) => {
    const { claims, audiences, acceptedAudiences } = token;
    const exp = readTime(claims, "exp");
    if (exp === undefined && mustExpire) throw tokenClaimsRejected("The JWT 'exp' claim is required");
    if (exp !== undefined && exp < nowSeconds - CLOCK_SKEW_SECONDS) throw tokenClaimsRejected("JWT expired");
    const nbf = readTime(claims, "nbf");
    if (nbf !== undefined && nbf > nowSeconds + CLOCK_SKEW_SECONDS) throw tokenClaimsRejected("JWT not yet valid");
    const iat = readTime(claims, "iat");
    if (iat !== undefined && iat > nowSeconds + CLOCK_SKEW_SECONDS) throw tokenClaimsRejected("JWT issued at future");
    if (audiences === "wrong") throw tokenClaimsRejected("The JWT 'aud' claim must be a string or an array of strings");
    const isAudienceAccepted =
      acceptedAudiences === undefined ||
      audiences === undefined ||
      audiences.length === 0 ||
      audiences.some((audience) => acceptedAudiences.includes(audience));
    if (!isAudienceAccepted) throw tokenClaimsRejected("JWT not in audience");
    if (!token.isIssuerAccepted) throw defaultCredentialRules.createUnknownIssuerError();
  },
  grant: (token, settings) => readTokenRoles(token, settings),
  chooseRole: ({ defaultRole, allowedRoles }, requestedRole) => {
    if (requestedRole === undefined || requestedRole === defaultRole || allowedRoles === undefined) return defaultRole;
    if (!allowedRoles.includes(requestedRole)) throw roleNotAllowed(requestedRole);
    return requestedRole;
  },
};

const NO_FITTING_KEY = "No suitable key or wrong key type";

const createFailureError = (failure: TokenFailure): RelApiError => {
  switch (failure.kind) {
    case "empty":
      return tokenRejected("Empty JWT is sent in Authorization header");
    case "parts":
      return tokenRejected(`Expected 3 parts in JWT; got ${failure.count}`);
    case "undecodable":
      return tokenRejected("JWT cryptographic operation failed");
    case "unsecured":
      return tokenRejected(
        "Wrong or unsupported encoding algorithm",
        "JWT is unsecured but expected 'alg' was not 'none'",
      );
    case "no-key":
      return tokenRejected(NO_FITTING_KEY, "No suitable key was found to decode the JWT");
    case "bad-signature":
      return tokenRejected(NO_FITTING_KEY, "None of the keys was able to decode the JWT");
    case "too-deep":
      return tokenClaimsTooDeep(failure.levels);
    case "no-claims":
      return tokenClaimsRejected("Parsing claims failed");
  }
};

/** Returns the time of a claim in seconds, or undefined if the claim is missing. Any value except a 64-bit integer
 *  counts as 0. @rule R-AUT-4 */
const readTime = (claims: VerifiedToken["claims"], name: "exp" | "nbf" | "iat"): number | undefined => {
  const claim = claims[name];
  if (claim === undefined || claim === null) return undefined;
  if (typeof claim !== "number") throw tokenClaimsRejected(`The JWT '${name}' claim must be a number`);
  return Number.isInteger(claim) && Math.abs(claim) < 2 ** 63 ? claim : 0;
};

const NO_CLAIMS: SessionClaims = new Map();

/** Returns the roles of a token. A token with session claims names its roles there. Any other token names its role in
 *  the role claim. @rule R-AUT-6 R-AUT-7 */
const readTokenRoles = (token: VerifiedToken, { anonymousRole, readRoleClaim }: RoleSettings): TokenRoles => {
  const reading = token.readSessionClaims();
  const claims =
    "claims" in reading ? reading.claims : "claimsWithoutRoles" in reading ? reading.claimsWithoutRoles : NO_CLAIMS;
  const defaultRoleClaim = claims.get(DEFAULT_ROLE);
  if (defaultRoleClaim !== undefined)
    return {
      defaultRole: encodeClaim(defaultRoleClaim),
      allowedRoles: readAllowedRoles(claims.get(ALLOWED_ROLES)),
      claims,
    };
  const defaultRole = readRoleClaim(token.claims) ?? anonymousRole;
  if (defaultRole === undefined) throw anonymousRejected();
  return { defaultRole, allowedRoles: undefined, claims };
};

const readAllowedRoles = (claim: Json | undefined): readonly string[] =>
  Array.isArray(claim) ? claim.filter((role): role is string => typeof role === "string") : [];
