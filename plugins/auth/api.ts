/** What the auth schemes ask of surfaces: types only. A surface carries its rules as a value
 *  (`Surface.credentialRules`). */
import type { Token } from "../../core/index.ts";
import type { TokenRules } from "./token-rules.ts";

export type * from "./token-rules.ts";
export type { ClaimsReading, SessionClaims } from "./claims.ts";
export type { TokenFailure } from "./token.ts";

/** The ways to bring a credential that the settings have opened. */
export interface TakenCredentials {
  readonly takesTokens: boolean;
  readonly takesAdminSecret: boolean;
}

/** Offered by the plugin `anonymous`. */
export type TakenCredentialsService = Token<"taken-credentials", { of(): TakenCredentials }>;

declare module "../../core/kernel/session.ts" {
  interface CredentialRules extends TokenRules {}
}
