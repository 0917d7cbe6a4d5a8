/** Delays the commits of a change feed until other sessions see them. */
import type { PluginContext } from "../../../core/index.ts";
import { sql } from "../../../core/sql/fragment.ts";
import type { TableChanges } from "../api.ts";
import type { ChangeHandlers } from "./change-feed.ts";
import { createChangeCollector } from "./changed-rows.ts";

const SNAPSHOT = sql`select pg_catalog.pg_current_snapshot()::text as snapshot`;
const PAUSE_MS = 2;

interface Commit {
  readonly changes: TableChanges;
  /** The time from the commit until the database sent it. */
  readonly lagMs: number;
  readonly receivedAtMs: number;
}

/** Creates a function that delays commits until a snapshot shows them. The feed reports a commit before other sessions
 *  see it, much earlier with synchronous replication. A live query that ran in between would miss the commit for good.
 *  One snapshot serves all commits that arrived in the meantime. */
export const createVisibilityDelay = (
  context: PluginContext,
  onChanges: (changes: TableChanges) => void,
): ChangeHandlers["committed"] => {
  let waitingCommits = new Map<number, Commit>();
  let isChecking = false;

  const checkSnapshot = async (): Promise<void> => {
    isChecking = true;
    while (waitingCommits.size > 0) {
      const commits = waitingCommits;
      waitingCommits = new Map();
      let isSeen: (xid: number) => boolean;
      try {
        const [row] = await context.query<{ snapshot: string }>(SNAPSHOT);
        isSeen = parseSnapshot(row?.snapshot ?? "");
      } catch {
        // Waiting is pointless, because the queries would fail as well. They are repeated until they succeed.
        isSeen = () => true;
      }
      const visibleChanges = createChangeCollector();
      for (const [xid, commit] of commits) {
        if (!isSeen(xid)) {
          waitingCommits.set(xid, commit);
          continue;
        }
        visibleChanges.addAll(commit.changes);
        const lagMs = commit.lagMs + performance.now() - commit.receivedAtMs;
        context.counters.set("live-source-lag-seconds", lagMs / 1000);
      }
      if (visibleChanges.tables.size > 0) onChanges(visibleChanges.tables);
      if (waitingCommits.size > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isChecking = false;
  };

  return (xid, changes, lagMs = 0) => {
    waitingCommits.set(xid, { changes, lagMs, receivedAtMs: performance.now() });
    if (!isChecking) void checkSnapshot();
  };
};

const LOW_BITS = 0xffff_ffffn;

/** Parses a snapshot such as `100:104:100,102`: all ids below 100, and 101 and 103, have ended. The ids of the feed are
 *  the low 32 bits. */
const parseSnapshot = (text: string): ((xid: number) => boolean) => {
  const [, next = "0", runningIds = ""] = text.split(":");
  const limit = Number(BigInt(next) & LOW_BITS);
  const open = new Set(
    runningIds
      .split(",")
      .filter((id) => id !== "")
      .map((id) => Number(BigInt(id) & LOW_BITS)),
  );
  return (xid) => ((xid - limit) | 0) < 0 && !open.has(xid);
};
