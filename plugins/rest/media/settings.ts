/** Settings of media types. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

/** Settings of the plugin `explain-media`. */
export const explainSettings = [
  defineOption({
    name: "dbPlanEnabled",
    environment: ["DB_PLAN_ENABLED", "PGRST_DB_PLAN_ENABLED"],
    kind: settingKinds.flag,
    default: false,
    description: "execution plans by `Accept`",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof explainSettings> {}
}
