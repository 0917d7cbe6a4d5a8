/** Adds `ETag` to responses, and supports `If-None-Match` for clients with a cached response and `If-Match` for writes
 *  to unchanged rows. */
import { createHash } from "node:crypto";
import { definePlugin, type Answer, type Exchange, type Headers, type Relation } from "../../core/index.ts";
import { decodeBody } from "./answer/rows.ts";
import { exposeRestHeadersHook, type RestHandler } from "./api.ts";
import { rowsExcluded, preconditionFailed } from "./errors.ts";
import { fillValues } from "./read.ts";
import type { RestRequest } from "./request.ts";
import { withMethods } from "./routes.ts";
import { etagsService, type Precondition } from "./run.ts";
import { etagSettings } from "./settings.ts";
import { buildSource, buildRequest } from "./syntax/parse-request.ts";
import { getProfileHeader } from "./syntax/resolve-target.ts";

/** Returns the tag of the bytes that are sent. */
const computeTag = (body: string | Uint8Array): string => `"${createHash("sha1").update(body).digest("base64url")}"`;

const removeWeakPrefix = (etag: string): string => etag.replace(/^W\//, "");

/** Returns whether the header's list (`"a", W/"b"`, or `*`) contains the tag. Weak tags count, because compressing
 *  proxies turn strong tags into weak ones. @rule R-ETG-2 R-ETG-3 */
const containsTag = (list: string, etag: string): boolean =>
  list.trim() === "*" || (list.match(/"[^"]*"/g) ?? []).some((tag) => tag === removeWeakPrefix(etag));

type ConditionHeader = "if-match" | "if-none-match";

/** Returns all lines of the header, joined. */
const readConditionHeader = (exchange: Exchange, name: ConditionHeader): string | undefined =>
  exchange.request.headers[name];

/** Headers of the body, which a 304 does not have. */
const BODY_HEADERS = /^(?:content-(?:type|range|profile)|range-unit)$/i;

/** Request headers that responses depend on in addition to those already in `Vary`. */
const VARY_HEADERS = ["Accept-Profile", "Authorization"];

const findHeader = (headers: Headers, lowerName: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === lowerName)?.[1];

/** Adds cache headers: clients must revalidate stored responses, and shared caches must not store them. Headers that
 *  SQL has set remain. @rule R-ETG-6 */
const withCacheHeaders = (headers: Headers, etag: string): Headers => {
  const vary = findHeader(headers, "vary") ?? "";
  const missingHeaders = vary.includes("*")
    ? []
    : VARY_HEADERS.filter(
        (name) =>
          !vary
            .toLowerCase()
            .split(",")
            .map((fieldName) => fieldName.trim())
            .includes(name.toLowerCase()),
      );
  const otherHeaders = headers.filter(([name]) => !/^(?:etag|vary)$/i.test(name));
  return [
    ...otherHeaders,
    ...(findHeader(headers, "cache-control") === undefined ? [["Cache-Control", "private, no-cache"] as const] : []),
    ["Vary", [vary, ...missingHeaders].filter((part) => part !== "").join(", ")],
    ["ETag", etag],
  ];
};

/** Adds the entity tag to an answer, or answers with 304. @rule R-ETG-1 R-ETG-2 R-ETG-6 */
const withEtag = (exchange: Exchange, answer: Answer): Answer => {
  const { status, body } = answer;
  if (body === undefined || (status !== 200 && status !== 206)) return answer;
  const etag = findHeader(answer.headers, "etag") ?? computeTag(body);
  const headers = withCacheHeaders(answer.headers, etag);
  const ifNoneMatch = readConditionHeader(exchange, "if-none-match");
  if (ifNoneMatch === undefined || !containsTag(ifNoneMatch, etag)) return { ...answer, headers };
  return { status: 304, headers: headers.filter(([name]) => !BODY_HEADERS.test(name)) };
};

/** Returns the request as a GET of the whole result, since `Range` applies only to GET. The prototype has all other
 *  members. */
const buildGetExchange = (exchange: Exchange): Exchange =>
  Object.create(exchange, {
    method: { value: "GET" },
    header: {
      value: (name: string) => {
        const lower = name.toLowerCase();
        if (lower === "range") return undefined;
        return exchange.header(lower === getProfileHeader("GET") ? getProfileHeader(exchange.method) : lower);
      },
    },
    plans: {
      get: () => exchange.plans,
      set: (plans) => {
        exchange.plans = plans;
      },
    },
  }) as Exchange;

/** Adds tags to a handler. A tag is computed from a body, so HEAD produces a body that is not sent. */
const addTags =
  (read: RestHandler): RestHandler =>
  async (exchange, target) =>
    withEtag(exchange, await read(exchange.method === "HEAD" ? buildGetExchange(exchange) : exchange, target));

/** Returns the condition of a write. POST has no condition, because its URL names no rows. The condition reads the rows
 *  of the same URL, without the preferences of the write. @rule R-ETG-3 R-ETG-4 */
const buildPrecondition = (request: RestRequest, relation: Relation): Precondition | undefined => {
  const ifMatch = readConditionHeader(request.exchange, "if-match");
  const ifNoneMatch = readConditionHeader(request.exchange, "if-none-match");
  if ((ifMatch === undefined && ifNoneMatch === undefined) || request.method === "POST") return undefined;
  const { rest, exchange } = request;
  const source = { ...buildSource(rest, buildGetExchange(exchange), relation), prefer: "" };
  const { parsedRequest, plannedRequest, program } = rest.reads.get(source).value;
  return {
    program,
    values: fillValues(plannedRequest, buildRequest(parsedRequest, source)),
    check: (row) => {
      const etag = Number(row.page_total ?? 0) > 0 ? computeTag(decodeBody(row, plannedRequest.media)) : undefined;
      if (ifMatch !== undefined && (etag === undefined || !containsTag(ifMatch, etag))) throw preconditionFailed();
      if (ifNoneMatch !== undefined && etag !== undefined && containsTag(ifNoneMatch, etag)) throw rowsExcluded();
    },
  };
};

/** Adds `ETag` to reads, and evaluates `If-None-Match` and `If-Match`. Disabled by default, because every read is
 *  hashed. */
export const etag = definePlugin({
  name: "etag",
  requires: ["rest"],
  settings: etagSettings,
  apply: (hooks, context) => {
    if (!context.options.etags) return;
    context.offer(etagsService, { buildPrecondition, computeTag });
    context.use(exposeRestHeadersHook).tap("etag", (names) => [...names, "ETag"]);
    hooks.buildRestRoute.tap("etag", (route) => {
      const read = route.methods.get("GET");
      if (read === undefined || route.target.kind === "root") return route;
      const withTag = addTags(read);
      return withMethods(route, [
        ["GET", withTag],
        ["HEAD", withTag],
      ]);
    });
  },
});
