/** Settings of traces. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../core/index.ts";

export const tracingSettings = [
  defineOption({
    name: "tracing",
    environment: ["TRACING"],
    kind: settingKinds.flag,
    default: false,
    description: "`true`: spans for the OpenTelemetry SDK that the process has (X-TRC-1); needs `@opentelemetry/api`",
    isFixed: true,
  }),
  defineOption({
    name: "traceStatements",
    environment: ["TRACE_STATEMENTS"],
    kind: settingKinds.oneOf(["off", "application-name", "comment"]),
    default: "off",
    description:
      "with `TRACING`, how the database learns of a sampled trace: `application-name` sets it for the transaction, at no cost; `comment` puts a comment in the format of sqlcommenter behind the statement, which is then parsed and planned each time (X-TRC-4)",
    isFixed: true,
  }),
] as const;

export interface TracingOptions extends OptionsOf<typeof tracingSettings> {}

declare module "../../core/kernel/options.ts" {
  interface RelApiOptions extends TracingOptions {}
  interface ResolvedOptions extends ValuesOf<typeof tracingSettings> {}
}
