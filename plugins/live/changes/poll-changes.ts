/** Detects changes by polling: one small query per `LIVE_QUERY_INTERVAL` finds out whether any transaction has
 *  committed. Open-ended live queries run each time. @rule G-SUB-4 */
import { definePlugin, type PluginContext } from "../../../core/index.ts";
import { sql } from "../../../core/sql/fragment.ts";
import { watchChangesHook, type ReportChange, type Interest } from "../api.ts";
import { pollChangesSettings } from "../settings.ts";

interface WatchedInterest {
  readonly isOpenEnded: boolean;
  readonly onChange: ReportChange;
}

/** Detects changes by polling the database. */
export const pollChanges = definePlugin({
  name: "poll-changes",
  settings: pollChangesSettings,
  requires: ["live-queries"],
  apply: (_hooks, context) => {
    const watch = createPoll(context);
    context.use(watchChangesHook).tap("poll-changes", watch);
  },
});

/** Selects a snapshot. Two equal snapshots mean that no writing transaction has ended in between. */
const SNAPSHOT = sql`select pg_catalog.pg_current_snapshot()::text as snapshot`;

const createPoll = (context: PluginContext): ((interest: Interest, onChange: ReportChange) => () => void) => {
  const { liveQueryInterval: intervalMs } = context.options;
  const interests = new Set<WatchedInterest>();
  let snapshot: string | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isChecking = false;

  const checkSnapshot = async (): Promise<boolean> => {
    if (![...interests].some((interest) => !interest.isOpenEnded)) {
      snapshot = undefined;
      return false;
    }
    try {
      const [row] = await context.query<{ snapshot: string }>(SNAPSHOT);
      const isChanged = row?.snapshot !== snapshot;
      snapshot = row?.snapshot;
      return isChanged;
    } catch {
      snapshot = undefined; // after any error, the next snapshot counts as a change
      return false;
    }
  };

  const schedule = (delayMs: number): void => {
    if (timer === undefined && !isChecking && interests.size > 0) timer = setTimeout(() => void tick(), delayMs);
  };

  const tick = async (): Promise<void> => {
    const startedAtMs = performance.now();
    timer = undefined;
    isChecking = true;
    const isChanged = await checkSnapshot();
    isChecking = false;
    for (const interest of interests) if (isChanged || interest.isOpenEnded) interest.onChange();
    schedule(Math.max(1, intervalMs - (performance.now() - startedAtMs)));
  };

  context.onClose(() => {
    interests.clear();
    clearTimeout(timer);
  });

  return ({ isOpenEnded }, onChange) => {
    const interest: WatchedInterest = { isOpenEnded, onChange };
    interests.add(interest);
    schedule(intervalMs);
    return () => {
      interests.delete(interest);
      if (interests.size > 0) return;
      clearTimeout(timer);
      timer = undefined;
      // Commits are not reported while nothing is watched, so the next snapshot counts as a change.
      snapshot = undefined;
    };
  };
};
