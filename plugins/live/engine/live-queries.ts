/** Runs any query as a live query, with a result at once and another whenever it changes: `subscription { album(where:
 *  {id: {_eq: 1}}) { title sold } }`. The engine of this plugin is behind all transports. Change sources tap
 *  `watchChanges`. @rule G-SUB-3 … G-SUB-8 */
import {
  definePlugin,
  buildErrorFields,
  fillSlots,
  memoize,
  type PluginContext,
  type RelApiHooks,
  type Program,
  usesOnlyBuiltIns,
  type ValueOf,
} from "../../../core/index.ts";
import { createTimeDependence } from "./time-dependence.ts";
import { computePlanFigures } from "./statistics.ts";
import { createCohortKeyBuilder, buildCohortProperties } from "./cohort-key.ts";
import { createCohort, type Cohort, type Subscription } from "./cohort.ts";
import { openEventStream } from "./events.ts";
import { liveQueriesTooLarge } from "./errors.ts";
import { deriveConditions, type Conditions } from "./conditions.ts";
import { createLimiter } from "./limiter.ts";
import { createRunSpeedMeter } from "./run-speed.ts";
import { isMultiplexable, listSubscriberSlots } from "./multiplex.ts";
import { hashResult, createRunner } from "./runner.ts";
import {
  liveQueriesService,
  liveRunEndedSignal,
  watchChangesHook,
  type LiveEvents,
  type LiveQueries,
  type LiveQuery,
  type LiveResult,
} from "../api.ts";
import { createCredentialWatch, credentialWatchService } from "./credential-watch.ts";
import { createGraphqlSource, rejectMissingVariables } from "./live-query.ts";
import { liveSettings } from "../settings.ts";
import { createWatchGroups } from "./watch-groups.ts";

/** Runs queries again when their data changes, for all transports. */
export const liveQueries = definePlugin({
  name: "live-queries",
  settings: liveSettings,
  apply: (hooks, context) => {
    const engine = createLiveQueries(context.use(watchChangesHook), hooks, context);
    context.offer(liveQueriesService, engine);
    context.offer(credentialWatchService, createCredentialWatch(context));
    context.onModel(engine.replan);
    context.onClose(engine.close);
  },
});

interface LiveEngine extends LiveQueries {
  /** Plans all live queries again. @rule G-SUB-8 */
  replan(): void;
  close(): void;
}

