/** The interface of the plugin `tracing` for other plugins: types and tokens. */
import { defineService, type OpenExchange } from "../../../core/index.ts";

export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export interface Tracing {
  /** Returns the ids of the request's span, or undefined without a span. */
  idsOf(exchange: OpenExchange): TraceIds | undefined;
}

/** Provided by the plugin `tracing` if it is switched on. */
export const tracingService = defineService<Tracing>("tracing");
