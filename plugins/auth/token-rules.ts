/** What surfaces have to say about tokens: they agree on who calls, not on words, tolerance and what may be missing. */
import type { RelApiError } from "../../core/index.ts";
import type { ClaimsReading, SessionClaims } from "./claims.ts";
import type { JsonObject } from "./keys.ts";
import type { TokenFailure } from "./token.ts";

/** A token whose signature is right; nothing else of it has been judged. */
export interface VerifiedToken {
  /** As JavaScript reads them. */
  readonly claims: JsonObject;
  /** Its audiences; undefined: absent. `"wrong"`: neither a string nor a list of strings. */
  readonly audiences: readonly string[] | undefined | "wrong";
  /** Of the key that it was verified with: any of them will do; undefined: audiences do not matter. */
  readonly audience: readonly string[] | undefined;
  /** A missing issuer passes. */
  readonly isIssuerRight: boolean;
  /** How far clocks may differ, where the surface lets that be configured. */
  readonly skewSeconds: number;
  /** The claims of roles and session variables, from where they are configured to be. */
  sessionClaims(): ClaimsReading;
}

/** Settings that decide about roles. */
export interface RoleSettings {
  readonly anonymousRole: string | undefined;
  /** The role that the token's own claim names, as text. */
  readonly readRoleClaim: (claims: JsonObject) => string | undefined;
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
  /** The words for a caller without a credential, where nobody is let in without one; absent: those of core. */
  missing?(configured: { readonly takesTokens: boolean; readonly takesAdminSecret: boolean }): RelApiError;
  /** The header of backend-only permissions is none of these words, in any case; absent: it counts as false. */
  flagInvalid?(trueWords: readonly string[], falseWords: readonly string[]): RelApiError;
}
