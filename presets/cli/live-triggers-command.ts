/** `relapi live-triggers`: prints the SQL that installs the triggers of notify-changes. */
import { presetError } from "../../core/index.ts";
import { liveTriggers } from "../../plugins/live/index.ts";
import { withApi } from "./open-api.ts";
import type { EnvironmentSettings } from "../server/environment.ts";

export { liveTriggers };

/** Builds the SQL that installs the triggers. @throws RelApiError `preset` without a DATABASE_URL, or if the schema
 *  cannot be loaded */
export const buildLiveTriggers = async (settings: EnvironmentSettings): Promise<string> => {
  if (settings.options.databaseUrl === undefined)
    throw presetError(
      "live-triggers requires DATABASE_URL: the embedded database needs no triggers, because it is polled",
    );
  let receiveText: (text: string) => void = () => undefined;
  const text = new Promise<string>((resolve) => {
    receiveText = resolve;
  });
  return withApi(settings, () => text, undefined, [liveTriggers(receiveText)]);
};
