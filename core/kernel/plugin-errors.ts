/** Attributes unexpected errors to plugins: they carry the name of the plugin and the hook that called it. */
import { getErrorMessage, RelApiError } from "./errors.ts";
import type { Logger } from "../settings/options.ts";

/** An unexpected error of a plugin. */
class PluginError extends Error {
  readonly plugin: string;
  /** The hook, or the other caller of the plugin: `transformPlan`, `apply`, `onModel`, `addSurface("soap").handle`. */
  readonly hook: string;

  constructor(plugin: string, hook: string, cause: unknown) {
    super(`plugin "${plugin}", hook ${hook}: ${getErrorMessage(cause)}`, { cause });
    this.name = "PluginError";
    this.plugin = plugin;
    this.hook = hook;
  }
}

/** The function of a plugin that threw an error. */
interface ErrorOrigin {
  readonly plugin: string;
  readonly hook: string;
}

/** The plugin and hook of errors that are not wrapped, because callers may recognise an error by class or message. */
const origins = new WeakMap<object, ErrorOrigin>();

const hasOrigin = (error: unknown): boolean =>
  error instanceof PluginError || (error instanceof Error && origins.has(error));

/** Attributes an error to a plugin, unless the error is already attributed to an inner plugin. Errors thrown on purpose
 *  are not wrapped. */
export const attributeError = (plugin: string, hook: string, error: unknown): unknown => {
  if (error instanceof RelApiError) return recordOrigin(plugin, hook, error);
  return hasOrigin(error) ? error : new PluginError(plugin, hook, error);
};

/** Returns plugin and hook of an error that a plugin threw. */
export const findOrigin = (error: unknown): ErrorOrigin | undefined => {
  for (let currentError: unknown = error; currentError instanceof Error; currentError = currentError.cause) {
    const origin = currentError instanceof PluginError ? currentError : origins.get(currentError);
    if (origin !== undefined) return { plugin: origin.plugin, hook: origin.hook };
  }
  return undefined;
};

/** Records the origin of an error and returns the same error. */
const recordOrigin = (plugin: string, hook: string, error: unknown): unknown => {
  if (error instanceof Error && !hasOrigin(error)) origins.set(error, { plugin, hook });
  return error;
};

// Accepts functions of any signature; the wrappers return the caller's type.
type AnyFunction = (...parts: any[]) => any;

/** Wraps a function: errors that it throws, or with which its promise rejects, carry plugin and hook. */
export const withPluginName = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run =>
  mapErrors(run, (error) => attributeError(plugin, hook, error));

/** Like `withPluginName`, for a `tapAsync` function, which passes errors to the callback in its last parameter. */
export const withPluginNameInCallback = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run => {
  const wrapper: AnyFunction = (...parts) => {
    // The last argument of a `tapAsync` function is the callback.
    const callback = parts.pop() as (error: unknown, result?: unknown) => void;
    const callbackWithName = (error: unknown, result?: unknown): void =>
      error === undefined || error === null || error === false
        ? callback(error, result)
        : callback(attributeError(plugin, hook, error));
    return run(...parts, callbackWithName);
  };
  return withPluginName(plugin, hook, wrapper as Run); // the wrapper has the same signature
};

/** Wraps a function: plugin and hook of its errors are recorded, but the errors stay the same objects. */
export const withOrigin = <Run extends AnyFunction>(plugin: string, hook: string, run: Run): Run =>
  mapErrors(run, (error) => recordOrigin(plugin, hook, error));

const mapErrors = <Run extends AnyFunction>(run: Run, change: (error: unknown) => unknown): Run =>
  catchErrors(run, (error) => {
    throw change(error);
  });

/** Wraps a function: `handle` replaces its errors, including rejections of its promise. */
const catchErrors = <Run extends AnyFunction>(run: Run, handle: (error: unknown) => unknown): Run => {
  const wrapper: AnyFunction = (...parts) => {
    try {
      const result: unknown = run(...parts);
      return result instanceof Promise ? result.catch(handle) : result;
    } catch (error) {
      return handle(error);
    }
  };
  return wrapper as Run; // the wrapper has the same signature
};

/** Wraps a function whose result is not used: its errors are logged. */
export const logErrors = <Run extends AnyFunction>(plugin: string, hook: string, logger: Logger, run: Run): Run =>
  catchErrors(run, (error) => logger.error("a plugin failed", buildErrorFields(attributeError(plugin, hook, error))));

/** Returns the log fields of an error: the original error, and plugin and hook if a plugin threw it. @experimental */
export const buildErrorFields = (error: unknown): Readonly<Record<string, unknown>> => {
  // The stack of the original error shows the mistake.
  const originalError = error instanceof PluginError ? error.cause : error;
  const cause = originalError instanceof Error ? originalError : String(originalError);
  return { ...findOrigin(error), cause };
};
