/** Assigns each request an id, for the log and the response header `X-Request-Id`. */
import { randomUUID } from "node:crypto";
import { definePlugin, findLowestLoggedStatus, type Headers, type OpenExchange } from "../../../core/index.ts";

const NAME = "x-request-id";
/** Matches ids that are safe in the log. Any other id of a client is replaced. */
const VALID_ID = /^[\w.:+/=@-]{1,128}$/;
const NO_HEADERS: Headers = [];

/** Returns the id of the request, or assigns a new one. */
export const assignRequestId = (exchange: OpenExchange): string => {
  if (exchange.requestId !== undefined) return exchange.requestId;
  const sentId = exchange.header(NAME);
  exchange.requestId = sentId !== undefined && VALID_ID.test(sentId) ? sentId : randomUUID();
  return exchange.requestId;
};

/** Adds request ids if each request is logged with fields. @rule X-LOG-3 */
export const requestIds = definePlugin({
  name: "request-ids",
  apply: (_hooks, context) => {
    const { logLevel } = context.options;
    const isUsed = (): boolean => context.logger.request !== undefined && findLowestLoggedStatus(logLevel) === 0;
    context.addStep({
      name: "request-ids",
      get beforeAuthorize() {
        return isUsed() ? (exchange: OpenExchange): undefined => void assignRequestId(exchange) : undefined;
      },
      get headers() {
        if (!isUsed()) return undefined;
        // If the trace header has the same name, R-HDR-11 defines the response to a request without this header.
        const isEchoed = (context.options.serverTraceHeader ?? "").toLowerCase() === NAME;
        return ({ isUnlogged, requestId }: OpenExchange): Headers =>
          isUnlogged || isEchoed || requestId === undefined ? NO_HEADERS : [["X-Request-Id", requestId]];
      },
    });
  },
});
