/** Reloads the model in all processes when one of them reloads: `api.reloadAll()`. @rule X-BUS-2 */
import { definePlugin } from "../../../core/index.ts";
import { busService } from "../../cluster/api.ts";
import { reloadOthersService } from "../api.ts";
import { channelSettings } from "../settings.ts";

const TOPIC = "reload";
/** The time over which the reloads of processes that have missed messages are spread. */
const SPREAD_MS = 1000;

/** Reloads the model in all processes when one of them reloads: `api.reloadAll()`. */
export const reloadAll = definePlugin({
  name: "reload-all",
  requires: ["bus"],
  settings: channelSettings,
  apply: (_hooks, context) => {
    const getBus = () => context.use(busService);
    let timer: NodeJS.Timeout | undefined;
    let unsubscribe: (() => void) | undefined;
    let isClosed = false;
    const notifyOthers = (): void => getBus()?.publish(TOPIC, "");
    context.offer(reloadOthersService, { requestReload: notifyOthers });
    context.addMethod("reloadAll", () => {
      notifyOthers();
      return context.reload();
    });
    // The bus is available once all plugins are applied, while the model is still loading.
    queueMicrotask(() => {
      const bus = getBus();
      // Without a reload channel, no connection should listen.
      if (isClosed || bus === undefined || (bus.usesNotify && !context.options.dbChannelEnabled)) return;
      unsubscribe = bus.subscribe(TOPIC, context.requestReload, () => {
        clearTimeout(timer);
        timer = setTimeout(context.requestReload, Math.random() * SPREAD_MS);
      });
    });
    context.onClose(() => {
      isClosed = true;
      clearTimeout(timer);
      unsubscribe?.();
    });
  },
});
