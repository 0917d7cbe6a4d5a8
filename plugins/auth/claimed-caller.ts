/** Derives the caller from the claims of a token, for code that has the claims but no token. */
import { presetError, type Json, type ResolvedOptions } from "../../core/index.ts";
import { buildVariables, DEFAULT_ROLE, readSessionClaims, type ClaimsConfiguration } from "./claims.ts";
import { createFixedKeys } from "./key-ring.ts";
import { parseTokenSettings } from "./token-settings.ts";

interface ClaimedCaller {
  /** The role that the claims name, if any. */
  readonly role: string | undefined;
  /** Session variables of the claims, for that role. */
  readonly buildVariables: (role: string) => Readonly<Record<string, string>>;
}

/** Reads the claims from the configured location. @throws RelApiError `preset` if they are missing there */
export const readClaimedCaller = (claims: Readonly<Record<string, Json>>, options: ResolvedOptions): ClaimedCaller => {
  const [configuration] = parseTokenSettings(options, () => createFixedKeys([]));
  const { maxJsonDepth } = options;
  const defaults: ClaimsConfiguration = { claims: { kind: "default" }, areClaimsStringified: false, maxJsonDepth };
  const reading = readSessionClaims(configuration ?? defaults, claims);
  if ("reason" in reading) throw presetError(reading.reason);
  const sessionClaims = "claims" in reading ? reading.claims : reading.claimsWithoutRoles;
  const roleClaim = sessionClaims.get(DEFAULT_ROLE) ?? claims["role"];
  return {
    role: typeof roleClaim === "string" ? roleClaim : undefined,
    buildVariables: (role) => buildVariables(sessionClaims, role),
  };
};
