/** Declares the types of requests, validated documents and operations, and of the engine that other plugins use. */
import type { IncomingMessage } from "node:http";
import type {
  Exchange,
  SentValue,
  CredentialRules,
  Execution,
  Json,
  Operation,
  Plan,
  PlanWithEnvelope,
  RelApiError,
  Session,
  Program,
} from "../../core/index.ts";
import type { ArrivingBody, LongBodyHandler, ValueReceiver } from "../speed/api.ts";
import type { ReadDirectives } from "./directives.ts";
import type { EncodedErrors } from "./encode-error.ts";
import type { GqlCallContext, GqlLoadedRow } from "./plan-parts.ts";
import type { GqlVariant } from "./field-types.ts";
import type { TextParts } from "./types/role-schema.ts";
import type { GqlCustomization } from "./catalog-types.ts";
import type { NameBuilder } from "./types/names.ts";

/** Documents of a page that watches rows and changes a column of text in them. @experimental */
export interface GqlLiveExample {
  readonly subscription: string;
  /** Sets the column to `$text` in the row with the primary key `$key`. Its result is null if no row was changed. */
  readonly mutation: string;
  /** The field of the primary key. */
  readonly key: string;
  /** The field of the column. */
  readonly column: string;
  /** True if the caller may change the column in some row. */
  readonly mayUpdate: boolean;
}

/** A GraphQL request: a document, an operation name, and variables. @experimental */
export interface GqlRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, Json>>;
}

/** The document of a request, parsed and validated for one role schema. @experimental */
export interface ValidatedDocument {
  readonly operation: "query" | "mutation" | "subscription";
  /** The operation and its name in the document, for plugins that count and log requests. */
  readonly namedOperation: Operation;
  /** The depth of nested fields with a selection. Fragments are inlined, and introspection is not counted. */
  readonly levels: number;
  /** The number of nested fields with a selection, counted as for `levels`. */
  readonly nodes: number;
  /** The number of root fields, and of aliases at every level. Fragments are inlined. */
  readonly rootFields: number;
  readonly aliases: number;
  /** The names of the operation's own directives. */
  readonly directives: readonly string[];
  /** Checks and coerces the variables of the request. Equal shapes give the same `planned` objects and programs.
   *  @throws RelApiError */
  bind(): GqlOperation;
}

/** An operation that is ready to run: the statements of one transaction in order, and the outputs that form the
 *  response. @experimental */
export interface GqlOperation {
  readonly kind: "query" | "mutation" | "subscription";
  /** The document of the request. */
  readonly document: string;
  /** The arguments of the operation's own directives that plugins read, by name. */
  readonly directives: ReadDirectives;
  /** The access mode of the transaction. `read write` also applies to queries that call VOLATILE functions. */
  readonly access: "read only" | "read write";
  readonly steps: readonly GqlStep[];
  /** The plans of the steps. All operations of the same template share this array. */
  readonly plans: readonly Plan[];
  readonly outputs: readonly GqlOutput[];
  /** True if a generator writes some output. */
  readonly isIntrospecting?: boolean;
  /** The calls of plugin functions that resolve root fields. A query makes its calls before the transaction. */
  readonly calls: readonly GqlCall[];
  /** The fields of rows that plugin functions resolve after the transaction. */
  readonly loads: readonly GqlLoads[];
  /** Caches the document and the plan. The caller calls it after the operation has run. */
  cachePlan(): void;
}

/** One program of an operation, with its values. @experimental */
export interface GqlStep {
  readonly planned: PlanWithEnvelope;
  readonly program: Program;
  readonly values: readonly SentValue[];
  /** The path of database errors for which the statement names no other (G-DBE). */
  readonly path: string;
}

/** The call of a field that a function of a plugin answers. @experimental */
export interface GqlCall {
  /** The source of the function in log lines: `plugin "weather", field query_root.weather`. */
  readonly origin: string;
  readonly path: string;
  /** Returns the JSON text of the field. */
  run(context: GqlCallContext, followUp: GqlFollowUp): Promise<string>;
  /** Returns the statement that a live query runs instead of the function. Undefined if the field cannot be live. */
  readonly live: ((session: Session) => GqlLiveCall) | undefined;
  /** The events of the field in a subscription. Undefined if another schema sends none. */
  readonly events?: GqlEvents | undefined;
  /** The number of steps of a mutation that come before the call. The call then runs between two transactions.
   *  Undefined for calls that run before all steps. @rule X-GQL-12b */
  readonly afterSteps?: number | undefined;
}

/** The events of a subscription that another GraphQL schema sends. @rule X-GQL-16 @experimental */
export interface GqlEvents {
  /** Returns whether the other events are the same, so that a subscription need not be opened again. */
  isSame(events: GqlEvents): boolean;
  /** Sends events until the signal of the context is aborted. The promise settles like the promise of
   *  `GqlForward.subscribe`. */
  open(context: GqlCallContext, emit: (event: string | RelApiError) => Promise<void>): Promise<void>;
  /** Returns the JSON text of the field for an event, with the values of its links. */
  complete(event: string, followUp: GqlFollowUp): Promise<string>;
}

