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
      "the callers who may send `X-Relapi-Why` to learn which conditions removed rows (P-WHY-1). `off`: none. `admin`: callers with the admin secret, in any role. `roles`: also all other callers except anonymous ones, for rows that their role may see",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof whySettings> {}
}
