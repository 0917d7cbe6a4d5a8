/** Extracts the token of a request from the `Authorization` header, a cookie, or another header. */
import type { Credentials } from "../../core/index.ts";
import { getCookiePolicy } from "../shared/cookie-policy.ts";
import type { TokenRules } from "./token-rules.ts";
import type { TokenConfiguration, TokenLocation } from "./token-settings.ts";

export interface ExtractedToken {
  readonly token: string;
  /** The configurations for tokens from this location. */
  readonly candidates: readonly TokenConfiguration[];
  /** The rules of the surface. */
  readonly rules: TokenRules;
}

/** Extracts the token of a request. Returns undefined if the request has no token. @throws RelApiError if the request
 *  has several tokens */
export type ExtractToken = (credentials: Credentials, rules: TokenRules) => ExtractedToken | undefined;

/** Looks for tokens in all configured locations. Cookies count only for trusted origins. @rule G-AUTH-12 G-AUTH-13
 *  R-AUT-1 */
export const createTokenExtractor = (
  configurations: readonly TokenConfiguration[],
  allowedOrigins: readonly string[],
): ExtractToken => {
  const byLocation = new Map<string, { readonly location: TokenLocation; readonly candidates: TokenConfiguration[] }>();
  for (const configuration of configurations) {
    const { location } = configuration;
    const key = JSON.stringify(location);
    const entry = byLocation.get(key);
    if (entry === undefined) byLocation.set(key, { location, candidates: [configuration] });
    else entry.candidates.push(configuration);
  }
  const locations = [...byLocation.values()];
  const acceptsCookies = getCookiePolicy(allowedOrigins);

  const extractFrom = (location: TokenLocation, credentials: Credentials, rules: TokenRules): string | undefined => {
    if (location.kind === "cookie") return acceptsCookies(credentials) ? credentials.cookie(location.name) : undefined;
    if (location.kind === "header") return credentials.header(location.name)?.replace(/^Bearer +/i, "");
    const header = credentials.header("authorization");
    return header === undefined ? undefined : rules.readBearer(header);
  };

  return (credentials, rules) => {
    let extractedToken: ExtractedToken | undefined;
    for (const { location, candidates } of locations) {
      const token = extractFrom(location, credentials, rules);
      if (token === undefined) continue;
      if (extractedToken !== undefined) throw rules.createSeveralTokensError();
      extractedToken = { token, candidates, rules };
    }
    return extractedToken;
  };
};
