/** The interface of the plugin `metrics` for other plugins: types and tokens. */
import { defineService } from "../../../core/index.ts";

export interface Metrics {
  /** Returns Prometheus text, which covers all workers if the process is one of several. */
  text(): Promise<string>;
}

/** Provided by the plugin `metrics`. */
export const metricsService = defineService<Metrics>("metrics");

declare module "../../../core/index.ts" {
  interface ApiMethods {
    /** Returns the body of `GET /metrics` of the admin listener, for a route of the application. @rule X-MET-1 */
    metrics(): Promise<string>;
  }
}
