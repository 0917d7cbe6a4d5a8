/** `ETag` of reads, `If-None-Match` for those who have them already, and `If-Match` for writes to what has not changed
 *  since. */
import { createHash } from "node:crypto";
import { definePlugin, type Answer, type Exchange, type PluginContext, type Relation } from "../../core/index.ts";
import { bodyOf } from "./answer/rows.ts";
import type { RestHandler } from "./api.ts";
import { preconditionFailed } from "./errors.ts";
import { plannedReads, type PlannedReads } from "./read.ts";
import type { RestRequest } from "./request.ts";
import { withMethods } from "./routes.ts";
import type { Precondition, PreconditionsService } from "./run.ts";
import { etagSettings } from "./settings.ts";
import { parseRequest } from "./syntax/parse-request.ts";
import { NO_PREFERENCES } from "./syntax/prefer.ts";

/** Of the bytes that are sent. */
const etagOf = (body: string | Uint8Array): string => `"${createHash("sha1").update(body).digest("base64url")}"`;

/** Proxies that compress turn a tag into a weak one; the rows behind it are the same. */
const names = (header: string, etag: string): boolean =>
  (header.match(/\*|"[^"]*"/g) ?? []).some((tag) => tag === "*" || tag === etag);

/** What a 304 does not describe. */
const OF_THE_BODY = /^(?:content-(?:type|range|profile)|range-unit)$/i;

/** @rule R-ETG-1 R-ETG-2 */
const tagged = (answer: Answer, ifNoneMatch: string | undefined): Answer => {
  const { status, body, headers } = answer;
  if (body === undefined || (status !== 200 && status !== 206)) return answer;
  const etag = etagOf(body);
  if (ifNoneMatch === undefined || !names(ifNoneMatch, etag))
    return { ...answer, headers: [...headers, ["ETag", etag]] };
  return { status: 304, headers: [...headers.filter(([name]) => !OF_THE_BODY.test(name)), ["ETag", etag]] };
};

const withTags =
  (read: RestHandler): RestHandler =>
  async (exchange, target) =>
    tagged(await read(exchange, target), exchange.header("if-none-match"));

/** The same URL, read. A write has preferences that a read does not know. */
const readingOf = (request: RestRequest): RestRequest => {
  const exchange = Object.create(request.exchange, { method: { value: "GET" } }) as Exchange; // the prototype has the rest
  const { rest, kind, model, schema, isProfileNamed, name, path } = request;
  const reading = parseRequest(rest, { exchange, kind, model, schema, isProfileNamed, name, path });
  return { ...reading, preferences: NO_PREFERENCES };
};

/** @rule R-ETG-3 */
const preconditionOf = (
  context: PluginContext,
  reads: PlannedReads,
  request: RestRequest,
  relation: Relation,
): Precondition | undefined => {
  const ifMatch = request.exchange.header("if-match");
  if (ifMatch === undefined || request.method === "POST") return undefined;
  const reading = readingOf(request);
  const { made } = reads.get({ request: reading, relation });
  return {
    program: context.prepare(made, request.exchange.session, "rest"),
    values: made.valuesOf(reading),
    check: (row) => {
      const hasRows = Number(row.page_total ?? 0) > 0;
      if (!hasRows || !names(ifMatch, etagOf(bodyOf(row, made.media)))) throw preconditionFailed();
    },
  };
};

/** Off unless it is switched on, as each read is hashed. */
export const etag = definePlugin({
  name: "etag",
  requires: ["rest"],
  settings: etagSettings,
  apply: (hooks, context) => {
    if (!context.options.etags) return;
    const reads = context.caches.create({ ...plannedReads, name: "rest reads before writes" });
    context.offer<PreconditionsService>("rest-preconditions", (request, relation) =>
      preconditionOf(context, reads, request, relation),
    );
    hooks.buildRestRoute.tap("etag", (route) => {
      const read = route.methods.get("GET");
      return read === undefined || route.target.kind === "root" ? route : withMethods(route, [["GET", withTags(read)]]);
    });
  },
});