/** The functions that complete a result with fields of its objects. @experimental */
export interface GqlFollowUp {
  /** Runs the reads of rows that belong to objects of the result, in one transaction. Returns a text for each object of
   *  each read. @rule X-GQL-13 */
  read(joins: readonly GqlJoinedRead[]): Promise<readonly (readonly string[])[]>;
  /** Runs a load for objects of the result, and returns a text for each object. @rule X-GQL-15 */
  load(load: GqlLoad, objects: readonly GqlLoadedRow[]): Promise<readonly string[]>;
}

/** The read of rows for a list of objects. Its body is a JSON array with the rows for each object. @experimental */
export interface GqlJoinedRead extends GqlStep {
  /** The fields of the rows that functions load, as if the read were the only step. */
  readonly loads: readonly GqlLoads[];
}

/** A field of a plugin as a live query. @experimental */
export interface GqlLiveCall {
  readonly program: Program;
  /** Returns the JSON text of the field. If `complete` exists, the text has the values by which rows of tables are
   *  found instead of these rows. @throws RelApiError */
  text(body: string | null): string;
  /** Returns the JSON text of the field with the rows of tables that belong to its objects. Undefined without such
   *  rows. @rule X-GQL-13 */
  readonly complete: ((body: string | null, followUp: GqlFollowUp) => Promise<string>) | undefined;
  /** Converts a database error to the error that the function would throw. */
  convertError(error: unknown): unknown;
}

/** The fields that functions load for the body of one step. @experimental */
export interface GqlLoads {
  readonly step: number;
  /** The positions of the loaded fields in the body. */
  readonly tree: GqlLoadTree;
  readonly fields: readonly GqlLoad[];
}

/** The members to visit, by response name. A number is the index of a loaded field, whose value in the body is an
 *  object of the columns that it needs. @experimental */
export type GqlLoadTree = ReadonlyMap<string, GqlLoadTree | number>;

/** The load of a field for all rows of a response at once. @experimental */
export interface GqlLoad extends Pick<GqlCall, "origin" | "path"> {
  /** The form of the load, as text. Two loads with the same form return the same text for the same rows. */
  readonly key: string;
  /** Returns JSON texts in the order of the rows. */
  run(rows: readonly GqlLoadedRow[], context: GqlCallContext, followUp: GqlFollowUp): Promise<readonly string[]>;
}

/** The parts of the `data` object, in order of selection. @experimental */
export type GqlOutput =
  /** A known JSON text: `__typename`, or a write that affects no rows. The text of introspection is made on demand, and
   *  `pieces` writes it in time slices. */
  | { readonly as: string; readonly text: string }
  | { readonly as: string; readonly text: string; readonly pieces: () => TextParts }
  /** The value is the body of a step. */
  | { readonly as: string; readonly step: number }
  /** The body of a step is an object whose members are inserted here (`Bundle`). */
  | { readonly bundle: number }
  /** The value is the result of a call. */
  | { readonly as: string; readonly call: number }
  /** The value is a list with one element per step: its body, or a known text (`update_T_many`). */
  | { readonly as: string; readonly list: readonly (number | string)[] }
  /** The field is a namespace of a mutation. */
  | { readonly as: string; readonly outputs: readonly GqlOutput[] };

/** The sender of an operation. @experimental */
export interface GqlSender {
  /** The HTTP request, or the upgrade request of the WebSocket. */
  readonly request: IncomingMessage;
  readonly batchSize?: number;
}

