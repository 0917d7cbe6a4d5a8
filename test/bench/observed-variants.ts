/** What a server may tell of itself, for `observability.ts`. */
import type { PresetOptions } from "../../presets/options.ts";

export interface Variant {
  readonly name: string;
  readonly options: PresetOptions;
  readonly hasMetrics?: boolean;
}

const quiet: PresetOptions = { logFormat: "text", logLevel: "error" };
const json: PresetOptions = { logFormat: "json", logLevel: "info" };

/** The first is what the others are compared with; the second shows what the comparison itself is worth. */
export const VARIANTS: readonly Variant[] = [
  { name: "nothing", options: quiet },
  { name: "nothing, again", options: quiet },
  { name: "metrics", options: quiet, hasMetrics: true },
  { name: "log as text", options: { logFormat: "text", logLevel: "info" } },
  { name: "log as JSON", options: json },
  { name: "one request in a hundred traced", options: { ...quiet, tracing: true } },
  { name: "all requests traced", options: { ...quiet, tracing: true, traceRatio: 1 } },
  {
    name: "metrics, log as JSON, slow queries, one in a hundred traced",
    options: { ...json, slowQueryMs: 1000, slowQueryPlans: true, tracing: true },
    hasMetrics: true,
  },
];
