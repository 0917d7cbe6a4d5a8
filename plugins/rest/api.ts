/** What the REST surface says to other plugins: types and tokens. */
import { HookMap, SyncBailHook, SyncWaterfallHook } from "tapable";
import {
  defineService,
  defineHook,
  type Answer,
  type CallOptions,
  type Envelope,
  type Exchange,
  type Execution,
  type Expression,
  type Model,
  type OpenExchange,
  type Plan,
  type Predicate,
  type Read,
  type RelApiError,
  type Relation,
  type ResultRow,
  type RouteTarget,
  type Routine,
  type Session,
  type JsonList,
} from "../../core/index.ts";

export type {
  Route as RestRoute,
  RouteContext as RestRouteContext,
  RouteHandler as RestHandler,
  RouteTarget as RestTarget,
} from "../../core/index.ts";

/** Reads of relations as live queries. */
export interface RestLive {
  /** The read that a GET of the relation is, its body as plain JSON; again after each reload. @throws RelApiError */
  plan(
    exchange: Exchange,
    target: RouteTarget,
  ): Pick<Execution, "schema" | "programs" | "settings" | "isolation"> & { readonly read: Plan };
  /** The body of an error. */
  encodeError(error: unknown, exchange: Exchange): string;
}

/** The preferences of a request, offered as `rest-preferences` to handlers that serve one themselves. */
export interface RestPreferences {
  /** The value taken of each declared preference, by name. */
  of(exchange: Exchange): ReadonlyMap<string, string>;
}

/** One entry of an `Accept` header, or a `Content-Type`. */
export interface MediaType {
  /** Canonical `type/subtype` in lower case; the aliases of the vendored types resolved. */
  readonly name: string;
  /** `;nulls=stripped` of the vendored array and object types. */
  readonly isStripped: boolean;
  /** Parts of the plan type. */
  readonly plan?: { readonly format: "text" | "json"; readonly of: MediaType; readonly options: readonly string[] };
  /** As messages show it. */
  readonly text: string;
}

/** Rows of a body as one JSON text. */
export interface Payload {
  /** Bytes are sent to the database without being copied. */
  readonly text: string | JsonList;
  readonly shape: "object" | "array";
  /** Sorted. Empty when the body was not inspected. */
  readonly keys: readonly string[];
  /** No row at all. */
  readonly isEmpty: boolean;
  /** Values are texts in the forms of their types, a document of a JSON column too. */
  readonly isText?: true;
  /** The body was JSON and was not inspected, because `columns` was given (R-BODY-4). */
  readonly isUninspected: boolean;
}

/** A body of another format, put as JSON. It is read as a JSON body is: `columns`, limits and errors are the same. */
export interface JsonBody {
  readonly json: Buffer;
}

/** The two forms in which a plugin returns the rows of a body. */
export type BodyRows = Omit<Payload, "isUninspected"> | JsonBody;

/** Declared by the plugin `rest`: reads the body of a write or a call whose `Content-Type` is neither JSON nor a form.
 *  `undefined`: not my type. @rule X-BODY-1 */
export const readBodyHook = defineHook(
  "readBody",
  "rest",
  () => new SyncBailHook<[body: Buffer, type: MediaType], BodyRows | undefined>(["body", "type"]),
);

/** Reads a body while it arrives. */
export interface BodyReader {
  /** The bytes are its own. What it throws is answered before the rest of the body has come. */
  take(piece: Buffer): void;
  end(): BodyRows;
}

/** Declared by the plugin `rest`: as `readBody`, for bodies that need not be held. Asked first. `undefined`: not my type.
 *  @rule X-BODY-2 */
export const receiveBodyHook = defineHook(
  "receiveBody",
  "rest",
  () => new SyncBailHook<[type: MediaType], BodyReader | undefined>(["type"]),
);

/** An error as the database wants it answered. */
export interface RaisedError {
  readonly error: RelApiError;
  /** The reason phrase. */
  readonly statusText?: string | undefined;
}

/** Declared by the plugin `rest`: asked for each error of the database, by its SQLSTATE. @rule X-ERR-1 */
export const readRaisedHook = defineHook(
  "readRaised",
  "rest",
  () => new SyncBailHook<[error: RelApiError], RaisedError | undefined>(["error"]),
);

