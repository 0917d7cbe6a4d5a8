/** Settings of `soft-delete`. */
import { defineSetting, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const softDeleteSettings = [
  defineSetting({
    name: "softDeleteColumn",
    environment: ["SOFT_DELETE_COLUMN"],
    kind: settingKinds.text,
    whenUnset: "deletes remove rows",
    description:
      "the name of a column with a time. In tables with this column, a delete sets the time in place of deleting the row, and rows with a time are hidden (P-DEL-1)",
    isFixed: true,
  }),
  defineSetting({
    name: "softDeleteRoles",
    environment: ["SOFT_DELETE_ROLES"],
    kind: settingKinds.listOf("roles"),
    default: [],
    description:
      "roles besides the administrator, separated by commas, that may read and restore deleted rows with a condition on `SOFT_DELETE_COLUMN` (P-DEL-6)",
    whenUnset: "only the administrator",
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof softDeleteSettings> {}
}
