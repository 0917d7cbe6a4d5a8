/** Stores the followers of a leader, and batches the changes that the leader sends to them. */
import type { TableChanges } from "../api.ts";
import type { ColumnsByRelation } from "./change-messages.ts";
import { createChangeCollector } from "./changed-rows.ts";

interface Followers {
  readonly count: number;
  /** Records a heartbeat, with the columns whose values the follower needs. */
  recordFollower(sender: string, columns: ColumnsByRelation): void;
  forget(sender: string): void;
  /** Forgets followers that were silent for too long. */
  tick(): void;
  clear(): void;
  /** Returns the columns of changed rows that any follower or this process (`ownColumns`) needs. */
  mergeColumns(relation: string, ownColumns: readonly string[] | undefined): readonly string[];
}

/** The number of ticks without a heartbeat after which a follower is forgotten. */
const FOLLOWER_EXPIRY_TICKS = 24;

export const createFollowers = (): Followers => {
  const followers = new Map<string, { silentTicks: number; readonly columns: ColumnsByRelation }>();
  return {
    get count() {
      return followers.size;
    },
    recordFollower: (sender, columns) => void followers.set(sender, { silentTicks: 0, columns }),
    forget: (sender) => void followers.delete(sender),
    tick: () => {
      for (const [sender, follower] of followers)
        if (++follower.silentTicks > FOLLOWER_EXPIRY_TICKS) followers.delete(sender);
    },
    clear: () => followers.clear(),
    mergeColumns: (relation, ownColumns = []) => {
      const names = new Set(ownColumns);
      for (const { columns } of followers.values()) for (const name of columns[relation] ?? []) names.add(name);
      return [...names];
    },
  };
};

/** The time within which changes are collected into one batch. */
const BATCH_MS = 5;

interface ChangeBatcher {
  add(changes: TableChanges): void;
  close(): void;
}

export const createChangeBatcher = (send: (changes: TableChanges) => void): ChangeBatcher => {
  let batch = createChangeCollector();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const { tables } = batch;
    batch = createChangeCollector();
    send(tables);
  };
  return {
    add: (changes) => {
      batch.addAll(changes);
      timer ??= setTimeout(flush, BATCH_MS);
    },
    close: () => clearTimeout(timer),
  };
};
