/** `relapi live-triggers`: prints the SQL that installs the triggers of notify-changes. */
import { presetError } from "../../core/index.ts";
import { loadTriggerSql } from "../../plugins/live/changes/notify-changes.ts";
import { withApi } from "./open-api.ts";
import type { EnvironmentSettings } from "../server/environment.ts";

export { liveTriggers } from "../../plugins/live/index.ts";

/** Builds the SQL that installs the triggers. @throws RelApiError `preset` without a DATABASE_URL, or if the schema
 *  cannot be loaded; otherwise the error of the database */
export const buildLiveTriggers = async (settings: EnvironmentSettings): Promise<string> => {
  if (settings.options.databaseUrl === undefined)
    throw presetError(
      "live-triggers requires DATABASE_URL: the embedded database needs no triggers, because it is polled",
    );
  return withApi(settings, ({ context, model }) => loadTriggerSql(context, model));
};
