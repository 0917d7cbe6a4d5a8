/** What a server may tell of itself, for `observability.ts`. */
import type { PresetOptions } from "../../presets/options.ts";

export interface Variant {
  readonly name: string;
  readonly options: PresetOptions;
  readonly hasMetrics?: boolean;
  /** An SDK of OpenTelemetry takes the spans, as many at once as it does by itself, and an exporter that drops them. */
  readonly hasSdk?: boolean;
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
  { name: "spans", options: { ...quiet, tracing: true }, hasSdk: true },
  {
    name: "metrics, log as JSON, slow queries",
    options: { ...json, slowQueryMs: 1000, slowQueryPlans: true },
    hasMetrics: true,
  },
];
