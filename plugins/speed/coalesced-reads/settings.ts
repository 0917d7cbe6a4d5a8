/** Settings of reads that have one round trip. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const coalescedReadsSettings = [
  defineOption({
    name: "maxCoalescedReads",
    environment: ["MAX_COALESCED_READS"],
    kind: settingKinds.wholeNumber(1),
    default: 16,
    description:
      "the largest number of concurrent reads that share one round trip to the database (R-TX-17); with 1, each has its own",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof coalescedReadsSettings> {}
}
