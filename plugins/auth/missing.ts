/** What is said to a caller who has brought no credential, where nobody is let in without one. */
import type { Credentials, PluginContext, RelApiError } from "../../core/index.ts";
import { adminSecretRequired, nothingConfigured, tokenRequired } from "./errors.ts";
import { isAdminSecretSet } from "./session-header.ts";

/** Undefined: the words of core. @rule G-AUTH-7 G-AUTH-8 G-AUTH-9 R-AUT-10 */
export const credentialMissing = (
  { options, registry }: PluginContext,
  { rules }: Pick<Credentials, "rules">,
): RelApiError | undefined => {
  if (rules !== "session-roles") return undefined;
  const areTokensRead = registry.has("jwt-tokens") && options.jwtSecret !== undefined && options.jwtSecret !== "";
  if (areTokensRead) return tokenRequired();
  return isAdminSecretSet(options) ? adminSecretRequired() : nothingConfigured();
};
