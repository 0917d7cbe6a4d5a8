/** Documents on their way to an answer: requests, operations, and the engine that others are offered. */
import type { IncomingMessage } from "node:http";
import type {
  Exchange,
  ArrivingBody,
  LongBody,
  ResultRow,
  SentValue,
  ValueTaker,
  CredentialRules,
  Execution,
  Json,
  Operation,
  Plan,
  Planned,
  Session,
  Program,
} from "../../core/index.ts";
import type { ReadDirectives } from "./directives.ts";
import type { EncodedErrors } from "./encode-error.ts";
import type { GqlAsked, GqlLoadedRow, GqlVariant, Parts } from "./parts.ts";

/** A GraphQL request: document, operation name, variables. */
export interface GqlRequest {
  readonly query: string;
  readonly operationName?: string;
  readonly variables?: Readonly<Record<string, Json>>;
}

/** A document parsed and validated for one role schema, before any values are known. */
export interface ValidatedDocument {
  readonly operation: "query" | "mutation" | "subscription";
  /** The same with its name in the document, for whoever counts and logs requests. */
  readonly asked: Operation;
  /** Fields with a selection inside each other, fragments put in place, without introspection. */
  readonly levels: number;
  /** How many such fields there are. */
  readonly nodes: number;
  /** Fields of the operation itself, and aliases at every level; fragments put in place. */
  readonly rootFields: number;
  readonly aliases: number;
  /** Names of the operation's own directives. */
  readonly directives: readonly string[];
  /** Checks and coerces the values; equal shapes give the same `planned` objects. @throws RelApiError */
  bind(variables: Readonly<Record<string, Json>> | undefined): GqlOperation;
}

/** Ready to run: the statements of one transaction in order, and how their bodies form the response. */
export interface GqlOperation {
  readonly kind: "query" | "mutation" | "subscription";
  /** Arguments of its own directives that plugins read, by name. */
  readonly directives: ReadDirectives;
  /** `read write` also for queries that call VOLATILE functions. */
  readonly access: "read only" | "read write";
  readonly steps: readonly GqlStep[];
  /** Of the steps, as one object for all operations of the same template. */
  readonly plans: readonly Plan[];
  readonly outputs: readonly GqlOutput[];
  /** Some output is written in pieces. */
  readonly isIntrospecting?: boolean;
  /** Functions of plugins that answer fields: they run before the transaction. */
  readonly calls: readonly GqlCall[];
  /** Fields of rows that functions of plugins answer when the transaction is over. */
  readonly loads: readonly GqlLoads[];
  /** Call it after the operation has run: caches document and plan. */
  keep(): void;
}

/** One program of an operation, with its values. */
export interface GqlStep {
  readonly planned: Planned;
  readonly values: readonly SentValue[];
  /** Where errors of the database belong when the statement does not say (G-DBE). */
  readonly path: string;
}

export interface GqlCall {
  /** `plugin "weather", field query_root.weather`, for the log. */
  readonly origin: string;
  /** Of the field. */
  readonly path: string;
  /** The JSON text of the field. */
  run(asked: GqlAsked): Promise<string>;
  /** Gives the statement that a live query runs instead. It is undefined if the field cannot be live. */
  readonly live: ((session: Session) => GqlLiveCall) | undefined;
}

export interface GqlLiveCall {
  readonly program: Program;
  /** The JSON text of the field. @throws RelApiError */
  text(body: string | null): string;
  /** As the function tells an error. */
  told(error: unknown): unknown;
}

/** What functions load for the body of one step. */
export interface GqlLoads {
  readonly step: number;
  /** Where their rows stand in the body. */
  readonly tree: GqlLoadTree;
  readonly fields: readonly GqlLoad[];
}

/** By response name: what is in there, or a number: an object with the columns that this one of the fields needs. */
export type GqlLoadTree = ReadonlyMap<string, GqlLoadTree | number>;

export interface GqlLoad extends Pick<GqlCall, "origin" | "path"> {
  /** Two with the same form answer the same rows with the same text. */
  readonly form: string;
  /** JSON texts in the order of the rows. */
  run(rows: readonly GqlLoadedRow[], asked: GqlAsked): Promise<readonly string[]>;
}

