/** The interface of live queries for other plugins: types, the service of the engine, and the hooks of change sources
 *  and of WebSocket upgrades. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { SyncBailHook } from "tapable";
import {
  defineService,
  defineHook,
  defineSignal,
  type AnyServer,
  type Execution,
  type Session,
} from "../../core/index.ts";
import type { GqlEngine, GqlRequest } from "../graphql/api.ts";

/** A planned query: its programs, its caller, and how the bodies form the result. @experimental */
export interface LiveQuery {
  readonly session: Session;
  readonly schema: string;
  readonly keepsLoginPath?: Execution["keepsLoginPath"];
  readonly settings?: Execution["settings"];
  readonly isolation?: string;
  readonly programs: Execution["programs"];
  /** A text that distinguishes queries that build different results from equal bodies. */
  readonly form: string;
  assemble(bodies: readonly (string | null)[]): string;
  /** Fills in the parts that functions of plugins answer, whenever the text of `assemble` changes. These functions know
   *  the caller, so the result is not shared between callers. @rule X-GQL-7 */
  readonly complete?: (bodies: readonly (string | null)[]) => Promise<string>;
}

/** The events of another service that a subscription receives. Unlike results of live queries, each event is sent, and
 *  no change of the database causes one. @rule X-GQL-16 @experimental */
export interface LiveEvents {
  /** Returns whether the other events are the same, so that they stay open after a reload. */
  isSame(otherEvents: LiveEvents): boolean;
  /** Sends events until the signal is aborted. The promise resolves after the last event, and rejects if the events end
   *  with an error. */
  open(signal: AbortSignal, emit: (event: string | Error) => Promise<void>): Promise<void>;
  /** Returns the text of the result for an event. */
  complete(event: string): Promise<string>;
}

/** The origin of a live query, which can plan it again. */
export interface LiveSource {
  /** Plans the query on the current model. The engine calls this method again after each reload. It returns a promise
   *  while a part of the plan is being prepared for the model (R-SC-12). @throws RelApiError if the source is not, or
   *  is no longer, a query */
  plan(): LiveQuery | LiveEvents | Promise<LiveQuery | LiveEvents>;
  /** Encodes the error of a run as text. */
  encodeError(error: unknown): string;
}

/** A result of a live query. */
export interface LiveResult {
  /** The hash of the result. Equal results have equal hashes. */
  readonly hash: string;
  readonly text: string;
  /** True if `text` comes from `encodeError`. */
  readonly isError: boolean;
  /** True if no later result replaces this one. */
  readonly isEvent?: boolean;
}

/** The receiver of the results of a live query. */
export interface Subscriber {
  answer(answer: LiveResult): void;
  /** Returns whether the client has not yet read its last messages, so that a newer result can wait. Without this
   *  method, the subscriber is never slow. */
  isSlow?(): boolean;
  /** Resolves when the client has read enough for the next event. Without this method, events do not wait. */
  whenFast?(): Promise<void>;
  /** Called when the live query ends: because it is no longer a query (G-SUB-8), or because the api closes (without an
   *  error). */
  end(error?: unknown): void;
  /** Called after the last event of `LiveEvents`. */
  complete?(): void;
}

/** The engine of live queries. */
export interface LiveQueries {
  /** Subscribes to a live query, and returns a function that unsubscribes. `lastHash` is the hash of the result that
   *  the subscriber already has. If `plan` returns a promise, its error ends the subscriber. @throws the errors of
   *  `plan`, and `missing-session-variable` */
  subscribe(source: LiveSource, subscriber: Subscriber, lastHash?: string): () => void;
  /** Asks the change sources again, because one was added or removed. Every live query runs once, since changes in
   *  between were not watched. */
  rewatch(): void;
  /** True if there are no subscribers. */
  readonly isIdle: boolean;
  /** Returns the statistics of each plan, ordered by the number of subscribers, largest first. */
  plans(): readonly PlanFigures[];
  /** Creates a source from a GraphQL subscription. The results of the source are texts of the `data` object. */
  graphqlSource(engine: GqlEngine, request: GqlRequest, session: Session, settings?: Execution["settings"]): LiveSource;
}

