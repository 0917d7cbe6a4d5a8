/** Returns a header of the request in its response: `SERVER_TRACE_HEADER=X-Request-Id`. */
import { definePlugin, type Headers, type OpenExchange } from "../../../core/index.ts";
import { traceSettings } from "../settings.ts";

/** Returns a header of the request in its response. @rule R-HDR-11 */
export const traceHeader = definePlugin({
  name: "trace-header",
  settings: traceSettings,
  apply: (_hooks, context) =>
    context.addStep({
      name: "trace-header",
      get headers() {
        const { serverTraceHeader: name } = context.options;
        if (name === undefined) return undefined;
        // The browser itself creates a preflight request, so the response to it has no trace header.
        return (exchange: OpenExchange): Headers => (exchange.isUnlogged ? [] : [[name, exchange.header(name) ?? ""]]);
      },
    }),
});
