/** Creates the context of one plugin: the shared context, plus functions that depend on the plugin. Errors of the
 *  plugin's callbacks carry its name. */
import type { RequestStep, Surface } from "../http/exchange.ts";
import type { PluginContext } from "../plugin.ts";
import type { Logger } from "../settings/options.ts";
import { withOrigin, logErrors } from "./plugin-errors.ts";
import type { SharedValues, Signal } from "./token.ts";

export type SharedContext = Omit<PluginContext, "offer" | "use" | "addSurface" | "addStep" | "wrap"> & {
  readonly addSurface: (plugin: string, surface: Surface) => void;
  readonly addStep: (plugin: string, step: RequestStep) => void;
  readonly wrap: (plugin: string, wrapper: Parameters<PluginContext["wrap"]>[0]) => void;
};

/** Creates the context that the `apply` function of one plugin receives. */
export const createPluginContext = (
  plugin: string,
  sharedContext: SharedContext,
  values: SharedValues,
): PluginContext => {
  const { logger } = sharedContext;
  const pluginContext = {
    offer: (token, service) => values.offer(plugin, token, serviceWithPluginName(plugin, token.name, service)),
    use: (token) => {
      const value = values.use(plugin, token);
      return token.kind === "signal" ? signalWithLoggedErrors(plugin, token.name, value, logger) : value;
    },
    addOptionSource: (source) =>
      sharedContext.addOptionSource({ ...source, read: withOrigin(plugin, "addOptionSource.read", source.read) }),
    // The results are not awaited, and one error must not stop the other listeners.
    beforeModel: (listener) => sharedContext.beforeModel(logErrors(plugin, "beforeModel", logger, listener)),
    onModel: (listener) => sharedContext.onModel(logErrors(plugin, "onModel", logger, listener)),
    onClose: (listener) => sharedContext.onClose(logErrors(plugin, "onClose", logger, listener)),
    listen: (channel, listener, onMissed, onFailure) =>
      sharedContext.listen(
        channel,
        logErrors(plugin, `listen("${channel}")`, logger, listener),
        onMissed && logErrors(plugin, `listen("${channel}").onMissed`, logger, onMissed),
        onFailure && logErrors(plugin, `listen("${channel}").onFailure`, logger, onFailure),
      ),
    openReplication: async () => {
      const connection = await sharedContext.openReplication();
      return {
        ...connection,
        copy: (command, take) => connection.copy(command, logErrors(plugin, "openReplication.copy", logger, take)),
        onEnd: (listener) => connection.onEnd(logErrors(plugin, "openReplication.onEnd", logger, listener)),
      };
    },
    addSurface: (surface) => sharedContext.addSurface(plugin, surface),
    addStep: (step) => sharedContext.addStep(plugin, step),
    wrap: (wrapper) => sharedContext.wrap(plugin, wrapper),
    onServer: (listener) => sharedContext.onServer(logErrors(plugin, "onServer", logger, listener)),
  } satisfies Partial<PluginContext>;
  return Object.assign(Object.create(sharedContext) as SharedContext, pluginContext);
};

/** Wraps the functions of a plain object, so that the origin of their errors is recorded. Other services are offered
 *  unchanged. */
const serviceWithPluginName = <Service>(plugin: string, name: string, service: Service): Service => {
  if (typeof service !== "object" || service === null || Object.getPrototypeOf(service) !== Object.prototype)
    return service;
  const functions = Object.entries(Object.getOwnPropertyDescriptors(service)).flatMap(([member, { value }]) =>
    typeof value === "function"
      ? [[member, withOrigin(plugin, `service("${name}").${member}`, value as () => unknown)] as const]
      : [],
  );
  return Object.assign(Object.create(service) as Service & object, Object.fromEntries(functions));
};

/** Wraps a signal, so that errors of its listeners carry the name of the plugin. */
const signalWithLoggedErrors = <Value>(plugin: string, name: string, value: Value, logger: Logger): Value => {
  const signal = value as Signal<unknown>; // its token has this kind
  const listen: typeof signal.listen = (listener) =>
    signal.listen(logErrors(plugin, `signal("${name}")`, logger, listener));
  return Object.create(value as object, { listen: { value: listen } }) as Value;
};