/** The engine that the GraphQL plugin offers to other plugins (`graphqlService`). */
export interface GqlEngine {
  /** The credential rules, for other surfaces of this dialect and for WebSockets. */
  readonly credentialRules: CredentialRules;
  readonly path: string;
  /** Derives an engine with other schemas over the same tables. Checks of documents apply to it too. Each name is
   *  derived once, while plugins are applied or when the first model is loaded. @rule X-GQL-9 */
  derive(variant: GqlVariant): GqlEngine;
  /** Returns an example query for the tables that the caller may see, or undefined if the caller may see no table. Like
   *  `prepare`, it may return a promise. */
  buildExampleQuery(session: Session): string | undefined | Promise<string | undefined>;
  /** Returns documents that watch and change rows of a table, one that the caller may change if there is one. Returns
   *  undefined without such a table, or if introspection is closed. */
  buildLiveExample(session: Session): GqlLiveExample | undefined | Promise<GqlLiveExample | undefined>;
  /** Returns the document, from the cache if possible. The first document is a promise, because it waits for
   *  time-sliced work on all tables. `sender` is undefined if no client sent a new request. @throws RelApiError @rule
   *  R-SC-12 */
  prepare(request: GqlRequest, session: Session, sender?: GqlSender): ValidatedDocument | Promise<ValidatedDocument>;
  /** Runs an operation. Returns the text of the `data` object, or the result of the option that took the body. @throws
   *  RelApiError */
  run<LongResult = never>(
    operation: GqlOperation,
    session: Session,
    run?: GqlRunOptions<LongResult>,
  ): Promise<string | LongResult>;
  /** Prepares and runs the operation of an HTTP request, with the transaction settings of the request. Returns the same
   *  as `run`. @throws RelApiError @rule G-HTTP-9 G-SES-10 G-TX-6 */
  runRequest<LongResult = never>(
    exchange: Exchange,
    request: GqlRequest,
    options?: GqlRequestOptions<LongResult>,
  ): Promise<string | LongResult>;
  /** Assembles the text of the `data` object from the bodies of the steps and the texts of the calls. */
  assemble(operation: GqlOperation, bodies: readonly (string | null)[], calls?: readonly string[]): string;
  /** Assembles the text for the result of a live query, with the values that functions load and the rows that belong to
   *  results of `calls`. The bodies of the steps precede those of the calls. @throws RelApiError */
  completeLive(
    operation: GqlOperation,
    calls: readonly GqlLiveCall[],
    bodies: readonly (string | null)[],
    session: Session,
    settings?: GqlRunOptions["settings"],
  ): Promise<string>;
  /** Opens the events of a subscription (`GqlCall.events`), and sends them until the signal is aborted. @throws
   *  RelApiError if the events end with an error @rule X-GQL-16 */
  openEvents(
    operation: GqlOperation,
    session: Session,
    signal: AbortSignal,
    emit: (event: string | RelApiError) => Promise<void>,
  ): Promise<void>;
  /** Returns the text of the `data` object for an event. @throws RelApiError */
  assembleEvent(
    operation: GqlOperation,
    event: string,
    session: Session,
    settings?: GqlRunOptions["settings"],
  ): Promise<string>;
  /** Parses JSON for `readRequest` without losing digits of numbers. @throws SyntaxError */
  parseJson(text: string): Json;
  /** Parses the JSON of an HTTP request. `text` is undefined if the body is not UTF-8. `at` is the path of errors.
   *  @throws RelApiError `invalid-json` @rule G-HTTP-1 G-LIM-6 */
  parseRequestJson(text: string | undefined, at?: string): Json;
  /** Returns the functions that build names from a customization of the metadata. The naming convention comes from the
   *  settings unless the customization has one. @rule G-NAM-6 G-NAM-8 */
  createNames(customization: GqlCustomization): NameBuilder;
  /** Reads a request object (G-HTTP-1) from a value of `parseJson`. @throws RelApiError */
  readRequest(value: Json): GqlRequest;
  /** Encodes an error as `{"errors":[…]}` (G-ERR-1). Any exception other than a RelApiError is logged and reported as
   *  an internal error. */
  encodeErrors(error: unknown, session: Session | undefined): EncodedErrors;
}

/** A whole response body that is long and shared by many requests. @experimental */
export interface PackedBody {
  plain(): Promise<Buffer>;
  gzip(): Promise<Buffer>;
}

/** A receiver of a body that is all of `data`, or its only member. `LongResult` is the result of the run, in place of a
 *  text. @experimental */
export interface GqlLongBody<LongResult> extends Pick<LongBodyHandler, "aboveBytes"> {
  /** Takes the body. The text of `data` is `before`, the body and `after`. */
  take(
    body: ArrivingBody,
    before: string,
    after: string,
  ): { readonly receiver: ValueReceiver; readonly result: LongResult | Promise<LongResult> } | undefined;
  /** Takes a whole response body that is already cached. If this function is missing, the run results in a text. */
  takePacked?(body: PackedBody): LongResult;
}

/** Options of one run of an operation. @experimental */
export interface GqlRunOptions<LongResult = never> extends Pick<Execution, "exchange" | "requestSettings"> {
  readonly longBody?: GqlLongBody<LongResult> | undefined;
  readonly settings?: readonly (readonly [name: string, value: string])[];
  readonly onDisconnect?: (listener: () => void) => () => void;
  /** The end of a write transaction, by default commit. @rule G-TX-6 */
  readonly end?: "commit" | "rollback";
  /** The access mode to which the transaction is restricted, even if functions of the operation would write. @rule
   *  G-GET-2 */
  readonly access?: "read only" | undefined;
}

/** Options of one operation of an HTTP request. @experimental */
export interface GqlRequestOptions<LongResult = never> extends Pick<GqlRunOptions<LongResult>, "access" | "longBody"> {
  /** The exchange, unless the request is part of a batch. */
  readonly sender?: GqlSender;
  /** The path in logs and metrics, if it is not the path of the request. */
  readonly path?: string | undefined;
}
