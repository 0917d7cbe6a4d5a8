/** Reads the configured admin secrets (`ADMIN_SECRET`, `ADMIN_SECRETS`). */
import type { ResolvedOptions } from "../../core/index.ts";

type SecretOptions = Pick<ResolvedOptions, "adminSecret" | "adminSecrets">;

/** Returns the configured admin secrets, each of which is accepted. @rule G-AUTH-2 */
export const listAdminSecrets = ({ adminSecret, adminSecrets = [] }: SecretOptions): readonly string[] =>
  [adminSecret, ...adminSecrets].filter((secret): secret is string => secret !== undefined && secret !== "");

/** Returns whether an admin secret is configured. Otherwise, all session headers are ignored. @rule R-AUT-8 G-AUTH-1 */
export const isAdminSecretSet = (options: SecretOptions): boolean => listAdminSecrets(options).length > 0;
