/** Settings of what happens around each request. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../core/index.ts";

/** Of `trace-header`. */
export const traceSettings = [
  defineOption({
    name: "serverTraceHeader",
    environment: ["SERVER_TRACE_HEADER", "PGRST_SERVER_TRACE_HEADER"],
    kind: settingKinds.headerName,
    description: "request header echoed in the answer and the log",
  }),
] as const;

/** Options of what happens around each request. */
export interface TraceOptions extends OptionsOf<typeof traceSettings> {}

declare module "../../core/kernel/options.ts" {
  interface RelApiOptions extends TraceOptions {}
  interface ResolvedOptions extends ValuesOf<typeof traceSettings> {}
}
