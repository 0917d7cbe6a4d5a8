/** Reports changes as the database commits them, by logical replication. Only live queries that read a changed table
 *  run again. If `wal_level` or rights do not allow it, the next change source watches. */
import { definePlugin, type PluginContext } from "../../../core/index.ts";
import { busService } from "../../cluster/api.ts";
import {
  changeFeedService,
  liveQueriesService,
  watchChangesHook,
  type ReportChange,
  type Interest,
  type Unwatch,
} from "../api.ts";
import { openChangeFeed, withKeysOnly } from "./change-feed.ts";
import type { SharedChanges } from "./change-source.ts";
import { createSharedChanges } from "./shared-changes.ts";

/** Detects changes by logical replication. */
export const replicationChanges = definePlugin({
  name: "replication-changes",
  requires: ["live-queries"],
  before: ["notify-changes", "poll-changes"],
  apply: (_hooks, context) => {
    context.offer(changeFeedService, {
      open: (handlers) => openChangeFeed(context, withKeysOnly(handlers)),
    });
    // An embedded database has no replication.
    if (context.options.database !== undefined) return;
    context.use(watchChangesHook).tap("replication-changes", createReplication(context));
  },
});

/** The time that the feed stays open after the last live query has ended, because clients come and go. @rule
 *  G-SUB-13 */
const IDLE_MS = 1000;

/** Describes the change sources that watch without replication. */
const describeOtherSources = ({ registry, options }: PluginContext): string => {
  const sources: string[] = [];
  if (registry.has("notify-changes")) sources.push("triggers, on tables that have them (relapi live-triggers)");
  if (registry.has("poll-changes")) sources.push(`polling every ${options.liveQueryInterval} ms`);
  return sources.length === 0 ? "none" : sources.join("; otherwise ");
};

const createReplication = (
  context: PluginContext,
): ((interest: Interest, onChange: ReportChange) => Unwatch | undefined) => {
  const { logger } = context;
  const byRelation = new Map<string, Map<ReportChange, Interest>>();
  /** The columns whose values are needed from changed rows. */
  const columns = new Map<string, readonly string[]>();
  let interestCount = 0;
  let idleTimer: NodeJS.Timeout | undefined;
  let source: SharedChanges | undefined;

  const findLiveQueries = () => context.use(liveQueriesService);

  const closeWhenUnwatched = (): void => {
    clearTimeout(idleTimer);
    idleTimer = setTimeout(() => {
      // Until the feed is open, other change sources watch the tables. Live queries may then exist although this plugin
      // watches none of their tables.
      if (interestCount === 0 && (source?.isOpen === true || findLiveQueries()?.isIdle === true)) source?.stop();
    }, IDLE_MS);
  };

  const gatherColumns = (relations: Iterable<string>): void => {
    let isDifferent = false;
    for (const relation of relations) {
      const neededColumns = new Set<string>();
      for (const interest of byRelation.get(relation)?.values() ?? [])
        for (const column of interest.columns.get(relation) ?? []) neededColumns.add(column);
      if (neededColumns.size === (columns.get(relation)?.length ?? 0)) continue;
      if (neededColumns.size === 0) columns.delete(relation);
      else columns.set(relation, [...neededColumns]);
      isDifferent = true;
    }
    if (isDifferent) source?.columnsChanged();
  };

  /** Creates the source on first use, because the bus is only available once all plugins are applied. */
  const getSource = (): SharedChanges =>
    (source ??= createSharedChanges({
      context,
      bus: context.use(busService),
      columns,
      isIdle: () => findLiveQueries()?.isIdle !== false,
      onChanges: (changes) => {
        // A live query of several relations gets one call for each relation, but runs once.
        for (const [relation, rows] of changes)
          for (const onChange of byRelation.get(relation)?.keys() ?? []) onChange(relation, rows);
      },
      onMissed: () => {
        for (const watching of byRelation.values()) for (const onChange of watching.keys()) onChange();
      },
      onOpen: (isLeader) => {
        logger.info(
          isLeader
            ? "live queries detect changes by logical replication"
            : "live queries get their changes from the process that reads them for all",
        );
        findLiveQueries()?.rewatch();
        closeWhenUnwatched();
      },
      onLost: (reason) => {
        logger.warn("lost logical replication for live queries", { reason });
        // Asking again lets other change sources watch in the meantime.
        findLiveQueries()?.rewatch();
      },
      onRejected: (reason) =>
        logger.info("logical replication is not available for live queries; using another change source", {
          reason,
          needs: `wal_level = logical, and ALTER ROLE ${JSON.stringify(context.model().loginRole)} REPLICATION`,
          instead: describeOtherSources(context),
        }),
    }));

  context.onModel(() => source?.databaseReached());
  context.onClose(async () => {
    clearTimeout(idleTimer);
    await source?.close();
  });

  return (interest, onChange) => {
    const { relations, isOpenEnded } = interest;
    const from = getSource();
    if (isOpenEnded || from.isRejected) return undefined;
    from.start();
    if (!from.isOpen) return undefined;
    interestCount++;
    for (const relation of relations) {
      let watching = byRelation.get(relation);
      if (watching === undefined) byRelation.set(relation, (watching = new Map()));
      watching.set(onChange, interest);
    }
    gatherColumns(relations);
    interest.onColumns(() => gatherColumns(relations));
    return () => {
      for (const relation of relations) {
        const watching = byRelation.get(relation);
        watching?.delete(onChange);
        if (watching?.size === 0) byRelation.delete(relation);
      }
      gatherColumns(relations);
      if (--interestCount === 0) closeWhenUnwatched();
    };
  };
};
