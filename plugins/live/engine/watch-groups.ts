/** Groups live queries by the tables that they depend on. Each group has one watch, and an index that finds the live
 *  queries that a change concerns. */
import { faultFacts, type PluginContext, type ValueOf } from "../../../core/index.ts";
import { watchChangesHook, type Changed, type Interest, type Unwatch } from "../api.ts";
import { createBaseTables, type QueryTables } from "./base-tables.ts";
import { createChangeIndex, type ChangeIndex } from "../changes/change-index.ts";
import type { Cohort, Entry, EntryWatcher } from "./cohort.ts";

export interface WatchGroups extends EntryWatcher {
  /** Watches the cohort as soon as its tables are known. */
  join(cohort: Cohort): void;
  leave(cohort: Cohort): void;
  /** Whether the tables of the cohort are not known yet. It runs again once it is watched. */
  isWaiting(cohort: Cohort): boolean;
  /** @see LiveQueries.rewatch */
  rewatch(): void;
}

interface Group {
  readonly bases: QueryTables;
  readonly cohorts: Set<Cohort>;
  /** For each table, the cohorts that any of its rows concerns. */
  readonly anyRow: ReadonlyMap<string, Set<Cohort>>;
  readonly index: ChangeIndex<Entry>;
  readonly failing: Set<Entry>;
  readonly changed: Changed;
  readonly interest: Interest;
  unwatch: Unwatch | undefined;
  /** The number of entries of all cohorts. */
  count: number;
}

const RETRY_MS = 1000;

export const createWatchGroups = (
  watchChanges: ValueOf<typeof watchChangesHook>,
  context: PluginContext,
): WatchGroups => {
  const basesOf = createBaseTables(context);
  const groups = new Map<string, Group>();
  const joined = new Map<Cohort, Group>();
  const waiting = new Set<Cohort>();
  const { counters } = context;

  const createGroup = (bases: QueryTables): Group => {
    let listener = (): void => undefined;
    const cohorts = new Set<Cohort>();
    const failing = new Set<Entry>();
    const anyRow = new Map([...bases.tables].map((table) => [table, new Set<Cohort>()]));
    const index = createChangeIndex<Entry>(bases.named, () => listener());

    const markChanged = (dirty: ReadonlySet<Cohort>, entries: ReadonlySet<Entry>): void => {
      let skipped = group.count;
      for (const cohort of dirty) {
        skipped -= cohort.entries.size;
        cohort.changed();
      }
      for (const entry of entries) {
        if (dirty.has(entry.cohort)) continue;
        skipped--;
        entry.cohort.touch(entry);
      }
      counters.add("live-queries-skipped", skipped);
    };

    const group: Group = {
      bases,
      cohorts,
      count: 0,
      anyRow,
      index,
      failing,
      unwatch: undefined,
      interest: {
        relations: bases.tables,
        isOpenEnded: bases.isOpenEnded,
        columns: index.columns,
        onColumns: (given) => void (listener = given),
      },
      changed: (relation, rows) => {
        if (relation === undefined || rows === undefined) return markChanged(cohorts, NO_COHORTS);
        const touched = new Set(failing);
        index.find(relation, rows, touched);
        markChanged(anyRow.get(relation) ?? cohorts, touched);
      },
    };
    return group;
  };

  /** Logs an error of a plugin's change source, which must not affect the others. */
  const guarded = <Result>(run: () => Result): Result | undefined => {
    try {
      return run();
    } catch (error) {
      context.logger.error("a source of changes failed", faultFacts(error));
      return undefined;
    }
  };

  const watch = (group: Group): void => {
    group.unwatch = guarded(() => watchChanges.call(group.interest, group.changed));
    if (group.unwatch === undefined)
      context.logger.warn("no change source can watch a live query; it returns one result", {
        relations: [...group.bases.tables],
      });
  };

  const unwatch = (group: Group): void => {
    const { unwatch: stop } = group;
    group.unwatch = undefined;
    guarded(() => stop?.());
  };

  const placeIn = (group: Group, entry: Entry): void => {
    const { conditions } = entry.cohort.facts;
    group.count++;
    if (conditions !== undefined) entry.marks = group.index.place(entry, entry.query, conditions);
  };

  const addCohort = (cohort: Cohort, bases: QueryTables): void => {
    let group = groups.get(bases.key);
    const isNew = group === undefined;
    if (group === undefined) groups.set(bases.key, (group = createGroup(bases)));
    group.cohorts.add(cohort);
    joined.set(cohort, group);
    const { conditions } = cohort.facts;
    for (const [table, any] of group.anyRow)
      if (!bases.named.has(table) || conditions?.get(table) === undefined) any.add(cohort);
    for (const entry of cohort.entries.values()) placeIn(group, entry);
    if (isNew) watch(group);
    // changes until now were not watched
    if (group.unwatch !== undefined) cohort.changed();
  };

  const join = (cohort: Cohort): void => {
    waiting.add(cohort);
    basesOf(context.model()).then(
      (bases) => {
        if (waiting.delete(cohort)) addCohort(cohort, bases.of(cohort.facts.relations, cohort.facts.isOpenEnded));
      },
      () => setTimeout(() => waiting.has(cohort) && join(cohort), RETRY_MS),
    );
  };

  return {
    join,
    leave: (cohort) => {
      waiting.delete(cohort);
      const group = joined.get(cohort);
      if (group === undefined) return;
      joined.delete(cohort);
      group.cohorts.delete(cohort);
      for (const any of group.anyRow.values()) any.delete(cohort);
      for (const entry of cohort.entries.values()) removeFrom(group, entry);
      if (group.cohorts.size > 0) return;
      groups.delete(group.bases.key);
      unwatch(group);
    },
    isWaiting: (cohort) => waiting.has(cohort),
    place: (entry) => {
      const group = joined.get(entry.cohort);
      if (group !== undefined) placeIn(group, entry);
    },
    remove: (entry) => {
      const group = joined.get(entry.cohort);
      if (group !== undefined) removeFrom(group, entry);
    },
    fails: (entry) => void joined.get(entry.cohort)?.failing.add(entry),
    succeeds: (entry) => void joined.get(entry.cohort)?.failing.delete(entry),
    rewatch: () => {
      for (const group of groups.values()) {
        unwatch(group);
        watch(group);
        // changes in between were not watched
        if (group.unwatch !== undefined) for (const cohort of group.cohorts) cohort.changed();
      }
    },
  };
};

const NO_COHORTS: ReadonlySet<Entry> = new Set();

const removeFrom = (group: Group, entry: Entry): void => {
  group.count--;
  group.failing.delete(entry);
  group.index.remove(entry, entry.marks);
  entry.marks = [];
};
