/** The interfaces of the plugins `metrics` and `tracing` for other plugins: types and services. */
import { defineService, type OpenExchange, type RequestRecord } from "../../core/index.ts";

/** The metrics of the api, for other plugins. */
export interface Metrics {
  /** Returns Prometheus text, which covers all workers if the process is one of several. */
  text(): Promise<string>;
}

/** The service by which other plugins read metrics, provided by the plugin `metrics`. */
export const metricsService = defineService<Metrics>("metrics");

/** The ids of a span and its trace. */
export interface TraceIds {
  /** The id of the trace, as 32 hexadecimal digits. */
  readonly traceId: string;
  /** The id of the span, as 16 hexadecimal digits. */
  readonly spanId: string;
}

/** The spans of requests, for other plugins. */
export interface Tracing {
  /** Opens the span of an operation that does not come through the pipeline, such as one of a WebSocket.
   *  @experimental */
  open(exchange: OpenExchange): void;
  /** Ends this span. @experimental */
  close(exchange: OpenExchange, record: RequestRecord): void;
  /** Returns the ids of the request's span, or undefined without a span. */
  findIds(exchange: OpenExchange): TraceIds | undefined;
  /** Returns the header `traceparent` for requests to other services, or undefined without a span. */
  findTraceParent(exchange: OpenExchange): string | undefined;
}

/** The service by which other plugins find traces. The plugin `tracing` provides it if it is switched on. */
export const tracingService = defineService<Tracing>("tracing");

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Returns the body of `GET /metrics` of the admin listener, for a route of the application. @rule X-MET-1 */
    metrics(): Promise<string>;
  }
}
