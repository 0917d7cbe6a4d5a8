/** What every part of the REST surface works with: the parsed query, the preferences, the request itself. */
import type {
  BoundValue,
  Exchange,
  Limits,
  Model,
  Operation,
  OperatorSpec,
  OrderingSpec,
  Planned,
  PluginContext,
  PreferenceSpec,
  Read,
  RelApiHooks,
  Relation,
  ReadFrom,
  ValueOf,
} from "../../core/index.ts";
import type { StreamedAnswers } from "../streamed-answers/api.ts";
import {
  finishAnswerHook,
  readBodyHook,
  readParametersHook,
  readRaisedHook,
  receiveBodyHook,
  type Hints,
  type MediaChosen,
  type RestRoute,
  type RestTarget,
  type Suggestions,
} from "./api.ts";

// --- the parsed query -----------------------------------------------------------------------------------------------

/** One step of a JSON path. `isIndex`: digits with an optional sign, bound as an integer. @rule R-LEX-6 */
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
      /** Type name, R-LEX-7. Before an aggregate, the type of its argument. */
      readonly cast?: string;
      /** REST name. */
      readonly aggregate?: string;
      readonly aggregateCast?: string;
    }
  /** `count()` */
  | { readonly kind: "count"; readonly alias?: string; readonly cast?: string }
  | SelectEmbed;

export interface SelectEmbed {
  readonly kind: "embed";
  /** The plan's embedding mode: the declared mode whose REST prefix precedes it (`nest` without one, `spread`,
   *  yours). */
  readonly mode: string;
  /** As written: relation, constraint, column or function name. */
  readonly name: string;
  readonly alias?: string;
  readonly hint?: string;
  readonly join?: "left" | "inner";
  readonly items: readonly SelectItem[];
}

/** `[not.]operator[(any|all|language)].value` on a field. */
export interface Condition {
  readonly field: Field;
  readonly isNegated: boolean;
  /** REST name of the operator. */
  readonly operator: string;
  /** The declared operators of that name: one, or several for different types. */
  readonly specs: readonly OperatorSpec[];
  readonly quantifier?: "any" | "all";
  /** Language of full text. */
  readonly option?: string;
  /** Text to bind; a list as an array literal; rewritten by the operator (`*` to `%`). */
  readonly value?: string;
  /** In place of `value` for keyword operators, lower case. */
  readonly keyword?: string;
}

export type LogicTree =
  | { readonly kind: "and" | "or"; readonly isNegated: boolean; readonly of: readonly LogicTree[] }
  | { readonly kind: "condition"; readonly condition: Condition };

/** `path`: names of embeds from the root down; empty: the root. */
export interface Addressed<Part> {
  readonly path: readonly string[];
  readonly part: Part;
}

export interface OrderTerm {
  /** Related order: target name of a to-one embed of the same level. */
  readonly embed?: string;
  readonly field: Field;
  /** `count()`, the number of rows in a group: there is no field. */
  readonly isCount?: true;
  /** A declared ordering of the field, by REST name. */
  readonly ordering?: { readonly name: string; readonly operands: readonly string[] };
  readonly direction?: "asc" | "desc";
  readonly nulls?: "first" | "last";
}

/** `limit` and `offset` of one level, whole numbers of any size and sign. */
export interface NodeRange {
  readonly limit?: bigint;
  readonly offset?: bigint;
}

/** `filters`: every free parameter is a filter. `arguments`: a parameter whose value is not an operator expression is
 *  an argument (R-RPC-2). */
export type QueryKind = "reads" | "filters" | "arguments";

/** A parameter of a plugin. `hook`: the name under which plugins tap it (`having`, `*.having`). */
export interface Extension {
  readonly hook: string;
  readonly name: string;
  readonly text: string;
}

