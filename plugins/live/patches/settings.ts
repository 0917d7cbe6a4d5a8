/** Settings of live patches. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const patchSettings = [
  defineOption({
    name: "maxLivePatchBytes",
    environment: ["MAX_LIVE_PATCH_BYTES"],
    kind: settingKinds.wholeNumber(1),
    default: 1024 * 1024,
    description: "a larger result of a live query is sent whole, also to subscribers who ask for patches",
  }),
  defineOption({
    name: "maxLivePatchTotalBytes",
    environment: ["MAX_LIVE_PATCH_TOTAL_BYTES"],
    kind: settingKinds.wholeNumber(1),
    default: 64 * 1024 * 1024,
    description:
      "bytes of results that are kept for subscribers who ask for patches, all together; beyond it, subscribers get whole results",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof patchSettings> {}
}
