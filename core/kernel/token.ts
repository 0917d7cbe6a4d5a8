/** Tokens of values that plugins share: services, hooks and signals. The `api.ts` of a plugin's folder exports the
 *  plugin's tokens. */
import { presetError } from "./errors.ts";

/** Names a shared value. `context.use(token)` returns the value that belongs to the context's api. */
export interface Token<Value> {
  readonly kind: "service" | "hook" | "signal";
  readonly name: string;
  /** The plugin that calls the hook. A preset that uses the hook must contain the plugin. */
  readonly owner?: string;
  /** Creates the value at its first use. Service tokens have no `create`, because a plugin offers the value. */
  readonly create?: () => Value;
}

/** The token of a service. The service is undefined if no plugin offers one. */
export type ServiceToken<Service> = Token<Service | undefined>;

/** The type of a token's value. */
export type ValueOf<Named extends Token<unknown>> = Named extends Token<infer Value> ? NonNullable<Value> : never;

/** Events of one kind. @rule X-SIG-1 */
export interface Signal<Event> {
  /** True if there are listeners. Check it before creating an event, or reading a clock for one. */
  readonly hasListeners: boolean;
  emit(event: Event): void;
  /** Adds a listener for later events. The emitter does not wait for the listener, and errors of the listener are
   *  logged. */
  listen(listener: (event: Event) => void): void;
}

/** Defines a service that one plugin offers to others: `defineService<Tides>("tides")`. */
export const defineService = <Service>(name: string): ServiceToken<Service> => ({ kind: "service", name });

/** Returns the service of a plugin that the caller requires. @throws Error if no plugin offers the service */
export const requireService = <Service>(
  { use }: { use<Value>(token: Token<Value>): Value },
  token: ServiceToken<Service>,
): Service => {
  const service = use(token);
  if (service === undefined) throw new Error(`no plugin offers the service "${token.name}"`);
  return service;
};

/** Defines a hook that the plugin `owner` calls and others tap. */
export const defineHook = <Hook extends object>(name: string, owner: string, make: () => Hook): Token<Hook> => ({
  kind: "hook",
  name,
  owner,
  create: make,
});

/** Defines a kind of event that any plugin may emit and listen to. */
export const defineSignal = <Event>(name: string): Token<Signal<Event>> => ({
  kind: "signal",
  name,
  create: createSignal<Event>,
});

/** Creates a signal without listeners. */
export const createSignal = <Event>(): Signal<Event> => {
  const listeners: ((event: Event) => void)[] = [];
  return {
    get hasListeners() {
      return listeners.length > 0;
    },
    emit: (event) => {
      for (const listener of listeners) listener(event);
    },
    listen: (listener) => {
      listeners.push(listener);
    },
  };
};

/** The values of the tokens of one api. */
export interface SharedValues {
  /** Offers a service to other plugins.
   *  @throws RelApiError `preset` if another plugin has offered the name, and after `seal` */
  offer<Service>(plugin: string, token: ServiceToken<Service>, service: Service): void;
  /** Returns the service, hook or signal of a token.
   *  @throws RelApiError `preset` for a hook whose owner is missing, and for a name that has another owner */
  use<Value>(plugin: string, token: Token<Value>): Value;
  /** Makes all later offers throw, because other plugins may have looked the service up already. */
  seal(): void;
}

/** Creates the values of one api. `has` returns whether a plugin is in the preset. `watchHook` receives each new hook.
 *  @rule X-SVC-2 */
export const createSharedValues = (
  has: (plugin: string) => boolean,
  watchHook: (name: string, hook: object) => void,
): SharedValues => {
  const values = new Map<string, { readonly plugin: string | undefined; readonly value: unknown }>();
  let isSealed = false;
  return {
    offer: (plugin, { name }, service) => {
      if (isSealed)
        throw presetError(
          `plugin "${plugin}" offers the service "${name}" after relApi(preset) had applied the plugins: offer it in the plugin's apply`,
        );
      const existingValue = values.get(name);
      if (existingValue !== undefined)
        throw presetError(
          `the service "${name}" is offered by "${existingValue.plugin ?? "core"}" and by "${plugin}": drop one of them with without("${plugin}")`,
        );
      values.set(name, { plugin, value: service });
    },
    use: <Value>(plugin: string, { name, owner, create }: Token<Value>): Value => {
      const entry = values.get(name);
      if (create === undefined) return entry?.value as Value; // only this token can have offered the service
      if (owner !== undefined && !has(owner))
        throw presetError(
          `plugin "${plugin}" uses the hook "${name}" of the plugin "${owner}", which the preset lacks: name "${owner}" in "requires"`,
        );
      if (entry !== undefined && entry.plugin !== owner)
        throw presetError(
          `"${name}" is shared by plugins "${entry.plugin ?? "core"}" and "${owner ?? plugin}": rename one or remove one of the plugins`,
        );
      if (entry !== undefined) return entry.value as Value; // a token of that name and owner has created the value
      const value = create();
      if (owner !== undefined) watchHook(name, value as object); // tokens with an owner are hooks
      values.set(name, { plugin: owner, value });
      return value;
    },
    seal: () => {
      isSealed = true;
    },
  };
};
