/** Changes as the database commits them, by logical replication: only live queries that read a changed table run again.
 *  Where `wal_level` or rights do not allow it, the next source watches. */
import { definePlugin, isRelApiError, type PluginContext } from "../../core/index.ts";
import { sql } from "../../core/engine/sql/fragment.ts";
import type {
  Changed,
  ChangeFeed,
  ChangeFeedHandlers,
  ChangeFeedService,
  Interest,
  LiveQueriesService,
  RowChanges,
  Unwatch,
  WatchChanges,
} from "./api.ts";
import { openChangeFeed } from "./change-feed.ts";

export const replicationChanges = definePlugin({
  name: "replication-changes",
  requires: ["live-queries"],
  before: ["notify-changes", "poll-changes"],
  apply: (hooks, context) => {
    context.offer<ChangeFeedService>("change-feed", { open: (handlers) => openChangeFeed(context, handlers) });
    const watch = createReplication(context);
    hooks.use<WatchChanges>("watchChanges").tap("replication-changes", watch);
  },
});

/** How long an unused feed stays open, because clients come and go. */
const IDLE_MS = 30_000;
const FIRST_RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;

/** Of what a hot standby refuses. */
const STANDBY_STATE = "25006";

const createReplication = (context: PluginContext): ((interest: Interest, changed: Changed) => Unwatch | undefined) => {
  const { logger } = context;
  const byRelation = new Map<string, Map<Changed, Interest>>();
  /** Columns whose values are wanted of changed rows. */
  const keyColumns = new Map<string, string>();
  let watcherCount = 0;
  let feed: ChangeFeed | undefined;
  let state: "closed" | "opening" | "open" | "refused" = context.options.database === undefined ? "closed" : "refused";
  /** Why it was refused: after its promotion it will not be. */
  let isStandby = false;
  let isEnding = false;
  let retryMs = FIRST_RETRY_MS;
  let retryTimer: NodeJS.Timeout | undefined;
  let idleTimer: NodeJS.Timeout | undefined;
  const dispatch = createDispatch(context, (relations) => {
    for (const [relation, keys] of relations) {
      // a live query of several relations gets one call per relation, but runs once
      for (const [changed, { keyColumn }] of byRelation.get(relation) ?? [])
        changed(keyColumn !== undefined && keyColumn === keyColumns.get(relation) ? keys : undefined);
    }
  });

  const open = async (): Promise<void> => {
    state = "opening";
    try {
      const opened = await openChangeFeed(context, {
        committed: dispatch,
        lost,
        keyColumn: (relation) => keyColumns.get(relation),
      });
      if (isEnding) return void (await opened.end());
      feed = opened;
      state = "open";
      retryMs = FIRST_RETRY_MS;
      logger.info("live queries detect changes by logical replication");
      context.service<LiveQueriesService>("live-queries")?.rewatch();
    } catch (error) {
      if (isEnding) return;
      if (mayPass(error)) return retryLater();
      state = "refused";
      isStandby = isRelApiError(error) && error.facts["sqlstate"] === STANDBY_STATE;
      logger.info("logical replication is not available for live queries; using another change source", {
        reason: reasonOf(error),
      });
    }
  };

  const retry = (): void => {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    void open();
  };

  const retryLater = (): void => {
    state = "opening";
    retryTimer = setTimeout(retry, retryMs);
    retryMs = Math.min(retryMs * 2, LONGEST_RETRY_MS);
  };

  const lost = (reason: string): void => {
    if (isEnding) return;
    feed = undefined;
    logger.warn("lost logical replication for live queries", { reason });
    retryLater();
    // others watch meanwhile
    context.service<LiveQueriesService>("live-queries")?.rewatch();
  };

  const rest = (): void => {
    if (watcherCount > 0 || state !== "open") return;
    state = "closed";
    void feed?.end();
    feed = undefined;
  };

  // the database was reached, maybe another server than before
  context.onModel(() => {
    if (retryTimer !== undefined) retry();
    if (!isStandby) return;
    isStandby = false;
    state = "closed";
  });

  context.onClose(async () => {
    isEnding = true;
    clearTimeout(retryTimer);
    clearTimeout(idleTimer);
    await feed?.end();
  });

  return (interest, changed) => {
    const { relations, isOpenEnded, keyColumn } = interest;
    if (isOpenEnded || state === "refused") return undefined;
    if (state === "closed") void open();
    if (state !== "open") return undefined;
    watcherCount++;
    for (const relation of relations) {
      let watching = byRelation.get(relation);
      if (watching === undefined) byRelation.set(relation, (watching = new Map()));
      watching.set(changed, interest);
      if (keyColumn !== undefined) keyColumns.set(relation, keyColumn);
    }
    return () => {
      for (const relation of relations) {
        const watching = byRelation.get(relation);
        watching?.delete(changed);
        if (watching === undefined || watching.size > 0) continue;
        byRelation.delete(relation);
        keyColumns.delete(relation);
      }
      if (--watcherCount > 0) return;
      clearTimeout(idleTimer);
      idleTimer = setTimeout(rest, IDLE_MS);
    };
  };
};

