/** `GET /vessels?tonnage=gte.500` as a live query: planned like any read, with a plain JSON result. */
import {
  definePlugin,
  faultFacts,
  internalError,
  isRelApiError,
  nameKey,
  type Exchange,
  type PluginContext,
} from "../../core/index.ts";
import { encodeError } from "./answer/encode-error.ts";
import { restLiveService, type RestLive } from "./api.ts";
import { relationNotFound } from "./errors.ts";
import { plannedReads, valuesOf, type PlannedReads } from "./read.ts";
import { restOf } from "./routes.ts";
import type { Rest } from "./request.ts";
import { isolationOf, settingsOf } from "./run.ts";
import { parseRequest } from "./syntax/parse-request.ts";

/**
 * Settings with headers, which live queries do not set: headers differ between clients, and equal queries share a
 * statement. @rule G-SES-10
 */
const PERSONAL: ReadonlySet<string> = new Set(["request.headers", "request.cookies"]);

/** The same request with JSON as accepted type. */
const askingForJson = (exchange: Exchange): Exchange =>
  Object.create(exchange, {
    header: { value: (name: string) => (name.toLowerCase() === "accept" ? "application/json" : exchange.header(name)) },
  }) as Exchange; // the prototype has all other members

const createRestLive = (context: PluginContext, rest: Rest, reads: PlannedReads): RestLive => ({
  plan: (exchange, target) => {
    const request = parseRequest(rest, askingForJson(exchange));
    const { model, schema, name } = request;
    const relation = model.relations.get(nameKey({ schema, name }));
    if (target.kind !== "relation" || relation === undefined) throw relationNotFound(schema, name, undefined);
    const { made, keep } = reads.get({ request, relation });
    const isolation = isolationOf(request);
    const program = context.prepare(made, exchange.session, "rest");
    keep();
    return {
      schema,
      read: made.plan,
      programs: [{ program, values: valuesOf(made, request) }],
      settings: [
        ...context.requestSettings(exchange.request, request.path).filter(([setting]) => !PERSONAL.has(setting)),
        ...settingsOf(request),
      ],
      ...(isolation === undefined ? {} : { isolation }),
    };
  },
  encodeError: (error, exchange) => {
    if (!isRelApiError(error)) context.logger.error("a live query failed by a fault of the server", faultFacts(error));
    return String(encodeError(rest, isRelApiError(error) ? error : internalError(error), exchange).body ?? "");
  },
});

/** @rule G-SUB-1 */
export const restLive = definePlugin({
  name: "rest-live",
  requires: ["rest"],
  apply: (_hooks, context) => {
    const reads = context.caches.create({ ...plannedReads, name: "rest live reads" });
    context.offer(restLiveService, createRestLive(context, restOf(context), reads));
  },
});
