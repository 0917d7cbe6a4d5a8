/** The plugin interface, its declared parts, and the context that a plugin receives. */
import type { IncomingMessage } from "node:http";
import type { CacheManager } from "./kernel/cache.ts";
import type { ApiAnswer, ApiCall, ApiMethods } from "./http/call.ts";
import type { OpenExchange, RequestRecord, RequestStep, Surface } from "./http/exchange.ts";
import type { AnyServer } from "./http/servers.ts";
import type { ClientStream } from "./http/unread-tracker.ts";
import type { Counters } from "./kernel/counters.ts";
import type { HealthProblems } from "./kernel/health-problems.ts";
import type { Connection, ScriptResult } from "./database/connection.ts";
import type { LongRows } from "./database/long-row.ts";
import type { Pool } from "./database/pool.ts";
import type { WireResult, WireStatement } from "./database/wire.ts";
import type { ScriptOptions } from "./database/script.ts";
import type { Connector, ConnectorParts, ReplicationConnection } from "./database/connector.ts";
import type { EmbedContext, EmbedSql, FilterContext, RelApiHooks } from "./hooks.ts";
import type { Model } from "./model/model.ts";
import type { Embed, Envelope, Insert, Json, Plan, PlanWithEnvelope } from "./plan/plan.ts";
import type { AppLogger, Logger, RelApiOptions, ResolvedOptions } from "./settings/options.ts";
import type { Setting } from "./settings/define-setting.ts";
import type { Credentials, Session } from "./kernel/session.ts";
import { defineService, defineSignal, type ServiceToken, type Token } from "./kernel/token.ts";
import type { SentValue, Sql } from "./sql/fragment.ts";
import type { BuiltIn } from "./sql/built-in.ts";
import type { Program, RowSource } from "./sql/program.ts";

/** The kinds of operands. `fields` is an input object, whose parts `compile` reads with `context.field(name)`. */
export type OperandKind = "scalar" | "list" | "json" | "keyword" | "fields";

/** A comparison operator. Surfaces extend this and the other declared parts with their own names and syntax
 *  (`plugins/<surface>/api.ts`). */
export interface OperatorSpec extends BuiltIn {
  /** The name that plans store: kebab-case, unique per type. */
  readonly name: string;
  /** The column types: `typname`s of base types, or the groups `any`, `array`, `enum`, `range` and `composite`. A
   *  surface may offer the operator for other types too, and leave the type check to the database. */
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
  readonly operand: OperandKind;
  readonly keywords?: readonly string[];
  /** The operand's `typname` if it differs from the column's type (`lquery`, `text`, `jsonb`, `_text`). */
  readonly operandType?: string;
  /** True if the operator accepts `any` or `all` over a list of operands (`quantifier`). */
  readonly isQuantifiable?: boolean;
  /** True if the operator accepts an option, such as the language of a text search. */
  readonly hasOption?: boolean;
  /** True if PostgreSQL should plan statements with this operator on every execution, because the best plan depends
   *  heavily on the operand. @rule X-PLN-6 */
  readonly plansEachTime?: boolean;
  /** True if the text representation of a domain column is applied to the operand (R-REP-3). */
  readonly takesRepresentation?: boolean;
  /** The description in the schema of a surface. */
  readonly description?: string;
  readonly compile: (column: Sql, operand: Sql, context: FilterContext) => Sql;
}

/** An embedding mode: how related rows appear inside the row of their parent. */
export interface EmbedSpec extends BuiltIn {
  /** The name that plans store, unique among all modes. */
  readonly mode: string;
  /** True if the embed adds its columns to the parent's row. If one of the columns is an aggregate, the parent is
   *  grouped. */
  readonly isFlat?: boolean;
  readonly compile: (embed: Embed, context: EmbedContext) => EmbedSql;
}

/** An operator that computes the new value of a column in an update: `inc`. */
export interface UpdateOperatorSpec extends BuiltIn {
  /** The name that plans store: kebab-case, unique per type. */
  readonly name: string;
  /** The `typname`s of the columns to which the operator applies, or `any`. */
  readonly types: readonly string[];
  /** The operand's `typname` if it differs from the column's type. */
  readonly operandType?: string;
  /** The description in the schema of a surface. */
  readonly description: string;
  /** Returns the new value of the column. */
  readonly compile: (column: Sql, operand: Sql) => Sql;
}

