/** Settings of traces. */
import { defineOption, settingKinds, type SettingKind, type ValuesOf } from "../../../core/index.ts";

const isShare = (number: number): boolean => number >= 0 && number <= 1;

const share: SettingKind<number> = {
  accepts: "a number from 0 to 1",
  read: (given) => {
    const number = /^\s*(?:\d+|\d*\.\d+)\s*$/.test(given) ? Number(given) : -1;
    return isShare(number) ? number : undefined;
  },
  option: { accepts: "a number from 0 to 1", takes: (given) => typeof given === "number" && isShare(given) },
};

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
    name: "traceRatio",
    environment: ["TRACE_RATIO"],
    kind: share,
    default: 0.01,
    description:
      "with `TRACING`, the share of requests and runs of live queries that begin a trace, from `0` to `1`; a request of a trace follows that trace (X-TRC-5)",
    isFixed: true,
  }),
  defineOption({
    name: "traceStatements",
    environment: ["TRACE_STATEMENTS"],
    kind: settingKinds.oneOf(["off", "application-name", "comment"]),
    default: "off",
    description:
      "with `TRACING`, the way in which the database receives a sampled trace. `application-name` sets it for the transaction, at no cost. `comment` puts a comment in the format of sqlcommenter behind the statement, which is then parsed and planned each time (X-TRC-4)",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof tracingSettings> {}
}
