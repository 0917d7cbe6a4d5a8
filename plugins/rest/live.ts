/** `GET /vessels?tonnage=gte.500` as a live query: planned like any read, with a plain JSON result. */
import {
  definePlugin,
  buildErrorFields,
  internalError,
  RelApiError,
  type Exchange,
  type PluginContext,
} from "../../core/index.ts";
import { encodeError } from "./answer/encode-error.ts";
import { restLiveService, type RestLive } from "./api.ts";
import { relationNotFound } from "./errors.ts";
import { fillValues } from "./read.ts";
import { requireRest } from "./routes.ts";
import type { RestSurface } from "./request.ts";
import { findIsolation, buildSettings } from "./run.ts";
import { buildSource, buildRequest } from "./syntax/parse-request.ts";

/**
 * Settings with headers, which live queries do not set: headers differ between clients, and equal queries share a
 * statement. @rule G-SES-10
 */
const CLIENT_SETTINGS: ReadonlySet<string> = new Set(["request.headers", "request.cookies"]);

/** Returns the same request with JSON as accepted type. */
const buildJsonExchange = (exchange: Exchange): Exchange =>
  Object.create(exchange, {
    header: { value: (name: string) => (name.toLowerCase() === "accept" ? "application/json" : exchange.header(name)) },
  }) as Exchange; // the prototype has all other members of the exchange

const createRestLive = (context: PluginContext, rest: RestSurface): RestLive => ({
  plan: (exchange, target) => {
    const { target: current, schema, name } = rest.matchRoute(exchange); // a reload may have removed the relation
    if (target.kind !== "relation" || current?.kind !== "relation") throw relationNotFound(schema, name, undefined);
    const source = buildSource(rest, buildJsonExchange(exchange), current.relation);
    const { parsedRequest, plannedRequest, program } = rest.reads.getAndCommit(source);
    const request = buildRequest(parsedRequest, source);
    const isolation = findIsolation(request);
    return {
      schema,
      programs: [{ program, values: fillValues(plannedRequest, request) }],
      settings: [
        ...context.requestSettings(exchange.request, request.path).filter(([setting]) => !CLIENT_SETTINGS.has(setting)),
        ...buildSettings(request),
      ],
      ...(isolation === undefined ? {} : { isolation }),
    };
  },
  encodeError: (error, exchange) => {
    if (!(error instanceof RelApiError))
      context.logger.error("a live query failed with an internal error", buildErrorFields(error));
    return String(encodeError(rest, error instanceof RelApiError ? error : internalError(error), exchange).body ?? "");
  },
});

/** Offers reads of REST as live queries. @rule G-SUB-1 */
export const restLive = definePlugin({
  name: "rest-live",
  requires: ["rest"],
  apply: (_hooks, context) => {
    context.offer(restLiveService, createRestLive(context, requireRest(context)));
  },
});