/** A function that plans apply to values and columns by name: `from-geojson`, `to-geojson`. */
export interface PlanFunction extends BuiltIn {
  readonly name: string;
  /** Compiles the call. `operands` are the additional arguments that the plan gives. */
  readonly compile: (argument: Sql, model: Model, operands?: readonly Sql[]) => Sql;
}

/** Adds facts about the caller that SQL can read besides role and claims. @rule X-SES-1 @experimental */
export interface SessionSpec {
  readonly name: string;
  /** Returns the settings of each of the caller's transactions, set before its role. They are computed once per
   *  session, so they may depend on nothing else. */
  readonly settings?: (session: Session) => readonly (readonly [name: string, value: string])[];
  /** True if PostgreSQL itself does not read these settings, so that they are omitted where no user-defined code runs.
   *  @rule R-TX-6 */
  readonly isForUserCode?: true;
  /** Creates the function of the settings by which SQL can read a request. SQL never sees the headers in `secret`.
   *  @rule R-TX-6 G-SES-10 */
  readonly createRequestSettings?: (secret: readonly string[]) => RequestSettings;
  /** Returns the settings of every transaction. They are set last. */
  readonly optionSettings?: (options: ResolvedOptions) => readonly (readonly [name: string, value: string])[];
  /** Functions that take the session as an argument see each session variable under this prefix too, besides
   *  `x-session-`. */
  readonly prefix?: string;
}

/** Returns settings by which SQL can read a request. `path` is the path that SQL sees. @experimental */
export type RequestSettings = (
  request: Pick<IncomingMessage, "method" | "headers" | "rawHeaders">,
  path: string,
) => readonly (readonly [name: string, value: string])[];

/** A preference: an option that a client can set on any request, such as `key-order=on`. */
export interface PreferenceSpec {
  /** The HTTP token that clients send. */
  readonly name: string;
  /** The accepted values, or a predicate that recognises them. Any other value counts as unknown. */
  readonly values: readonly string[] | ((value: string) => boolean);
  /** Changes the plan of a request with this preference. Returns the same plan if the preference has no effect. The
   *  result is cached, so it may depend only on the arguments. */
  readonly plan?: (plan: Plan, value: string, context: { readonly model: Model }) => Plan;
  /** Returns the settings of the request's transaction. */
  readonly settings?: (value: string) => readonly (readonly [name: string, value: string])[];
}

/** An aggregate function for all surfaces. @rule X-AGG-1 */
export interface AggregateSpec extends BuiltIn {
  /** The name that plans store: letters, digits and `_`. Unique. */
  readonly name: string;
  /** The aggregate may appear in conditions on related rows. `type` is the `typname` of the columns that it accepts;
   *  without it, any columns or none are accepted. `result` is the type that is compared. `columns` is the number of
   *  columns, by default one. */
  readonly predicate?: { readonly type?: string; readonly result: string; readonly columns?: 2 };
  /** The `typname` of the result in SQL, or `argument` if it is the argument's type. Undefined if unknown. */
  readonly returns?: string;
  /** Compiles the call, by default of the function `name` in the caller's search path. `columns` is empty if rows
   *  themselves are aggregated. */
  readonly compile?: (columns: readonly Sql[], isDistinct: boolean) => Sql;
}

/** An order term that is computed from a column and operands, for all surfaces. @rule X-ORD-1 */
export interface OrderingSpec extends BuiltIn {
  /** The name that plans store: letters, digits and `_`. Unique per type. */
  readonly name: string;
  /** The column types, as for operators. */
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
  /** The operands, in the order of `compile`'s parameter. `type` is a `typname`, by default the column's. */
  readonly operands: readonly { readonly name: string; readonly type?: string }[];
  /** The description in the schema of a surface. */
  readonly description?: string;
  /** The extension that provides the ordering. A surface that knows the types omits the ordering if the extension is
   *  missing. */
  readonly extension?: string;
  readonly compile: (column: Sql, operands: readonly Sql[], model: Model) => Sql;
}

/** A plugin's query that returns one value and that plans refer to by name. */
export interface StatementSpec extends BuiltIn {
  readonly name: string;
  /** Compiles a `select` of one row and one column. The `select` becomes a scalar subquery of the request's statement,
   *  which runs as the caller. `argument` returns a bound value of the request, cast to `type` (`int`, `text`; objects
   *  and lists as `jsonb`). The value is NULL if the request does not give the argument. */
  readonly compile: (argument: (name: string, type: string) => Sql, model: Model) => Sql;
}

