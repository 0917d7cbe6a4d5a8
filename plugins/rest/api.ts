/** The types and tokens that the REST surface offers to other plugins. */
import { HookMap, SyncBailHook, SyncWaterfallHook } from "tapable";
import {
  defineService,
  defineHook,
  type Answer,
  type ApiAnswer,
  type CallOptions,
  type Envelope,
  type Exchange,
  type Execution,
  type Expression,
  type Model,
  type OpenExchange,
  type Predicate,
  type Read,
  type RelApiError,
  type Relation,
  type ResultRow,
  type RouteTarget,
  type Routine,
  type Session,
  type Token,
  type JsonList,
} from "../../core/index.ts";

export type {
  Route as RestRoute,
  RouteContext as RestRouteContext,
  RouteHandler as RestHandler,
  RouteTarget as RestTarget,
} from "../../core/index.ts";

/** Offers reads of relations as live queries. @experimental */
export interface RestLive {
  /**
   * Plans the read of a GET of the relation with a plain JSON body. Called again after each reload. @throws RelApiError
   */
  plan(exchange: Exchange, target: RouteTarget): Pick<Execution, "schema" | "programs" | "settings" | "isolation">;
  encodeError(error: unknown, exchange: Exchange): string;
}

/** The preferences of a request, offered as `rest-preferences` to handlers that implement a preference. */
export interface RestPreferences {
  /** Returns the accepted value of each declared preference, by name. */
  read(exchange: Exchange): ReadonlyMap<string, string>;
}

/** One entry of an `Accept` header, or a `Content-Type`. */
export interface MediaType {
  /** The canonical `type/subtype` in lower case. Aliases of the vendored types are resolved. */
  readonly name: string;
  /** True if the vendored array or object type has `;nulls=stripped`. */
  readonly isStripped: boolean;
  /** The parts of an execution plan type. */
  readonly plan?: {
    readonly format: "text" | "json";
    readonly mediaType: MediaType;
    readonly options: readonly string[];
  };
  /** The type as messages show it. */
  readonly text: string;
}

/** The rows of a body as one JSON text. */
export interface Payload {
  readonly text: string | Uint8Array | JsonList;
  readonly shape: "object" | "array";
  /** The keys, sorted. Empty if the body was not inspected. */
  readonly keys: readonly string[];
  /** True if there is no row. */
  readonly isEmpty: boolean;
  /** True if values, including documents of JSON columns, are strings in the text forms of their types. */
  readonly isText?: true;
  /** True if the body was JSON and was not inspected, because `columns` was given (R-BODY-4). */
  readonly isUninspected: boolean;
}

/** A body of another format, converted to JSON. `columns`, limits and errors are the same as for JSON bodies. */
export interface JsonBody {
  readonly json: Buffer;
}

/** The two forms in which a plugin returns the rows of a body. */
export type BodyRows = Omit<Payload, "isUninspected"> | JsonBody;

/**
 * Declared by the plugin `rest`: reads the body of a write or a call whose `Content-Type` is neither JSON nor a form. A
 * tap returns `undefined` for other types. @rule X-BODY-1
 */
export const readBodyHook: Token<SyncBailHook<[body: Buffer, type: MediaType], BodyRows | undefined>> = defineHook(
  "readBody",
  "rest",
  () => new SyncBailHook(["body", "type"]),
);

/** Reads a body while it arrives. */
export interface BodyReader {
  /** Takes a part of the body, whose bytes the reader may keep. If the reader throws, the client receives the error
   *  before the rest of the body arrives. */
  take(piece: Buffer): void;
  end(): BodyRows;
}

/** Declared by the plugin `rest`: like `readBody`, but reads a body without holding all of it. This hook is called
 *  before `readBody`. A tap returns `undefined` for other types. @rule X-BODY-2 */
export const receiveBodyHook = defineHook(
  "receiveBody",
  "rest",
  () => new SyncBailHook<[type: MediaType], BodyReader | undefined>(["type"]),
);

/** An error with the response that the database requests. */
export interface RaisedError {
  readonly error: RelApiError;
  /** The reason phrase of the status line. */
  readonly statusText?: string | undefined;
}

