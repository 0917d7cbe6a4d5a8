/** Derives the caller from the claims of a token, for code that has the claims but no token. */
import { presetError, type Json, type ResolvedOptions } from "../../core/index.ts";
import { buildVariables, DEFAULT_ROLE, readSessionClaims } from "./claims.ts";
import { createFixedKeys } from "./key-ring.ts";
import { parseTokenSettings, type TokenConfiguration } from "./token-settings.ts";

const buildDefaultConfiguration = (maxJsonDepth: number): TokenConfiguration => ({
  location: { kind: "authorization" },
  keys: createFixedKeys([]),
  claims: { kind: "usual" },
  areClaimsStringified: false,
  acceptedAudiences: undefined,
  issuer: undefined,
  skewSeconds: 0,
  maxJsonDepth,
});

export interface ClaimedCaller {
  /** The role that the claims name, if any. */
  readonly role: string | undefined;
  /** Session variables of the claims, for that role. */
  readonly buildVariables: (role: string) => Readonly<Record<string, string>>;
}

/** Reads the claims from the configured location. @throws RelApiError `preset` if they are missing there */
export const readClaimedCaller = (claims: Readonly<Record<string, Json>>, options: ResolvedOptions): ClaimedCaller => {
  const [configured = buildDefaultConfiguration(options.maxJsonDepth)] = parseTokenSettings(options, () =>
    createFixedKeys([]),
  );
  const reading = readSessionClaims(configured, claims);
  if ("reason" in reading) throw presetError(reading.reason);
  const sessionClaims = "claims" in reading ? reading.claims : reading.claimsWithoutRoles;
  const roleClaim = sessionClaims.get(DEFAULT_ROLE) ?? claims["role"];
  return {
    role: typeof roleClaim === "string" ? roleClaim : undefined,
    buildVariables: (role) => buildVariables(sessionClaims, role),
  };
};
