/** Intercepts the taps of hooks: adds the names of plugin and hook to errors, and rejects duplicate tap names and
 *  promises that are not awaited. Seals the hooks once the plugins are applied. */
import type { Hook, HookMap, FullTap } from "tapable";
import { presetError } from "./errors.ts";
import { withPluginName, withPluginNameInCallback } from "./plugin-errors.ts";
import type { RelApiHooks } from "../hooks.ts";

interface InterceptedHooks {
  /** The plugin that is being applied. */
  plugin: string;
  /** Intercepts the taps of a hook of a plugin. @rule X-SVC-3 */
  readonly watch: (name: string, hook: object) => void;
  /** Makes all later taps throw. */
  seal(): void;
}

/** Returns whether the hook awaits its taps. The plain `tap` of such a hook would treat a promise as the result. */
const isAwaited = (hook: AnyHook): boolean => hook.constructor.name.startsWith("Async");

const isHookMap = (hook: unknown): hook is HookMap<AnyHook> =>
  typeof (hook as { readonly for?: unknown }).for === "function";

// A hook of any signature, which the types of tapable cannot express.
type AnyHook = Hook<any, any>;
type TapFunction = (...parts: unknown[]) => unknown;

/** Wraps the hooks of core, so that taps report their plugin and sealed hooks reject taps. */
export const interceptHooks = (core: RelApiHooks): InterceptedHooks => {
  let isSealed = false;
  const interceptedHooks: InterceptedHooks = {
    plugin: "core",
    watch: (hookName, hook) => watchAny(hookName, hook),
    seal: () => {
      isSealed = true;
    },
  };
  const watch = (hookName: string, hook: AnyHook): void => {
    const names = new Set<string>();
    hook.intercept({
      register: (tap) => {
        const { plugin } = interceptedHooks;
        const { name, type } = tap;
        const run = tap.fn as TapFunction; // tapable types the function as any
        if (isSealed)
          throw presetError(
            `hook ${hookName} is sealed: "${name}" tapped it after relApi(preset) had applied the plugins; tap it in the plugin's apply function`,
          );
        if (names.has(name))
          throw presetError(
            `hook ${hookName} has two taps named "${name}" (plugin "${plugin}"): give each a different name`,
          );
        if (type === "sync" && isAwaited(hook) && run.constructor.name === "AsyncFunction")
          throw presetError(
            `plugin "${plugin}" passes an async function to ${hookName}.tap, which would take its promise for the result: use tapPromise`,
          );
        names.add(name);
        const attribute = type === "async" ? withPluginNameInCallback : withPluginName;
        return { ...tap, fn: attribute(plugin, hookName, run) } satisfies FullTap;
      },
    });
  };
  const watchAny = (hookName: string, hook: unknown): void => {
    if (!isHookMap(hook)) return watch(hookName, hook as AnyHook); // the token has the kind of a hook
    const maker = hook as { intercept(interceptor: { factory(key: string, hook: AnyHook): AnyHook }): void };
    maker.intercept({
      factory: (key, hook) => {
        watch(`${hookName}.for("${key}")`, hook);
        return hook;
      },
    });
  };
  for (const [hookName, hook] of Object.entries(core)) watchAny(hookName, hook);
  return interceptedHooks;
};