/** Declared by the plugin `rest`: called for each error of the database, by SQLSTATE. @rule X-ERR-1 */
export const readRaisedHook = defineHook(
  "readRaised",
  "rest",
  () => new SyncBailHook<[error: RelApiError], RaisedError | undefined>(["error"]),
);

/** A name and its suggested replacement. @experimental */
export interface NameSuggestion {
  readonly suggestion: string;
  readonly misspelt: string;
}

/** Similar names for hints. @rule R-FUZ-1 @experimental */
export interface NameSuggestions {
  /** Suggests a relation of the schema. @rule R-PATH-10 */
  relation(model: Model, schema: string, name: string): string | undefined;
  /** Suggests names for a relationship that was not found. @rule R-EMB-19 */
  relationship(model: Model, schema: string, source: string, target: string): NameSuggestion | undefined;
  /** Suggests a function of the schema. @rule R-RPC-10 R-SC-7 */
  routine(model: Model, schema: string, name: string): string | undefined;
  /** Suggests the parameters of an overload: `(a, b)`. @rule R-RPC-10 */
  overload(overloads: readonly Routine[], names: readonly string[]): string | undefined;
  /** Suggests a path below a root for a path outside of all roots. @rule R-PATH-12 */
  path(model: Model, session: Session, requestPath: string): string | undefined;
}

/** The service that finds similar names. Offered by the plugin `rest-suggestions`. @experimental */
export const nameSuggestionsService = defineService<NameSuggestions>("suggestions");

/** Suggestions for error fields that PostgREST leaves empty. @rule R-HNT-1 … R-HNT-6 @experimental */
export interface RestHints {
  /** Returns the location of the first error: `line 1, column 8: …`. Returns undefined if the text is JSON. */
  findJsonError(text: string): string | undefined;
  /** Adds the location to an error of the database, which was the first to parse the body. */
  addPosition(error: unknown, text: Payload["text"]): unknown;
  /** Adds a hint to an error that has none. */
  addHint(
    error: RelApiError,
    exchange: Pick<Exchange, "method" | "path" | "header"> & { readonly session?: Session },
  ): RelApiError;
}

/** The service that adds hints to errors. Offered by the plugin `rest-hints`. @experimental */
export const restHintsService = defineService<RestHints>("rest-hints");

/** A read for users to copy. @experimental */
export interface RestExample {
  /** The path below a root, encoded: `/vessels?select=id,name&limit=3`. */
  readonly path: string;
  /** The name of the relation. */
  readonly relation: string;
  /** The value of `select`, not encoded: `id,name`. */
  readonly select: string;
  /** The schema to request if it is not the default. */
  readonly profile?: string;
}

/** A relation for users to open. @experimental */
export interface RestRelation {
  readonly name: string;
  readonly schema: string;
  /** The path of its first rows below a root, encoded: `/vessels?limit=20`. */
  readonly path: string;
  readonly comment?: string;
}

/** Rows that a page can watch, with a column that it can change. @experimental */
export interface RestLiveExample {
  /** The path of the rows below a root, encoded: `/port?select=id::text,name&order=id&limit=5`. */
  readonly path: string;
  /** The path of the relation below a root, encoded. The filter `<key>=eq.<value>` selects a row. */
  readonly relationPath: string;
  /** The primary key, whose values `path` returns as strings. */
  readonly key: string;
  /** A column of text. */
  readonly column: string;
  /** True if the caller may change the column in some row. */
  readonly mayUpdate: boolean;
}

/** Information about the surface for other plugins. @experimental */
export interface RestGuide {
  /** Returns the paths of the surface, without a trailing slash. */
  roots(): readonly string[];
  /** Encodes an error in the format of the surface. */
  encodeError(error: RelApiError, exchange: OpenExchange): Answer;
  /** Returns an example read of a relation that the caller may read. Returns undefined if there is no such relation.
   *  The result names no relation if the settings hide the schema description. */
  example(model: Model, session: Session): Promise<RestExample | undefined>;
  /** Returns the relations that the caller may read, by schema, the best examples of each first. Returns an empty map
   *  if the settings hide the schema description. */
  relations(model: Model, session: Session): Promise<readonly RestRelation[]>;
  /** Returns rows of the default schema to watch, from a table that the caller may change if there is one. Returns
   *  undefined without such a table, without live queries or PATCH, or if the settings hide the schema description. */
  liveExample(model: Model, session: Session): Promise<RestLiveExample | undefined>;
}

