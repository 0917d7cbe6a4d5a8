/** Settings of the reload channel. */
import { defineOption, settingKinds, type OptionsOf, type ValuesOf } from "../../core/index.ts";

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

/** Options of the reload channel. */
export interface ChannelOptions extends OptionsOf<typeof channelSettings> {}

declare module "../../core/kernel/options.ts" {
  interface RelApiOptions extends ChannelOptions {}
  interface ResolvedOptions extends ValuesOf<typeof channelSettings> {}
}
