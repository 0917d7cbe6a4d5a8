/** What a plugin is, and what it is given. */
import type { Caches } from "./kernel/cache.ts";
import type { ApiAnswer, ApiCall, ApiMethods } from "./http/call.ts";
import type { OpenExchange, RequestRecord, RequestStep, Surface } from "./http/exchange.ts";
import type { RequestSettings } from "./http/request-headers.ts";
import type { AnyServer } from "./http/servers.ts";
import type { Outgoing } from "./http/unread.ts";
import type { Counters } from "./kernel/counters.ts";
import type { Troubles } from "./kernel/troubles.ts";
import type { ValueTaker } from "./engine/database/value-taker.ts";
import type { ScriptOptions, ScriptResult } from "./engine/database/script-result.ts";
import type { Listener } from "./engine/database/listener.ts";
import type { ReplicationConnection } from "./engine/database/replication.ts";
import type { EmbedContext, EmbedSql, FilterContext, RelApiHooks } from "./hooks.ts";
import type { Model } from "./engine/model/model.ts";
import type { Embed, Insert, Json, Plan, Planned } from "./engine/plan/plan.ts";
import type { Logger, RelApiOptions, ResolvedOptions } from "./kernel/options.ts";
import type { Setting } from "./kernel/define-setting.ts";
import type { Credentials, Session } from "./kernel/session.ts";
import { defineSignal, type ServiceToken, type Token } from "./kernel/token.ts";
import type { SentValue, Sql } from "./engine/sql/fragment.ts";
import type { BuiltIn } from "./engine/sql/built-in.ts";
import type { Program, RowSource } from "./engine/sql/program.ts";

/** Shapes of operands. `fields`: an input object, whose parts `compile` reads with `context.field(name)`. */
export type OperandKind = "scalar" | "list" | "json" | "keyword" | "fields";

/** A comparison. Surfaces add members of their own to it and to the other parts below: their names for the part, and how
 *  it is written there (`plugins/<surface>/api.ts`). */
export interface OperatorSpec extends BuiltIn {
  /** Kebab-case, unique per type: what a plan stores. */
  readonly name: string;
  /** `typname`s of base types, or groups: `any`, `array`, `enum`, `range`, `composite`. A surface may offer it for
   *  others too, and leave ill-typed use to the database. */
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
  readonly operand: OperandKind;
  readonly keywords?: readonly string[];
  /** Type of the operand, if it is not the column's own: a `typname` (`lquery`, `text`, `jsonb`, `_text`). */
  readonly operandType?: string;
  /** May compare with any or all of a list (`quantifier`). */
  readonly isQuantifiable?: boolean;
  /** May take an option: the language of a text search. */
  readonly hasOption?: boolean;
  /** Which rows there are depends so much on the operand that a plan for any operand may be far worse: statements with
   *  it are planned each time. @rule X-PLN-6 */
  readonly plansEachTime?: boolean;
  /** A domain's text representation is put around the operand (R-REP-3). */
  readonly takesRepresentation?: boolean;
  /** For whoever reads the schema. */
  readonly description?: string;
  readonly compile: (column: Sql, operand: Sql, context: FilterContext) => Sql;
}

export interface EmbedSpec extends BuiltIn {
  /** What a plan stores. Unique. */
  readonly mode: string;
  /** Its columns stand beside those of the parent's row, aggregates too: with one of these the parent is grouped. */
  readonly isFlat?: boolean;
  readonly compile: (embed: Embed, context: EmbedContext) => EmbedSql;
}

/** How an update changes a column: `inc`. */
export interface UpdateOperatorSpec extends BuiltIn {
  /** Kebab-case, unique per type: what a plan stores. */
  readonly name: string;
  /** `typname`s of columns it applies to; `any`. */
  readonly types: readonly string[];
  /** `typname` of the operand, if it is not the column's own. */
  readonly operandType?: string;
  /** For whoever reads the schema. */
  readonly description: string;
  /** The new value of the column. */
  readonly compile: (column: Sql, operand: Sql) => Sql;
}

