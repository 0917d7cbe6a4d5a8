/** The context of one plugin: what all share, and what must know whose it is. */
import type { PluginContext } from "../plugin.ts";
import type { Services } from "./services.ts";

export type SharedContext = Omit<PluginContext, "offer" | "service">;

export const contextOf = (plugin: string, shared: SharedContext, services: Services): PluginContext => {
  const own: Pick<PluginContext, "offer" | "service"> = {
    offer: (name, service) => services.offer(plugin, name, service),
    service: (name) => services.find(name),
  };
  // descriptors, not values: options are read anew each time
  return Object.defineProperties(
    {} as PluginContext, // all of it comes from the two
    { ...Object.getOwnPropertyDescriptors(shared), ...Object.getOwnPropertyDescriptors(own) },
  );
};
