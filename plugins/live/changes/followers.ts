/** The followers that a leader knows, and the changes that it collects for them. */
import type { TableChanges } from "../api.ts";
import type { ColumnsByRelation } from "./change-messages.ts";
import { createChangeCollector } from "./changed-rows.ts";

export interface Followers {
  readonly count: number;
  /** Records a sign of life, with the columns whose values the follower needs. */
  recordFollower(sender: string, columns: ColumnsByRelation): void;
  forget(sender: string): void;
  /** Forgets followers that were silent for too long. */
  tick(): void;
  clear(): void;
  /** The columns of changed rows that any follower or this process (`mine`) needs. */
  mergeColumns(relation: string, mine: readonly string[] | undefined): readonly string[] | undefined;
}

/** A follower is forgotten after this many ticks without a sign of life. */
const FORGET_TICKS = 24;

export const createFollowers = (): Followers => {
  const followers = new Map<string, { silentTicks: number; readonly columns: ColumnsByRelation }>();
  let wanted = new Map<string, ReadonlySet<string>>();
  let merged = new Map<string, { readonly mine: readonly string[] | undefined; readonly all: readonly string[] }>();
  const merge = (): void => {
    const all = new Map<string, Set<string>>();
    for (const { columns } of followers.values())
      for (const [relation, names] of Object.entries(columns)) {
        const known = all.get(relation);
        if (known === undefined) all.set(relation, new Set(names));
        else for (const name of names) known.add(name);
      }
    wanted = all;
    merged = new Map();
  };
  const forget = (sender: string): void => {
    if (followers.delete(sender)) merge();
  };
  return {
    get count() {
      return followers.size;
    },
    recordFollower: (sender, columns) => {
      followers.set(sender, { silentTicks: 0, columns });
      merge();
    },
    forget,
    tick: () => {
      for (const [sender, follower] of followers) if (++follower.silentTicks > FORGET_TICKS) forget(sender);
    },
    clear: () => {
      followers.clear();
      merge();
    },
    mergeColumns: (relation, mine) => {
      const theirs = wanted.get(relation);
      if (theirs === undefined) return mine;
      let found = merged.get(relation);
      if (found === undefined || found.mine !== mine)
        merged.set(relation, (found = { mine, all: [...new Set([...(mine ?? []), ...theirs])] }));
      return found.all;
    },
  };
};

/** Changes within this time are sent together. */
const GATHER_MS = 5;

export interface Gatherer {
  add(changes: TableChanges): void;
  close(): void;
}

export const createGatherer = (send: (changes: TableChanges) => void): Gatherer => {
  let gathered = createChangeCollector();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const { tables } = gathered;
    gathered = createChangeCollector();
    send(tables);
  };
  return {
    add: (changes) => {
      gathered.addAll(changes);
      timer ??= setTimeout(flush, GATHER_MS);
    },
    close: () => clearTimeout(timer),
  };
};
