/** What a leader knows of the processes that follow it, and how it gathers what it tells them. */
import type { KeyedChanges, Keys } from "./change-messages.ts";

type Columns = Readonly<Record<string, string>>;

export interface Followers {
  readonly count: number;
  /** It has given a sign, with the columns whose values it wants. */
  heard(sender: string, columns: Columns): void;
  forget(sender: string): void;
  /** Forgets those that have given no sign for long. */
  tick(): void;
  clear(): void;
  /** The column of changed rows that all want who want one; undefined: they do not agree, or want none. `mine`: of this
   *  process. */
  columnOf(relation: string, mine: string | undefined): string | undefined;
}

/** Without a sign in so many, a follower is forgotten. */
const FORGET_TICKS = 24;

export const createFollowers = (): Followers => {
  const followers = new Map<string, { silentTicks: number; readonly columns: Columns }>();
  /** Undefined: they do not agree. */
  let merged = new Map<string, string | undefined>();
  const merge = (): void => {
    merged = new Map();
    for (const { columns } of followers.values())
      for (const [relation, column] of Object.entries(columns)) {
        const isOther = merged.has(relation) && merged.get(relation) !== column;
        merged.set(relation, isOther ? undefined : column);
      }
  };
  const forget = (sender: string): void => {
    if (followers.delete(sender)) merge();
  };
  return {
    get count() {
      return followers.size;
    },
    heard: (sender, columns) => {
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
    columnOf: (relation, mine) => {
      if (!merged.has(relation)) return mine;
      const theirs = merged.get(relation);
      return mine === undefined || mine === theirs ? theirs : undefined;
    },
  };
};

/** Changes within this time are told together. */
const GATHER_MS = 5;

export interface Gatherer {
  add(changes: KeyedChanges): void;
  close(): void;
}

export const createGatherer = (tell: (changes: KeyedChanges) => void): Gatherer => {
  let gathered = new Map<string, Keys | undefined>();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    const changes = gathered;
    gathered = new Map();
    tell(changes);
  };
  return {
    add: (changes) => {
      for (const [relation, keys] of changes) {
        const known = gathered.get(relation);
        if (!gathered.has(relation)) gathered.set(relation, keys);
        else if (known === undefined || keys === undefined || known.column !== keys.column)
          gathered.set(relation, undefined);
        else gathered.set(relation, { column: keys.column, values: new Set([...known.values, ...keys.values]) });
      }
      timer ??= setTimeout(flush, GATHER_MS);
    },
    close: () => clearTimeout(timer),
  };
};