/** The service that describes the surface. Offered by the plugin `rest`. @experimental */
export const restGuideService = defineService<RestGuide>("rest-guide");

/** The parts of a plan and a response that belong to a media type. */
export interface ChosenMedia {
  /** The parts of the envelope that produce the body. */
  readonly envelope: Pick<Envelope, "media" | "mediaOptions" | "domains" | "wrapper">;
  /** The value of `Content-Type`, by default the type itself. */
  readonly contentType?: string;
  /** True if exactly one row is required (PGRST116). */
  readonly isSingular?: boolean;
  /** True if the body column is base64 of the bytes to send (R-MED-4). */
  readonly isBinary?: boolean;
}

/**
 * The result that a request wants represented, for taps of `chooseMedia`. Properties that a tap reads become part of
 * the plan's cache key.
 */
export interface MediaNegotiation {
  readonly model: Model;
  /** The relation whose rows are returned. */
  readonly relation?: Relation;
  /** The function whose value or rows are returned. */
  readonly routine?: Routine;
  /** True if `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** True if execution plans may be shown. They name everything that the statement uses, including columns that
   *  metadata permissions hide. */
  readonly maySeePlans: boolean;
  /** Chooses the response for another type. */
  chooseFor(type: MediaType): ChosenMedia | undefined;
}

/** Declared by the plugin `rest`: called for each accepted media type except the vendored arrays and objects, best
 *  first. The hook precedes the media types that `compileMedia` knows by name. @rule X-MED-1 */
export const chooseMediaHook = defineHook(
  "chooseMedia",
  "rest",
  () => new SyncBailHook<[type: MediaType, context: MediaNegotiation], ChosenMedia | undefined>(["type", "context"]),
);

/**
 * Declared by the plugin `rest`: changes a successful response by the row of its statement, which contains the columns
 * that plugins declare. @rule X-RES-2
 */
export const finishAnswerHook = defineHook(
  "finishAnswer",
  "rest",
  () => new SyncWaterfallHook<[answer: Answer, row: ResultRow]>(["answer", "row"]),
);

/**
 * Declared by the plugin `rest`: adds response headers that pages of other origins may read. It is called once.
 * @rule X-EXP-1
 */
export const exposeRestHeadersHook = defineHook(
  "exposeRestHeaders",
  "rest",
  () => new SyncWaterfallHook<[names: readonly string[]]>(["names"]),
);

/** The additions of plugins to the document of OpenAPI 3.1. */
export interface OpenapiAdditions {
  /** Descriptions of the parameters of reads, by name. A column of that name takes precedence. */
  readonly readParameters: Readonly<Record<string, string>>;
  /** Path items by path below the root (`/batch`). A relation of that name takes precedence. They may refer to the
   *  parameter `prefer` and the schema `error.response`. */
  readonly paths: Readonly<Record<string, object>>;
}

/** Declared by the plugin `rest`: adds to the document of OpenAPI 3.1. It is called for each document that is built.
 *  @rule R-OAS-10 */
export const describeAdditionsHook = defineHook(
  "describeAdditions",
  "rest",
  () => new SyncWaterfallHook<[additions: OpenapiAdditions]>(["additions"]),
);

/** A query string parameter of a read, for the plugin that parses it. The plan is cached by the parameter's text. */
export interface ReadParameter {
  /** The decoded text after `=`. */
  readonly text: string;
  readonly model: Model;
  readonly relation: Relation;
  /** Finds a column or computed field by the name that select and filters use. */
  field(name: string): Expression;
  /** Parses a condition on the value: `gt.100`, `not.in.(1,2)`. @throws RelApiError `parse-error` */
  condition(leftOperand: Expression, text: string): Predicate;
  /**
   * Finds an aggregate function by the name that select uses. Undefined if it is unknown. @throws RelApiError
   * `aggregates-disabled`
   */
  aggregate(name: string): string | undefined;
  /**
   * Checks the depth of nested groups of conditions, counted from 0. @throws RelApiError `parse-error` beyond
   * `maxLogicDepth`
   */
  checkDepth(depth: number): void;
  /** Makes the error of a text that cannot be parsed. `at` is the position of the first wrong character. */
  buildSyntaxError(at: number, ...expecting: readonly string[]): RelApiError;
}