/** A function that plans may put around values and columns by name: `from-geojson`, `to-geojson`. */
export interface PlanFunction extends BuiltIn {
  readonly name: string;
  /** `operands`: what the plan gives beside the argument. */
  readonly compile: (argument: Sql, model: Model, operands?: readonly Sql[]) => Sql;
}

/** What SQL can read of a caller, beside role and claims. @rule X-SES-1 */
export interface SessionSpec {
  /** Kebab-case, unique. */
  readonly name: string;
  /** Settings of each transaction of the caller, in front of its role. Made once per session, of nothing else. */
  readonly settings?: (session: Session) => readonly (readonly [name: string, value: string])[];
  /** PostgreSQL itself does not look at them: they are not set where no code of users runs. @rule R-TX-6 */
  readonly forUserCode?: true;
  /** Functions that take the session as an argument find each variable under this prefix too, beside `x-session-`. */
  readonly prefix?: string;
}

/** Something that a request may ask for beside what it is about: `key-order=on`. */
export interface PreferenceSpec {
  /** An HTTP token, as it is sent. */
  readonly name: string;
  /** The values that it takes, or what tells them. With another value it counts as unknown. */
  readonly values: readonly string[] | ((value: string) => boolean);
  /** The plan of a request that asks for it; the same plan where it has no effect. The plan is kept for whoever asks the
   *  same, so everything that it depends on is in the arguments. */
  readonly plan?: (plan: Plan, value: string, context: { readonly model: Model }) => Plan;
  /** Settings of the request's transaction. */
  readonly settings?: (value: string) => readonly (readonly [name: string, value: string])[];
}

/** An aggregate function, for all surfaces. @rule X-AGG-1 */
export interface AggregateSpec extends BuiltIn {
  /** What a plan stores: letters, digits and `_`. Unique. */
  readonly name: string;
  /** It may stand in conditions on related rows. `type`: `typname` of the columns it takes; absent: any
   *  columns, or none. `result`: what is compared. `columns`: how many it takes, one if absent. */
  readonly predicate?: { readonly type?: string; readonly result: string; readonly columns?: 2 };
  /** `typname` of its result in SQL, or `argument`: the type of what it is given. Absent: not known. */
  readonly returns?: string;
  /** Absent: the function called `name` in the caller's search path. `columns`: none for rows as such. */
  readonly compile?: (columns: readonly Sql[], isDistinct: boolean) => Sql;
}

/** A term of an order computed from a column and operands, for all surfaces. @rule X-ORD-1 */
export interface OrderingSpec extends BuiltIn {
  /** What a plan stores: letters, digits and `_`. Unique per type. */
  readonly name: string;
  /** Types of the columns it is for, as for operators. */
  readonly types: readonly string[];
  readonly exceptTypes?: readonly string[];
  /** In the order in which `compile` takes them. `type`: a `typname`; absent: the column's. */
  readonly operands: readonly { readonly name: string; readonly type?: string }[];
  /** For whoever reads the schema. */
  readonly description?: string;
  /** It is of this extension: a surface that knows the types does not offer it where that is missing. */
  readonly extension?: string;
  readonly compile: (column: Sql, operands: readonly Sql[], model: Model) => Sql;
}

/** A query of the plugin's own that gives one value, for plans to name. */
export interface StatementSpec extends BuiltIn {
  /** Kebab-case, unique. */
  readonly name: string;
  /** A `select` of one row and one column. It stands as a scalar subquery in the statement of the request, and so runs
   *  as the caller. `argument`: a bound value of the request as that type (`int`, `text`; objects and lists as `jsonb`);
   *  NULL where it was not given. */
  readonly compile: (argument: (name: string, type: string) => Sql, model: Model) => Sql;
}

/** What an envelope may put around a whole statement: `explain (…) select …`. @rule X-MED-2 */
export interface WrapperSpec extends BuiltIn {
  /** Kebab-case, unique. */
  readonly name: string;
  /** A statement whose rows have one column. They are the body, joined by line feeds. */
  readonly compile: (statement: Sql, options: Json | undefined) => Sql;
}

