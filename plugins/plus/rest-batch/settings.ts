/** Settings of `rest-batch`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

const MAX_SECONDS = 2_000_000; // Node's timers accept no longer delay

const batchLimits = [
  defineSetting({
    name: "maxBatchRequests",
    environment: ["MAX_BATCH_REQUESTS"],
    kind: settingKinds.wholeNumber(1),
    default: 50,
    description: "the maximum number of requests in a REST batch (P-BAT-6)",
    isLimit: true,
  }),
] as const;

export const batchSettings = [
  ...batchLimits,
  defineSetting({
    name: "batchTimeout",
    environment: ["BATCH_TIMEOUT"],
    kind: settingKinds.wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description:
      "the time for which a REST batch may hold its connection; then it is rolled back and answered 504 (P-BAT-8). Each statement also has its own limit (`statement_timeout`)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof batchSettings> {}
  interface RequestLimits extends ValuesOf<typeof batchLimits> {}
}