const createLiveQueries = (
  watchChanges: ValueOf<typeof watchChangesHook>,
  hooks: RelApiHooks,
  context: PluginContext,
): LiveEngine => {
  const runner = createRunner(context);
  const limiter = createLimiter(computeConcurrency(context.options.dbPool, context.options.database !== undefined));
  const groups = createWatchGroups(watchChanges, context);
  const meter = createRunSpeedMeter();
  const cohorts = new Map<string, Cohort>();
  const allSubscriptions = new Set<Subscription>();
  const getSubscriberSlots = memoize(listSubscriberSlots);
  const buildCohortKey = createCohortKeyBuilder();
  const followsClock = createTimeDependence();
  /** The programs that the current model proves, although the database has changed since. @rule G-SUB-11 */
  const programsWithStaleProof = new WeakSet<Program>();
  let subscriptionBytes = 0;
  let isClosed = false;
  const runSignal = context.use(liveRunEndedSignal);
  context.counters.watch("live-query-bytes", () => subscriptionBytes);
  context.counters.watch("live-cohorts", () => cohorts.size);
  context.counters.watch("live-queries-due", () => {
    let count = 0;
    for (const cohort of cohorts.values()) count += groups.isWaiting(cohort) ? cohort.entries.size : cohort.dueCount;
    return count;
  });
  context.counters.watch("live-subscribers", () => allSubscriptions.size);
  context.counters.watch("live-queries", () =>
    [...cohorts.values()].reduce((sum, { entries }) => sum + entries.size, 0),
  );

  /** Counts the bytes of a subscription. A subscription that already exists is never rejected, whatever a reload
   *  changes. @throws RelApiError @rule G-SUB-12 */
  const addSubscription = (subscription: Subscription, bytes: number): void => {
    const { maxLiveQueryBytes } = context.options;
    const newTotal = subscriptionBytes - subscription.bytes + bytes;
    if (subscription.bytes === 0 && newTotal > maxLiveQueryBytes) {
      context.counters.add("live-queries-refused");
      throw liveQueriesTooLarge(maxLiveQueryBytes);
    }
    subscriptionBytes = newTotal;
    subscription.bytes = bytes;
  };

  const removeSubscription = (subscription: Subscription): void => {
    if (allSubscriptions.delete(subscription)) subscriptionBytes -= subscription.bytes;
    closeEvents(subscription);
  };

  /** Encodes the values of this subscriber as a row of the statement over all subscribers. Undefined if the query runs
   *  by itself: its program is not multiplexable, or a value is bytes, which JSON cannot hold. @throws RelApiError
   *  `missing-session-variable` */
  const encodeRow = (query: LiveQuery): string | undefined => {
    const { programs, session } = query;
    const [program] = programs;
    if (programs.length !== 1 || program === undefined) {
      rejectMissingVariables(query);
      return undefined;
    }
    const subscriberValues = fillSlots(getSubscriberSlots(program.program), program.values, session);
    if (!isMultiplexable(program.program) || subscriberValues.some((value) => value instanceof Uint8Array))
      return undefined;
    return subscriberValues.map((value, i) => (value === null ? "" : `,"p${i}":${JSON.stringify(value)}`)).join("");
  };

  /** Logs an error of a plugin's subscriber, which must not affect the others. */
  const logFailure = (error: unknown): void =>
    context.logger.error("a subscriber of a live query failed", buildErrorFields(error));

  const sendResult = ({ subscriber }: Subscription, result: LiveResult): void => {
    try {
      subscriber.answer(result);
    } catch (error) {
      logFailure(error);
    }
  };

  const endSubscriber = ({ subscriber }: Subscription, reason?: unknown): void => {
    try {
      subscriber.end(reason);
    } catch (error) {
      logFailure(error);
    }
  };

  const removeCohort = (cohort: Cohort): void => {
    cohort.close();
    cohorts.delete(cohort.properties.key);
    groups.leave(cohort);
  };

  /** Returns whether the filter operators compare like the built-in operators of PostgreSQL. */
  const areOperatorsBuiltIn = (): boolean => {
    const model = context.model();
    return COMPARISON_OPERATORS.every((name) =>
      hooks.compileFilter
        .get(name)
        // The library tapable stores the options with each tap.
        ?.taps.every((tap: object) => usesOnlyBuiltIns(tap, model)),
    );
  };

  /** Derives the conditions of a program. They can be memoized by program, because a program belongs to one model. */
  const deriveProgramConditions = memoize(({ plan }: Program): Conditions | undefined =>
    plan !== undefined && areOperatorsBuiltIn() ? deriveConditions(plan, context.model()) : undefined,
  );

  const getConditions = ({ programs: [program, ...otherPrograms] }: LiveQuery): Conditions | undefined =>
    program === undefined || otherPrograms.length > 0 ? undefined : deriveProgramConditions(program.program);

  /** Returns whether different callers can share the statement. A pre-request function may use any fact about the
   *  caller. Only a statement over all subscribers reads session variables from slots. @rule G-SUB-10 */
  const isShareable = ({ programs, complete }: LiveQuery, row: string | undefined): boolean =>
    row !== undefined &&
    complete === undefined &&
    (context.options.dbPreRequest ?? "") === "" &&
    programs.every(({ program }) => program.isProven === true && !programsWithStaleProof.has(program));

  const findOrCreateCohort = (query: LiveQuery, row: string | undefined): Cohort => {
    const isShared = isShareable(query, row);
    const isTimed = followsClock(query);
    const key = buildCohortKey(query, row !== undefined, isShared, isTimed);
    let cohort = cohorts.get(key);
    if (cohort === undefined) {
      const properties = { ...buildCohortProperties(key, query, isShared, isTimed), conditions: getConditions(query) };
      cohort = createCohort({
        properties,
        runner,
        sendResult,
        limiter,
        meter,
        batchSize: context.options.liveQueryBatchSize,
        runSignal,
        whenEmpty: removeCohort,
        groups,
        whenNoLongerShared: endSharing,
      });
      cohorts.set(key, cohort);
      if (!isClosed) groups.join(cohort);
    }
    return cohort;
  };

  /** Plans the query of a subscription, and places the subscription in a cohort. @throws the synchronous errors of
   *  planning */
  const planSubscription = (subscription: Subscription): void => {
    const plan = subscription.source.plan();
    if (plan instanceof Promise) void planLater(subscription, plan);
    else {
      subscription.pendingPlan = undefined;
      joinCohort(subscription, plan);
    }
  };

  const planLater = async (subscription: Subscription, pendingPlan: Promise<LiveQuery | LiveEvents>): Promise<void> => {
    subscription.pendingPlan = pendingPlan;
    const isStillSubscribed = (): boolean =>
      allSubscriptions.has(subscription) && subscription.pendingPlan === pendingPlan;
    try {
      const query = await pendingPlan;
      if (isStillSubscribed()) joinCohort(subscription, query);
    } catch (error) {
      if (isStillSubscribed()) rejectSubscription(subscription, error);
    }
  };

  /** Places a subscription in the cohort of its query, or opens its events. @throws RelApiError
   *  `missing-session-variable`, G-SUB-12 */
  const joinCohort = (subscription: Subscription, query: LiveQuery | LiveEvents): void => {
    if ("open" in query) return receiveEvents(subscription, query);
    closeEvents(subscription);
    if (query.programs.length === 0) {
      // A query without programs depends only on the types, so its first result is the last.
      const text = query.assemble([]);
      const hash = hashResult(text);
      if (subscription.lastHash === hash) return;
      subscription.lastHash = hash;
      return queueMicrotask(() => {
        if (allSubscriptions.has(subscription)) sendResult(subscription, { hash, text, isError: false });
      });
    }
    const row = encodeRow(query);
    const values =
      row ??
      JSON.stringify(
        query.programs.map((boundProgram) =>
          boundProgram.values.map((value) =>
            value instanceof Uint8Array ? [Buffer.from(value).toString("base64")] : value,
          ),
        ),
      );
    addSubscription(subscription, BYTES_PER_SUBSCRIPTION + values.length * BYTES_PER_CHARACTER);
    findOrCreateCohort(query, row).add(subscription, query, row, `${query.form}\n${values}`);
  };

  const closeEvents = (subscription: Subscription): void => {
    subscription.events?.close();
    subscription.events = undefined;
  };

  /** Opens the events of a subscription. Events that are open already continue if the new plan has the same ones. */
  const receiveEvents = (subscription: Subscription, events: LiveEvents): void => {
    if (subscription.events?.replace(events) === true) return;
    closeEvents(subscription);
    addSubscription(subscription, BYTES_PER_SUBSCRIPTION);
    subscription.events = openEventStream(subscription, events, {
      sendEvent: async (result) => {
        sendResult(subscription, result);
        await subscription.subscriber.whenFast?.();
      },
      end: (error) => {
        if (error !== undefined) return rejectSubscription(subscription, error);
        removeSubscription(subscription);
        subscription.subscriber.complete?.();
      },
    });
  };

  const rejectSubscription = (subscription: Subscription, error: unknown): void => {
    removeSubscription(subscription);
    endSubscriber(subscription, error);
  };

  /** Places a subscription again. If placing it fails, the subscription ends. */
  const replan = (subscription: Subscription): void => {
    subscription.entry = undefined;
    try {
      planSubscription(subscription);
    } catch (error) {
      rejectSubscription(subscription, error);
    }
  };

  /** Plans all queries of a cohort again, because its callers may no longer share the statement. @rule G-SUB-11 */
  const endSharing = (cohort: Cohort): void => {
    const entries = [...cohort.entries.values()];
    for (const { query } of entries) for (const { program } of query.programs) programsWithStaleProof.add(program);
    removeCohort(cohort);
    for (const { subscriptions } of entries) for (const subscription of subscriptions) replan(subscription);
  };

  return {
    subscribe: (source, subscriber, lastHash) => {
      const subscription: Subscription = {
        source,
        subscriber,
        lastHash,
        stage: "waiting",
        entry: undefined,
        bytes: 0,
        pausedUntilMs: 0,
        pendingPlan: undefined,
        events: undefined,
      };
      allSubscriptions.add(subscription);
      try {
        planSubscription(subscription);
      } catch (error) {
        removeSubscription(subscription);
        throw error;
      }
      return () => {
        removeSubscription(subscription);
        subscription.entry?.cohort.remove(subscription);
      };
    },
    rewatch: groups.rewatch,
    get isIdle() {
      return cohorts.size === 0;
    },
    plans: () => computePlanFigures(cohorts.values()),
    graphqlSource: (...parts) => createGraphqlSource(context, ...parts),
    replan: () => {
      for (const cohort of cohorts.values()) removeCohort(cohort);
      for (const subscription of allSubscriptions) replan(subscription);
    },
    close: () => {
      isClosed = true;
      for (const cohort of cohorts.values()) removeCohort(cohort);
      for (const subscription of allSubscriptions) {
        removeSubscription(subscription);
        endSubscriber(subscription);
      }
    },
  };
};

/** The operators from which conditions are derived. */
const COMPARISON_OPERATORS = ["eq", "in", "is"] as const;

/** The estimated size of a subscription, which was measured with a small document. */
const BYTES_PER_SUBSCRIPTION = 3000;
/** The estimated bytes for each character of a value. A value is stored as received (possibly as a tree of objects), as
 *  bound, and in keys. */
const BYTES_PER_CHARACTER = 16;

/** Computes the number of statements that run at once, which leaves at least half of the pool to requests. */
const computeConcurrency = (poolCount: number, isEmbedded: boolean): number =>
  isEmbedded ? 1 : Math.max(1, Math.min(4, poolCount >> 1));
