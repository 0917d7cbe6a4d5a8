/** Groups live queries by the tables that they depend on. Each group has one watch, and an index that finds the live
 *  queries that a change concerns. */
import { buildErrorFields, type PluginContext, type ValueOf } from "../../../core/index.ts";
import { watchChangesHook, type ReportChange, type Interest, type Unwatch } from "../api.ts";
import { createBaseTablesLoader, type QueryTables } from "./base-tables.ts";
import { createChangeIndex, type ChangeIndex } from "../changes/change-index.ts";
import type { Cohort, CohortEntry, WatchedEntries } from "./cohort.ts";

interface WatchGroups extends WatchedEntries {
  /** Watches the cohort as soon as its tables are known. */
  join(cohort: Cohort): void;
  leave(cohort: Cohort): void;
  /** Returns whether the tables of the cohort are not known yet. The cohort runs again once it is watched. */
  isWaiting(cohort: Cohort): boolean;
  /** Asks the change sources again. @see LiveQueries.rewatch */
  rewatch(): void;
}

interface WatchGroup {
  readonly queryTables: QueryTables;
  readonly cohorts: Set<Cohort>;
  /** The cohorts that any row of a table concerns, by table. */
  readonly anyRowCohorts: ReadonlyMap<string, Set<Cohort>>;
  readonly index: ChangeIndex<CohortEntry>;
  readonly failing: Set<CohortEntry>;
  readonly onChange: ReportChange;
  readonly interest: Interest;
  unwatch: Unwatch | undefined;
  entryCount: number;
}

const RETRY_MS = 1000;

/** Creates the groups of live queries that depend on the same tables. */
export const createWatchGroups = (
  watchChanges: ValueOf<typeof watchChangesHook>,
  context: PluginContext,
): WatchGroups => {
  const loadBaseTables = createBaseTablesLoader(context);
  const groups = new Map<string, WatchGroup>();
  const groupByCohort = new Map<Cohort, WatchGroup>();
  const waitingCohorts = new Set<Cohort>();
  const { counters } = context;

  const createGroup = (queryTables: QueryTables): WatchGroup => {
    let listener = (): void => undefined;
    const cohorts = new Set<Cohort>();
    const failing = new Set<CohortEntry>();
    const anyRow = new Map([...queryTables.tables].map((table) => [table, new Set<Cohort>()]));
    const index = createChangeIndex<CohortEntry>(queryTables.directTables, () => listener());

    const markChanged = (dirty: ReadonlySet<Cohort>, entries: ReadonlySet<CohortEntry>): void => {
      let skippedCount = group.entryCount;
      for (const cohort of dirty) {
        skippedCount -= cohort.entries.size;
        cohort.handleChange();
      }
      for (const entry of entries) {
        if (dirty.has(entry.cohort)) continue;
        skippedCount--;
        entry.cohort.handleEntryChange(entry);
      }
      counters.add("live-queries-skipped", skippedCount);
    };

    const group: WatchGroup = {
      queryTables,
      cohorts,
      entryCount: 0,
      anyRowCohorts: anyRow,
      index,
      failing,
      unwatch: undefined,
      interest: {
        relations: queryTables.tables,
        isOpenEnded: queryTables.isOpenEnded,
        columns: index.columns,
        onColumns: (columnsListener) => void (listener = columnsListener),
      },
      onChange: (relation, rows) => {
        if (relation === undefined || rows === undefined) return markChanged(cohorts, NO_ENTRIES);
        const touchedEntries = new Set(failing);
        index.find(relation, rows, touchedEntries);
        markChanged(anyRow.get(relation) ?? cohorts, touchedEntries);
      },
    };
    return group;
  };

  /** Runs a callback of a plugin's change source, and logs its error, which must not affect the others. */
  const runGuarded = <Result>(run: () => Result): Result | undefined => {
    try {
      return run();
    } catch (error) {
      context.logger.error("a change source failed", buildErrorFields(error));
      return undefined;
    }
  };

  const watch = (group: WatchGroup): void => {
    group.unwatch = runGuarded(() => watchChanges.call(group.interest, group.onChange));
    if (group.unwatch === undefined)
      context.logger.warn("no change source can watch a live query; it returns one result", {
        relations: [...group.queryTables.tables],
      });
  };

  const unwatch = (group: WatchGroup): void => {
    const { unwatch: stop } = group;
    group.unwatch = undefined;
    runGuarded(() => stop?.());
  };

  const addEntry = (group: WatchGroup, entry: CohortEntry): void => {
    const { conditions } = entry.cohort.properties;
    group.entryCount++;
    if (conditions !== undefined) entry.indexEntries = group.index.add(entry, entry.query, conditions);
  };

  const addCohort = (cohort: Cohort, queryTables: QueryTables): void => {
    let group = groups.get(queryTables.key);
    const isNew = group === undefined;
    if (group === undefined) groups.set(queryTables.key, (group = createGroup(queryTables)));
    group.cohorts.add(cohort);
    groupByCohort.set(cohort, group);
    const { conditions } = cohort.properties;
    for (const [table, cohorts] of group.anyRowCohorts)
      if (!queryTables.directTables.has(table) || conditions?.get(table) === undefined) cohorts.add(cohort);
    for (const entry of cohort.entries.values()) addEntry(group, entry);
    if (isNew) watch(group);
    // The cohort runs again, because changes until now were not watched.
    if (group.unwatch !== undefined) cohort.handleChange();
  };

  const join = (cohort: Cohort): void => {
    waitingCohorts.add(cohort);
    loadBaseTables(context.model()).then(
      (baseTables) => {
        if (waitingCohorts.delete(cohort))
          addCohort(cohort, baseTables.findTables(cohort.properties.relations, cohort.properties.isOpenEnded));
      },
      () => setTimeout(() => waitingCohorts.has(cohort) && join(cohort), RETRY_MS),
    );
  };

  return {
    join,
    leave: (cohort) => {
      waitingCohorts.delete(cohort);
      const group = groupByCohort.get(cohort);
      if (group === undefined) return;
      groupByCohort.delete(cohort);
      group.cohorts.delete(cohort);
      for (const cohorts of group.anyRowCohorts.values()) cohorts.delete(cohort);
      for (const entry of cohort.entries.values()) removeFrom(group, entry);
      if (group.cohorts.size > 0) return;
      groups.delete(group.queryTables.key);
      unwatch(group);
    },
    isWaiting: (cohort) => waitingCohorts.has(cohort),
    add: (entry) => {
      const group = groupByCohort.get(entry.cohort);
      if (group !== undefined) addEntry(group, entry);
    },
    remove: (entry) => {
      const group = groupByCohort.get(entry.cohort);
      if (group !== undefined) removeFrom(group, entry);
    },
    markFailing: (entry) => void groupByCohort.get(entry.cohort)?.failing.add(entry),
    unmarkFailing: (entry) => void groupByCohort.get(entry.cohort)?.failing.delete(entry),
    rewatch: () => {
      for (const group of groups.values()) {
        unwatch(group);
        watch(group);
        // The cohorts run again, because changes in between were not watched.
        if (group.unwatch !== undefined) for (const cohort of group.cohorts) cohort.handleChange();
      }
    },
  };
};

const NO_ENTRIES: ReadonlySet<CohortEntry> = new Set();

const removeFrom = (group: WatchGroup, entry: CohortEntry): void => {
  group.entryCount--;
  group.failing.delete(entry);
  group.index.remove(entry, entry.indexEntries);
  entry.indexEntries = [];
};