/** SQL that an envelope puts around a whole statement: `explain (…) select …`. @rule X-MED-2 @experimental */
export interface WrapperSpec extends BuiltIn {
  readonly name: string;
  /** Returns a statement whose rows have one column. The rows, joined by line feeds, are the body. */
  readonly compile: (statement: Sql, options: Json | undefined) => Sql;
}

/** A column that a plugin adds to the result row of each statement, except the statements of documents.
 *  `context.execute` returns it with the other columns. @rule X-RES-1 @experimental */
export interface ResultColumnSpec extends BuiltIn {
  /** The unique name, of lower-case letters and `_`. */
  readonly name: string;
  /** Returns a scalar expression, which is evaluated when the rows of the statement are computed. */
  readonly compile: () => Sql;
}

/** Another encoding for the rows of an insert, which PostgreSQL receives as one JSON text by default. @rule X-INS-1
 *  @experimental */
export interface RowSourceSpec extends BuiltIn {
  readonly name: string;
  /** Returns the row source for an insert, or undefined if the rows of this insert are sent as JSON. */
  readonly prepare: (insert: Insert, model: Model) => RowSource | undefined;
}

/** A plugin: its declared parts, and the function that taps hooks and uses the context. */
export interface Plugin {
  /** The name in kebab-case, unique in a preset. The plugin's taps have the same name. */
  readonly name: string;
  /** Plugins that must be present, and that are applied before this one. */
  readonly requires?: readonly string[];
  /** Plugins before which this one is applied, if they are present. A name that neither a plugin of the preset nor its
   *  `knownPlugins` list contains is an error. */
  readonly before?: readonly string[];
  readonly stage?: number;
  readonly operators?: readonly OperatorSpec[];
  readonly embeds?: readonly EmbedSpec[];
  readonly updateOperators?: readonly UpdateOperatorSpec[];
  readonly functions?: readonly PlanFunction[];
  readonly sessions?: readonly SessionSpec[];
  /** Lower-case names of request headers that are hidden from SQL. @rule X-HDR-1 */
  readonly secretHeaders?: readonly string[];
  readonly preferences?: readonly PreferenceSpec[];
  /** The plugin's settings, declared with `defineSetting`. Several plugins may list
   *  the same setting. @rule X-SET-1 X-SET-4 X-SET-5 */
  readonly settings?: readonly Setting[];
  /** Types in `operators` that extensions provide. A database may lack them without a warning. */
  readonly extensionTypes?: readonly string[];
  /** Matches SQLSTATEs that functions raise to answer the client. If an auth scheme's statement fails with such a
   *  SQLSTATE, the client receives the error, which does not count as internal. @rule X-AUTH-3 */
  readonly clientSqlstates?: RegExp;
  readonly statements?: readonly StatementSpec[];
  readonly aggregates?: readonly AggregateSpec[];
  readonly orderings?: readonly OrderingSpec[];
  readonly wrappers?: readonly WrapperSpec[];
  readonly resultColumns?: readonly ResultColumnSpec[];
  readonly rowSources?: readonly RowSourceSpec[];
  /** Connects to the database. Exactly one plugin of a preset has this function. @rule X-CON-1 */
  readonly connector?: (parts: ConnectorParts) => Connector;
  /** Returns schemas whose relations the model includes besides the exposed schemas. Plans may read these relations,
   *  but requests cannot name them. @rule X-ROW-3 */
  readonly hiddenSchemas?: (exposedSchemas: readonly string[]) => readonly string[];
  readonly apply?: (hooks: RelApiHooks, context: PluginContext) => void;
}

/** Returns the plugin unchanged, for type checking and completion. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;

/** The declared parts of all plugins, for parsers and compilers. Unexpected errors of a part's functions name the
 *  plugin. @experimental */
