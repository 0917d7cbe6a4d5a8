/** The credential rules in which surfaces differ: messages, tolerances and required claims. Surfaces agree on the
 *  identity of the caller. */
import type { RelApiError, JsonObject } from "../../core/index.ts";
import type { ClaimsReading, SessionClaims } from "./claims.ts";
import type { TokenFailure } from "./token.ts";

/** A token with a valid signature. Its claims are not checked yet. @experimental */
export interface VerifiedToken {
  /** The claims as JavaScript values. */
  readonly claims: JsonObject;
  /** The audiences of the token, undefined if the claim is missing. `"wrong"` if it is neither a string nor a list of
   *  strings. */
  readonly audiences: readonly string[] | undefined | "wrong";
  /** The accepted audiences of the configuration. Undefined if audiences do not matter. */
  readonly acceptedAudiences: readonly string[] | undefined;
  /** True if the issuer is the configured one. A token without an issuer is accepted. */
  readonly isIssuerAccepted: boolean;
  /** The tolerated clock difference, if the surface allows configuring it. */
  readonly skewSeconds: number;
  /** The claims of roles and session variables, from their configured location. */
  readSessionClaims(): ClaimsReading;
}

/** The settings that determine roles. @experimental */
export interface RoleSettings {
  readonly anonymousRole: string | undefined;
  /** The role in the configured role claim, as text. */
  readonly readRoleClaim: (claims: JsonObject) => string | undefined;
}

/** The roles that a token allows. @experimental */
export interface TokenRoles {
  readonly defaultRole: string;
  /** Undefined if a header that requests another role is ignored. */
  readonly allowedRoles: readonly string[] | undefined;
  /** The claims that become session variables. */
  readonly claims: SessionClaims;
}

/** The credential rules of a surface, and its error messages. @experimental */
export interface TokenRules {
  /** Creates the error for a token when no key is configured. Without this method, such a token is ignored. */
  createMissingKeyError?(): RelApiError;
  /** Returns the token in the value of an `Authorization` header, possibly `""`. Undefined if the value has another
   *  scheme. @throws RelApiError */
  readBearer(value: string): string | undefined;
  /** Creates the error for a token that cannot be verified. */
  createFailureError(failure: TokenFailure): RelApiError;
  /** Creates the error for tokens in several locations. */
  createSeveralTokensError(): RelApiError;
  /** Creates the error for a token whose issuer has no configuration. */
  createUnknownIssuerError(): RelApiError;
  /** Checks time, audience and issuer. With `mustExpire`, a token without `exp` is rejected. @throws RelApiError */
  checkClaims(token: VerifiedToken, nowSeconds: number, mustExpire: boolean): void;
  /** Returns the roles that the token allows. @throws RelApiError if it names no role */
  grant(token: VerifiedToken, settings: RoleSettings): TokenRoles;
  /** Returns the role that the caller acts as. `requestedRole` is the value of the role header, if it applies. @throws
   *  RelApiError if the role is not allowed */
  chooseRole(grant: TokenRoles, requestedRole: string | undefined): string;
  /** Creates the error for a missing credential when anonymous access is off. Returns undefined if the error of core
   *  applies. */
  createMissingCredentialError?(acceptedCredentials: {
    readonly acceptsTokens: boolean;
    readonly acceptsAdminSecret: boolean;
  }): RelApiError;
  /** Creates the error for a header `X-Session-Use-Backend-Only-Permissions` with another value than these words.
   *  Without this method, such a value counts as false. */
  createInvalidFlagError?(trueWords: readonly string[], falseWords: readonly string[]): RelApiError;
}