/** The service of the engine, provided by the plugin `live-queries`. */
export const liveQueriesService = defineService<LiveQueries>("live-queries");

/** A message that brings a client up to date. @experimental */
export interface LiveMessage {
  /** The number of the message, starting at 1. */
  readonly version: number;
  /** The JSON Patch (RFC 6902) that turns the previous result into this one. Undefined if the whole result is to be
   *  sent. */
  readonly patch?: string;
}

/** Computes the patches for one subscriber, from the result that was sent last. @rule X-PAT-1 @experimental */
export interface LivePatcher {
  /** Returns the message for a result. It must be called once for each result, when the result is sent. Undefined for
   *  an error, which is sent unchanged; the next message then holds the whole result. */
  next(result: LiveResult): LiveMessage | undefined;
  /** Ends the patcher, because the subscriber unsubscribes. */
  close(): void;
}

/** The service that opens patchers, provided by the plugin `live-patches`. @experimental */
export const livePatchesService = defineService<{ readonly open: () => LivePatcher }>("live-patches");

/** The service of the plugin `sse`, which serves GraphQL operations as event streams. `isServed` says whether reads of
 *  REST can be event streams too. */
export const eventStreamsService = defineService<{ readonly isServed: () => boolean }>("event-streams");

/** Counts of a cohort since it was created. @experimental */
export interface CohortCounts {
  /** The number of statements. */
  runs: number;
  /** The number of distinct live queries that the statements answered. */
  rows: number;
  /** The number of results that were sent to subscribers. */
  deliveries: number;
  /** The number of distinct live queries that did not run when others of the cohort had changed. */
  skipped: number;
  /** The time from the notice of a change to the last result of the last run. Undefined before the first such run, or
   *  if `live-run` has no listener. */
  lagMs: number | undefined;
}

/** Statistics of the live queries of one plan and role, without values of callers. The counts are sums over the current
 *  cohorts. @experimental */
export interface PlanFigures extends Readonly<CohortCounts> {
  /** The key of the statements. Equal statements have equal keys, also in other processes. */
  readonly planKey: string;
  readonly role: string;
  readonly isAdmin: boolean;
  readonly statements: readonly string[];
  /** The relations that the statements read, as `schema.name`. */
  readonly relations: readonly string[];
  readonly cohorts: number;
  /** The number of cohorts that are shared between different callers. */
  readonly sharedCohorts: number;
  readonly subscribers: number;
  /** The number of distinct live queries. */
  readonly queries: number;
}

/** One run: a statement that answered one or more live queries, and the results that were sent. Times are values of
 *  `performance.now()`. @experimental */
export interface LiveRun {
  /** The session of one of the callers. */
  readonly session: Session;
  /** The time when the engine noticed the first of the changes. Undefined if the run only serves new subscribers. */
  readonly changedAtMs?: number | undefined;
  readonly startedAtMs: number;
  /** The time when the database had answered. */
  readonly ranAtMs: number;
  readonly endedAtMs: number;
  /** The number of distinct live queries. */
  readonly queries: number;
  /** The number of subscribers that received a result. */
  readonly deliveries: number;
  /** The size of the results; a result that several subscribers receive counts once. */
  readonly bytes: number;
}

/** Emitted after each run of live queries. @experimental */
export const liveRunEndedSignal = defineSignal<LiveRun>("live-run");

/** The text of a value as PostgreSQL prints it, or null if the value is NULL. 0 if the change source did not report the
 *  value. */
export type ReportedCell = string | null | 0;

/** The cells of a changed row before and after the change. `before` is null after an insert. `before` is empty if the
 *  old row was not reported; the identity of the old row (`REPLICA IDENTITY`) then equals that of the new row. `after`
 *  is null after a delete. */
export type RowChange = readonly [before: readonly ReportedCell[] | null, after: readonly ReportedCell[] | null];