/** A name, and the one that it may have been meant by. */
export interface Instead {
  readonly name: string;
  readonly instead: string;
}

/** Similar names for hints. @rule R-FUZ-1 */
export interface Suggestions {
  /** A relation of the schema. @rule R-PATH-10 */
  relation(model: Model, schema: string, name: string): string | undefined;
  /** For a relationship that was not found. @rule R-EMB-19 */
  relationship(model: Model, schema: string, source: string, target: string): Instead | undefined;
  /** A function of the schema. @rule R-RPC-10 R-SC-7 */
  routine(model: Model, schema: string, name: string): string | undefined;
  /** The parameters of one of the overloads: `(a, b)`. @rule R-RPC-10 */
  overload(overloads: readonly Routine[], names: readonly string[]): string | undefined;
  /** The path below a root that one which is under none was meant for. @rule R-PATH-12 */
  path(model: Model, session: Session, written: string): string | undefined;
}

/** Offered by the plugin `suggestions`. */
export const suggestionsService = defineService<Suggestions>("suggestions");

/** What may have been meant, for fields of errors that the dialect leaves empty. @rule R-HNT-1 … R-HNT-6 */
export interface Hints {
  /** Where the text is no JSON: `line 1, column 8: …`. Undefined: it is JSON. */
  jsonFault(text: string): string | undefined;
  /** The database was the first to read the body and says what is wrong with it; where is added. */
  withPosition(error: unknown, text: string | JsonList): unknown;
  /** The error, with a hint if it has none. */
  explain(
    error: RelApiError,
    exchange: Pick<Exchange, "method" | "path" | "header"> & { readonly session?: Session },
  ): RelApiError;
}

/** Offered by the plugin `rest-hints`. */
export const hintsService = defineService<Hints>("rest-hints");

/** A read to copy. */
export interface RestExample {
  /** Below a root, encoded: `/vessels?select=id,name&limit=3`. */
  readonly path: string;
  /** The schema to ask for, where it is not the default. */
  readonly profile?: string;
}

/** What others have to know of the surface. */
export interface RestGuide {
  /** Its paths, without a slash at their end. */
  roots(): readonly string[];
  /** An error in the format of the surface. */
  encodeError(error: RelApiError, exchange: OpenExchange): Answer;
  /** Of a relation that the caller may read; undefined: there is none. Without a name where the settings keep the
   *  description of the schema back. */
  example(model: Model, session: Session): Promise<RestExample | undefined>;
}

/** Offered by the plugin `rest`. */
export const restGuideService = defineService<RestGuide>("rest-guide");

/** How a response of a media type is made. */
export interface MediaChosen {
  /** Parts of the envelope when a body is made. */
  readonly envelope: Pick<Envelope, "media" | "mediaOptions" | "domains" | "wrapper">;
  /** Value of `Content-Type`; absent: the type's own. */
  readonly contentType?: string;
  /** Exactly one row is required (PGRST116). */
  readonly isSingular?: boolean;
  /** The body column is base64 of the bytes to send (R-MED-4). */
  readonly isBinary?: boolean;
}

/** What a request asks to be represented, for taps of `chooseMedia`. The plan is cached by what is read of it. */
export interface MediaContext {
  readonly model: Model;
  /** The relation whose rows are returned. */
  readonly relation?: Relation;
  /** The function whose value or rows are returned. */
  readonly routine?: Routine;
  /** `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** Execution plans name whatever the statement touches: columns too that a permission of the metadata hides. */
  readonly maySeePlans: boolean;
  /** What another type would be answered with. */
  choose(type: MediaType): MediaChosen | undefined;
}

/** Declared by the plugin `rest`: asked for each accepted media type but the vendored arrays and objects, best first,
 *  before those that `compileMedia` knows by name. @rule X-MED-1 */
export const chooseMediaHook = defineHook(
  "chooseMedia",
  "rest",
  () => new SyncBailHook<[type: MediaType, context: MediaContext], MediaChosen | undefined>(["type", "context"]),
);

