/** What the plugin `metrics` says to others: types and tokens. */
import { defineService } from "../../core/index.ts";

export interface Metrics {
  /** Prometheus text: of all workers, where the process is one of several. */
  text(): Promise<string>;
}

/** Offered by the plugin `metrics`. */
export const metricsService = defineService<Metrics>("metrics");

declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** What `GET /metrics` of the admin listener answers, for a route of your own. @rule X-MET-1 */
    metrics(): Promise<string>;
  }
}
