/** The common types of the REST surface: the parsed query, the preferences, the request itself. */
import type {
  BoundValue,
  Cache,
  Exchange,
  RequestLimits,
  Model,
  Operation,
  OperatorSpec,
  OrderingSpec,
  PlanWithEnvelope,
  PluginContext,
  PreferenceSpec,
  Program,
  Read,
  RelApiHooks,
  Relation,
  ReadFrom,
  SessionSource,
} from "../../core/index.ts";
import type { StreamedAnswers } from "../speed/api.ts";
import type { RestHints, ChosenMedia, Payload, RestRoute, RestTarget, NameSuggestions } from "./api.ts";

/**
 * A step of a JSON path. With `isIndex`, it consists of digits with an optional sign and is bound as an integer.
 * @rule R-LEX-6
 */
export interface JsonPathKey {
  readonly arrow: "->" | "->>";
  readonly key: string;
  readonly isIndex: boolean;
}

/** A column name and its JSON path. */
export interface Field {
  readonly name: string;
  readonly path: readonly JsonPathKey[];
}

export type SelectItem =
  | { readonly kind: "all" }
  | {
      readonly kind: "field";
      readonly field: Field;
      readonly alias?: string;
      /** The type name of a cast, R-LEX-7. Before an aggregate, it is the type of its argument. */
      readonly cast?: string;
      /** The REST name of the aggregate. */
      readonly aggregate?: string;
      readonly aggregateCast?: string;
    }
  /** The item `count()`. */
  | { readonly kind: "count"; readonly alias?: string; readonly cast?: string }
  | SelectEmbed;

export interface SelectEmbed {
  readonly kind: "embed";
  /**
   * The embedding mode of the plan, declared with this REST prefix: `nest` without one, `spread`, or that of a plugin.
   */
  readonly mode: string;
  /** The name in the query: a relation, constraint, column or function. */
  readonly name: string;
  readonly alias?: string;
  readonly hint?: string;
  readonly join?: "left" | "inner";
  readonly items: readonly SelectItem[];
}

/** A condition on a field: `[not.]operator[(any|all|language)].value`. */
export interface Condition {
  readonly field: Field;
  readonly isNegated: boolean;
  /** The REST name of the operator. */
  readonly operator: string;
  /** The declared operators of that name, possibly several for different types. */
  readonly specs: readonly OperatorSpec[];
  readonly quantifier?: "any" | "all";
  /** The language of a full text search. */
  readonly option?: string;
  /** The text to bind. Lists are array literals, and the operator may rewrite the text (`*` to `%`). */
  readonly value?: string;
  /** The lower-case keyword of keyword operators, in place of `value`. */
  readonly keyword?: string;
}

export type LogicTree =
  | { readonly kind: "and" | "or"; readonly isNegated: boolean; readonly members: readonly LogicTree[] }
  | { readonly kind: "condition"; readonly condition: Condition };

/**
 * A part with the level that it concerns. `path` contains the names of embeds from the root, and is empty for the root.
 */
export interface AddressedPart<Part> {
  readonly path: readonly string[];
  readonly part: Part;
}

export interface OrderTerm {
  /** The target name of a to-one embed of the same level, in a related order. */
  readonly embed?: string;
  readonly field: Field;
  /** True if the term is `count()`, the number of rows in a group, which has no field. */
  readonly isCount?: true;
  /** A declared ordering of the field, by REST name. */
  readonly ordering?: { readonly name: string; readonly operands: readonly string[] };
  readonly direction?: "asc" | "desc";
  readonly nulls?: "first" | "last";
}

/** The `limit` and `offset` of one level, whole numbers of any size and sign. */
export interface NodeRange {
  readonly limit?: bigint;
  readonly offset?: bigint;
}

/**
 * With `filters`, every free parameter is a filter. With `arguments`, a parameter whose value is not an operator
 * expression is an argument (R-RPC-2).
 */
export type QueryKind = "reads" | "filters" | "arguments";