/** A column that a plugin adds to the row of each statement that is not one of a document: `context.execute` returns it
 *  with the others. @rule X-RES-1 */
export interface ResultColumnSpec extends BuiltIn {
  /** Lower-case letters and `_`, unique. */
  readonly name: string;
  /** A scalar expression, computed when the rows of the statement are. */
  readonly compile: () => Sql;
}

/** What the rows of an insert may go to PostgreSQL as, beside one JSON text, which is what they come as. @rule X-INS-1 */
export interface RowSourceSpec extends BuiltIn {
  /** Kebab-case, unique. */
  readonly name: string;
  /** Undefined: rows of this insert go as JSON. */
  readonly prepare: (insert: Insert, model: Model) => RowSource | undefined;
}

/** A named object that adds a feature. */
export interface Plugin {
  /** Kebab-case, unique in a preset; also the tap name. */
  readonly name: string;
  /** Plugins that must be present; they are applied first. */
  readonly requires?: readonly string[];
  /** Applied before these, where present. Names that neither a plugin of the preset nor its `known` has are refused. */
  readonly before?: readonly string[];
  readonly stage?: number;
  readonly operators?: readonly OperatorSpec[];
  readonly embeds?: readonly EmbedSpec[];
  readonly updateOperators?: readonly UpdateOperatorSpec[];
  readonly functions?: readonly PlanFunction[];
  readonly sessions?: readonly SessionSpec[];
  /** Lower-case names of request headers that SQL must not see. @rule X-HDR-1 */
  readonly secretHeaders?: readonly string[];
  readonly preferences?: readonly PreferenceSpec[];
  /** What it reads of the options, beside core's own: made by `defineSetting`, `defineOption` and `defineLimit`. Several
   *  plugins may list the same. @rule X-SET-1 X-SET-4 X-SET-5 */
  readonly settings?: readonly Setting[];
  /** Types of extensions among those of its operators: a database may lack them, and nothing is said about it. */
  readonly extensionTypes?: readonly string[];
  /** SQLSTATEs that functions raise to answer the client: what an auth scheme's statement fails with then stays as it
   *  is, and is no fault of the server. @rule X-AUTH-3 */
  readonly clientStates?: RegExp;
  readonly statements?: readonly StatementSpec[];
  readonly aggregates?: readonly AggregateSpec[];
  readonly orderings?: readonly OrderingSpec[];
  readonly wrappers?: readonly WrapperSpec[];
  readonly resultColumns?: readonly ResultColumnSpec[];
  readonly rowSources?: readonly RowSourceSpec[];
  /** Schemas whose relations the model has too, from the exposed ones: plans may read them, requests cannot name them.
   *  @rule X-ROW-3 */
  readonly hiddenSchemas?: (exposed: readonly string[]) => readonly string[];
  readonly apply?: (hooks: RelApiHooks, context: PluginContext) => void;
}

/** A plugin as written; the identity, for the types. */
export const definePlugin = (plugin: Plugin): Plugin => plugin;

/** The declared parts of all plugins, for parsers and compilers. What a function of a part throws by mistake names the
 *  plugin. */
export interface Registry {
  readonly operators: readonly OperatorSpec[];
  readonly embeds: readonly EmbedSpec[];
  readonly updateOperators: readonly UpdateOperatorSpec[];
  readonly functions: ReadonlyMap<string, PlanFunction>;
  readonly secretHeaders: readonly string[];
  readonly sessions: readonly SessionSpec[];
  /** Those of `sessions`. */
  readonly sessionPrefixes: readonly string[];
  readonly preferences: ReadonlyMap<string, PreferenceSpec>;
  readonly statements: ReadonlyMap<string, StatementSpec>;
  readonly aggregates: ReadonlyMap<string, AggregateSpec>;
  readonly orderings: readonly OrderingSpec[];
  /** One of the `clientStates` of plugins. */
  isForClient(sqlstate: string): boolean;
  /** The plugin that declares the part, one of those above. */
  pluginOf(part: object): string;
  readonly wrappers: ReadonlyMap<string, WrapperSpec>;
  readonly resultColumns: readonly ResultColumnSpec[];
  readonly rowSources: readonly RowSourceSpec[];
  /** Those of all plugins; one that is exposed is none. */
  hiddenSchemas(exposed: readonly string[]): readonly string[];
  has(plugin: string): boolean;
}

