/** What is said to a caller who has brought no credential, where nobody is let in without one. */
import type { Credentials, PluginContext, RelApiError } from "../../core/index.ts";
import type { TakenCredentials } from "./api.ts";
import { isAdminSecretSet } from "./session-header.ts";

export const takenCredentials = ({ options, registry }: PluginContext): TakenCredentials => ({
  takesTokens: registry.has("jwt-tokens") && options.jwtSecret !== undefined && options.jwtSecret !== "",
  takesAdminSecret: isAdminSecretSet(options),
});

/** Undefined: the words of core. @rule G-AUTH-7 G-AUTH-8 G-AUTH-9 R-AUT-10 */
export const credentialMissing = (
  context: PluginContext,
  credentials: Pick<Credentials, "rules">,
): RelApiError | undefined => credentials.rules?.missing?.(takenCredentials(context));
