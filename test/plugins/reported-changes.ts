import { definePlugin } from "../../core/index.ts";
import { liveQueriesService, watchChangesHook, type ReportChange, type Interest } from "../../plugins/live/api.ts";

/** Runs live queries again when `NOTIFY app_changes, 'public.price'` names a relation that they read. `reported` lists
 *  the relations whose every change is reported in this way. */
export const reportedChanges = (channel: string, reported: ReadonlySet<string>) =>
  definePlugin({
    name: "reported-changes",
    requires: ["live-queries"],
    before: ["replication-changes", "notify-changes", "poll-changes"],
    apply: (_hooks, context) => {
      const watched = new Map<ReportChange, Interest>();
      let isDeaf = false;
      const setDeaf = (value: boolean): void => {
        isDeaf = value;
        context.use(liveQueriesService)?.rewatch(); // all sources are asked again
      };
      context.listen(
        channel,
        (relation) => {
          for (const [changed, { relations }] of watched) if (relations.has(relation)) changed(relation);
        },
        () => {
          // Notifications may have been lost, so every query runs once.
          if (isDeaf) setDeaf(false);
          else for (const changed of watched.keys()) changed();
        },
        () => setDeaf(true), // no notifications can arrive, so the next source takes over
      );
      context.use(watchChangesHook).tap("reported-changes", (interest, changed) => {
        const isReported = [...interest.relations].every((name) => reported.has(name));
        if (isDeaf || interest.isOpenEnded || !isReported) return undefined; // the next source is asked
        watched.set(changed, interest);
        return () => watched.delete(changed);
      });
    },
  });