/** A transaction to run. */
export interface Execution {
  readonly session: Session;
  readonly access: "read only" | "read write";
  readonly isolation?: string;
  /** Schema whose objects the request names: first in the search path. */
  readonly schema: string;
  /** The login role's own search path stays in force behind it and the extra path. @rule G-SES-11 */
  readonly keepsLoginPath?: boolean;
  /** What SQL may read of the request, in front of `settings`: asked for only where code of users may run. @rule R-TX-6 */
  readonly requestSettings?: () => readonly (readonly [name: string, value: string])[];
  /** Settings beside those of role, session and request: time zone, hoisted function settings. In order. */
  readonly settings?: readonly (readonly [name: string, value: string])[];
  /** Run in this order. `path`: the place in the request for errors of statements that have no path of their own. */
  readonly programs: readonly {
    readonly program: Program;
    readonly values: readonly SentValue[];
    readonly path?: string;
  }[];
  readonly end: "commit" | "rollback";
  /** Checks the rows before the end; if it throws, the transaction is rolled back. Costs a second round trip, so omit
   *  it if there is nothing to check. */
  readonly check?: (rows: readonly ResultRow[]) => void;
  /** Registers a listener for the client's disconnection. */
  readonly onGone?: (listener: () => void) => () => void;
  /** May be run on a replica. */
  readonly mayUseReplica?: boolean;
  /** A place in the database's log, `16/B374D848`: only a replica that has reached it may run it. */
  readonly notBefore?: string;
  /** Skips the pre-request function (one statement that many callers share does). */
  readonly skipPreRequest?: boolean;
  /** The request that it is run for. */
  readonly exchange?: OpenExchange;
  /** The open transaction that it is part of: what `transaction` gives to its work. It is run there, and not on a replica
   *  or together with others. */
  readonly within?: PluginContext["execute"];
  /** Takes a long body while it arrives. */
  readonly longBody?: LongBody;
  /** Put behind each statement of the programs as a comment, which must not end itself. Another text is another
   *  statement: nothing with a comment is prepared. */
  readonly comment?: string;
}

/** A read that may have its transaction together with others. */
export interface CoalescedRead {
  readonly execution: Execution;
  /** Only reads with the same key may run together. */
  readonly key: string;
}

/** What became of reads that ran together. */
export interface CoalescedRun {
  /** Of each read; `undefined`: it is to run by itself. */
  readonly rows: readonly (readonly ResultRow[] | undefined)[];
  /** Index of the first whose answer did not come. */
  readonly failedAt: number;
  /** It took too long and was cancelled. */
  readonly isBroken: boolean;
  /** Why none can run, by itself neither. */
  readonly error?: unknown;
  /** From the write to the last answer. */
  readonly tookMs: number;
}

/** Runs reads of several requests in one round trip. @rule R-TX-17 */
export interface Coalescer {
  /** Undefined: it has to run by itself, or to fail by itself. */
  ready(execution: Execution): CoalescedRead | undefined;
  /** `take`: called once, when there is a connection. A run that takes longer than `patienceMs` is cancelled, so that a
   *  slow read does not hold the others, nor they what they have locked. `late`: called then. */
  run(take: () => readonly CoalescedRead[], patienceMs: number, late: () => void): Promise<CoalescedRun>;
}