export interface Registry {
  readonly operators: readonly OperatorSpec[];
  readonly embeds: readonly EmbedSpec[];
  readonly updateOperators: readonly UpdateOperatorSpec[];
  readonly functions: ReadonlyMap<string, PlanFunction>;
  readonly secretHeaders: readonly string[];
  readonly sessions: readonly SessionSpec[];
  /** The prefixes in `sessions`. */
  readonly sessionPrefixes: readonly string[];
  readonly preferences: ReadonlyMap<string, PreferenceSpec>;
  readonly statements: ReadonlyMap<string, StatementSpec>;
  readonly aggregates: ReadonlyMap<string, AggregateSpec>;
  readonly orderings: readonly OrderingSpec[];
  /** Returns whether the SQLSTATE matches the `clientSqlstates` of a plugin. */
  isForClient(sqlstate: string): boolean;
  /** Returns the name of the plugin that declares the part. */
  getPluginName(part: object): string;
  readonly wrappers: ReadonlyMap<string, WrapperSpec>;
  readonly resultColumns: readonly ResultColumnSpec[];
  readonly rowSources: readonly RowSourceSpec[];
  /** Returns the hidden schemas of all plugins, without those that are exposed. */
  hiddenSchemas(exposedSchemas: readonly string[]): readonly string[];
  has(plugin: string): boolean;
}

/** A transaction to run: the caller, and the programs with their values. */
export interface Execution {
  readonly session: Session;
  readonly access: "read only" | "read write";
  readonly isolation?: string;
  /** The schema whose objects the request names, which is the first one in the search path. */
  readonly schema: string;
  /** True if the login role's own search path remains, after this schema and the extra search path. @rule G-SES-11 */
  readonly keepsLoginPath?: boolean;
  /** Returns settings by which SQL can read the request, which are set before `settings`. The function is called only
   *  if user-defined code may run. @rule R-TX-6 */
  readonly requestSettings?: () => readonly (readonly [name: string, value: string])[];
  /** Other settings, in order, such as the time zone and hoisted function settings. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** The programs, in the order of execution. `path` is the position in the request that errors of statements without a
   *  path of their own report. */
  readonly programs: readonly {
    readonly program: Program;
    readonly values: readonly SentValue[];
    readonly path?: string;
  }[];
  readonly end: "commit" | "rollback";
  /** Checks the rows before the transaction ends. If the function throws, the transaction is rolled back. A check costs
   *  a second round trip, so omit the function if there is nothing to check. */
  readonly check?: (rows: readonly ResultRow[]) => void;
  /** Registers a listener for the client's disconnection and returns a function that removes it. */
  readonly onDisconnect?: (listener: () => void) => () => void;
  /** True if the transaction may run on a replica. */
  readonly mayUseReplica?: boolean;
  /** A write position, `16/B374D848`. Only a replica that has reached this position may run the transaction. */
  readonly minWritePosition?: string;
  /** True if the pre-request function is skipped, as for a statement that many callers share. */
  readonly skipsPreRequest?: boolean;
  /** The request that the transaction belongs to. */
  readonly exchange?: OpenExchange;
  /** The open transaction to run in, as `transaction` passes it to `work`. Such an execution is never sent to a replica
   *  or coalesced. */
  readonly openTransaction?: PluginContext["execute"];
  /** Reads rows that are too long for memory while they arrive. */
  readonly longRows?: ((transaction: ArrivingTransaction) => LongRows) | undefined;
  /** A comment that is appended to each statement of the programs. It must not contain the end of a comment. Each text
   *  is another statement to PostgreSQL, so statements with a comment are not prepared. */
  readonly comment?: string;
}

/** A transaction whose rows are read while they arrive. @experimental */
export interface ArrivingTransaction {
  readonly execution: Execution;
  /** The index of the first statement of its programs in the batch. */
  readonly offset: number;
  /** Makes `execute` resolve with these rows before the transaction has ended. The transaction is not retried after
   *  this call. */
  answer(rows: readonly ResultRow[]): void;
}

/** A transaction that has ended. Times are values of `performance.now()`. @experimental */
export interface EndedTransaction {
  readonly execution: Execution;
  /** The time at which the transaction requested a connection. */
  readonly askedAtMs: number;
  /** The time at which the transaction received a connection. Undefined if it received none. */
  readonly beganAtMs?: number;
  readonly endedAtMs: number;
  /** Undefined if the transaction failed. */
  readonly rows?: readonly ResultRow[];
  readonly error?: unknown;
}

