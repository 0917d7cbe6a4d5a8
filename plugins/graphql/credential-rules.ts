/** The rules for credentials on the GraphQL surface: a token provides session variables, a default role and the allowed
 *  roles. The surface passes them to `jwt-tokens` of the auth family, which calls them. */
import type { Json, RelApiError } from "../../core/index.ts";
import type { TokenRoles, RoleSettings, SessionClaims, TokenFailure, TokenRules, VerifiedToken } from "../auth/api.ts";
import { nameJsonKind } from "./values/leaf.ts";
import {
  adminSecretRequired,
  jwtClaimsTooDeep,
  jwtUnverified,
  backendOnlyFlagInvalid,
  jwtClaimsInvalid,
  authorizationMalformed,
  tokenRepeated,
  authSchemeMissing,
  requestedRoleNotAllowed,
  roleClaimMissing,
  tokenRequired,
} from "./errors.ts";

/** The rules for credentials of the surface. @rule G-AUTH-5 G-AUTH-8 G-AUTH-9 G-AUTH-13 … G-AUTH-20 */
export const credentialRules: TokenRules = {
  readBearer: (value) => {
    const [, token] = /^Bearer +(\S+)$/.exec(value) ?? [];
    if (token === undefined) throw authorizationMalformed();
    return token;
  },
  createFailureError: (failure) =>
    failure.kind === "too-deep" ? jwtClaimsTooDeep(failure.levels) : jwtUnverified(describeFailure(failure)),
  createSeveralTokensError: tokenRepeated,
  createUnknownIssuerError: () => jwtUnverified("JWTNotInIssuer"),
  checkClaims: (token, nowSeconds, mustExpire) => {
    const { claims, skewSeconds, audiences, acceptedAudiences } = token;
    const exp = readTime(claims, "exp");
    if (exp === undefined && mustExpire) throw jwtUndecodable("the exp claim is missing");
    if (exp !== undefined && exp <= nowSeconds - skewSeconds) throw jwtUnverified("JWTExpired");
    const nbf = readTime(claims, "nbf");
    if (nbf !== undefined && nbf > nowSeconds + skewSeconds) throw jwtUnverified("JWTNotYetValid");
    const iat = readTime(claims, "iat");
    if (iat !== undefined && iat > nowSeconds + skewSeconds) throw jwtUnverified("JWTIssuedAtFuture");
    if (audiences === "wrong") throw jwtUndecodable("the aud claim is neither a string nor a list of strings");
    const isMeant =
      acceptedAudiences === undefined ||
      audiences === undefined ||
      audiences.some((audience) => acceptedAudiences.includes(audience));
    if (!isMeant) throw jwtUnverified("JWTNotInAudience");
    if (!token.isIssuerAccepted) throw credentialRules.createUnknownIssuerError();
  },
  grant: (token, settings) => buildGrant(token, settings),
  chooseRole: ({ defaultRole, allowedRoles = [] }, requestedRole = defaultRole) => {
    if (!allowedRoles.includes(requestedRole)) throw requestedRoleNotAllowed();
    return requestedRole;
  },
  createMissingCredentialError: ({ acceptsTokens, acceptsAdminSecret }) =>
    acceptsTokens ? tokenRequired() : acceptsAdminSecret ? adminSecretRequired() : authSchemeMissing(),
  createInvalidFlagError: backendOnlyFlagInvalid,
};

const jwtUndecodable = (subject: string): RelApiError =>
  jwtUnverified(`JWSError (JSONDecodeError ${JSON.stringify(subject)})`);

const describeFailure = (failure: Exclude<TokenFailure, { readonly kind: "too-deep" }>): string => {
  switch (failure.kind) {
    case "empty":
      return describePartCount(1);
    case "parts":
      return describePartCount(failure.count);
    case "undecodable":
    case "no-claims":
      return `JWSError (JSONDecodeError ${JSON.stringify(failure.reason)})`;
    case "unsecured":
    case "no-key":
    case "bad-signature":
      return "JWSError JWSInvalidSignature";
  }
};

const describePartCount = (count: number): string =>
  `JWSError (CompactDecodeError Invalid number of parts: Expected 3 parts; got ${count})`;

/** Returns the time of a claim in seconds, or undefined if the token does not have the claim. */
const readTime = (claims: VerifiedToken["claims"], name: "exp" | "nbf" | "iat"): number | undefined => {
  const claim = claims[name];
  if (claim === undefined || claim === null) return undefined;
  if (typeof claim !== "number") throw jwtUndecodable(`the ${name} claim is no Number but ${nameJsonKind(claim)}`);
  return claim;
};

const ALLOWED_ROLES = "x-session-allowed-roles";
const DEFAULT_ROLE = "x-session-default-role";

/** Builds the roles of a token. @rule G-AUTH-15 */
const buildGrant = (token: VerifiedToken, { anonymousRole, readRoleClaim }: RoleSettings): TokenRoles => {
  const reading = token.readSessionClaims();
  if ("reason" in reading) throw jwtClaimsInvalid(reading.reason);
  if ("claims" in reading) return { ...readRoles(reading.claims, reading.areTopLevel), claims: reading.claims };
  const role = readRoleClaim(token.claims) ?? anonymousRole;
  if (role === undefined) throw roleClaimMissing(ALLOWED_ROLES);
  return { defaultRole: role, allowedRoles: [role], claims: reading.claimsWithoutRoles };
};

/** Reads the roles of the claims. @throws RelApiError `jwt-missing-role-claims`, `jwt-invalid-claims` @rule
 *  G-AUTH-17 */
const readRoles = (claims: SessionClaims, areTopLevel: boolean): Omit<TokenRoles, "claims"> => {
  const claim = claims.get(ALLOWED_ROLES);
  const defaultRoleClaim = claims.get(DEFAULT_ROLE);
  if (claim === undefined && !(areTopLevel && defaultRoleClaim !== undefined)) throw roleClaimMissing(ALLOWED_ROLES);
  const allowedRoles = claim === undefined ? undefined : readRoleList(claim);
  if (defaultRoleClaim === undefined) throw roleClaimMissing(DEFAULT_ROLE);
  const defaultRole = readRole(defaultRoleClaim, `invalid ${DEFAULT_ROLE}; should be a role`);
  return { defaultRole, allowedRoles: allowedRoles ?? [defaultRole] };
};

const readRoleList = (claim: Json): readonly string[] => {
  const message = `invalid ${ALLOWED_ROLES}; should be a list of roles`;
  if (!Array.isArray(claim))
    throw jwtClaimsInvalid(`${message}: parsing [] failed, expected Array, but encountered ${nameJsonKind(claim)}`);
  return (claim as readonly Json[]).map((role) => readRole(role, message));
};

const readRole = (role: Json, subject: string): string => {
  if (typeof role !== "string")
    throw jwtClaimsInvalid(`${subject}: parsing Text failed, expected String, but encountered ${nameJsonKind(role)}`);
  if (role === "") throw jwtClaimsInvalid(`${subject}: a role has a name`);
  return role;
};