export interface ParsedQuery {
  /** All parameters in URL order, decoded. A parameter without `=` has no value and only appears in
   *  `Content-Location`. */
  readonly pairs: readonly (readonly [name: string, value: string | undefined])[];
  /** Undefined: no `select`, or an empty one (R-SEL-1). */
  readonly select: readonly SelectItem[] | undefined;
  readonly filters: readonly Addressed<Condition>[];
  /** Those of plugins, in URL order. Only for kind `reads`. */
  readonly extensions: readonly Extension[];
  /** The conditions of embeds. */
  readonly nestedExtensions: readonly Addressed<Extension>[];
  readonly logic: readonly Addressed<LogicTree>[];
  readonly orders: readonly Addressed<readonly OrderTerm[]>[];
  /** Of the embeds; the root's is `range`. */
  readonly ranges: readonly Addressed<NodeRange>[];
  readonly range: NodeRange;
  readonly columns: readonly string[] | undefined;
  readonly onConflict: readonly string[] | undefined;
  /** Only for kind `arguments`: name and value in URL order, including repeated ones. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
}

// --- preferences ----------------------------------------------------------------------------------------------------

/** `Prefer`, parsed. The first valid value of each. @rule R-PRF-1 */
export interface Preferences {
  readonly resolution?: "merge-duplicates" | "ignore-duplicates";
  readonly missing?: "default" | "null";
  readonly return?: "representation" | "minimal" | "headers-only";
  readonly count?: "exact" | "planned" | "estimated";
  readonly tx?: "commit" | "rollback";
  readonly handling?: "strict" | "lenient";
  readonly timezone?: string;
  readonly maxAffected?: number;
  /** The value taken of each preference, those of plugins included, in the order sent. */
  readonly given: ReadonlyMap<string, string>;
  /** Unknown or misspelt items in the order sent; refused when `handling` is strict (`checkPreferences`). */
  readonly invalid: readonly string[];
}

/** Preferences by name: whether they are honoured, and so echoed. @rule R-PRF-3 */
export type AppliedPreferences = Readonly<Record<string, boolean>>;

// --- the request ----------------------------------------------------------------------------------------------------

/** Rows wanted at the root, after `limit`, `offset` and the `Range` header have been brought together. */
export interface RootRange {
  /** 0 by default. */
  readonly offset: bigint;
  readonly limit?: bigint;
}

/** What a plan knows of the window: the numbers themselves are bound. */
export interface Window {
  readonly hasLimit: boolean;
  readonly hasOffset: boolean;
}

/** The surface with what it keeps between requests. */
export interface Rest {
  readonly context: PluginContext;
  /** Media types with a tap of `compileMedia` are known. */
  readonly hooks: RelApiHooks;
  readonly grammar: Grammar;
  readonly finishAnswer: ValueOf<typeof finishAnswerHook>;
  readonly readBody: ValueOf<typeof readBodyHook>;
  readonly receiveBody: ValueOf<typeof receiveBodyHook>;
  readonly readRaised: ValueOf<typeof readRaisedHook>;
  readonly readParameters: ValueOf<typeof readParametersHook>;
  /** Similar names, if a plugin knows any. */
  suggestions(): Suggestions | undefined;
  /** More of them, where errors need not be the dialect's to the byte. */
  hints(): Hints | undefined;
  /** What takes long bodies, if a plugin does. */
  streamed(): StreamedAnswers | undefined;
  /** The route of a target: this surface's methods, changed by `buildRestRoute` taps. */
  routeOf(model: Model, schema: string, target: RestTarget): RestRoute;
  /** Where a request leads, by method, path and profile. Kept. @throws RelApiError `path-invalid`, `root-disabled`,
   *  `schema-not-exposed` */
  wayOf(exchange: Exchange): Way;
  /** What it says. Kept. @throws RelApiError `parse-error`, … in the order of R-PIPE-1 */
  parse(source: ParseSource): ParsedRequest;
}

/** What requests are parsed from. */
export interface ParseSource {
  readonly way: Way;
  /** The query string, or its template. */
  readonly text: string | undefined;
  readonly hasMarks: boolean;
  readonly hasRange: boolean;
  /** The header. */
  readonly prefer: string | undefined;
}

/** What the registry and the settings add to what a request may say. */
export interface Grammar {
  readonly limits: Limits;
  /** Operators by REST name. */
  readonly operators: ReadonlyMap<string, readonly OperatorSpec[]>;
  /** REST names of those that take a value as it is written: no list, word or pattern. */
  readonly plainOperators: ReadonlySet<string>;
  /** Preferences by name, the surface's own among them. */
  readonly preferences: ReadonlyMap<string, PreferenceSpec>;
  /** A parameter of reads that a plugin reads. */
  extensions(name: string): boolean;
  /** Aggregate functions by REST name, in order of declaration: what a plan calls them. */
  readonly aggregates: ReadonlyMap<string, string>;
  /** Declared orderings by REST name: one, or several for different types. */
  readonly orderings: ReadonlyMap<string, readonly OrderingSpec[]>;
  /** Embedding modes by REST prefix, longest prefix first; `""` is the plain embed. */
  readonly embeds: readonly { readonly prefix: string; readonly mode: string; readonly takesAlias: boolean }[];
  /** Modes whose columns are the parent's own. */
  readonly flatModes: ReadonlySet<string>;
}

/** Where a request leads, by its path and its profile. */
export interface Place {
  readonly kind: RestTarget["kind"];
  readonly model: Model;
  readonly schema: string;
  /** The response names its schema in `Content-Profile` (R-PROF-3). */
  readonly isProfileNamed: boolean;
  /** Decoded last segment of the path: relation or function name; "" at the root. */
  readonly name: string;
  /** Path as received below the REST root, percent-encoded, without prefix and query: `/vessels`, `/rpc/f`, `/`. @rule
   *  R-PATH-9 */
  readonly path: string;
}

/** The same for all requests with that method, path and profile. */
export interface Way extends Place {
  readonly method: string;
  /** Undefined: an unknown relation. */
  readonly target: RestTarget | undefined;
  /** For whoever counts and logs requests. */
  readonly operation: Operation;
  /** Undefined: it does not answer the method. */
  readonly handler: RestRoute["methods"] extends ReadonlyMap<string, infer Handler> ? Handler | undefined : never;
}

/** What is read of a request without the body, without planning and without the values of its filters: one object for
 *  all requests that say the same. */
export interface ParsedRequest extends Place {
  readonly rest: Rest;
  readonly method: string;
  /** Of a read: values of plain filters are marks in it (`templateOf`). */
  readonly query: ParsedQuery;
  readonly hasMarks: boolean;
  readonly preferences: Preferences;
  /** How the transaction ends. */
  readonly end: TransactionEnd;
  /** Rows wanted at the root, unless a `Range` header says so too. */
  readonly range: RootRange | undefined;
}

/** A request after steps 4 to 8 of R-PIPE-1. */
export interface RestRequest extends Omit<ParsedRequest, "range" | "hasMarks"> {
  readonly parsed: ParsedRequest;
  readonly exchange: Exchange;
  /** What the marks of `query` stand for. */
  readonly filterValues: readonly string[];
  readonly range: RootRange;
  readonly hasLimit: boolean;
  readonly hasOffset: boolean;
  /** The header. */
  readonly accept: string | undefined;
}

export interface TransactionEnd {
  readonly end: "commit" | "rollback";
  /** The client's `tx` is honoured, and echoed. */
  readonly isChosen: boolean;
}

// --- calls -----------------------------------------------------------------------------------------------------------

/** What a call offers to choose by. */
export interface CallShape {
  /** Names of the arguments, sorted, each once. */
  readonly names: readonly string[];
  /** POST with a body of this type; undefined with GET, CSV and forms. */
  readonly raw?: "json" | "text" | "xml" | "bytea";
}

// --- resolving reads ------------------------------------------------------------------------------------------------

export interface ReadInput {
  readonly rest: Rest;
  readonly model: Model;
  readonly schema: string;
  readonly query: ParsedQuery;
  readonly from: ReadFrom;
  /** The relation that the rows belong to; undefined for functions that do not return one. */
  readonly relation: Relation | undefined;
  /** Names of the result's columns, if there is no relation. */
  readonly columns?: readonly string[];
  /** Then: its composite type, if it has one. */
  readonly rowType?: number | undefined;
  /** What messages call the source: the name of a relation, type or function. */
  readonly name: string;
  /** What messages call its rows, if not by that name. */
  readonly row?: string;
  /** Root filters, root trees and null filters on embeds apply. False for representations of writes (R-WRT-3). */
  readonly hasRootFilters: boolean;
  /** The root's window, and that limits of embeds and `dbMaxRows` apply; undefined for writes (R-RNG-1, R-RNG-5). */
  readonly window: Window | undefined;
  /** The request's values so far; the read's are appended, with a gap for each number of the window, which comes last.
   *  */
  readonly values: BoundValue[];
}

export interface ResolvedRead {
  readonly read: Read;
  /** `select` is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** Embeds addressed by the name written though they have an alias, for the `Warning` header. @rule R-EMB-7 R-HDR-9 */
  readonly legacyNames: readonly { readonly name: string; readonly alias: string }[];
}

// --- planned requests -----------------------------------------------------------------------------------------------

/** The media type of a response. */
export type MediaChoice = Required<MediaChosen>;

/** What planners make of a request; the same for every request that says the same, so that it can be kept. */
export interface PlannedRequest extends Planned {
  readonly media: MediaChoice;
  /** Preferences that the plan honours. */
  readonly applied: AppliedPreferences;
  readonly legacyNames: ResolvedRead["legacyNames"];
}