/** Changed rows of one relation, in the order of the changes. */
export interface ChangedRows {
  /** The columns of the cells of each row. */
  readonly columns: readonly string[];
  readonly rows: readonly RowChange[];
}

/** The changed rows by `schema.name`; partitions appear under their own names. Undefined if any row may have
 *  changed. */
export type TableChanges = ReadonlyMap<string, ChangedRows | undefined>;

/** The values of the key column in the changed rows, before and after, by `schema.name`; partitions appear under their
 *  own names. Undefined if any row may have changed. @experimental */
export type ChangedKeys = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** The callbacks of a change feed. @experimental */
export interface ChangeFeedHandlers {
  /** Reports a committed transaction, possibly before other sessions see it. `xid` is the low 32 bits of its id.
   *  `lagMs` is the time from the commit until the database sent it. */
  committed(xid: number, changes: ChangedKeys, lagMs?: number): void;
  /** Returns the column whose values the listener needs from changed rows of the relation. */
  keyColumn(relation: string): string | undefined;
  /** Called when the feed ends without a call of `end`. */
  lost(reason: string): void;
}

/** An open feed of changes. @experimental */
export interface ChangeFeed {
  end(): Promise<void>;
}

/** Opens a feed of the changes that are committed from now on, by logical replication. @throws RelApiError if the
 *  database cannot send changes: `wal_level` is not logical, a right is missing, or no slot is free @rule X-REP-2
 *  @experimental */
export type OpenChangeFeed = (handlers: ChangeFeedHandlers) => Promise<ChangeFeed>;

/** The service that opens change feeds, provided by the plugin `replication-changes`. */
export const changeFeedService = defineService<{ readonly open: OpenChangeFeed }>("change-feed");

/** The relations and columns that live queries depend on. */
export interface Interest {
  /** The name (`schema.name`) of each relation that the live queries read. The name of a function represents all
   *  relations that the function may read. */
  readonly relations: ReadonlySet<string>;
  /** True if the live queries read anything whose relations are unknown, such as functions or foreign tables. */
  readonly isOpenEnded: boolean;
  /** For each relation, the columns whose values decide which live queries a changed row concerns. The list can grow. A
   *  source omits the columns that it does not know. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Registers a listener that is called when columns are added. */
  onColumns(listener: () => void): void;
}

/** Reports a change. `rows` holds the known changed rows of `relation`; without it, any row may have changed. Without
 *  `relation`, anything may have changed. */
export type ReportChange = (relation?: string, rows?: ChangedRows) => void;

/** Stops watching. */
export type Unwatch = () => void;

/** The hook by which change sources watch relations. It is called once for all live queries of the same relations. The
 *  first tap that returns a function watches them; `undefined` means that the tap cannot watch these relations. */
export const watchChangesHook = defineHook(
  "watchChanges",
  "live-queries",
  () => new SyncBailHook<[interest: Interest, changed: ReportChange], Unwatch | undefined>(["interest", "changed"]),
);

/** A WebSocket upgrade request. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The path below the mount path. If the mount path is unknown, the hook is called for the whole path, and then for
   *  each suffix of it. So a tap must only accept paths that it knows. */
  readonly path: string;
}

/** The properties that a tap of `takeUpgradeHook` may declare besides its name. */
export interface UpgradeTap {
  /** The body of the 404 response if no tap accepts the upgrade. */
  readonly rejection?: string;
}

/** The hook by which plugins accept upgrades. The plugin `upgrades` declares it and calls it for each upgrade. A tap
 *  returns `true` if it has accepted the upgrade. */
export const takeUpgradeHook = defineHook(
  "takeUpgrade",
  "upgrades",
  () => new SyncBailHook<[upgrade: Upgrade], true | undefined, UpgradeTap>(["upgrade"]),
);

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Accepts WebSocket upgrades of that server. A call is needed only if the server's listener hides this middleware.
     *  `mount` is the mount path of the middleware, which distinguishes several apis on one server. */
    attach(server: AnyServer, mount?: string): void;
  }
}
