/** Loads the current options: the options of the preset, overridden by the option sources at each load of the
 *  schema. */
import { RelApiError, presetError } from "../kernel/errors.ts";
import type { Setting } from "./define-setting.ts";
import type { Logger, RelApiOptions, ResolvedOptions } from "./options.ts";
import { resolveOptions } from "./resolve-options.ts";
import type { HealthProblems } from "../kernel/health-problems.ts";
import type { OptionSource } from "../plugin.ts";
import type { CurrentState } from "../kernel/current-state.ts";
import type { Query } from "../database/database.ts";

interface OptionLoaderParts {
  readonly preset: RelApiOptions;
  /** At first, the state contains the resolved options of the preset. */
  readonly current: CurrentState;
  readonly settings: readonly Setting[];
  readonly sources: readonly OptionSource[];
  readonly logger: Logger;
  readonly healthProblems: HealthProblems;
  /** Throws if the options are invalid. */
  readonly check: (options: ResolvedOptions) => void;
}

/** Creates the function that reads the option sources. Invalid options are logged and leave all options unchanged.
 *  @rule R-SC-4 X-SET-7 */
export const createOptionLoader = ({
  preset,
  current,
  settings,
  sources,
  logger,
  healthProblems,
  check,
}: OptionLoaderParts): ((query: Query) => Promise<ResolvedOptions>) => {
  let optionsText = "{}";
  return async (query) => {
    if (sources.length === 0) return current.options;
    try {
      let overrides: RelApiOptions = {};
      for (const source of sources) overrides = { ...overrides, ...(await source.read(query)) };
      const text = JSON.stringify(overrides);
      if (text === optionsText) {
        healthProblems.set("settings", undefined);
        return current.options;
      }
      rejectFixedOptions(overrides, settings);
      const next = resolveOptions({ ...preset, ...overrides }, settings);
      check(next);
      optionsText = text;
      healthProblems.set("settings", undefined);
      return next;
    } catch (error) {
      if (!(error instanceof RelApiError) || error.code !== "preset") throw error;
      const names = sources.map(({ name }) => name).join(" or ");
      const message = `invalid settings in ${names}; keeping the previous settings`;
      logger.error(message, { reason: error.message });
      healthProblems.set("settings", `${message}: ${error.message}`);
      return current.options;
    }
  };
};

const rejectFixedOptions = (options: RelApiOptions, settings: readonly Setting[]): void => {
  const fixedSetting = settings.find(({ name, isFixed }) => isFixed === true && Object.hasOwn(options, name));
  if (fixedSetting !== undefined) throw presetError(`the option ${fixedSetting.name} cannot change after the start`);
};
