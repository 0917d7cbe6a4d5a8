/** `relapi events install`, `remove` and `status`: the event triggers of the database. */
import { presetError } from "../../core/index.ts";
import { eventsService, type EventsService } from "../../plugins/services/api.ts";
import { formatCount } from "../../plugins/shared/plural.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { withApi } from "./open-api.ts";

/** Runs `work` with the service of event triggers. @throws RelApiError `preset` if the preset has no events */
const withEvents = <Result>(
  settings: EnvironmentSettings,
  work: (events: EventsService) => Promise<Result>,
): Promise<Result> =>
  withApi(settings, ({ context }) => {
    const events = context.use(eventsService);
    if (events === undefined) throw presetError("the preset has no event triggers: run relapi --preset plus events …");
    return work(events);
  });

/** Installs the triggers with the tables that they need, and returns a report of the changes. @throws RelApiError
 *  `preset` @rule X-EVT-3 */
export const installEvents = (settings: EnvironmentSettings): Promise<string> =>
  withEvents(settings, async ({ install }) => {
    const { hasInstalledSchema, triggerCount } = await install();
    const installedParts = [
      ...(hasInstalledSchema ? ["the schemas relapi and relapi_queue"] : []),
      ...(triggerCount > 0 ? [formatCount(triggerCount, "trigger")] : []),
    ];
    return installedParts.length === 0 ? "nothing to install" : `installed ${installedParts.join(", and ")}`;
  });

/** Removes the event triggers of these names, or all of them, and returns a report of the removed objects.
 *  @throws RelApiError `preset` if there is no such trigger @rule X-EVT-3b */
export const removeEvents = (settings: EnvironmentSettings, names: readonly string[]): Promise<string> =>
  withEvents(settings, async ({ remove, loadStatus }) => {
    if (names.length > 0) {
      const { triggers } = await loadStatus();
      const installedNames = new Set(triggers.filter(({ state }) => state !== "missing").map(({ trigger }) => trigger));
      const unknown = names.filter((name) => !installedNames.has(name));
      if (unknown.length > 0) throw presetError(`the database has no event trigger ${unknown.join(", ")}`);
    }
    const count = await remove(names.length === 0 ? undefined : new Set(names));
    return count === 0
      ? "nothing to remove"
      : `removed ${formatCount(count, "trigger")}; the events stay in the schema relapi`;
  });

/** Returns a line for each event trigger, and whether all of them are installed. @throws RelApiError `preset` @rule
 *  X-EVT-3 */
export const describeEvents = (
  settings: EnvironmentSettings,
): Promise<{ readonly text: string; readonly isComplete: boolean }> =>
  withEvents(settings, async ({ loadStatus }) => {
    const { triggers, events } = await loadStatus();
    const names = new Set([...triggers, ...events].map(({ trigger }) => trigger));
    const lines = [...names].map((name) => {
      const installedTrigger = triggers.find(({ trigger }) => trigger === name);
      const counts = events.find(({ trigger }) => trigger === name);
      const state =
        installedTrigger === undefined ? "no trigger" : `${installedTrigger.state} on ${installedTrigger.table}`;
      const { pending = 0, delivered = 0, dead = 0 } = counts ?? {};
      return `${name}: ${state}; ${pending} pending, ${delivered} delivered, ${dead} dead`;
    });
    return {
      text: lines.length === 0 ? "no event triggers" : lines.join("\n"),
      isComplete: triggers.every(({ state }) => state === "installed" || state === "unknown"),
    };
  });
