/** `session-roles`: a token brings session variables, a default role and the roles allowed. */
import type { RelApiError } from "../../core/index.ts";
import { kindOf, readRoles, readSessionClaims } from "./claims.ts";
import {
  claimsTooDeep,
  couldNotVerify,
  malformedAuthorization,
  multipleTokens,
  requestedRoleNotAllowed,
  roleClaimMissing,
} from "./errors.ts";
import { textOf } from "./exact-json.ts";
import type { TokenFailure } from "./token.ts";
import {
  audiencesOf,
  isIssuerRight,
  type Grant,
  type RoleSettings,
  type TokenRules,
  type VerifiedToken,
} from "./token-rules.ts";

/** @rule G-AUTH-13 … G-AUTH-19 */
export const graphqlRules: TokenRules = {
  readBearer: (value) => {
    const [, token] = /^Bearer +(\S+)$/.exec(value) ?? [];
    if (token === undefined) throw malformedAuthorization();
    return token;
  },
  failed: (failure) =>
    failure.kind === "too-deep"
      ? claimsTooDeep("invalid-jwt", `Could not verify JWT: the claims are nested deeper than ${failure.levels} levels`)
      : couldNotVerify(reasonOf(failure)),
  severalTokens: multipleTokens,
  strangeIssuer: () => couldNotVerify("JWTNotInIssuer"),
  judge: (token, nowSeconds, mustExpire) => {
    const { claims, configuration } = token;
    const { skewSeconds, audience } = configuration;
    const exp = readTime(claims, "exp");
    if (exp === undefined && mustExpire) throw undecodable("the exp claim is missing");
    if (exp !== undefined && exp <= nowSeconds - skewSeconds) throw couldNotVerify("JWTExpired");
    const nbf = readTime(claims, "nbf");
    if (nbf !== undefined && nbf > nowSeconds + skewSeconds) throw couldNotVerify("JWTNotYetValid");
    const iat = readTime(claims, "iat");
    if (iat !== undefined && iat > nowSeconds + skewSeconds) throw couldNotVerify("JWTIssuedAtFuture");
    const audiences = audiencesOf(claims);
    if (audiences === "wrong") throw undecodable("the aud claim is neither a string nor a list of strings");
    const isMeant =
      audience === undefined || audiences === undefined || audiences.some((one) => audience.includes(one));
    if (!isMeant) throw couldNotVerify("JWTNotInAudience");
    if (!isIssuerRight(token)) throw graphqlRules.strangeIssuer();
  },
  grant: (token, settings) => grantOf(token, settings),
  choose: ({ defaultRole, allowedRoles = [] }, requested = defaultRole) => {
    if (!allowedRoles.includes(requested)) throw requestedRoleNotAllowed();
    return requested;
  },
};

const undecodable = (what: string): RelApiError => couldNotVerify(`JWSError (JSONDecodeError ${JSON.stringify(what)})`);

const reasonOf = (failure: Exclude<TokenFailure, { readonly kind: "too-deep" }>): string => {
  switch (failure.kind) {
    case "empty":
      return partsReason(1);
    case "parts":
      return partsReason(failure.count);
    case "undecodable":
    case "no-claims":
      return `JWSError (JSONDecodeError ${JSON.stringify(failure.reason)})`;
    case "unsecured":
    case "no-key":
    case "bad-signature":
      return "JWSError JWSInvalidSignature";
  }
};

const partsReason = (count: number): string =>
  `JWSError (CompactDecodeError Invalid number of parts: Expected 3 parts; got ${count})`;

/** Seconds; undefined: absent. */
const readTime = (claims: VerifiedToken["claims"], name: "exp" | "nbf" | "iat"): number | undefined => {
  const said = claims[name];
  if (said === undefined || said === null) return undefined;
  if (typeof said !== "number") throw undecodable(`the ${name} claim is no Number but ${kindOf(said)}`);
  return said;
};

/** @rule G-AUTH-15 */
const grantOf = (token: VerifiedToken, { anonRole, readRoleClaim }: RoleSettings): Grant => {
  const reading = readSessionClaims(token.configuration, token.exact);
  if ("refusal" in reading) throw reading.refusal;
  if ("claims" in reading) return { ...readRoles(reading.claims, reading.areTopLevel), claims: reading.claims };
  const said = readRoleClaim(token.claims);
  const role = said === undefined ? anonRole : textOf(said);
  if (role === undefined) throw roleClaimMissing("x-session-allowed-roles");
  return { defaultRole: role, allowedRoles: [role], claims: reading.others };
};
