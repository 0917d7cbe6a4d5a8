/** Settings of the plugins that process every request. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

/** Settings of the plugin `trace-header`. */
export const traceSettings = [
  defineOption({
    name: "serverTraceHeader",
    environment: ["SERVER_TRACE_HEADER", "PGRST_SERVER_TRACE_HEADER"],
    kind: settingKinds.headerName,
    description: "request header echoed in the answer and the log",
  }),
] as const;

/** Settings of the plugin `structured-log`. */
export const logSettings = [
  defineOption({
    name: "logFormat",
    environment: ["LOG_FORMAT"],
    kind: settingKinds.oneOf(["text", "json", "pretty"]),
    description:
      "`text`; `json`: each line an object (X-LOG-1); `pretty`: the same for the eye, which needs `pino-pretty`",
    default: "text",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof traceSettings>, ValuesOf<typeof logSettings> {}
}