/** States of a server that will be otherwise: it starts, it is full. No state at all: it was not reached. */
const mayPass = (error: unknown): boolean => {
  if (!isRelApiError(error)) return false;
  const { sqlstate } = error.facts;
  return typeof sqlstate !== "string" || /^(?:08|53|57)/.test(sqlstate);
};

const reasonOf = (error: unknown): string => {
  if (!isRelApiError(error)) return String(error);
  return typeof error.details === "string" && error.code === "connection-failed" ? error.details : error.message;
};

const SNAPSHOT = sql`select pg_catalog.pg_current_snapshot()::text as snapshot`;
const PAUSE_MS = 2;

/** A commit is reported when it is in the WAL, a moment before other sessions see it (much longer with synchronous
 *  replication). A live query that ran in between would miss it for good, so the snapshot is checked first, once for
 *  all commits that arrived meanwhile. */
const createDispatch = (
  context: PluginContext,
  changed: (changes: RowChanges) => void,
): ChangeFeedHandlers["committed"] => {
  let waiting = new Map<number, RowChanges>();
  let isAsking = false;

  const ask = async (): Promise<void> => {
    isAsking = true;
    while (waiting.size > 0) {
      const commits = waiting;
      waiting = new Map();
      let isSeen: (xid: number) => boolean;
      try {
        const [row] = await context.query<{ snapshot: string }>(SNAPSHOT);
        isSeen = readSnapshot(row?.snapshot ?? "");
      } catch {
        isSeen = () => true; // the queries will not fare better now, and run again until they do
      }
      const seen = new Map<string, ReadonlySet<string> | undefined>();
      for (const [xid, changes] of commits) {
        if (isSeen(xid)) addChanges(seen, changes);
        else waiting.set(xid, changes);
      }
      if (seen.size > 0) changed(seen);
      if (waiting.size > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isAsking = false;
  };

  return (xid, changes) => {
    waiting.set(xid, changes);
    if (!isAsking) void ask();
  };
};

const addChanges = (all: Map<string, ReadonlySet<string> | undefined>, more: RowChanges): void => {
  for (const [relation, keys] of more) {
    const known = all.get(relation);
    if (!all.has(relation)) all.set(relation, keys);
    else all.set(relation, known === undefined || keys === undefined ? undefined : new Set([...known, ...keys]));
  }
};

const LOW_BITS = 0xffff_ffffn;

/** `100:104:100,102`: all below 100, and 101 and 103, have ended; ids of the log are the low bits. */
const readSnapshot = (text: string): ((xid: number) => boolean) => {
  const [, next = "0", running = ""] = text.split(":");
  const limit = Number(BigInt(next) & LOW_BITS);
  const open = new Set(
    running
      .split(",")
      .filter((id) => id !== "")
      .map((id) => Number(BigInt(id) & LOW_BITS)),
  );
  return (xid) => ((xid - limit) | 0) < 0 && !open.has(xid);
};
