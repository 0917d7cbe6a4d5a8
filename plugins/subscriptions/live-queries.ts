/** `subscription { album(where: {id: {_eq: 1}}) { title sold } }`: any query as a live one, answered at once and again whenever its answer
 *  changes. The engine behind all transports; change sources are plugins on `watchChanges`. @rule G-SUB-3 … G-SUB-8 */
import { definePlugin, fillSlots, isMultiplexable, nameKey, subscriberSlots, type Interest, type Model, type PluginContext, type Program, type RelApiHooks, type Session, type Slot, type Unwatch } from "../../core/index.ts";
import { createBases } from "./bases.ts";
import { createCohort, type Cohort, type CohortFacts, type Subscription } from "./cohort.ts";
import { createLimiter } from "./limiter.ts";
import { keyText, rowKeyOf, type RowKey } from "./row-key.ts";
import { hashOf, createRunner } from "./runner.ts";
import { LIVE_QUERIES, refuseMissing, type LiveQueries, type LiveQuery } from "./live-query.ts";

export const liveQueries = definePlugin({
  name: LIVE_QUERIES,
  apply: (hooks, context) => {
    const engine = createLiveQueries(hooks, context);
    context.offer(LIVE_QUERIES, engine);
    context.onModel(engine.replan);
    context.onClose(engine.close);
  },
});

interface Engine extends LiveQueries {
  /** @rule G-SUB-8 */
  replan(): void;
  close(): void;
}

const createLiveQueries = (hooks: RelApiHooks, context: PluginContext): Engine => {
  const runner = createRunner(context);
  const limiter = createLimiter(concurrencyOf(context.options.dbPool, context.options.database !== undefined));
  const basesOf = createBases(context);
  const cohorts = new Map<string, Cohort>();
  const watches = new Map<Cohort, Unwatch>();
  const all = new Set<Subscription>();
  const slots = new WeakMap<Program, readonly Slot[]>();
  /** Kept by program: what it depends on is part of its text. */
  const rowKeys = new WeakMap<Program, { readonly key: RowKey | undefined }>();
  const programNumbers = new WeakMap<Program, number>();
  let lastProgram = 0;
  let isClosed = false;

  const numberOf = (program: Program): number => {
    let number = programNumbers.get(program);
    if (number === undefined) programNumbers.set(program, (number = ++lastProgram));
    return number;
  };

  /** The columns of the statement over all subscribers, for this one; undefined: it runs alone. @throws RelApiError `missing-session-variable` */
  const rowOf = (query: LiveQuery): string | undefined => {
    const { programs, session } = query;
    const [only] = programs;
    if (programs.length !== 1 || only === undefined) {
      refuseMissing(query);
      return undefined;
    }
    let wanted = slots.get(only.program);
    if (wanted === undefined) slots.set(only.program, (wanted = subscriberSlots(only.program)));
    const filled = fillSlots(wanted, only.values, session);
    if (!isMultiplexable(only.program) || filled.some((value) => value instanceof Uint8Array)) return undefined;
    return filled.map((value, i) => (value === null ? "" : `,"p${i}":${JSON.stringify(value)}`)).join("");
  };

  const watch = (cohort: Cohort): void => {
    const { relations, isOpenEnded, keyColumn } = cohort.facts;
    basesOf(context.model()).then(
      (bases) => {
        if (isClosed || cohorts.get(cohort.facts.key) !== cohort || watches.has(cohort)) return;
        const base = bases.of(relations);
        const interest: Interest = {
          relations: base.tables,
          isOpenEnded: isOpenEnded || base.isOpenEnded,
          ...(keyColumn !== undefined && base.tables.size === 1 && base.tellKeys ? { keyColumn } : {}),
        };
        const unwatch = hooks.watchChanges.call(interest, cohort.changed);
        watches.set(cohort, unwatch ?? (() => undefined));
        if (unwatch === undefined) return context.logger.warn("no plugin watches for changes of a live query: it is answered once", { relations: [...relations] });
        // nobody watched until now
        cohort.changed();
      },
      () => setTimeout(() => cohorts.get(cohort.facts.key) === cohort && watch(cohort), RETRY_MS),
    );
  };

  const forget = (cohort: Cohort): void => {
    cohort.close();
    cohorts.delete(cohort.facts.key);
    watches.get(cohort)?.();
    watches.delete(cohort);
  };

  const rowKeyOfQuery = ({ read, programs }: LiveQuery): RowKey | undefined => {
    const [only] = programs;
    if (only === undefined || programs.length > 1) return undefined;
    let found = rowKeys.get(only.program);
    if (found === undefined) rowKeys.set(only.program, (found = { key: rowKeyOf(read, only.program, context.model()) }));
    return found.key;
  };

  const cohortOf = (query: LiveQuery, row: string | undefined, rowKey: RowKey | undefined): Cohort => {
    const facts = { ...factsOf(query, row, context.model(), numberOf, context.options.dbPreRequest !== undefined), keyColumn: rowKey?.column };
    let cohort = cohorts.get(facts.key);
    if (cohort === undefined) {
      cohort = createCohort({ facts, runner, limiter, batchSize: context.options.liveQueryBatchSize, whenEmpty: forget });
      cohorts.set(facts.key, cohort);
      watch(cohort);
    }
    return cohort;
  };

  /** @throws what planning throws */
  const place = (subscription: Subscription): void => {
    const query = subscription.source.plan();
    if (query.programs.length === 0) {
      // known from the types alone: the first answer is the last
      const text = query.assemble([]);
      const hash = hashOf(text);
      if (subscription.lastHash === hash) return;
      subscription.lastHash = hash;
      return void queueMicrotask(() => all.has(subscription) && subscription.subscriber.answer({ hash, text, isError: false }));
    }
    const row = rowOf(query);
    const values = row ?? JSON.stringify(query.programs.map((one) => one.values.map((value) => (value instanceof Uint8Array ? [Buffer.from(value).toString("base64")] : value))));
    const rowKey = rowKeyOfQuery(query);
    cohortOf(query, row, rowKey).add(subscription, query, row, `${query.form}\n${values}`, rowKey && keyText(query.programs[0]?.values[rowKey.param]));
  };

  const rewatch = (): void => {
    for (const cohort of cohorts.values()) {
      const unwatch = watches.get(cohort);
      if (unwatch === undefined) continue; // about to be watched
      unwatch();
      watches.delete(cohort);
      watch(cohort);
    }
  };

  return {
    subscribe: (source, subscriber, lastHash) => {
      const subscription: Subscription = { source, subscriber, lastHash, stage: "waiting", entry: undefined };
      all.add(subscription);
      try {
        place(subscription);
      } catch (error) {
        all.delete(subscription);
        throw error;
      }
      return () => {
        all.delete(subscription);
        subscription.entry?.cohort.remove(subscription);
      };
    },
    rewatch,
    replan: () => {
      for (const cohort of cohorts.values()) forget(cohort);
      for (const subscription of all) {
        subscription.entry = undefined;
        try {
          place(subscription);
        } catch (error) {
          all.delete(subscription);
          subscription.subscriber.end(error);
        }
      }
    },
    close: () => {
      isClosed = true;
      for (const cohort of cohorts.values()) forget(cohort);
      for (const subscription of all) subscription.subscriber.end();
      all.clear();
    },
  };
};

