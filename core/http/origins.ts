/** Decides which origins are trusted: for CORS, for WebSockets, for MCP, and for tokens in cookies. */

/** The origins that may read responses. @experimental */
export interface OriginPolicy {
  /** True if any origin is allowed, without credentials. */
  readonly isOpen: boolean;
  allows(origin: string): boolean;
}

const WILDCARD = "://*.";

/** Creates a policy. `allowedOrigins` contains origins, `*`, or origins with a wildcard as the first label of the host
 *  (`https://*.shop.example`). The wildcard matches exactly one label. @rule R-COR-1 G-HTTP-11 */
export const createOriginPolicy = (allowedOrigins: readonly string[]): OriginPolicy => {
  if (allowedOrigins.length === 0 || allowedOrigins.includes("*")) return { isOpen: true, allows: () => true };
  const exact = new Set(allowedOrigins.filter((origin) => !origin.includes(WILDCARD)));
  const suffixes = allowedOrigins
    .filter((origin) => origin.includes(WILDCARD))
    .map((origin) => origin.split("*") as [string, string]);
  return {
    isOpen: false,
    allows: (origin) =>
      exact.has(origin) ||
      suffixes.some(([scheme, host]) => {
        if (!origin.startsWith(scheme) || !origin.endsWith(host)) return false;
        const label = origin.slice(scheme.length, origin.length - host.length);
        return label !== "" && !/[./:@]/.test(label);
      }),
  };
};

/** Returns a function that returns the policy of the current list. Each list is parsed once. @experimental */
export const createOriginPolicyGetter = (getAllowedOrigins: () => readonly string[]): (() => OriginPolicy) => {
  let origins = getAllowedOrigins();
  let policy = createOriginPolicy(origins);
  return () => {
    const currentOrigins = getAllowedOrigins();
    if (currentOrigins !== origins) {
      origins = currentOrigins;
      policy = createOriginPolicy(origins);
    }
    return policy;
  };
};
