/** `SERVER_TRACE_HEADER=X-Request-Id`: the request's own comes back with the answer. */
import { definePlugin, type Headers, type OpenExchange } from "../../core/index.ts";
import { traceSettings } from "./settings.ts";

/** @rule R-HDR-11 */
export const traceHeader = definePlugin({
  name: "trace-header",
  settings: traceSettings,
  apply: (_hooks, context) =>
    context.addStep({
      name: "trace-header",
      get headers() {
        const { serverTraceHeader: name } = context.options;
        if (name === undefined) return undefined;
        // a preflight is the browser's own
        return (exchange: OpenExchange): Headers => (exchange.isUnlogged ? [] : [[name, exchange.header(name) ?? ""]]);
      },
    }),
});