/** A parameter of a plugin. `hook` is the name under which plugins tap it (`having`, `*.having`). */
export interface PluginParameter {
  readonly hook: string;
  readonly name: string;
  readonly text: string;
}

export interface ParsedQuery {
  /**
   * All parameters in URL order, decoded. A parameter without `=` has no value and only appears in `Content-Location`.
   */
  readonly pairs: readonly (readonly [name: string, value: string | undefined])[];
  /** The selected items. Undefined without `select`, or if it is empty (R-SEL-1). */
  readonly select: readonly SelectItem[] | undefined;
  readonly filters: readonly AddressedPart<Condition>[];
  /** Parameters of plugins in URL order. The root has parameters only for kind `reads`. */
  readonly pluginParameters: readonly AddressedPart<PluginParameter>[];
  readonly logic: readonly AddressedPart<LogicTree>[];
  readonly orders: readonly AddressedPart<readonly OrderTerm[]>[];
  /** The ranges of embeds. The root has its own in `range`. */
  readonly ranges: readonly AddressedPart<NodeRange>[];
  readonly range: NodeRange;
  readonly columns: readonly string[] | undefined;
  readonly onConflict: readonly string[] | undefined;
  /** Names and values in URL order, including repeated ones, only for kind `arguments`. */
  readonly argumentPairs: readonly (readonly [name: string, value: string])[];
}

/** The parsed `Prefer` header, with the first valid value of each preference. @rule R-PRF-1 */
export interface Preferences {
  readonly resolution?: "merge-duplicates" | "ignore-duplicates";
  readonly missing?: "default" | "null";
  readonly return?: "representation" | "minimal" | "headers-only";
  readonly count?: "exact" | "planned" | "estimated";
  readonly tx?: "commit" | "rollback";
  readonly handling?: "strict" | "lenient";
  readonly timezone?: string;
  readonly maxAffected?: number;
  /** The accepted value of each preference, including those of plugins, in the order sent. */
  readonly acceptedValues: ReadonlyMap<string, string>;
  /** Unknown or misspelt items in the order sent. They are rejected if `handling` is strict (`checkPreferences`). */
  readonly invalidItems: readonly string[];
}

/** True if each preference is honoured and therefore echoed, by name. @rule R-PRF-3 */
export type AppliedPreferences = Readonly<Record<string, boolean>>;

/** The requested rows of the root, combined from `limit`, `offset` and the `Range` header. */
export interface RootRange {
  /** The number of skipped rows, by default 0. */
  readonly offset: bigint;
  readonly limit?: bigint;
}

/** The part of the window that a plan contains. The numbers themselves are bound. */
export interface Window {
  readonly hasLimit: boolean;
  readonly hasOffset: boolean;
}

/** The surface with its state and caches. */
export interface RestSurface {
  readonly context: PluginContext;
  /** The hooks. Media types with a tap of `compileMedia` are known. */
  readonly hooks: RelApiHooks;
  readonly grammar: Grammar;
  /** Returns the service that suggests similar names, if a plugin offers it. */
  findSuggestions(): NameSuggestions | undefined;
  /** Returns the service of hints in errors that may differ from the errors of PostgREST, if a plugin offers it. */
  findHints(): RestHints | undefined;
  /** Returns the service that streams long bodies, if a plugin offers it. */
  findStreamedAnswers(): StreamedAnswers | undefined;
  /** Returns the route of a target: the methods of this surface, changed by taps of `buildRestRoute`. */
  findRoute(model: Model, schema: string, target: RestTarget): RestRoute;
  /**
   * Matches the route of a request by method, path and profile. @throws RelApiError `path-invalid`, `root-disabled`,
   * `schema-not-exposed`
   */
  matchRoute(exchange: Exchange): RouteMatch;
  /** The prepared reads of relations. */
  readonly reads: Cache<RequestSource, PreparedRequest<PlannedRead>>;
}

