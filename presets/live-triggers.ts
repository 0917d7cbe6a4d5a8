/** `relapi live-triggers`: prints the SQL that installs the triggers of notify-changes, and ends. */
import { compose, presetError, relApi, type RelApiOptions } from "../core/index.ts";
import { liveTriggers } from "../plugins/subscriptions/index.ts";
import { fullCompat } from "./full-compat.ts";

export { liveTriggers };

/** @throws RelApiError `preset` without a DATABASE_URL */
export const buildLiveTriggers = async (options: RelApiOptions): Promise<string> => {
  if (options.databaseUrl === undefined)
    throw presetError("live-triggers requires DATABASE_URL: the embedded database is polled");
  let take: (text: string) => void = () => undefined;
  const text = new Promise<string>((resolve) => {
    take = resolve;
  });
  const api = relApi(compose(fullCompat({ ...options, logLevel: "error" }), liveTriggers(take)));
  try {
    await api.ready;
    return await text;
  } finally {
    await api.close();
  }
};