/** Who takes the body of the one row of a transaction that only reads, in place of a row that has it. */
export interface LongBody {
  /** A shorter one comes with its row. */
  readonly aboveBytes: number;
  /** Called once at most, before the body arrives, and not where a column behind it has a value. `row`: without the
   *  body; if it is taken, `execute` returns that row at once, and the transaction ends when the body has been read.
   *  Undefined: it is held like any other. */
  take(row: ResultRow, body: ArrivingBody): ValueTaker | undefined;
}

export interface ArrivingBody {
  readonly bytes: number;
  readonly execution: Execution;
  /** After `write` has returned false. */
  resume(): void;
  /** Nobody wants what is still to come. */
  drop(): void;
}

/** A transaction that has ended. Times are those of `performance.now()`. */
export interface RanTransaction {
  readonly execution: Execution;
  /** It asked for a connection. */
  readonly askedAtMs: number;
  /** It had one; absent: it never did. */
  readonly beganAtMs?: number;
  readonly endedAtMs: number;
  /** Absent: it failed. */
  readonly rows?: readonly ResultRow[];
  readonly error?: unknown;
}

/** Each transaction of `execute`. */
export const transactionSignal = defineSignal<RanTransaction>("transaction");

/** Each request that was answered, preflights aside, and each operation of a WebSocket. */
export const requestSignal = defineSignal<RequestRecord>("request");

/** The one row of a statement: text by column name (`body`, `page_total`, `total`, `location`, `inserted`, those that
 *  plugins declare). */
export type ResultRow = Readonly<Record<string, string | null>>;

/** Where options come from beside the preset. */
export interface OptionSource {
  /** For the log: `the database`. */
  readonly name: string;
  /** Options that go before those of the preset, read in the transaction of each load of the schema, before it. Settings
   *  with `isFixed` cannot be among them. A `preset` error keeps the options as they were; another one fails the load. */
  readonly read: (query: <Row>(statement: Sql) => Promise<readonly Row[]>) => Promise<RelApiOptions>;
}

