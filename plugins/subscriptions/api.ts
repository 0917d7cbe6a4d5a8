/** What live queries say to other plugins: types only. The engine, the hook that sources of changes tap. */
import type { SyncBailHook } from "tapable";
import type { Execution, Plan, Session, Token } from "../../core/index.ts";
import type { GqlEngine, GqlRequest } from "../graphql/api.ts";

/** A planned query: what runs, as whom, and how the bodies make the answer. */
export interface LiveQuery {
  readonly session: Session;
  readonly schema: string;
  readonly keepsLoginPath?: Execution["keepsLoginPath"];
  readonly settings?: Execution["settings"];
  readonly isolation?: string;
  readonly programs: Execution["programs"];
  /** What the one program was compiled from, where it is one. */
  readonly read?: Plan;
  /** Tells apart queries that make different texts of equal bodies. */
  readonly form: string;
  assemble(bodies: readonly (string | null)[]): string;
  /** Functions of plugins answer a part of it, each time that `assemble` gives another text. They know the caller, so
   *  the answers are nobody else's. @rule X-GQL-7 */
  readonly complete?: (bodies: readonly (string | null)[]) => Promise<string>;
}

/** Where a live query comes from. */
export interface LiveSource {
  /** On the model in force; asked again after each reload. @throws RelApiError when it is not (or no longer) a query */
  plan(): LiveQuery;
  /** The text of the answer that an error of a run is. */
  encodeError(error: unknown): string;
}

export interface LiveAnswer {
  /** Equal texts have equal hashes. */
  readonly hash: string;
  readonly text: string;
  /** `text` is what `encodeError` made. */
  readonly isError: boolean;
}

export interface Subscriber {
  answer(answer: LiveAnswer): void;
  /** The live query has ended: it is no longer a query (G-SUB-8), or the api closes (without an error). */
  end(error?: unknown): void;
}

/** The engine of live queries. */
export interface LiveQueries {
  /** `lastHash`: of the answer that the subscriber has already. Returns how to stop. @throws what `plan` throws, and
   *  `missing-session-variable` */
  subscribe(source: LiveSource, subscriber: Subscriber, lastHash?: string): () => void;
  /** Asks the change sources anew: one has come or gone. Everything runs once, since nobody watched in between. */
  rewatch(): void;
  /** A subscription of the GraphQL surface as a source; its answers are texts of the `data` object. */
  graphqlSource(engine: GqlEngine, request: GqlRequest, session: Session, settings?: Execution["settings"]): LiveSource;
}

/** Offered by the plugin `live-queries`. */
export type LiveQueriesService = Token<"live-queries", LiveQueries>;

// --- sources of changes ---------------------------------------------------------------------------------------------

/** What a live query depends on. */
export interface Interest {
  /** `schema.name` of each relation it reads; a routine's name stands for all it may read. */
  readonly relations: ReadonlySet<string>;
  /** It reads something whose relations are unknown (functions, foreign tables). */
  readonly isOpenEnded: boolean;
  /** It reads single rows of its one relation by this column, the primary key: a source that knows which rows have
   *  changed may say so. */
  readonly keyColumn?: string;
}

/** `keys`: texts of `keyColumn` of the changed rows, before and after; absent: anything may have changed. */
export type Changed = (keys?: ReadonlySet<string>) => void;

export type Unwatch = () => void;

/** Asked once per live query. The first tap that answers watches; `undefined`: it cannot watch these relations. */
export type WatchChanges = Token<
  "watchChanges",
  SyncBailHook<[interest: Interest, changed: Changed], Unwatch | undefined>
>;
