/** The context of one plugin: what all share, and what must know whose it is. Functions that a plugin hands over carry
 *  its name into whatever they throw. */
import type { RequestStep, Surface } from "../http/exchange.ts";
import type { PluginContext } from "../plugin.ts";
import { remembered, reported } from "./faults.ts";
import type { Services } from "./services.ts";

type Own =
  | "offer"
  | "service"
  | "addOptionSource"
  | "beforeModel"
  | "onModel"
  | "onClose"
  | "listen"
  | "onSignal"
  | "openReplication"
  | "addSurface"
  | "addStep"
  | "onServer"
  | "wrap";

export type SharedContext = Omit<PluginContext, "offer" | "service" | "addSurface" | "addStep" | "wrap"> & {
  readonly addSurface: (plugin: string, surface: Surface) => void;
  readonly addStep: (plugin: string, step: RequestStep) => void;
  readonly wrap: (plugin: string, wrapper: Parameters<PluginContext["wrap"]>[0]) => void;
};

export const contextOf = (plugin: string, shared: SharedContext, services: Services): PluginContext => {
  const { logger } = shared;
  const own: Pick<PluginContext, Own> = {
    offer: (name, service) => services.offer(plugin, name, blamedService(plugin, name, service)),
    service: (name) => services.find(name),
    addOptionSource: (source) =>
      shared.addOptionSource({ ...source, read: remembered(plugin, "addOptionSource.read", source.read) }),
    // nobody waits for these: the others must hear all the same
    beforeModel: (listener) => shared.beforeModel(reported(plugin, "beforeModel", logger, listener, undefined)),
    onModel: (listener) => shared.onModel(reported(plugin, "onModel", logger, listener, undefined)),
    onClose: (listener) => shared.onClose(reported(plugin, "onClose", logger, listener, undefined)),
    listen: (channel, listener, missed, unheard) =>
      shared.listen(
        channel,
        reported(plugin, `listen("${channel}")`, logger, listener, undefined),
        missed && reported(plugin, `listen("${channel}").missed`, logger, missed, undefined),
        unheard && reported(plugin, `listen("${channel}").unheard`, logger, unheard, undefined),
      ),
    onSignal: (name, listener) =>
      shared.onSignal(name, reported(plugin, `onSignal("${name}")`, logger, listener, undefined)),
    openReplication: async () => {
      const connection = await shared.openReplication();
      return {
        ...connection,
        copy: (command, take) =>
          connection.copy(command, reported(plugin, "openReplication.copy", logger, take, undefined)),
        onEnd: (listener) => connection.onEnd(reported(plugin, "openReplication.onEnd", logger, listener, undefined)),
      };
    },
    addSurface: (surface) => shared.addSurface(plugin, surface),
    addStep: (step) => shared.addStep(plugin, step),
    wrap: (wrapper) => shared.wrap(plugin, wrapper),
    onServer: (listener) => shared.onServer(reported(plugin, "onServer", logger, listener, undefined)),
  };
  return Object.assign(Object.create(shared) as PluginContext, own); // all of it comes from the two
};

/** A plain object of functions is seen through one that remembers whose their errors are; anything else is offered as
 *  it is. */
const blamedService = (plugin: string, name: string, service: unknown): unknown => {
  if (typeof service !== "object" || service === null || Object.getPrototypeOf(service) !== Object.prototype)
    return service;
  const functions = Object.entries(Object.getOwnPropertyDescriptors(service)).flatMap(([member, { value }]) =>
    typeof value === "function"
      ? [[member, remembered(plugin, `service("${name}").${member}`, value as () => unknown)] as const]
      : [],
  );
  return Object.assign(Object.create(service) as object, Object.fromEntries(functions));
};