/** What core offers to a plugin beside the hooks. */
export interface PluginContext {
  /** The options in force: another object after a reload that changed some, so read them when they are used. */
  readonly options: ResolvedOptions;
  /** The settings of core and of the preset's plugins, as they are declared. */
  readonly settings: readonly Setting[];
  /** Options that are read with each load of the schema and go before those of the preset. @rule X-SET-7 */
  addOptionSource(source: OptionSource): void;
  readonly logger: Logger;
  readonly registry: Registry;
  /** What `/metrics` shows. */
  readonly counters: Counters;
  /** What is wrong while the api goes on: readiness tells it. */
  readonly troubles: Troubles;
  /** Where messages and lines of the log go from now on, those of core too: while plugins are applied only. The last one
   *  wins. */
  logTo(target: Logger): void;
  /** Where everything that outlives a request is stored. */
  readonly caches: Caches;
  /** The model in force. @throws RelApiError `model-not-loaded` */
  model(): Model;
  /** Called with a reloaded model before it comes into force, unless the options change with it: for what takes long to
   *  make of a model, in pieces (`inPieces`), while the one before serves. Awaited. @rule R-SC-11 */
  beforeModel(listener: (model: Model) => void | Promise<void>): void;
  /** Requests wait for the gate first, from now until another is set; `undefined`: for nothing. It must settle, and not
   *  reject. */
  setGate(gate: (() => Promise<void>) | undefined): void;
  /** Called after each load, the first included. */
  onModel(listener: (model: Model) => void): void;
  /** Called when the api closes; awaited. */
  onClose(listener: () => void | Promise<void>): void;
  /** Runs the transformPlan taps, compiles, and keeps the program by the plan's key. The same plan object is looked up
   *  by identity first. */
  prepare(planned: Planned, session: Session, surface: string): Program;
  /** One transaction. Rows of each program's main statement, in order. */
  execute(execution: Execution): Promise<readonly ResultRow[]>;
  /** One transaction for several executions, one after another: each sees what those before it have written. `work` says
   *  with its result how it ends; when it or one of them throws, all is undone. Of an execution counts what is its own:
   *  session, settings, pre-request, access, checks; one that ends in a rollback is undone by itself, and its error ends
   *  nothing else. @rule R-TX-16 */
  transaction<Result>(
    head: Pick<Execution, "isolation" | "onGone">,
    work: (execute: PluginContext["execute"]) => Promise<{ readonly result: Result; readonly end: Execution["end"] }>,
  ): Promise<Result>;
  /** For a plugin that lets reads of several requests have one round trip. @rule R-TX-17 */
  coalescer(): Promise<Coalescer>;
  /** Runs a statement of the plugin's own as the login role, outside requests. */
  query<Row>(statement: Sql): Promise<readonly Row[]>;
  /** Statements of somebody who may do everything, as the login role, in one transaction unless they end it. `script`:
   *  `catalogText(text)`, without slots. @throws RelApiError of the database @rule X-RUN-1 */
  script(script: Sql, how: ScriptOptions): Promise<readonly ScriptResult[]>;
  /** Adds a function around what every plan (`prepare`) and every transaction (`execute`) passes, whoever calls it: while
   *  plugins are applied only. They are composed once, and the last to wrap is the outermost. @rule X-WRAP-1 */
  wrap(around: {
    readonly prepare?: (next: PluginContext["prepare"]) => PluginContext["prepare"];
    readonly execute?: (next: PluginContext["execute"]) => PluginContext["execute"];
  }): void;
  /** Asks the authorize taps. @throws RelApiError if no scheme identifies the caller */
  authorize(credentials: Credentials): Promise<Session>;
  /** A request of the application itself: the steps of every request, without HTTP. @throws CallError for statuses from
   *  400 on @rule X-CALL-1 */
  call(call: ApiCall): Promise<ApiAnswer>;
  /** A method of the api (`api.soap`), which the plugin's `api.ts` adds to the type `ApiMethods`. Twice the same name is a
   *  preset error. */
  addMethod<Name extends keyof ApiMethods>(name: Name, method: ApiMethods[Name]): void;
  /** What the transaction of an HTTP request tells SQL about it. @rule R-TX-6 */
  readonly requestSettings: RequestSettings;
  /** `LISTEN` on the shared listener connection; returns how to stop. `missed`: called when notifications may have been
   *  lost: `late`, those from the call until the server listens, `lost`, those while the connection was. `unheard`: called
   *  when it turns out that none arrive (through a pooler, from a standby), until `missed` is called. @rule R-SC-5
   *  G-SUB-13 */
  readonly listen: Listener["listen"];
  /** A connection of the plugin's own, outside the pool, that takes commands of the replication protocol. @throws
   *  RelApiError if the database has no replication, or cannot be reached @rule X-REP-1 */
  openReplication(): Promise<ReplicationConnection>;
  addSurface(surface: Surface): void;
  /** Something to be done around each request. @rule X-STEP-1 */
  addStep(step: RequestStep): void;
  /** Counts what a plugin has written itself (sockets, event streams) and the client has not read yet, and closes the
   *  connection when it stalls. Call it again after writing more. */
  watchUnread(outgoing: Outgoing): void;
  /** Offers a service to other plugins: while plugins are applied only. Two offers of one name are a preset error. */
  offer<Service>(token: ServiceToken<Service>, service: NoInfer<Service>): void;
  /** What stands behind a token: a hook to tap, a signal to emit or to listen to, or a service. A service is undefined
   *  where no plugin offers it: ask when you need it, not while plugins are applied. @rule X-SVC-1 */
  use<Value>(token: Token<Value>): Value;
  /** Called once for each HTTP server that leads here: with its first request, or when a plugin adds it. */
  onServer(listener: (server: AnyServer) => void): void;
  /** A server that a plugin has found before its first request. */
  addServer(server: AnyServer): void;
  hasServer(server: AnyServer): boolean;
  /** Whether a listener of a server is this api. */
  isApi(listener: unknown): boolean;
  /** Reloads the model now. */
  reload(): Promise<void>;
  /** Reloads the model soon; bursts of requests are one reload. */
  requestReload(): void;
}
