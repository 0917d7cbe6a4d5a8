/** Reloads the model when a notification arrives, such as `NOTIFY pgrst, 'reload schema'`. */
import { definePlugin } from "../../../core/index.ts";
import { dbChannel } from "../../shared/settings.ts";
import { channelSettings } from "../settings.ts";

export { reloadAll } from "./reload-all.ts";

const RELOAD_PAYLOADS: ReadonlySet<string> = new Set(["", "reload schema", "reload config"]);

/** Reloads the model when a notification such as `NOTIFY pgrst, 'reload schema'` arrives. @rule R-SC-3 R-SC-5 */
export const reloadChannel = definePlugin({
  name: "reload-channel",
  settings: [dbChannel, ...channelSettings],
  apply: (_hooks, context) => {
    const { dbChannel, dbChannelEnabled } = context.options;
    if (!dbChannelEnabled) return;
    context.listen(
      dbChannel,
      (payload) => {
        if (RELOAD_PAYLOADS.has(payload)) context.requestReload();
      },
      context.requestReload,
    );
  },
});
