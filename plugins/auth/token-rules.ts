/** What surfaces have to say about tokens: they agree on who calls, not on words, tolerance and what may be missing. */
import type { RelApiError } from "../../core/index.ts";
import type { SessionClaims } from "./claims.ts";
import type { ReadRoleClaim } from "./json-path.ts";
import type { JsonObject } from "./keys.ts";
import type { TokenConfiguration } from "./token-settings.ts";
import type { SignedClaims, TokenFailure } from "./token.ts";

export interface VerifiedToken extends SignedClaims {
  readonly configuration: TokenConfiguration;
}

/** Settings that decide about roles. */
export interface RoleSettings {
  readonly anonRole: string | undefined;
  readonly readRoleClaim: ReadRoleClaim;
}

/** Which roles a token is good for. */
export interface Grant {
  readonly defaultRole: string;
  /** Undefined: the header that requests another role is ignored. */
  readonly allowedRoles: readonly string[] | undefined;
  /** The claims that session variables come from. */
  readonly claims: SessionClaims;
}

/** How a family of surfaces reads credentials, and its words for what is wrong with them. */
export interface TokenRules {
  /** A token that nothing can read, since no key is configured; undefined: it counts as none. */
  unreadable?(): RelApiError;
  /** The token in the value of an `Authorization` header, `""` included; undefined: it is about something else. @throws
   *  RelApiError */
  readBearer(value: string): string | undefined;
  /** The words for a token that cannot be verified. */
  failed(failure: TokenFailure): RelApiError;
  /** Tokens may be in several places. */
  severalTokens(): RelApiError;
  /** No configuration is for who issued it. */
  strangeIssuer(): RelApiError;
  /** Time, audience and issuer. `mustExpire`: a token without `exp` is refused. @throws RelApiError */
  judge(token: VerifiedToken, nowSeconds: number, mustExpire: boolean): void;
  /** @throws RelApiError when the token leads to no role */
  grant(token: VerifiedToken, settings: RoleSettings): Grant;
  /** The role acted as. `requested`: the header, if it applies. @throws RelApiError if it is not allowed */
  choose(grant: Grant, requested: string | undefined): string;
}

/** The token's audiences; undefined: absent. `"wrong"`: neither a string nor a list of strings. */
export const audiencesOf = ({ aud }: JsonObject): readonly string[] | undefined | "wrong" => {
  if (aud === undefined || aud === null) return undefined;
  if (typeof aud === "string") return [aud];
  return Array.isArray(aud) && aud.every((one) => typeof one === "string") ? (aud as readonly string[]) : "wrong";
};

/** A missing issuer passes. @rule G-AUTH-14 R-AUT-5 */
export const isIssuerRight = ({ claims: { iss }, configuration: { issuer } }: VerifiedToken): boolean =>
  issuer === undefined || iss === undefined || iss === null || iss === issuer;
