/** Settings of the log of slow queries. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const slowQuerySettings = [
  defineOption({
    name: "slowQueryMs",
    environment: ["SLOW_QUERY_MS"],
    kind: settingKinds.wholeNumber(1),
    description:
      "a transaction that has a connection for this time is logged, with its statements, the role and the key of its plan (X-SLW-1)",
    unit: "ms",
    whenUnset: "none is",
  }),
  defineOption({
    name: "slowQueryPlans",
    environment: ["SLOW_QUERY_PLANS"],
    kind: settingKinds.flag,
    default: false,
    description: "`true`: such a statement is explained too, as the same role, once a minute at most (X-SLW-2)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof slowQuerySettings> {}
}
