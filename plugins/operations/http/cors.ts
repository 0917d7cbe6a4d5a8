/** Adds CORS headers to responses, and responds to preflight requests. */
import {
  createOriginPolicyGetter,
  definePlugin,
  type Answer,
  type Headers,
  type OriginPolicy,
} from "../../../core/index.ts";
import { corsAllowedOrigins } from "../../shared/settings.ts";

const METHODS = ["GET", "POST", "PATCH", "PUT", "DELETE", "OPTIONS", "HEAD"];

const EXPOSED_HEADERS =
  "Content-Encoding, Content-Location, Content-Range, Content-Type, Date, Location, Server, Transfer-Encoding, Range-Unit";

const buildOriginHeaders = (policy: OriginPolicy, origin: string): Headers =>
  policy.isOpen
    ? [["Access-Control-Allow-Origin", "*"]]
    : [
        ["Access-Control-Allow-Origin", origin],
        ["Access-Control-Allow-Credentials", "true"],
      ];

/** Builds the CORS headers of a response to a request from that origin. `exposedHeaders` lists additional header names. @rule
 *  R-COR-1 R-COR-3 */
const buildCorsHeaders = (
  policy: OriginPolicy,
  origin: string | undefined,
  exposedHeaders: readonly string[],
): Headers => {
  if (origin === undefined || !policy.allows(origin)) return [];
  return [
    ...buildOriginHeaders(policy, origin),
    [
      "Access-Control-Expose-Headers",
      exposedHeaders.length === 0 ? EXPOSED_HEADERS : `${EXPOSED_HEADERS}, ${exposedHeaders.join(", ")}`,
    ],
  ];
};

/** Returns the response to a preflight request. Undefined if the request is not a preflight request, or if the policy
 *  or `METHODS` does not allow it; the surface then responds. @rule R-COR-2 */
const answerPreflight = (policy: OriginPolicy, header: (name: string) => string | undefined): Answer | undefined => {
  const origin = header("origin");
  const requestedMethod = header("access-control-request-method");
  if (
    origin === undefined ||
    requestedMethod === undefined ||
    !METHODS.includes(requestedMethod) ||
    !policy.allows(origin)
  )
    return undefined;
  const requestedHeaders = header("access-control-request-headers");
  const names = requestedHeaders?.split(",").map((name) => name.trim()) ?? [];
  return {
    status: 200,
    headers: [
      ...buildOriginHeaders(policy, origin),
      ["Access-Control-Allow-Methods", METHODS.join(", ")],
      ...(requestedHeaders === undefined
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

/** Adds the headers that let pages of other origins read responses, and responds to their preflight requests. @rule
 *  R-COR-1 R-COR-2 G-HTTP-11 */
export const cors = definePlugin({
  name: "cors",
  settings: [corsAllowedOrigins],
  apply: (_hooks, context) => {
    const getPolicy = createOriginPolicyGetter(() => context.options.corsAllowedOrigins);
    context.addStep({
      name: "cors",
      beforeAuthorize: (exchange) => {
        if (exchange.method !== "OPTIONS") return undefined;
        const answer = answerPreflight(getPolicy(), (name) => exchange.header(name));
        if (answer !== undefined) exchange.isUnlogged = true;
        return answer;
      },
      headers: (exchange) => {
        const origin = exchange.header("origin");
        // The response to a preflight request has its own headers.
        if (origin === undefined || exchange.isUnlogged) return NO_HEADERS;
        return buildCorsHeaders(getPolicy(), origin, exchange.exposedHeaders);
      },
    });
  },
});

const NO_HEADERS: Headers = [];