/** Declared by the plugin `rest`: what a successful answer becomes, by the row of its statement, in which columns that
 *  plugins declare are. @rule X-RES-2 */
export const finishAnswerHook = defineHook(
  "finishAnswer",
  "rest",
  () => new SyncWaterfallHook<[answer: Answer, row: ResultRow]>(["answer", "row"]),
);

/** Declared by the plugin `rest`: response headers, beside those of the dialect, that pages of other origins may read.
 *  Asked once. @rule X-EXP-1 */
export const exposeRestHeadersHook = defineHook(
  "exposeRestHeaders",
  "rest",
  () => new SyncWaterfallHook<[names: readonly string[]]>(["names"]),
);

/** A parameter of the query string of a read, for the plugin that reads it. The plan is kept by its text. */
export interface ReadParameter {
  /** After `=`, decoded. */
  readonly text: string;
  readonly model: Model;
  readonly relation: Relation;
  /** A column or computed field, as select and filters name it. */
  field(name: string): Expression;
  /** `gt.100`, `not.in.(1,2)` of the value. @throws RelApiError `parse-error` */
  condition(left: Expression, text: string): Predicate;
  /** An aggregate function, as select names it; undefined: unknown. @throws RelApiError `aggregates-disabled` */
  aggregate(name: string): string | undefined;
  /** Checks the depth of nested groups of conditions, from 0. @throws RelApiError `parse-error` beyond `maxLogicDepth` */
  checkDepth(depth: number): void;
  /** The words for a text that cannot be read. `at`: where it goes wrong. */
  unreadable(at: number, ...expecting: readonly string[]): RelApiError;
}

/** Declared by the plugin `rest`: `for(name)` makes `name` a parameter of GET and HEAD of relations, in place of a filter
 *  on a column of that name. Called once for each time that it is given. @rule X-PAR-1 */
export const readParametersHook = defineHook(
  "readParameters",
  "rest",
  () => new HookMap(() => new SyncWaterfallHook<[read: Read, parameter: ReadParameter]>(["read", "parameter"])),
);

/** Offered by the plugin `rest`. */
export const restPreferencesService = defineService<RestPreferences>("rest-preferences");

/** Offered by the plugin `rest-live`. */
export const restLiveService = defineService<RestLive>("rest-live");

/** The description of the schema at the REST root. */
export interface OpenapiRoot {
  /** The settings in force have it there. */
  isServed(): boolean;
  /** Its paths, without a slash at their end. */
  roots(): readonly string[];
}

/** Offered by the plugin `openapi`. */
export const openapiService = defineService<OpenapiRoot>("openapi");

/** Offered by the plugin `openapi-page`, where its files are there. */
export const openapiPageService = defineService<{
  /** The REST roots that have the page. */
  paths(): readonly string[];
}>("openapi-page");

/** @rule X-CALL-1 */
export interface RestCall extends CallOptions {
  /** GET unless given. */
  readonly method?: string;
  /** Below the surface's root, with its query: `/vessels?id=eq.1`, `/rpc/add`. */
  readonly path: string;
  /** Text and bytes as they are, anything else as JSON. */
  readonly body?: unknown;
}

declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** A request of the REST surface, without HTTP. @throws CallError for statuses from 400 on @rule X-CALL-1 */
    rest(call: RestCall): Promise<ApiAnswer>;
  }
}

declare module "../../core/plugin.ts" {
  interface OperatorSpec {
    /** REST name; absent: `name`; false: not in REST. */
    readonly rest?: string | false;
    /** REST: rewrites the text of the operand before it is bound (`*` to `%`). */
    readonly restOperand?: (text: string) => string;
  }
  interface EmbedSpec {
    /** `~vessels(name)`; with `takesAlias` also `biggest:~vessels(name)`. */
    readonly rest?: { readonly prefix: string; readonly takesAlias?: boolean };
  }
  interface AggregateSpec {
    /** REST name (`select=tonnage.median()`); absent: `name`; false: not in REST. */
    readonly rest?: string | false;
  }
  interface OrderingSpec {
    /** REST name (`order=place.distance(…)`); absent: `name`; false: not in REST. */
    readonly rest?: string | false;
  }
}