/** Builds the statements of transactions, and sends them to the primary server. @experimental */
export interface TransactionSender {
  /** Returns the statements of a transaction that runs no user-defined code, without settings for such code. Undefined
   *  if the transaction may run on a replica, or the server cannot keep prepared statements. `programs` run in place
   *  of those of the execution. @throws RelApiError when a session variable is missing */
  build(execution: Execution, programs?: Execution["programs"]): readonly WireStatement[] | undefined;
  readonly pool: Pick<Pool, "acquire" | "release">;
  /** Sends statements in one round trip, prepared. */
  send(connection: Connection, statements: readonly WireStatement[]): Promise<WireResult>;
}

/** Analyses plans without asking the database. @experimental */
export interface PlanProof {
  /** Returns whether the plan runs no user-defined code. The result of a plan that
   *  only reads must also be the same for all callers of one database role, except for bound values. @rule R-TX-10 */
  isProven(plan: Plan, envelope: Envelope, model: Model): boolean;
}

/** Offered by the plugin `plan-proof`. If a preset lacks the plugin, no plan is proven: plans cost more, and their
 *  results are the same. */
export const planProofService = defineService<PlanProof>("plan-proof");

/** Emitted after each transaction of `execute`. @experimental */
export const transactionEndedSignal = defineSignal<EndedTransaction>("transaction");

/** Emitted after each answered request, except preflights, and after each operation of a WebSocket. */
export const requestEndedSignal = defineSignal<RequestRecord>("request");

/** The one row of a statement, as text by column name: `body`, `page_total`, `total`, `location`, `inserted`, and the
 *  columns that plugins declare. */
export type ResultRow = Readonly<Record<string, string | null>>;

/** A source of options besides the preset. @experimental */
export interface OptionSource {
  /** The name in log lines: `the database`. */
  readonly name: string;
  /** Reads options that override those of the preset. Each load of the schema calls it first, in the same transaction.
   *  The result must not contain settings with `isFixed`. After a `preset` error the options remain as they were; any
   *  other error fails the load. */
  readonly read: (query: <Row>(statement: Sql) => Promise<readonly Row[]>) => Promise<RelApiOptions>;
}

