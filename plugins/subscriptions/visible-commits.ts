/** Commits of a change feed, once other sessions see them. */
import type { PluginContext } from "../../core/index.ts";
import { sql } from "../../core/engine/sql/fragment.ts";
import type { ChangeFeedHandlers, RowChanges } from "./api.ts";

const SNAPSHOT = sql`select pg_catalog.pg_current_snapshot()::text as snapshot`;
const PAUSE_MS = 2;

/** A commit is reported when it is in the WAL, a moment before other sessions see it (much longer with synchronous
 *  replication). A live query that ran in between would miss it for good, so the snapshot is checked first, once for
 *  all commits that arrived meanwhile. */
export const createDispatch = (
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

export const addChanges = (all: Map<string, ReadonlySet<string> | undefined>, more: RowChanges): void => {
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