const RETRY_MS = 1000;

/** Requests keep at least half of the pool. */
const concurrencyOf = (poolCount: number, isEmbedded: boolean): number => (isEmbedded ? 1 : Math.max(1, Math.min(4, poolCount >> 1)));

const NOTHING: ReadonlySet<string> = new Set();

/** @rule G-SUB-6 */
const factsOf = (query: LiveQuery, row: string | undefined, model: Model, numberOf: (program: Program) => number, hasPreRequest: boolean): Omit<CohortFacts, "keyColumn"> => {
  const { session, schema, keepsLoginPath = false, settings, isolation, programs } = query;
  const relations = programs.length === 1 ? (programs[0]?.program.relations ?? NOTHING) : new Set(programs.flatMap(({ program }) => [...program.relations]));
  const isOpenEnded = programs.some(({ program }) => program.isOpenEnded);
  const isPersonal = hasPreRequest || isOpenEnded || [...relations].some((name) => mayAskForCaller(model, name));
  const caller = `${session.isAdmin ? "admin" : "role"} ${session.databaseRole ?? ""} ${session.role}${isPersonal ? ` ${callerText(session)}` : ""}`;
  return {
    key: [programs.map(({ program }) => numberOf(program)).join(" "), row === undefined ? "alone" : "", caller, schema, String(keepsLoginPath), isolation ?? "", JSON.stringify(settings ?? [])].join("\n"),
    session,
    access: { schema, keepsLoginPath, ...(settings === undefined ? {} : { settings }), ...(isolation === undefined ? {} : { isolation }) },
    relations,
    isOpenEnded,
  };
};

const callerText = (session: Session): string => `${session.claimsText ?? JSON.stringify(session.claims)} ${JSON.stringify(session.variables)}`;

/** Row policies, views and whatever the model does not know may read the caller's settings. */
const mayAskForCaller = (model: Model, name: string): boolean => {
  const dot = name.indexOf(".");
  const relation = model.relations.get(nameKey({ schema: name.slice(0, dot), name: name.slice(dot + 1) }));
  return relation === undefined || relation.hasRowSecurity || (relation.kind !== "table" && relation.kind !== "partitioned");
};
