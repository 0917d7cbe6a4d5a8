/** Whose fault an error is: what the code of a plugin throws by mistake carries the plugin's name and where it was
 *  called. */
import { isRelApiError } from "./errors.ts";
import type { Logger } from "./options.ts";

/** A mistake in a plugin's code. Errors thrown on purpose (`RelApiError`) stay as they are. */
export class PluginFault extends Error {
  readonly plugin: string;
  /** A hook, or what else called the plugin: `transformPlan`, `apply`, `onModel`, `addSurface("soap").handle`. */
  readonly hook: string;

  constructor(plugin: string, hook: string, cause: unknown) {
    const message = cause instanceof Error ? cause.message : String(cause);
    super(`plugin "${plugin}", hook ${hook}: ${message}`, { cause });
    this.name = "PluginFault";
    this.plugin = plugin;
    this.hook = hook;
  }
}

/** Errors that go on as they are, since callers may know them by class or message, and whose they are. */
const origins = new WeakMap<object, { readonly plugin: string; readonly hook: string }>();

const isKnown = (error: unknown): boolean =>
  isRelApiError(error) || error instanceof PluginFault || (error instanceof Error && origins.has(error));

/** The innermost plugin is to blame: what has a name already keeps it. */
export const faultOf = (plugin: string, hook: string, error: unknown): unknown =>
  isKnown(error) ? error : new PluginFault(plugin, hook, error);

/** The same error, whose origin is remembered. */
const marked = (plugin: string, hook: string, error: unknown): unknown => {
  if (error instanceof Error && !isKnown(error)) origins.set(error, { plugin, hook });
  return error;
};

// Functions of all shapes are treated alike; the caller's type is given back.
type AnyFunction = (...parts: any[]) => any;

/** The function, with plugin and hook on whatever it throws, or its promise rejects with. */
export const blamed = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run =>
  rethrowing(run, (error) => faultOf(plugin, hook, error));

/** `tapAsync`: the same for a function that hands its errors to the callback in its last place. */
export const blamedCallback = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run => {
  const guarded: AnyFunction = (...parts) => {
    const callback = parts.pop() as (error: unknown, result?: unknown) => void; // by its signature
    const named = (error: unknown, result?: unknown): void =>
      error === undefined || error === null || error === false
        ? callback(error, result)
        : callback(faultOf(plugin, hook, error));
    return run(...parts, named);
  };
  return blamed(plugin, hook, guarded as Run); // the same parameters and results
};

/** The function, with plugin and hook remembered of whatever it throws, which stays the error that it is. */
export const remembered = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run =>
  rethrowing(run, (error) => marked(plugin, hook, error));

const rethrowing = <Run extends AnyFunction>(run: Run, change: (error: unknown) => unknown): Run =>
  caught(run, (error) => {
    throw change(error);
  });

/** The function, with `handle` in the place of whatever it throws, or its promise rejects with. */
const caught = <Run extends AnyFunction>(run: Run, handle: (error: unknown) => unknown): Run => {
  const guarded: AnyFunction = (...parts) => {
    try {
      const result: unknown = run(...parts);
      return result instanceof Promise ? result.catch(handle) : result;
    } catch (error) {
      return handle(error);
    }
  };
  return guarded as Run; // the same parameters and results
};

/** The function where nobody waits for it: what it throws is logged, and `otherwise` is its result. */
export const reported = <Run extends AnyFunction>(
  plugin: string,
  hook: string,
  logger: Logger,
  run: Run,
  otherwise: Awaited<ReturnType<Run>>,
): Run =>
  caught(run, (error) => {
    logger.error("a plugin failed", faultFacts(faultOf(plugin, hook, error)));
    return otherwise;
  });

/** For the log: the error as it was thrown, and plugin and hook where the mistake is a plugin's. */
export const faultFacts = (error: unknown): Readonly<Record<string, unknown>> => {
  const thrown = error instanceof PluginFault ? error.cause : error; // its stack leads to the mistake
  const cause = thrown instanceof Error ? thrown : String(thrown);
  for (let at: unknown = error; at instanceof Error; at = at.cause) {
    const whose = at instanceof PluginFault ? at : origins.get(at);
    if (whose !== undefined) return { plugin: whose.plugin, hook: whose.hook, cause };
  }
  return { cause };
};
