/** The interface between auth schemes and surfaces: types and tokens. A surface passes its rules as a value
 *  (`Surface.credentialRules`). */
import { defineService, defineSignal } from "../../core/index.ts";
import type { TokenRules } from "./token-rules.ts";

export type * from "./token-rules.ts";
export type { ClaimsReading, SessionClaims } from "./claims.ts";
export type { TokenFailure } from "./token.ts";

/** The kinds of credentials that the settings enable. @experimental */
export interface AcceptedCredentials {
  readonly acceptsTokens: boolean;
  readonly acceptsAdminSecret: boolean;
}

/** The service that reports which credentials the settings enable. Provided by the plugin `anonymous`. @experimental */
export const acceptedCredentialsService = defineService<{ read(): AcceptedCredentials }>("accepted-credentials");

/** Emitted when keys have changed without new settings. A token that was accepted may be rejected from now on, and
 *  a rejected token may be accepted. Other auth schemes may emit this signal too. */
export const credentialsChangedSignal = defineSignal<undefined>("credentials-changed");

declare module "../../core/index.ts" {
  interface CredentialRules extends TokenRules {}
}