/** Pieces of the `data` object, in order of selection. */
export type GqlOutput =
  /** JSON text known already: `__typename`, writes that touch nothing; of introspection it is made when it is asked for,
   *  in `pieces` by those who can wait */
  | { readonly as: string; readonly text: string }
  | { readonly as: string; readonly text: string; readonly pieces: () => Parts }
  /** the body of a step is the value */
  | { readonly as: string; readonly step: number }
  /** the body of a step is an object whose keys belong here (`Bundle`) */
  | { readonly bundle: number }
  /** what a call answers */
  | { readonly as: string; readonly call: number }
  /** a list with one element per step: its body, or text that is known already (`update_T_many`) */
  | { readonly as: string; readonly list: readonly (number | string)[] }
  /** a namespace of a mutation */
  | { readonly as: string; readonly of: readonly GqlOutput[] };

/** What brought a request for an operation. */
export interface GqlSender {
  /** Or the upgrade request of its socket. */
  readonly request: IncomingMessage;
  /** How many came together. */
  readonly batchSize?: number;
}

/** What the GraphQL plugin offers to others (`GraphqlService`). */
export interface GqlEngine {
  /** For other surfaces of this dialect, and for sockets. */
  readonly credentialRules: CredentialRules;
  /** Where the surface is served. */
  readonly path: string;
  /** One with other schemas, made of the same tables. What is checked of documents holds for it too. Once per name, while
   *  plugins are applied or when the first model is there. @rule X-GQL-9 */
  derive(variant: GqlVariant): GqlEngine;
  /** A query to begin with, of what the caller may see; undefined: there is none. A promise as with `prepare`. */
  example(session: Session): string | undefined | Promise<string | undefined>;
  /** The document, from the cache if possible; a promise while that which the first one needs of all tables is made in
   *  pieces. `sender`: absent where nobody asks anew. @throws RelApiError @rule R-SC-12 */
  prepare(request: GqlRequest, session: Session, sender?: GqlSender): ValidatedDocument | Promise<ValidatedDocument>;
  /** Runs it; the text of the `data` object, empty where the options took it. @throws RelApiError */
  run(operation: GqlOperation, session: Session, run?: GqlRunOptions): Promise<string>;
  /** What a request sets for its transaction, and how that ends. @rule G-SES-10 G-TX-6 */
  runOptionsOf(exchange: Exchange): GqlRunOptions;
  /** The text of the `data` object from the bodies of the steps, and the texts of the calls. */
  assemble(operation: GqlOperation, bodies: readonly (string | null)[], calls?: readonly string[]): string;
  /** The same with what functions load for it. @throws RelApiError */
  complete(operation: GqlOperation, bodies: readonly (string | null)[], session: Session): Promise<string>;
  /** JSON whose numbers keep all their digits, for `readRequest`. @throws SyntaxError */
  parseJson(text: string): Json;
  /** A request object (G-HTTP-1) from such a value. @throws RelApiError */
  readRequest(value: Json): GqlRequest;
  /** `{"errors":[…]}` (G-ERR-1) for an error; anything but a RelApiError is logged and reported as an internal
   *  error. */
  encodeErrors(error: unknown, session: Session | undefined): EncodedErrors;
}

/** A whole body of an answer that is long and the same for many. */
export interface PackedBody {
  plain(): Promise<Buffer>;
  gzip(): Promise<Buffer>;
}

export interface GqlLongBody extends Pick<LongBody, "aboveBytes"> {
  /** `before`, `after`: with them the body is `data`. */
  take(row: ResultRow, body: ArrivingBody, before: string, after: string): ValueTaker | undefined;
}

/** Options of one run of an operation. */
export interface GqlRunOptions extends Pick<Execution, "exchange" | "requestSettings"> {
  /** Takes a body that is all of `data`, or its one member. */
  readonly longBody?: GqlLongBody | undefined;
  /** The same of a whole answer that is there already. */
  readonly packedBody?: (body: PackedBody) => void;
  readonly settings?: readonly (readonly [name: string, value: string])[];
  readonly onGone?: (listener: () => void) => () => void;
  /** Of writes; commit unless given. @rule G-TX-6 */
  readonly end?: "commit" | "rollback";
  /** Whatever the operation's functions would do. @rule G-GET-2 */
  readonly access?: "read only";
}
