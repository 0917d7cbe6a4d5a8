/** Settings of reading one's own writes. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const readYourWritesSettings = [
  defineOption({
    name: "readYourWrites",
    environment: ["READ_YOUR_WRITES"],
    kind: settingKinds.oneOf(["off", "header", "cookie", "both"]),
    default: "off",
    description:
      "with replicas: how a caller who has written is known again, so that its reads see what it wrote (R-RYW-1): by the header `X-Write-Position`, by a cookie, or by both",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof readYourWritesSettings> {}
}
