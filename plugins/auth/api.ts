/** What the auth schemes ask of surfaces: types only. A surface carries its rules as a value
 *  (`Surface.credentialRules`). */
import type { TokenRules } from "./token-rules.ts";

export type * from "./token-rules.ts";
export type { ClaimsReading, SessionClaims } from "./claims.ts";
export type { TokenFailure } from "./token.ts";

declare module "../../core/kernel/session.ts" {
  interface CredentialRules extends TokenRules {}
}
