/** `X-Request-Id`: what a request is called in the log and in its answer. */
import { randomUUID } from "node:crypto";
import { definePlugin, lowestLogged, type Headers, type OpenExchange } from "../../core/index.ts";

const NAME = "x-request-id";
/** What anybody sends stands in the log. */
const SOUND = /^[\w.:+/=@-]{1,128}$/;
const NO_HEADERS: Headers = [];

/** The request's own, or a new one. */
export const requestIdOf = (exchange: OpenExchange): string => {
  if (exchange.requestId !== undefined) return exchange.requestId;
  const given = exchange.header(NAME);
  exchange.requestId = given !== undefined && SOUND.test(given) ? given : randomUUID();
  return exchange.requestId;
};

/** Where each request is logged with fields. @rule X-LOG-3 */
export const requestIds = definePlugin({
  name: "request-ids",
  apply: (_hooks, context) => {
    const { logLevel, logger: own } = context.options;
    const isUsed = (): boolean =>
      context.logger.request !== undefined && (own !== undefined || lowestLogged(logLevel) === 0);
    context.addStep({
      name: "request-ids",
      get before() {
        return isUsed() ? (exchange: OpenExchange): undefined => void requestIdOf(exchange) : undefined;
      },
      get headers() {
        if (!isUsed()) return undefined;
        // R-HDR-11 has its own answer to a request without one
        const isEchoed = (context.options.serverTraceHeader ?? "").toLowerCase() === NAME;
        return ({ isUnlogged, requestId }: OpenExchange): Headers =>
          isUnlogged || isEchoed || requestId === undefined ? NO_HEADERS : [["X-Request-Id", requestId]];
      },
    });
  },
});
