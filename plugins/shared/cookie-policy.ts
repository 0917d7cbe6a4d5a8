/** Decides whether the cookies of a request count as credentials. */
import { createOriginPolicy, memoize, type Credentials } from "../../core/index.ts";

/** Returns the test whether the cookies of a request count as credentials. A page of another origin can make a browser
 *  send cookies, but must not act with them. @rule G-AUTH-12 X-HOOK-4 */
export const getCookiePolicy = memoize((allowedOrigins: readonly string[]): ((credentials: Credentials) => boolean) => {
  const originPolicy = createOriginPolicy(allowedOrigins);
  // With `*`, any page may send requests, but only pages of the server's own host may use cookies.
  const isAllowedOrigin = (origin: string): boolean => !originPolicy.isOpen && originPolicy.allows(origin);
  return (credentials) => {
    const origin = credentials.header("origin");
    if (origin === undefined || isAllowedOrigin(origin)) return true;
    const host = credentials.header("host");
    return host !== undefined && URL.canParse(origin) && new URL(origin).host === host.toLowerCase();
  };
});
