/** Derives the caller from the claims of a token, for code that has the claims but no token. */
import { presetError, type Json, type ResolvedOptions } from "../../core/index.ts";
import { buildVariables, DEFAULT_ROLE, readSessionClaims } from "./claims.ts";
import { fixedKeys } from "./key-ring.ts";
import { parseTokenSettings, type TokenConfiguration } from "./token-settings.ts";

const callerConfiguration = (maxJsonDepth: number): TokenConfiguration => ({
  location: { kind: "authorization" },
  keys: fixedKeys([]),
  claims: { kind: "usual" },
  isStringified: false,
  audience: undefined,
  issuer: undefined,
  skewSeconds: 0,
  maxJsonDepth,
});

export interface ClaimedCaller {
  /** The role that the claims name, if any. */
  readonly role: string | undefined;
  /** Session variables of the claims, for that role. */
  readonly variablesAs: (role: string) => Readonly<Record<string, string>>;
}

/** Reads the claims from the configured location. @throws RelApiError `preset` if they are missing there */
export const claimedCaller = (claims: Readonly<Record<string, Json>>, options: ResolvedOptions): ClaimedCaller => {
  const [configured = callerConfiguration(options.maxJsonDepth)] = parseTokenSettings(options, () => fixedKeys([]));
  const reading = readSessionClaims(configured, claims);
  if ("refusal" in reading) throw presetError(reading.refusal);
  const ofSession = "claims" in reading ? reading.claims : reading.others;
  const named = ofSession.get(DEFAULT_ROLE) ?? claims["role"];
  return {
    role: typeof named === "string" ? named : undefined,
    variablesAs: (role) => buildVariables(ofSession, role),
  };
};
