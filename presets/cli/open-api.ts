/**
 * Opens an api for the duration of one command. The api listens on no port, and does not retry if the database is
 * unreachable.
 */
import {
  compose,
  definePlugin,
  presetError,
  relApi,
  type Logger,
  type Model,
  type PluginContext,
  type PresetPart,
  type RelApi,
  type RelApiOptions,
} from "../../core/index.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { getPreset } from "../preset-names.ts";
import { addEmbeddedDatabase } from "../server/serve.ts";

interface CommandApi {
  readonly api: RelApi;
  readonly context: PluginContext;
  readonly model: Model;
  readonly options: RelApiOptions;
  /** The warnings of the start. */
  readonly warnings: readonly string[];
}

/** The message that core logs when the first load of the schema fails (`core/model-loader.ts`). */
const LOAD_FAILED = "failed to load the schema";

/** The options with which a command installs no triggers at its start, and delivers no events. */
const WITHOUT_WORK: RelApiOptions = { eventsInstall: false, eventsConcurrency: 0 };

const formatMessage = (message: string, fields?: Readonly<Record<string, unknown>>): string => {
  // A message such as "Database connection error." is incomplete without its details.
  const details = [fields?.["reason"], fields?.["details"], fields?.["hint"]].flatMap((detail) =>
    typeof detail === "string" ? detail.replace(/\.$/, "") : [],
  );
  return [...(message === LOAD_FAILED && details.length > 0 ? [] : [message]), ...details].join(": ");
};

/** Creates the api. If creating it fails, closes the embedded database, which the api would close otherwise. */
const openOrClose = async ({ database }: RelApiOptions, open: () => RelApi): Promise<RelApi> => {
  try {
    return open();
  } catch (error) {
    await database?.close?.();
    throw error;
  }
};

/**
 * Opens an api for `work`. `apply` is called while plugins are applied, `parts` are additional plugins.
 * @throws RelApiError `preset` if the schema cannot be loaded
 */
export const withApi = async <Result>(
  settings: EnvironmentSettings,
  work: (open: CommandApi) => Result | Promise<Result>,
  apply?: (context: PluginContext) => void,
  parts: readonly PresetPart[] = [],
): Promise<Result> => {
  const options = await addEmbeddedDatabase(settings);
  const warnings: string[] = [];
  let context: PluginContext | undefined;
  let fail: (error: unknown) => void = () => undefined;
  const failurePromise = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const warn: Logger["warn"] = (message, fields) => void warnings.push(formatMessage(message, fields));
  const logger: Logger = {
    error: (message, fields) =>
      message === LOAD_FAILED ? fail(presetError(formatMessage(message, fields))) : warn(message, fields),
    warn,
    info: () => undefined,
    debug: () => undefined,
    access: () => undefined,
  };
  const commandLine = definePlugin({
    name: "command-line",
    apply: (_, pluginContext) => {
      context = pluginContext;
      apply?.(pluginContext);
    },
  });
  const api = await openOrClose(options, () =>
    relApi(
      compose(
        getPreset(settings.server.preset)({ ...options, ...WITHOUT_WORK, logger, logLevel: "warn" }),
        commandLine,
        ...parts,
      ),
    ),
  );
  try {
    await Promise.race([api.ready, failurePromise]);
    // `relApi` has applied all plugins, which sets `context`.
    return await work({ api, context: context as PluginContext, model: api.model(), options, warnings });
  } finally {
    failurePromise.catch(() => undefined);
    await api.close();
  }
};
