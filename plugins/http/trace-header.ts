/** `SERVER_TRACE_HEADER=X-Request-Id`: the request's own comes back with the answer. */
import { definePlugin, type Headers } from "../../core/index.ts";
import { traceSettings } from "./settings.ts";

const NO_HEADERS: Headers = [];

/** @rule R-HDR-11 */
export const traceHeader = definePlugin({
  name: "trace-header",
  settings: traceSettings,
  apply: (_hooks, context) =>
    context.addStep({
      name: "trace-header",
      headers: (exchange) => {
        const { serverTraceHeader: name } = context.options;
        // a preflight is the browser's own
        if (name === undefined || exchange.isUnlogged) return NO_HEADERS;
        return [[name, exchange.header(name) ?? ""]];
      },
    }),
});