/** The syntax that the registry and the settings add to requests. */
export interface Grammar {
  readonly limits: RequestLimits;
  /** Operators by REST name. */
  readonly operators: ReadonlyMap<string, readonly OperatorSpec[]>;
  /** REST names of operators whose value is used verbatim, and is not a list, keyword or pattern. */
  readonly plainOperators: ReadonlySet<string>;
  /** Preferences by name, including those of the surface itself. */
  readonly preferences: ReadonlyMap<string, PreferenceSpec>;
  /** Returns whether a plugin parses the read parameter of that name. */
  isPluginParameter(name: string): boolean;
  /** Aggregate functions by REST name with their name in plans, in the order of declaration. */
  readonly aggregates: ReadonlyMap<string, string>;
  /** Declared orderings by REST name, possibly several for different types. */
  readonly orderings: ReadonlyMap<string, readonly OrderingSpec[]>;
  /** Embedding modes by REST prefix, the longest prefix first. `""` is the prefix of a plain embed. */
  readonly embeds: readonly { readonly prefix: string; readonly mode: string; readonly takesAlias: boolean }[];
  /** Modes whose columns become the parent's own. */
  readonly flatModes: ReadonlySet<string>;
}

/** The target of a request, from its path and profile. */
export interface RequestTarget {
  readonly kind: RestTarget["kind"];
  readonly model: Model;
  readonly schema: string;
  /** True if the response names its schema in `Content-Profile` (R-PROF-3). */
  readonly isProfileNamed: boolean;
  /** The decoded last segment of the path: the relation or function name, or "" at the root. */
  readonly name: string;
  /**
   * The path below the REST root as received, percent-encoded, without prefix and query: `/vessels`, `/rpc/f`, `/`.
   * @rule R-PATH-9
   */
  readonly path: string;
}

export interface RouteMatch extends RequestTarget {
  /** The target. Undefined for an unknown relation. */
  readonly target: RestTarget | undefined;
  /** The operation, for metrics and logs. */
  readonly operation: Operation;
  /** The handler. Undefined if the target does not support the method. */
  readonly handler: RestRoute["methods"] extends ReadonlyMap<string, infer Handler> ? Handler | undefined : never;
}

/** The parsed request without the body and the values of filters, before planning. Equal requests share one object. */
export interface ParsedRequest extends RequestTarget {
  readonly rest: RestSurface;
  readonly method: string;
  /** The query. In reads, the values of plain filters are marks (`buildTemplate`). */
  readonly query: ParsedQuery;
  readonly hasMarks: boolean;
  readonly preferences: Preferences;
  readonly end: TransactionEnd;
  readonly window: Window;
}

/** A query string whose plain values are replaced by marks. Query strings that differ only in values share one
 *  template. */
export interface QueryTemplate {
  /** The query string with a mark in place of each value. */
  readonly text: string;
  /** The decoded values in the order of the marks. */
  readonly values: readonly string[];
}

/** The positions of marks among the planned values, each with the number of its value. */
export type SlotPositions = readonly (readonly [at: number, value: number])[];

/** The facts that a request is prepared from. */
export interface RequestSource extends SessionSource {
  readonly exchange: Exchange;
  readonly model: Model;
  readonly prefer: string | undefined;
  /** The query string with marks. Undefined if the query string is parsed unchanged. */
  readonly template: QueryTemplate | undefined;
  /** The relation of a read or a write. */
  readonly relation: Relation | undefined;
  /** Reads the received body. `hasColumns` says that the query names the columns, so that the body is not inspected.
   *  @throws RelApiError `bad-body` */
  readonly input?: ((hasColumns: boolean) => RequestInput) | undefined;
}

/** A request after steps 4 to 8 of R-PIPE-1. */
export interface RestRequest extends ParsedRequest {
  readonly exchange: Exchange;
  /** The values of the marks in `query`. */
  readonly filterValues: readonly string[];
  readonly range: RootRange;
  readonly accept: string | undefined;
}

