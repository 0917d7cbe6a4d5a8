/** Settings of `soft-delete`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const softDeleteSettings = [
  defineSetting({
    name: "softDeleteColumn",
    environment: ["SOFT_DELETE_COLUMN"],
    kind: settingKinds.text,
    whenUnset: "rows are deleted",
    description:
      "a time that DELETE sets instead of deleting, in tables that have such a column, and that hides the row (P-DEL-1)",
    isFixed: true,
  }),
  defineSetting({
    name: "softDeleteRoles",
    environment: ["SOFT_DELETE_ROLES"],
    kind: settingKinds.listOf("roles"),
    default: [],
    description:
      "roles that reach deleted rows, beside the administrator, where they compare `SOFT_DELETE_COLUMN` (P-DEL-6)",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof softDeleteSettings> {}
}
