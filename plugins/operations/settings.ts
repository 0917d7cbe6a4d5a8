/** Settings of logs, headers and traces. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { flag, headerName, oneOf, wholeNumber } = settingKinds;

/** Settings of the plugin `trace-header`. */
export const traceSettings = [
  defineSetting({
    name: "serverTraceHeader",
    environment: ["SERVER_TRACE_HEADER", "PGRST_SERVER_TRACE_HEADER"],
    kind: headerName,
    description: "the name of a request header that the response and the log repeat, such as `X-Request-Id`",
    whenUnset: "no header is repeated",
  }),
] as const;

/** Settings of the plugin `structured-log`. */
export const logSettings = [
  defineSetting({
    name: "logFormat",
    environment: ["LOG_FORMAT"],
    kind: oneOf(["text", "json", "pretty"]),
    description:
      "`text`: one line of text; `json`: one JSON object per line (X-LOG-1); `pretty`: the objects in a form for people, which needs the package `pino-pretty`",
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
      "a transaction that holds a connection for this many milliseconds is logged, with its statements, its role and the key of its plan (X-SLW-1)",
    unit: "ms",
    whenUnset: "no transaction is logged",
  }),
  defineSetting({
    name: "slowQueryPlans",
    environment: ["SLOW_QUERY_PLANS"],
    kind: flag,
    default: false,
    description:
      "`true`: the log of slow transactions has the execution plan too, which the same role requests, at most once a minute (X-SLW-2)",
  }),
] as const;

const isRatio = (number: number): boolean => number >= 0 && number <= 1;

const ratio: SettingKind<number> = {
  accepts: "a number from 0 to 1",
  parse: (value) => {
    const number = /^\s*(?:\d+|\d*\.\d+)\s*$/.test(value) ? Number(value) : -1;
    return isRatio(number) ? number : undefined;
  },
  option: { accepts: "a number from 0 to 1", isValid: (value) => typeof value === "number" && isRatio(value) },
};

/** Settings of the plugin `tracing`. */
export const tracingSettings = [
  defineSetting({
    name: "tracing",
    environment: ["TRACING"],
    kind: flag,
    default: false,
    description:
      "`true`: the server creates spans for the OpenTelemetry SDK of the process (X-TRC-1), which needs the package `@opentelemetry/api`",
    isFixed: true,
  }),
  defineSetting({
    name: "traceRatio",
    environment: ["TRACE_RATIO"],
    kind: ratio,
    default: 0.01,
    description:
      "with `TRACING`, the share of requests and live query runs that begin a trace, from `0` to `1`. A request that belongs to a trace follows the decision of that trace (X-TRC-5)",
    isFixed: true,
  }),
  defineSetting({
    name: "traceStatements",
    environment: ["TRACE_STATEMENTS"],
    kind: oneOf(["off", "application-name", "comment"]),
    default: "off",
    description:
      "with `TRACING`, how the database receives the id of a sampled trace (X-TRC-4). `off`: it does not. `application-name`: as `application_name` of the transaction, at no cost. `comment`: in a comment in the format of sqlcommenter, so PostgreSQL parses and plans each statement again",
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
