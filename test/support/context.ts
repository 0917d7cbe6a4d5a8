/** Access of tests to the context of an API. */
import { definePlugin, type Execution, type Plugin, type PluginContext } from "../../core/index.ts";
import { startApi, type StartOptions, type TestApi } from "./api.ts";

export interface ContextApi extends TestApi {
  readonly context: PluginContext;
}

/** Starts an API with a plugin that does nothing but show its context. */
export const startWithContext = async (options: StartOptions = {}): Promise<ContextApi> => {
  let context: PluginContext | undefined;
  const contextPlugin = definePlugin({
    name: "context-of-test",
    apply: (_hooks, pluginContext) => void (context = pluginContext),
  });
  const api = await startApi({ ...options, parts: [...(options.parts ?? []), contextPlugin] });
  return { ...api, context: context as PluginContext }; // the plugin was applied
};

/** Creates a plugin that calls the function before each execution. */
export const watchExecutions = (onExecution: (execution: Execution) => void): Plugin =>
  definePlugin({
    name: "execution-watch",
    apply: (_hooks, context) =>
      context.wrap({
        execute: (next) => (execution) => {
          onExecution(execution);
          return next(execution);
        },
      }),
  });
