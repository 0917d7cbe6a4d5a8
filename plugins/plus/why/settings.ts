/** The setting of `why-empty`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const whySettings = [
  defineSetting({
    name: "explainEmpty",
    environment: ["EXPLAIN_EMPTY"],
    kind: settingKinds.oneOf(["off", "admin", "roles"]),
    default: "off",
    isFixed: true,
    description:
      "the callers who may ask with `X-Relapi-Why` which conditions took rows away. `admin`: callers with the admin secret, as any role. `roles`: also all other callers except anonymous ones, about the rows that their role sees (P-WHY-1)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof whySettings> {}
}
