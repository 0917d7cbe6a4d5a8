/** `relapi live-triggers`: prints the SQL that installs the triggers of notify-changes. */
import { presetError, type RelApiOptions } from "../../core/index.ts";
import { liveTriggers } from "../../plugins/live/index.ts";
import { withApi } from "./open-api.ts";
import { readEnvironment } from "../server/environment.ts";

export { liveTriggers };

/** @throws RelApiError `preset` without a DATABASE_URL, or if the schema cannot be loaded */
export const buildLiveTriggers = async (options: RelApiOptions): Promise<string> => {
  if (options.databaseUrl === undefined)
    throw presetError("live-triggers requires DATABASE_URL: the embedded database is polled");
  let receiveText: (text: string) => void = () => undefined;
  const text = new Promise<string>((resolve) => {
    receiveText = resolve;
  });
  return withApi({ options, server: readEnvironment({}).server }, () => text, undefined, [liveTriggers(receiveText)]);
};
