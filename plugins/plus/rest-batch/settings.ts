/** Settings of `rest-batch`. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../../core/index.ts";

export const batchSettings = [
  defineOption({
    name: "maxBatchRequests",
    environment: ["MAX_BATCH_REQUESTS"],
    kind: settingKinds.wholeNumber(1),
    default: 50,
    description: "requests of one REST batch (P-BAT-6)",
  }),
] as const;

/** Options of `rest-batch`. */
export interface BatchOptions extends OptionsOf<typeof batchSettings> {}

declare module "../../../core/index.ts" {
  interface RelApiOptions extends BatchOptions {}
  interface ResolvedOptions extends ValuesOf<typeof batchSettings> {}
}
