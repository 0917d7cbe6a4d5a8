/** The visible rows of each caller over time: every message is checked against the policies and grants at its time. */
import type { Caller } from "./callers.ts";
import { GRANT_ROLES, type GrantRole, type MetadataRole, type Policy, type World } from "./world.ts";

/** A change of rights, made by a step. */
export type RightsChange =
  | { readonly kind: "policy"; readonly table: string; readonly policy: Policy | undefined }
  | { readonly kind: "grant"; readonly relation: string; readonly role: GrantRole; readonly isGranted: boolean }
  | { readonly kind: "member"; readonly user: string; readonly owner: string; readonly isMember: boolean }
  | { readonly kind: "metadata"; readonly role: MetadataRole; readonly table: string; readonly isOpen: boolean };

interface Rights {
  readonly policies: ReadonlyMap<string, Policy | undefined>;
  /** Entries of the form `relation role`. */
  readonly grants: ReadonlySet<string>;
  /** Entries of the form `user owner`. */
  readonly members: ReadonlySet<string>;
  /** Tables that a role may not read, of the form `role table`. */
  readonly closedTables: ReadonlySet<string>;
}

/** A period that contains at least one moment at which the rights applied. */
interface Era {
  readonly rights: Rights;
  readonly fromMs: number;
  untilMs: number;
}

/** A row in a message. */
interface Row {
  readonly src: string;
  readonly owner: string;
  readonly bucket?: number;
  readonly id?: string | number;
  readonly n?: number;
}

interface Timeline {
  /** Called before the change is sent. The returned function is called when the change was made or has failed. */
  begin(changes: readonly RightsChange[]): (isMade: boolean) => void;
  /** Returns the fault of a message that shows a state of the database within this period. */
  judge(caller: Caller, value: unknown, fromMs: number, toMs: number): string | undefined;
}

const applyChange = (rights: Rights, change: RightsChange): Rights => {
  const set = (all: ReadonlySet<string>, key: string, isIn: boolean): ReadonlySet<string> =>
    new Set(isIn ? [...all, key] : [...all].filter((entry) => entry !== key));
  switch (change.kind) {
    case "policy":
      return { ...rights, policies: new Map([...rights.policies, [change.table, change.policy]]) };
    case "grant":
      return { ...rights, grants: set(rights.grants, `${change.relation} ${change.role}`, change.isGranted) };
    case "member":
      return { ...rights, members: set(rights.members, `${change.user} ${change.owner}`, change.isMember) };
    case "metadata":
      return { ...rights, closedTables: set(rights.closedTables, `${change.role} ${change.table}`, !change.isOpen) };
  }
};

/** The objects of a message that are rows. */
export function* findRows(value: unknown): Iterable<Row> {
  if (typeof value !== "object" || value === null) return;
  // The test defines all columns.
  if ("src" in value && "owner" in value && typeof value.src === "string") yield value as Row;
  for (const part of Object.values(value)) yield* findRows(part);
}

export const createTimeline = (world: World): Timeline => {
  const eras: Era[] = [
    {
      fromMs: 0,
      untilMs: Infinity,
      rights: {
        policies: new Map(world.tables.map(({ name, policy }) => [name, policy])),
        grants: new Set([
          ...world.tables.flatMap(({ name }) => GRANT_ROLES.map((role) => `${name} ${role}`)),
          ...world.views.map(({ name }) => `${name} music_reader`),
        ]),
        members: new Set(["u1 u1", "u2 u2", "u2 pub", "u3 u1"]),
        closedTables: new Set(),
      },
    },
  ];
  const views = new Map(world.views.map((view) => [view.name, view]));

  const mayByPolicy = (policy: Policy | undefined, user: string, owner: string, { members }: Rights): boolean =>
    policy === undefined || policy === "all" || (policy === "own" ? owner === user : members.has(`${user} ${owner}`));

  const maySee = (rights: Rights, { role, user }: Caller, { src, owner, bucket }: Row): boolean => {
    switch (role) {
      case undefined:
        return true;
      case "music_reader":
      case "music_artist": {
        if (!rights.grants.has(`${src} ${role}`)) return false;
        const view = views.get(src);
        if (view === undefined) return mayByPolicy(rights.policies.get(src), user, owner, rights);
        // An invoker's view reads as the caller, any other as its owner, whom no policy restricts.
        return (
          !view.isInvoker ||
          (rights.grants.has(`${view.table} ${role}`) &&
            mayByPolicy(rights.policies.get(view.table), user, owner, rights))
        );
      }
      case "meta_own":
        return owner === user && !rights.closedTables.has(`${role} ${src}`);
      case "meta_mixed":
        return (owner === user || bucket === undefined || bucket === 0) && !rights.closedTables.has(`${role} ${src}`);
      case "meta_related":
        return !rights.closedTables.has(`${role} ${src}`); // the row does not contain the owner of its parent
    }
  };

  return {
    begin: (changes) => {
      const last = eras.at(-1) as Era; // the list has an entry from the start
      const fromMs = performance.now();
      const era: Era = { rights: changes.reduce(applyChange, last.rights), fromMs, untilMs: Infinity };
      eras.push(era);
      return (isMade) => {
        if (isMade) last.untilMs = performance.now();
        else eras.splice(eras.indexOf(era), 1);
      };
    },
    judge: (caller, value, fromMs, toMs) => {
      const possible = eras.filter((era) => era.fromMs <= toMs && era.untilMs >= fromMs);
      for (const row of findRows(value))
        if (!possible.some(({ rights }) => maySee(rights, caller, row))) return `it may not see ${JSON.stringify(row)}`;
      const text = JSON.stringify(value);
      if (
        /"secret":"/.test(text) &&
        !(caller.role === undefined || caller.role === "music_reader" || caller.role === "meta_own")
      )
        return "it may not see the column secret";
      return undefined;
    },
  };
};

/** Checks the row numbers on one connection, which must never decrease. */
export const createOrder = (): ((value: unknown) => string | undefined) => {
  const newest = new Map<string, number>();
  return (value) => {
    for (const { src, id, n } of findRows(value)) {
      if (id === undefined || n === undefined) continue;
      const key = `${src} ${id}`;
      const before = newest.get(key);
      if (before !== undefined && n < before) return `${key} went back from ${before} to ${n}`;
      newest.set(key, n);
    }
    return undefined;
  };
};