/** The context of a plugin: every capability of core except the hooks. */
export interface PluginContext {
  /** The current options. A reload that changes options replaces the object, so do not store it. */
  readonly options: ResolvedOptions;
  /** The declared settings of core and of the preset's plugins. */
  readonly settings: readonly Setting[];
  /** Adds options that are read with each load of the schema and override those of the preset. @rule X-SET-7 */
  addOptionSource(source: OptionSource): void;
  readonly logger: Logger;
  readonly registry: Registry;
  /** The counters that `/metrics` shows. */
  readonly counters: Counters;
  /** Problems that do not stop the api. The readiness check reports them. */
  readonly healthProblems: HealthProblems;
  /** Redirects all later log lines, including those of core. May be called only in `apply`; the last call wins. */
  logTo(target: Logger | AppLogger): void;
  /** The store for every value that outlives a request. */
  readonly caches: CacheManager;
  /** Returns the current model. @throws RelApiError `model-not-loaded` */
  model(): Model;
  /** Registers a listener that receives each model before it becomes current, including the first one, and that is
   *  awaited. It is meant for slow work, in slices (`runSliced`), while the previous model serves requests. The context
   *  still has the previous options. @rule R-SC-11 */
  beforeModel(listener: (model: Model) => void | Promise<void>): void;
  /** Makes requests wait for the gate, until another gate replaces it; `undefined` removes it. The promise must settle
   *  and must not reject. */
  setGate(gate: (() => Promise<void>) | undefined): void;
  /** Registers a listener that is called after each load, including the first. */
  onModel(listener: (model: Model) => void): void;
  /** Registers a listener that is called and awaited when the api closes. */
  onClose(listener: () => void | Promise<void>): void;
  /** Runs the taps of `transformPlan`, compiles the plan, and caches the program by the plan's key. A maker of a cached
   *  value passes an observed session (`observeSession`), so that the value depends on what the plan reads of it. */
  prepare(plannedProgram: PlanWithEnvelope, session: Session, surface: string): Program;
  /** Runs one transaction. Returns the rows of each program's main statement, in order. */
  execute(execution: Execution): Promise<readonly ResultRow[]>;
  /** Runs several executions one after another in one transaction, so that each sees the writes of the previous ones.
   *  `work` returns how the transaction ends; if it or an execution throws, everything is rolled back. Each execution
   *  keeps its own session, settings, pre-request function, access mode and checks. An execution whose `end` is a
   *  rollback undoes only itself, and its error does not end the transaction. @rule R-TX-16 */
  transaction<Result>(
    head: Pick<Execution, "isolation" | "onDisconnect">,
    work: (execute: PluginContext["execute"]) => Promise<{ readonly result: Result; readonly end: Execution["end"] }>,
  ): Promise<Result>;
  /** Builds and sends the statements of transactions, for plugins that send several transactions in one round trip.
   *  @rule R-TX-17 */
  readonly transactionSender: TransactionSender;
  /** Runs a statement as the login role, outside requests. */
  query<Row>(statement: Sql): Promise<readonly Row[]>;
  /** Runs trusted statements of an administrator as the login role, in one transaction unless they end it. `script` is
   *  made with `trustedSql(text)` and has no slots. @throws RelApiError of the database @rule X-RUN-1 */
  script(script: Sql, options: ScriptOptions): Promise<readonly ScriptResult[]>;
  /** Wraps `prepare` and `execute` for all callers. May be called only in `apply`. The wrappers are composed once, and
   *  the last one is the outermost. @rule X-WRAP-1 */
  wrap(wrapper: {
    readonly prepare?: (next: PluginContext["prepare"]) => PluginContext["prepare"];
    readonly execute?: (next: PluginContext["execute"]) => PluginContext["execute"];
  }): void;
  /** Calls the `authorize` taps. @throws RelApiError if no scheme identifies the caller */
  authorize(credentials: Credentials): Promise<Session>;
  /** Runs a request of the application itself through every pipeline step, without HTTP. @throws CallError for statuses
   *  from 400 on @rule X-CALL-1 */
  call(call: ApiCall): Promise<ApiAnswer>;
  /** Adds a method to the api (`api.soap`), which the plugin's `api.ts` declares in `ApiMethods`. Adding a name twice
   *  is a preset error. */
  addMethod<Name extends keyof ApiMethods>(name: Name, method: ApiMethods[Name]): void;
  /** Returns the settings by which SQL can read an HTTP request in its transaction. @rule R-TX-6 */
  readonly requestSettings: RequestSettings;
  /** Starts `LISTEN` on the shared listener connection and returns a function that stops it. `onMissed` is called when
   *  notifications may have been lost: with `late` for those before the server listens, with `lost` for those during a
   *  disconnection. `onFailure` is called when no notifications can arrive (through a pooler, from a standby), until
   *  `onMissed` is called. @rule R-SC-5 G-SUB-13 */
  readonly listen: Connector["listen"];
  /** Opens a connection outside the pool that accepts commands of the replication protocol. @throws RelApiError if the
   *  database has no replication, or cannot be reached @rule X-REP-1 */
  openReplication(): Promise<ReplicationConnection>;
  /** Returns a connection string of the primary server, with one host, for a library that opens its own connections.
   *  The text contains the password. Undefined for an embedded database. @throws RelApiError `connection-failed`
   *  @experimental */
  findDatabaseUrl(): Promise<string | undefined>;
  addSurface(surface: Surface): void;
  /** Adds a pipeline step around each request. @rule X-STEP-1 */
  addStep(step: RequestStep): void;
  /** Counts the bytes that a plugin has written itself (WebSockets, event streams) and the client has not read yet.
   *  Closes the connection when it stalls. Call it again after each later write. */
  watchUnread(stream: ClientStream): void;
  /** Offers a service to other plugins. May be called only in `apply`. Offering the same name twice is a preset
   *  error. */
  offer<Service>(token: ServiceToken<Service>, service: NoInfer<Service>): void;
  /** Returns the hook, signal or service of a token. A service is undefined if no plugin offers it. Look services up
   *  when you need them, not in `apply`. @rule X-SVC-1 */
  use<Value>(token: Token<Value>): Value;
  /** Registers a listener that is called once per HTTP server of this api: at its first request, or when a plugin adds
   *  it. */
  onServer(listener: (server: AnyServer) => void): void;
  /** Adds a server before its first request. */
  addServer(server: AnyServer): void;
  hasServer(server: AnyServer): boolean;
  /** Returns whether a server's listener is this api. */
  isApi(listener: unknown): boolean;
  reload(): Promise<void>;
  /** Reloads the model soon. Requests in quick succession cause one reload. */
  requestReload(): void;
}
