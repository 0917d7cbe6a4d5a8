/** Settings of `soft-delete`. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../../core/index.ts";

export const softDeleteSettings = [
  defineOption({
    name: "softDeleteColumn",
    environment: ["SOFT_DELETE_COLUMN"],
    kind: settingKinds.text,
    whenUnset: "rows are deleted",
    description:
      "a time that DELETE sets instead of deleting, in tables that have such a column, and that hides the row (P-DEL-1)",
    isFixed: true,
  }),
] as const;

/** Options of `soft-delete`. */
export interface SoftDeleteOptions extends OptionsOf<typeof softDeleteSettings> {}

declare module "../../../core/index.ts" {
  interface RelApiOptions extends SoftDeleteOptions {}
  interface ResolvedOptions extends ValuesOf<typeof softDeleteSettings> {}
}