/**
 * Declared by the plugin `rest`: `for(name)` makes `name` a parameter of GET and HEAD of relations, in place of a
 * filter on a column of that name. It is called once for each occurrence. @rule X-PAR-1
 */
export const readParametersHook = defineHook(
  "readParameters",
  "rest",
  () => new HookMap(() => new SyncWaterfallHook<[read: Read, parameter: ReadParameter]>(["read", "parameter"])),
);

/** The service that reads the preferences of a request. Offered by the plugin `rest`. */
export const restPreferencesService = defineService<RestPreferences>("rest-preferences");

/** The service that plans reads as live queries. Offered by the plugin `rest-live`. @experimental */
export const restLiveService = defineService<RestLive>("rest-live");

/** The description of the schema at the REST root. */
interface OpenapiRoot {
  /** Returns whether the current settings serve the description at the root. */
  isServed(): boolean;
  /** Returns the paths of the description, without a trailing slash. */
  roots(): readonly string[];
}

/** The service that describes the schema. Offered by the plugin `openapi`. @experimental */
export const openapiService = defineService<OpenapiRoot>("openapi");

/** The page for the OpenAPI description. Offered by the plugin `openapi-page` if its files are installed.
 *  @experimental */
export const openapiPageService = defineService<{
  /** Returns the paths of REST roots that have the page. */
  paths(): readonly string[];
}>("openapi-page");

/** A REST request that a program makes without HTTP. @rule X-CALL-1 */
export interface RestCall extends CallOptions {
  /** The method, by default GET. */
  readonly method?: string;
  /** The path below the surface's root, with the query string: `/vessels?id=eq.1`, `/rpc/add`. */
  readonly path: string;
  /** The body: strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
}

declare module "../../core/index.ts" {
  interface ApiMethods {
    /** Runs a request of the REST surface without HTTP. @throws CallError for statuses from 400 on @rule X-CALL-1 */
    rest(call: RestCall): Promise<ApiAnswer>;
  }
  interface OperatorSpec {
    /** The REST name, by default `name`. False if REST does not offer it. */
    readonly rest?: string | false;
    /** Rewrites the operand's text before it is bound in REST (`*` to `%`). */
    readonly restOperand?: (text: string) => string;
  }
  interface PreferenceSpec {
    /** An example that the document of OpenAPI 3.1 shows: `as-of=2024-05-01`. */
    readonly example?: string;
  }
  interface EmbedSpec {
    /** The embed syntax in REST: `~vessels(name)`; with `takesAlias` also `biggest:~vessels(name)`. */
    readonly rest?: { readonly prefix: string; readonly takesAlias?: boolean };
  }
  interface AggregateSpec {
    /** The REST name (`select=tonnage.median()`), by default `name`. False if REST does not offer it. */
    readonly rest?: string | false;
  }
  interface OrderingSpec {
    /** The REST name (`order=place.distance(…)`), by default `name`. False if REST does not offer it. */
    readonly rest?: string | false;
  }
}

/** Quotes a name or value in the query syntax of the REST surface: `"say \"hi\""`. @experimental */
export const quoteRestValue = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** Returns the name or value without the quotes of `quoteRestValue`, if it has quotes. @experimental */
export const unquoteRestValue = (text: string): string =>
  text.startsWith('"') ? text.slice(1, -1).replace(/\\(.)/gs, "$1") : text;

/** Returns the index at which an item of a list ends in the query syntax. It ends at a comma outside of quotes and
 *  parentheses, at the parenthesis that closes the list, or at the end of the text. @experimental */
export const findRestItemEnd = (text: string, start: number): number => {
  let depth = 0;
  let isQuoted = false;
  for (let position = start; position < text.length; position++) {
    const character = text[position];
    if (character === "\\") position++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (isQuoted) continue;
    else if (character === "(" || character === "{") depth++;
    else if (depth > 0 && (character === ")" || character === "}")) depth--;
    else if (depth === 0 && (character === "," || character === ")")) return position;
  }
  return text.length;
};
