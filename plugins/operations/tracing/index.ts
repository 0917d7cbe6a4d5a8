/** Records OpenTelemetry spans of requests: `TRACING=true`. */
import {
  definePlugin,
  requirePackage,
  VERSION,
  type Headers,
  type OpenExchange,
  type RequestRecord,
} from "../../../core/index.ts";
import { tracingService } from "../api.ts";
import { tracingSettings } from "../settings.ts";
import { createSpans } from "./spans.ts";
import { encodeTraceParent, addTrace } from "./statements.ts";

const NO_HEADERS: Headers = [];

/** Loads the API of OpenTelemetry. @throws RelApiError `preset` if the package is not installed */
const loadTracingApi = (): typeof import("@opentelemetry/api") =>
  requirePackage("@opentelemetry/api", "tracing") as typeof import("@opentelemetry/api");

/** Records OpenTelemetry spans of requests. @rule X-TRC-1 */
export const tracing = definePlugin({
  name: "tracing",
  settings: tracingSettings,
  apply: (_hooks, context) => {
    const { tracing: isOn, traceStatements } = context.options;
    if (!isOn) return;
    const api = loadTracingApi();
    const spans = createSpans(api, api.trace.getTracer("relapi", VERSION), context);
    const findSpanContext = (exchange: OpenExchange | undefined) => {
      const spanContext = spans.find(exchange)?.span.spanContext();
      return spanContext !== undefined && api.isSpanContextValid(spanContext) ? spanContext : undefined;
    };
    context.offer(tracingService, {
      open: spans.open,
      close: spans.close,
      findIds: findSpanContext,
      findTraceParent: (exchange) => {
        const spanContext = findSpanContext(exchange);
        return spanContext && encodeTraceParent(spanContext);
      },
    });
    context.addStep({
      name: "tracing",
      beforeAuthorize: (exchange): undefined => void spans.open(exchange),
      headers: (exchange): Headers => {
        const spanContext = exchange.isUnlogged ? undefined : findSpanContext(exchange);
        return spanContext === undefined ? NO_HEADERS : [["traceparent", encodeTraceParent(spanContext)]];
      },
      afterResponse: (exchange: OpenExchange, record: RequestRecord) => spans.close(exchange, record),
    });
    if (traceStatements === "off") return;
    context.wrap({
      execute: (next) => (execution) => {
        const spanContext = findSpanContext(execution.exchange);
        // A trace that is not sampled is not exported, so the database does not need its id.
        const isSampled = spanContext !== undefined && (spanContext.traceFlags & api.TraceFlags.SAMPLED) !== 0;
        return next(isSampled ? addTrace(execution, traceStatements, spanContext) : execution);
      },
    });
  },
});
