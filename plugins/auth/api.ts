/** The interface between auth schemes and surfaces: types and tokens. A surface passes its rules as a value
 *  (`Surface.credentialRules`). */
import { defineService, defineSignal } from "../../core/index.ts";
import type { TokenRules } from "./token-rules.ts";

export type * from "./token-rules.ts";
export type { ClaimsReading, SessionClaims } from "./claims.ts";
export type { TokenFailure } from "./token.ts";

/** The kinds of credentials that the settings enable. @experimental */
export interface AcceptedCredentials {
  readonly takesTokens: boolean;
  readonly takesAdminSecret: boolean;
}

/** The service that reports which credentials the settings enable. Provided by the plugin `anonymous`. @experimental */
export const acceptedCredentialsService = defineService<{ read(): AcceptedCredentials }>("taken-credentials");

/** Emitted when keys have changed without new settings. Accepted tokens may be refused from now on, and refused ones
 *  accepted. Other auth schemes may emit it too. */
export const credentialsChangedSignal = defineSignal<undefined>("credentials-changed");

declare module "../../core/index.ts" {
  interface CredentialRules extends TokenRules {}
}
