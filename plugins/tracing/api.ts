/** What the plugin `tracing` says to others: types and tokens. */
import { defineService, type OpenExchange } from "../../core/index.ts";

export interface TraceIds {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
}

export interface Tracing {
  /** Of the request's span; undefined: it has none. */
  idsOf(exchange: OpenExchange): TraceIds | undefined;
}

/** Offered by the plugin `tracing` where it is switched on. */
export const tracingService = defineService<Tracing>("tracing");