export interface TransactionEnd {
  readonly end: "commit" | "rollback";
  /** True if the client's `tx` preference is honoured and echoed. */
  readonly isChosenByClient: boolean;
}

/** The source of the rows of a write or the arguments of a call, as far as the source affects the plan. */
export type InputShape =
  | { readonly kind: "query" }
  /** The body is a form: names and texts, in order, with names that may repeat. */
  | { readonly kind: "form"; readonly pairs: readonly (readonly [name: string, value: string])[] }
  /** The body is JSON, or the rows of a CSV body. With `isPlain`, `RequestInput` has the values as texts. */
  | { readonly kind: "payload"; readonly isJson: boolean; readonly isPlain?: true }
  | { readonly kind: "raw"; readonly type: "text" | "xml" | "bytea" };

/** The rows of a write or the arguments of a call. */
export interface RequestInput {
  readonly shape: InputShape;
  /** The payload of an input of the kind `payload`. */
  readonly payload?: Payload;
  /** The values of a plain payload by name. */
  readonly values?: ReadonlyMap<string, string | null> | undefined;
  /** True if the body had no bytes. */
  readonly isEmpty?: boolean;
  /** The body of a call of the kind `raw`. */
  readonly body?: Buffer;
}

/** The properties of a call by which an overload is chosen. */
export interface CallShape {
  /** The names of the arguments, sorted and unique. */
  readonly names: readonly string[];
  /** The type of a POST body that can be a raw argument. Undefined for GET, CSV and forms. */
  readonly bodyType?: "json" | "text" | "xml" | "bytea";
}

export interface ReadInput {
  readonly rest: RestSurface;
  readonly model: Model;
  readonly schema: string;
  readonly query: ParsedQuery;
  readonly from: ReadFrom;
  /** The relation of the rows. Undefined for functions that return no relation. */
  readonly relation: Relation | undefined;
  /** The names of the result's columns, if there is no relation. */
  readonly columns?: readonly string[];
  /** The composite type of a result without a relation, if it has one. */
  readonly rowType?: number | undefined;
  /** The name of the source in messages: the name of a relation, type or function. */
  readonly name: string;
  /** The name of the source's rows in messages, if it differs from the name of the source. */
  readonly rowName?: string;
  /** True if root filters, root trees and null filters on embeds apply. False for representations of writes
   *  (R-WRT-3). */
  readonly hasRootFilters: boolean;
  /** The root's window. If it is defined, limits of embeds and `dbMaxRows` apply. It is undefined for writes (R-RNG-1,
   *  R-RNG-5). */
  readonly window: Window | undefined;
  /** The request's values so far. The read appends its own values, then a slot for each number of the window. */
  readonly values: BoundValue[];
}

export interface ResolvedRead {
  readonly read: Read;
  /** True if `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /**
   * Embeds that the query addresses by name although they have an alias, for the `Warning` header. @rule R-EMB-7
   * R-HDR-9
   */
  readonly legacyNames: readonly { readonly name: string; readonly alias: string }[];
}

/** The media type of a response. */
export type MediaChoice = Required<ChosenMedia>;

export interface PlannedRequest extends PlanWithEnvelope {
  readonly media: MediaChoice;
  /** The preferences that the plan honours. */
  readonly appliedPreferences: AppliedPreferences;
  readonly legacyNames: ResolvedRead["legacyNames"];
}

/** A planned read, shared by equal requests. */
export interface PlannedRead extends PlannedRequest {
  /** The values of filters and paths, followed by the root's limit and offset. `slotPositions` lists the marks, whose
   *  values differ between requests. */
  readonly values: readonly BoundValue[];
  readonly slotPositions: SlotPositions;
  /** `Content-Location` split at the positions of these values. */
  readonly location: readonly string[];
}

/** Everything about a request that is cached. Equal requests share one object. */
export interface PreparedRequest<Planned extends PlannedRequest> {
  readonly parsedRequest: ParsedRequest;
  readonly plannedRequest: Planned;
  readonly program: Program;
}
