/** Settings of the settings stored in the database. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../core/index.ts";

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

/** Options of the settings stored in the database. */
export interface StoreOptions extends OptionsOf<typeof storeSettings> {}

declare module "../../core/kernel/options.ts" {
  interface RelApiOptions extends StoreOptions {}
  interface ResolvedOptions extends ValuesOf<typeof storeSettings> {}
}
