/** Cross-origin requests. */
import type { ResolvedOptions } from "../kernel/options.ts";
import type { Answer, Headers } from "./exchange.ts";

/** Which origins may read answers. */
export interface CorsPolicy {
  /** Any origin, without credentials. */
  readonly isOpen: boolean;
  allows(origin: string): boolean;
}

/** `allowed`: origins, `*`, or origins with a wildcard as first label of the host (`https://*.shop.example`). @rule
 *  R-COR-1 G-HTTP-11 */
export const createCorsPolicy = (allowed: readonly string[]): CorsPolicy => {
  if (allowed.length === 0 || allowed.includes("*")) return { isOpen: true, allows: () => true };
  const exact = new Set(allowed.filter((origin) => !origin.includes("://*.")));
  const suffixes = allowed
    .filter((origin) => origin.includes("://*."))
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

const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"];

const EXPOSED =
  "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit";

const originHeaders = (policy: CorsPolicy, origin: string): Headers =>
  policy.isOpen
    ? [["Access-Control-Allow-Origin", "*"]]
    : [
        ["Access-Control-Allow-Origin", origin],
        ["Access-Control-Allow-Credentials", "true"],
      ];

/** What an answer to a request from that origin carries. `exposed`: header names beyond the usual. @rule R-COR-1
 *  R-COR-3 */
export const corsHeaders = (
  policy: CorsPolicy,
  origin: string | undefined,
  exposed: readonly string[] = [],
): Headers => {
  if (origin === undefined || !policy.allows(origin)) return [];
  return [
    ...originHeaders(policy, origin),
    ["Access-Control-Expose-Headers", exposed.length === 0 ? EXPOSED : `${EXPOSED}, ${exposed.join(", ")}`],
  ];
};

/** Of an OPTIONS request. Undefined: not a preflight that is answered here. @rule R-COR-2 */
export const answerPreflight = (
  policy: CorsPolicy,
  header: (name: string) => string | undefined,
): Answer | undefined => {
  const origin = header("origin");
  const wanted = header("access-control-request-method");
  if (origin === undefined || wanted === undefined || !METHODS.includes(wanted) || !policy.allows(origin))
    return undefined;
  const requested = header("access-control-request-headers");
  const names = requested?.split(",").map((name) => name.trim()) ?? [];
  return {
    status: 200,
    headers: [
      ...originHeaders(policy, origin),
      ["Access-Control-Allow-Methods", METHODS.join(", ")],
      ...(requested === undefined
        ? []
        : [
            [
              "Access-Control-Allow-Headers",
              [
                "Authorization",
                ...names.filter((name) => name !== ""),
                "Accept",
                "Accept-Language",
                "Content-Language",
              ].join(", "),
            ] as const,
          ]),
      ["Access-Control-Max-Age", "86400"],
    ],
  };
};

/** The policy of the options in force, made once for each list. */
export const createCorsPolicies = (options: () => Pick<ResolvedOptions, "corsAllowedOrigins">): (() => CorsPolicy) => {
  let origins = options().corsAllowedOrigins;
  let policy = createCorsPolicy(origins);
  return () => {
    const { corsAllowedOrigins } = options();
    if (corsAllowedOrigins !== origins) {
      origins = corsAllowedOrigins;
      policy = createCorsPolicy(origins);
    }
    return policy;
  };
};
