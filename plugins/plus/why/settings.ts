/** The setting of `why-empty`. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const whySettings = [
  defineOption({
    name: "explainEmpty",
    environment: ["EXPLAIN_EMPTY"],
    kind: settingKinds.oneOf(["off", "admin", "roles"]),
    default: "off",
    isFixed: true,
    description:
      "who may ask by `X-Relapi-Why` which conditions took rows away: `admin` callers with the admin secret, whatever role they act as; `roles` all callers but anonymous ones too, about the rows that their role sees (P-WHY-1)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof whySettings> {}
}
