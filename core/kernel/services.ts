/** What plugins offer to each other, by name. */
import { presetError } from "./errors.ts";

export interface Services {
  /** @throws RelApiError `preset` when another plugin offers the name already, and after `seal` */
  offer(plugin: string, name: string, service: unknown): void;
  find(name: string): unknown;
  /** From now on an offer throws: others may have looked for it already. */
  seal(): void;
}

export const createServices = (): Services => {
  const offered = new Map<string, { readonly plugin: string; readonly service: unknown }>();
  let isSealed = false;
  return {
    offer: (plugin, name, service) => {
      if (isSealed)
        throw presetError(
          `plugin "${plugin}" offers the service "${name}" after relApi(preset) had applied the plugins: offer it in the plugin's apply`,
        );
      const rival = offered.get(name);
      if (rival !== undefined)
        throw presetError(
          `the service "${name}" is offered by "${rival.plugin}" and by "${plugin}": drop one of them with without("${plugin}")`,
        );
      offered.set(name, { plugin, service });
    },
    find: (name) => offered.get(name)?.service,
    seal: () => {
      isSealed = true;
    },
  };
};
