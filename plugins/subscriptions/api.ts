/** What live queries say to other plugins: types and tokens. The engine, the hook that sources of changes tap. */
import { SyncBailHook } from "tapable";
import { defineService, defineHook, defineSignal, type Execution, type Plan, type Session } from "../../core/index.ts";
import type { GqlEngine, GqlRequest } from "../graphql/api.ts";

/** A planned query: what runs, as which caller, and how the bodies form the result. */
export interface LiveQuery {
  readonly session: Session;
  readonly schema: string;
  readonly keepsLoginPath?: Execution["keepsLoginPath"];
  readonly settings?: Execution["settings"];
  readonly isolation?: string;
  readonly programs: Execution["programs"];
  /** The plan of the program, if there is only one program. */
  readonly read?: Plan;
  /** Distinguishes queries that build different results from equal bodies. */
  readonly form: string;
  assemble(bodies: readonly (string | null)[]): string;
  /** Functions of plugins answer a part of it, each time that `assemble` gives another text. They know the caller, so
   *  the answers are nobody else's. @rule X-GQL-7 */
  readonly complete?: (bodies: readonly (string | null)[]) => Promise<string>;
}

/** Where a live query comes from. */
export interface LiveSource {
  /** Plans on the current model; called again after each reload. A promise while something is made for that (R-SC-12).
   *  @throws RelApiError if it is not, or is no longer, a query */
  plan(): LiveQuery | Promise<LiveQuery>;
  /** The text of an error of a run. */
  encodeError(error: unknown): string;
}

export interface LiveResult {
  /** Equal results have equal hashes. */
  readonly hash: string;
  readonly text: string;
  /** `text` is what `encodeError` made. */
  readonly isError: boolean;
}

export interface Subscriber {
  answer(answer: LiveResult): void;
  /** Its client has not read what it was sent, so a newer result can wait until it has. Absent: it never is. */
  isSlow?(): boolean;
  /** The live query has ended: it is no longer a query (G-SUB-8), or the api closes (without an error). */
  end(error?: unknown): void;
}

/** The engine of live queries. */
export interface LiveQueries {
  /** `lastHash`: of the result that the subscriber already has. Returns a function that unsubscribes. @throws what
   *  `plan` throws, and `missing-session-variable`; where `plan` gives a promise, they end the subscriber */
  subscribe(source: LiveSource, subscriber: Subscriber, lastHash?: string): () => void;
  /** Asks the change sources again, because one has come or gone. Everything runs once, since nothing was watched in
   *  between. */
  rewatch(): void;
  /** Nobody subscribes to anything. */
  readonly isIdle: boolean;
  /** What is there now, those with most subscribers first. */
  plans(): readonly PlanFigures[];
  /** A subscription of the GraphQL surface as a source; its answers are texts of the `data` object. */
  graphqlSource(engine: GqlEngine, request: GqlRequest, session: Session, settings?: Execution["settings"]): LiveSource;
}

/** Offered by the plugin `live-queries`. */
export const liveQueriesService = defineService<LiveQueries>("live-queries");

// --- for transports that send changes --------------------------------------------------------------------------------

/** What brings a client to a result. */
export interface LiveMessage {
  /** One more than that of the message before; the first one is 1. */
  readonly version: number;
  /** JSON Patch (RFC 6902) from the result of the message before; absent: the whole result is to be sent. */
  readonly patch?: string;
}

/** Of one subscriber: knows what it was sent last. @rule X-PAT-1 */
export interface LivePatcher {
  /** Call it when the result is sent, once for each that is. Undefined: an error, which is sent as it is; what comes
   *  next is whole. */
  next(result: LiveResult): LiveMessage | undefined;
  /** The subscriber has left. */
  close(): void;
}

/** Offered by the plugin `live-patches`. */
export const livePatchesService = defineService<{ readonly open: () => LivePatcher }>("live-patches");

// --- for whoever measures it -----------------------------------------------------------------------------------------

/** What a cohort has done since it began. */
export interface CohortCounts {
  /** Statements. */
  runs: number;
  /** Distinct live queries that they answered. */
  rows: number;
  /** Results that were sent to subscribers. */
  deliveries: number;
  /** Distinct live queries that did not run when others of the cohort had changed. */
  skipped: number;
  /** From the notice of a change to its last result, of the last run; undefined: none, or nobody listens to
   *  `live-run`. */
  lagMs: number | undefined;
}

/** Live queries of one plan and role, without values of callers. Its counts are those of the cohorts that are there
 *  now. */
