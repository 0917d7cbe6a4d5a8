/** Watches what plugins tap: names the plugin and hook in errors, refuses doubled names and promises where none is
 *  awaited, and closes the hooks once the plugins are applied. */
import type { Hook, HookMap, FullTap } from "tapable";
import { isRelApiError, presetError } from "./errors.ts";
import type { RelApiHooks } from "../hooks.ts";

export interface HookGuard {
  /** Whose taps the next ones are. */
  plugin: string;
  /** From now on a tap throws. */
  seal(): void;
}

/** Hooks whose plain `tap` would take a promise for the answer. */
const AWAITED = new Set(["authorize", "introspect"]);

const isHookMap = (hook: unknown): hook is HookMap<AnyHook> =>
  typeof (hook as { readonly for?: unknown }).for === "function";

// The guard treats hooks of all shapes alike, which tapable's types cannot say.
type AnyHook = Hook<any, any>;
type TapFunction = (...parts: unknown[]) => unknown;

export const guardHooks = (hooks: RelApiHooks): HookGuard => {
  let isSealed = false;
  const guard: HookGuard = {
    plugin: "core",
    seal: () => {
      isSealed = true;
    },
  };
  const watch = (hookName: string, hook: AnyHook): void => {
    const names = new Set<string>();
    hook.intercept({
      register: (tap) => {
        const { plugin } = guard;
        const { name, type } = tap;
        const run = tap.fn as TapFunction; // tapable types it as any
        if (isSealed)
          throw presetError(
            `hook ${hookName} is sealed: "${name}" tapped it after relApi(preset) had applied the plugins; tap in the plugin's apply`,
          );
        if (names.has(name))
          throw presetError(
            `hook ${hookName} has two taps named "${name}" (plugin "${plugin}"): give each its own name`,
          );
        if (type === "sync" && AWAITED.has(hookName) && run.constructor.name === "AsyncFunction")
          throw presetError(
            `plugin "${plugin}" hands an async function to ${hookName}.tap, whose promise would be taken for the answer: use tapPromise`,
          );
        names.add(name);
        return { ...tap, fn: named(run, `plugin "${plugin}", hook ${hookName}`, type) } satisfies FullTap;
      },
    });
  };
  for (const [hookName, hook] of Object.entries(hooks) as [string, AnyHook | HookMap<AnyHook>][]) {
    if (!isHookMap(hook)) {
      watch(hookName, hook);
      continue;
    }
    const maker = hook as { intercept(interceptor: { factory(key: string, hook: AnyHook): AnyHook }): void };
    maker.intercept({
      factory: (key, made) => {
        watch(`${hookName}.for("${key}")`, made);
        return made;
      },
    });
  }
  return guard;
};

/** The tap with its origin in front of whatever it throws by mistake; errors thrown on purpose pass. */
export const named = (run: TapFunction, origin: string, type: string): TapFunction => {
  const rename = (error: unknown): unknown => {
    if (isRelApiError(error)) return error;
    const message = error instanceof Error ? error.message : String(error);
    return new Error(`${origin}: ${message}`, { cause: error });
  };
  // as many as the longest tap has: taps run on every request
  const guarded: TapFunction = (first, second, third) => {
    try {
      return run(first, second, third);
    } catch (error) {
      throw rename(error);
    }
  };
  if (type !== "promise") return guarded;
  return (...parts) => {
    const result = guarded(...parts);
    return result instanceof Promise
      ? result.catch((error: unknown) => {
          throw rename(error);
        })
      : result;
  };
};
