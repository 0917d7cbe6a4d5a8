/** `relapi events install`, `remove` and `status`: the event triggers of the database. */
import { presetError } from "../../core/index.ts";
import { eventsService, type EventsService } from "../../plugins/services/api.ts";
import type { EnvironmentSettings } from "../server/environment.ts";
import { withApi } from "./open-api.ts";

/** Runs `work` with the service of event triggers. @throws RelApiError `preset` if the preset has no events */
const withEvents = <Result>(
  settings: EnvironmentSettings,
  work: (events: EventsService) => Promise<Result>,
): Promise<Result> =>
  withApi(settings, ({ context }) => {
    const events = context.use(eventsService);
    if (events === undefined) throw presetError("the preset has no events: relapi --preset plus events …");
    return work(events);
  });

const formatCount = (count: number): string => (count === 1 ? "1 trigger" : `${count} triggers`);

/** Installs the triggers, and returns a report of the changes. @throws RelApiError `preset` @rule X-EVT-3 */
export const installEvents = (settings: EnvironmentSettings): Promise<string> =>
  withEvents(settings, async ({ install }) => {
    const count = await install();
    return count === 0 ? "nothing to install" : `installed ${formatCount(count)}`;
  });

/** Removes the triggers, and returns a report of the removed objects. @throws RelApiError `preset` @rule X-EVT-3 */
export const removeEvents = (settings: EnvironmentSettings): Promise<string> =>
  withEvents(settings, async ({ remove }) => {
    const count = await remove();
    return count === 0 ? "nothing to remove" : `removed ${formatCount(count)}; the events stay in the schema relapi`;
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
