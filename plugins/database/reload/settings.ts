/** Settings of schema reloads. */
import { defineOption, settingKinds, type ValuesOf } from "../../../core/index.ts";

export const channelSettings = [
  defineOption({
    name: "dbChannelEnabled",
    environment: ["DB_CHANNEL_ENABLED", "PGRST_DB_CHANNEL_ENABLED"],
    kind: settingKinds.flag,
    default: true,
    description: "whether that channel is listened to",
    isFixed: true,
  }),
] as const;

export const pollSettings = [
  defineOption({
    name: "dbSchemaPollInterval",
    environment: ["DB_SCHEMA_POLL_INTERVAL"],
    kind: settingKinds.wholeNumber(0, 2_000_000),
    default: 2,
    unit: "seconds",
    description:
      "how often the server is asked whether its schema has changed, which then is reloaded (R-SC-9); `0`: never, only notifications and signals reload it",
    isFixed: true,
  }),
] as const;

declare module "../../../core/index.ts" {
  interface ResolvedOptions extends ValuesOf<typeof channelSettings>, ValuesOf<typeof pollSettings> {}
}
