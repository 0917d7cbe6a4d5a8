/** Settings of logs, headers and traces. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { flag, headerName, oneOf, wholeNumber } = settingKinds;

/** Settings of the plugin `trace-header`. */
export const traceSettings = [
  defineSetting({
    name: "serverTraceHeader",
    environment: ["SERVER_TRACE_HEADER", "PGRST_SERVER_TRACE_HEADER"],
    kind: headerName,
    description: "request header echoed in the answer and the log",
  }),
] as const;

/** Settings of the plugin `structured-log`. */
export const logSettings = [
  defineSetting({
    name: "logFormat",
    environment: ["LOG_FORMAT"],
    kind: oneOf(["text", "json", "pretty"]),
    description:
      "`text`; `json`: each line an object (X-LOG-1); `pretty`: the same for the eye, which needs `pino-pretty`",
    default: "text",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `slow-queries`. */
export const slowQuerySettings = [
  defineSetting({
    name: "slowQueryMs",
    environment: ["SLOW_QUERY_MS"],
    kind: wholeNumber(1),
    description:
      "a transaction that has a connection for this time is logged, with its statements, the role and the key of its plan (X-SLW-1)",
    unit: "ms",
    whenUnset: "none is",
  }),
  defineSetting({
    name: "slowQueryPlans",
    environment: ["SLOW_QUERY_PLANS"],
    kind: flag,
    default: false,
    description: "`true`: such a statement is explained too, as the same role, once a minute at most (X-SLW-2)",
  }),
] as const;

const isRatio = (number: number): boolean => number >= 0 && number <= 1;

const ratio: SettingKind<number> = {
  accepts: "a number from 0 to 1",
  parse: (value) => {
    const number = /^\s*(?:\d+|\d*\.\d+)\s*$/.test(value) ? Number(value) : -1;
    return isRatio(number) ? number : undefined;
  },
  option: { accepts: "a number from 0 to 1", takes: (value) => typeof value === "number" && isRatio(value) },
};

/** Settings of the plugin `tracing`. */
export const tracingSettings = [
  defineSetting({
    name: "tracing",
    environment: ["TRACING"],
    kind: flag,
    default: false,
    description: "`true`: spans for the OpenTelemetry SDK that the process has (X-TRC-1); needs `@opentelemetry/api`",
    isFixed: true,
  }),
  defineSetting({
    name: "traceRatio",
    environment: ["TRACE_RATIO"],
    kind: ratio,
    default: 0.01,
    description:
      "with `TRACING`, the share of requests and runs of live queries that begin a trace, from `0` to `1`; a request of a trace follows that trace (X-TRC-5)",
    isFixed: true,
  }),
  defineSetting({
    name: "traceStatements",
    environment: ["TRACE_STATEMENTS"],
    kind: oneOf(["off", "application-name", "comment"]),
    default: "off",
    description:
      "with `TRACING`, the way in which the database receives a sampled trace. `application-name` sets it for the transaction, at no cost. `comment` puts a comment in the format of sqlcommenter behind the statement, which is then parsed and planned each time (X-TRC-4)",
    isFixed: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof traceSettings>,
      ValuesOf<typeof logSettings>,
      ValuesOf<typeof slowQuerySettings>,
      ValuesOf<typeof tracingSettings> {}
}
