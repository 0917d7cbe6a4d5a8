/** Settings of the stored settings. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

const { flag, text } = settingKinds;

export const storeSettings = [
  defineOption({
    name: "dbConfig",
    environment: ["DB_CONFIG", "PGRST_DB_CONFIG"],
    kind: flag,
    default: true,
    description: "settings kept in the database (`ALTER ROLE ... SET pgrst.<name>`) go before the options",
    isFixed: true,
  }),
  defineOption({
    name: "dbPreConfig",
    environment: ["DB_PRE_CONFIG", "PGRST_DB_PRE_CONFIG"],
    kind: text,
    description: "function that sets them",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof storeSettings> {}
}