export interface PlanFigures extends Readonly<CohortCounts> {
  /** Of the statements: equal statements have equal keys, also in other processes. */
  readonly planKey: string;
  readonly role: string;
  readonly isAdmin: boolean;
  readonly statements: readonly string[];
  /** `schema.name` of what they read. */
  readonly relations: readonly string[];
  readonly cohorts: number;
  /** Those that callers who differ share. */
  readonly sharedCohorts: number;
  readonly subscribers: number;
  /** Distinct live queries. */
  readonly queries: number;
}

/** One statement that has answered one live query or many, and what it has sent. Times are those of
 *  `performance.now()`. */
export interface LiveRun {
  /** One of the callers. */
  readonly session: Session;
  /** The change that it answers was noticed, the first of several; absent: it answers new subscribers alone. */
  readonly changedAtMs?: number | undefined;
  readonly startedAtMs: number;
  /** The database has answered. */
  readonly ranAtMs: number;
  readonly endedAtMs: number;
  /** Distinct live queries. */
  readonly queries: number;
  /** Subscribers that were sent a result. */
  readonly deliveries: number;
  /** Of the results, each once. */
  readonly bytes: number;
}

export const liveRunSignal = defineSignal<LiveRun>("live-run");

// --- what has changed -----------------------------------------------------------------------------------------------

/** The text of a value as PostgreSQL prints it; NULL; 0: not told. */
export type Cell = string | null | 0;

/** Of one changed row: its cells before and after. `before` null: it was inserted, empty: nothing is told, its identity
 *  (`REPLICA IDENTITY`) is what it is after; `after` null: it was deleted. */
export type RowChange = readonly [before: readonly Cell[] | null, after: readonly Cell[] | null];

/** Changed rows of one relation, in the order of the changes. */
export interface ChangedRows {
  /** What the cells of each row are of. */
  readonly columns: readonly string[];
  readonly rows: readonly RowChange[];
}

/** By `schema.name`, partitions under their own names; undefined: any row. */
export type TableChanges = ReadonlyMap<string, ChangedRows | undefined>;

/** By `schema.name`, partitions under their own names: values of the key column in the changed rows, before and after;
 *  undefined: any row. */
export type RowChanges = ReadonlyMap<string, ReadonlySet<string> | undefined>;

/** What a change feed calls. */
export interface ChangeFeedHandlers {
  /** `xid`: the transaction, low 32 bits. It may be reported before other sessions see it. `lagMs`: from
   *  the commit until the database sent it. */
  committed(xid: number, changes: RowChanges, lagMs?: number): void;
  /** The column whose values in changed rows of the relation are needed. */
  keyColumn(relation: string): string | undefined;
  /** The feed has ended by itself. */
  lost(reason: string): void;
}

/** An open change feed. */
export interface ChangeFeed {
  end(): Promise<void>;
}

/** Opens a feed of committed changes from now on, by logical replication. @throws RelApiError if the database cannot
 *  send them: no `wal_level` logical, no right, or no slot @rule X-REP-2 */
export type OpenChangeFeed = (handlers: ChangeFeedHandlers) => Promise<ChangeFeed>;

/** Offered by the plugin `replication-changes`. */
export const changeFeedService = defineService<{ readonly open: OpenChangeFeed }>("change-feed");

// --- sources of changes ---------------------------------------------------------------------------------------------

/** What live queries depend on. */
export interface Interest {
  /** `schema.name` of each relation they read; the name of a function stands for everything that it may read. */
  readonly relations: ReadonlySet<string>;
  /** They read something whose relations are unknown (functions, foreign tables). */
  readonly isOpenEnded: boolean;
  /** By relation, the columns whose values in changed rows say which live queries a change concerns; more may come. A
   *  source that does not know them leaves them out. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Calls `listener` when there are more columns. */
  onColumns(listener: () => void): void;
}

/** `rows`: what is known of the changed rows of `relation`; without them any row of it may have changed, without
 *  `relation` anything. */
export type Changed = (relation?: string, rows?: ChangedRows) => void;

/** Stops watching. */
export type Unwatch = () => void;

/** Asked once for all live queries of the same relations. The first tap that answers watches; `undefined`: it cannot watch these relations. */
export const watchChangesHook = defineHook(
  "watchChanges",
  "live-queries",
  () => new SyncBailHook<[interest: Interest, changed: Changed], Unwatch | undefined>(["interest", "changed"]),
);
