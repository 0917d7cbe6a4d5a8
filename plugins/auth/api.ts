/** What the auth schemes ask of surfaces: types and tokens. A surface carries its rules as a value
 *  (`Surface.credentialRules`). */
import { defineService, defineSignal } from "../../core/index.ts";
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
export const takenCredentialsService = defineService<{ of(): TakenCredentials }>("taken-credentials");

/** Tokens that were accepted may be refused from now on, and the other way round, without new settings: keys have
 *  changed. Whoever decides by something else that changes may emit it too. */
export const credentialsChangedSignal = defineSignal<undefined>("credentials-changed");

declare module "../../core/kernel/session.ts" {
  interface CredentialRules extends TokenRules {}
}
