/** Defines plans, the common form of the requests of all surfaces: plain, frozen JSON. A plan refers to bound values by
 *  index (`ValueRef`), and the values are passed separately. Therefore, equal plans share one statement, whatever the
 *  values. */
import type { ColumnPair, QualifiedName } from "../model/model.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON object. */
export type JsonObject = Readonly<Record<string, Json>>;

/** A value that is known only when the statement runs. `type` is the sqlName of a model type to cast to. Without
 *  `type`, the database infers the type from the position (R-FLT-3). `apply` is a declared function that converts the
 *  value (`PlanFunction`), such as GeoJSON to geometry. */
export type ValueRef =
  /** An index into the request's values. */
  | { readonly param: number; readonly type?: string; readonly apply?: string }
  /** A session variable in lower case: `x-session-user-id`. With `missing: "null"`, a missing variable is NULL instead
   *  of an error. */
  | { readonly session: string; readonly type?: string; readonly apply?: string; readonly missing?: "null" }
  /** All session variables as a JSON object (G-SES-5). */
  | { readonly session: true; readonly type: string }
  /** A value that schema or metadata fix, which is part of the cache key. */
  | { readonly constant: string | null; readonly type?: string; readonly apply?: string }
  /** A column of the row that an earlier step of the same `Sequence` wrote. */
  | { readonly step: number; readonly column: string; readonly type: string };

/** One step of a path into a JSON value. */
export interface PathKey {
  /** The arrow `#>` takes a whole path at once, as a text[], and returns json. */
  readonly arrow: "->" | "->>" | "#>";
  readonly key: ValueRef;
}

/** A value computed from one row. */
export type Expression =
  /** A column of the current row. `scope: "root"` means the row of the outermost predicate, or of the nearest predicate
   *  with `isRoot` (column comparison with `$`). A name that is not a column is rejected (R-NAM-1) and never reaches the
   *  database. With `isUnknown`, the name is rejected whatever the relation. */
  | {
      readonly kind: "column";
      readonly name: string;
      readonly path?: readonly PathKey[];
      readonly scope?: "root";
      readonly isUnknown?: true;
    }
  /** A call of a function of the row, with the function's arguments besides the row. */
  | {
      readonly kind: "computed";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly path?: readonly PathKey[];
    }
  /** A cast. `type` is the sqlName of a model type, or a name that the rule R-LEX-7 allows. */
  | { readonly kind: "cast"; readonly value: Expression; readonly type: string }
  /** A declared function that is applied to `value`, with additional `operands`. */
  | {
      readonly kind: "apply";
      readonly function: string;
      readonly value: Expression;
      readonly operands?: readonly ApplyOperand[];
    }
  /** A term of an order that a declared ordering computes (`OrderingSpec`). */
  | {
      readonly kind: "ordering";
      readonly ordering: string;
      readonly value: Expression;
      readonly operands: readonly ValueRef[];
    }
  /** A value that is NULL if `when` is false (cells that a parent role's filter hides, G-PRM-14). */
  | { readonly kind: "masked"; readonly value: Expression; readonly when: Predicate }
  /** A value of the one related row, which is NULL without a related row. */
  | { readonly kind: "related"; readonly relationship: string; readonly where?: Predicate; readonly value: Expression }
  /** An aggregate over the related rows. `fn` is `count`, `sum`, `bool_and`, … */
  | {
      readonly kind: "related-aggregate";
      readonly relationship: string;
      readonly fn: string;
      readonly expressions: readonly Expression[];
      readonly distinct?: boolean;
      readonly where?: Predicate;
    }
  /** An aggregate over the rows that a computed field returns. */
  | {
      readonly kind: "computed-aggregate";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly target: QualifiedName;
      readonly fn: string;
      readonly expressions: readonly Expression[];
      readonly where?: Predicate;
    }
  /** An aggregate over the rows of a group, or of the whole read, for `having` and `orderBy` of a read that groups. */
  | {
      readonly kind: "aggregate";
      readonly fn: string;
      readonly expressions: readonly Expression[];
      readonly distinct?: boolean;
    }
  /** An output of the same read, in an order of groups. `nth` selects one of several outputs with that name, from 0.
   *  Without such an output, `as` is a key of a flat embed of the read. @rule R-AGG-5 R-AGG-5c */
  | { readonly kind: "output"; readonly as: string; readonly nth?: number }
  /** An output of an embed of the same read (related order, R-ORD-3). */
  | {
      readonly kind: "embedded";
      readonly embed: string;
      readonly name: string;
      readonly path?: readonly PathKey[];
      /** The name of the embedded row in messages. By default, the name of the embed. @rule R-NAM-1 */
      readonly row?: string;
    };

/** An additional operand of a declared function, besides the value that the function is applied to. */
export type ApplyOperand = ValueRef | { readonly expression: Expression };

/** An argument of a call. */
export interface RoutineArgument {
  /** Undefined for a positional argument. */
  readonly name?: string;
  readonly value: ValueRef;
  /** True if the argument is the current row instead of the value. Without such an argument, the row is the first
   *  argument. */
  readonly isRow?: boolean;
}

/** The right side of a comparison. */
export type Operand =
  | ValueRef
  | { readonly expression: Expression }
  /** Several values in one position (a list with session variables, arguments of geometry operators). */
  | { readonly items: readonly Operand[] }
  | { readonly fields: Readonly<Record<string, Operand>> };

/** A condition on a row. */
export type Predicate =
  /** An empty `and` is true, an empty `or` is false. With `isRoot`, `scope: "root"` inside means the current row (a
   *  permission's filter inside another condition). */
  | { readonly kind: "and" | "or"; readonly predicates: readonly Predicate[]; readonly isRoot?: true }
  | { readonly kind: "not"; readonly predicate: Predicate }
  | Comparison
  /** Some related row satisfies `where`. `transformPlan` taps add the filter of visible rows. */
  | { readonly kind: "related"; readonly relationship: string; readonly where?: Predicate }
  /** Some row that a computed field returns satisfies `where`. */
  | {
      readonly kind: "computed-rows";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly target: QualifiedName;
      readonly where?: Predicate;
    }
  /** A null filter on an embed of the same read (R-EMB-15). `embed` is its `id`. */
  | { readonly kind: "embedded"; readonly embed: string; readonly isNull: boolean }
  /** Some row of another relation satisfies `where` (G-FIL-9). */
  | { readonly kind: "exists"; readonly from: QualifiedName; readonly where?: Predicate }
  /** The row comes after a position in an order, given by one value per term. A null value means that the term is null
   *  at the position. @rule X-PLN-9 */
  | { readonly kind: "keyset"; readonly order: readonly OrderBy[]; readonly values: readonly (ValueRef | null)[] }
  /** Some row of an earlier step of the same `Sequence` has the same values. Each pair is a column of the current row
   *  and a column of the earlier row (X-SEQ-1). */
  | { readonly kind: "written"; readonly step: number; readonly columns: readonly ColumnPair[] }
  /** The row has one of these keys (X-SEQ-5). */
  | ({ readonly kind: "keys" } & RowKeys);

/** Columns and lists of their values, by which rows are found. */
export interface RowKeys {
  readonly columns: readonly string[];
  /** The keys, with one value per column. */
  readonly values: readonly (readonly ValueRef[])[];
}

/** A left side, an operator and its operand. */
export interface Comparison {
  readonly kind: "compare";
  readonly left: Expression;
  /** The name of an operator, which `compileFilter.for(operator)` compiles. */
  readonly operator: string;
  readonly operand?: Operand;
  /** A keyword operand (`null`, `true`), which selects syntax and is part of the cache key. */
  readonly keyword?: string;
  readonly quantifier?: "any" | "all";
  /** The second operand of operators that have one (the language of full text search). */
  readonly option?: ValueRef;
}

/** One term of an order. */
export interface OrderBy {
  readonly expression: Expression;
  readonly direction?: "asc" | "desc";
  readonly nulls?: "first" | "last";
}

/** One key of the rows that a read returns. */
export type Output =
  /** Every column in order, with JSON representations (R-SEL-2). */
  | { readonly kind: "all" }
  /** One value. `isOfAll` means that the value belongs to a selection of all columns. */
  | { readonly kind: "value"; readonly as: string; readonly value: Expression; readonly isOfAll?: true }
  /** The same text in every row (`__typename`). */
  | { readonly kind: "constant"; readonly as: string; readonly value: string }
  /** An aggregate over the rows of the read. In a `rows` read, the other outputs become group terms (R-AGG-2). */
  | {
      readonly kind: "aggregate";
      readonly as: string;
      readonly fn: string;
      readonly expressions?: readonly Expression[];
      readonly distinct?: boolean;
      readonly cast?: string;
    }
  /** An object of other outputs, or the list of rows, in an aggregate read. */
  | { readonly kind: "object"; readonly as: string; readonly outputs: readonly Output[] }
  | {
      readonly kind: "nodes";
      readonly as: string;
      readonly outputs: readonly Output[];
      readonly cap?: number;
      /** True if the list contains the first `cap` rows in reverse order. */
      readonly isReversed?: boolean;
    }
  /** The number of rows that the read's write, or all steps of its sequence, have written (G-INS-4). */
  | { readonly kind: "affected"; readonly as: string }
  /** The number of rows of an aggregate read without `limit`, `offset` and conditions of keyset pagination. */
  | { readonly kind: "total"; readonly as: string }
  | Embed;

/** Related rows inside a row. */
export interface Embed {
  readonly kind: "embed";
  /** The key of the related rows in the output. */
  readonly as: string;
  /** The name that filters, orders and null tests of the parent use. The name is unique in the parent's read. */
  readonly id: string;
  /** The embedding mode: `nest`, `aggregate`, or any other mode that `compileEmbed.for(mode)` compiles. */
  readonly mode: string;
  readonly via: EmbedSource;
  readonly join: "left" | "inner";
  /** True if the embed joins and filters, but adds no key to the output (R-EMB-13). */
  readonly isHidden?: boolean;
  readonly read: Read;
}

/** A relationship of the parent, or a computed field that returns rows. */
export type EmbedSource =
  | { readonly relationship: string }
  | { readonly routine: QualifiedName; readonly arguments?: readonly RoutineArgument[]; readonly isToOne: boolean };

/** The origin of a read's rows. */
export type ReadFrom =
  | { readonly relation: QualifiedName }
  | { readonly call: RoutineCall }
  /** Rows written by the read's write, or by steps of its sequence, with the relation's row type. `isCurrent` reads the
   *  current state of the rows, by the primary key if the relation has one (X-SEQ-4). */
  | { readonly written: QualifiedName; readonly steps?: readonly number[]; readonly isCurrent?: true };

/** Rows and the outputs that are returned from them. */
export interface Read {
  readonly kind: "read";
  readonly from: ReadFrom;
  /** `rows` returns the outputs of each row, `aggregate` returns outputs over all rows (G-AGG). */
  readonly shape: "rows" | "aggregate";
  /** The name of the read's rows in messages. By default, the name of the relation or function. @rule R-NAM-1 */
  readonly row?: string;
  readonly output: readonly Output[];
  readonly where?: Predicate;
  readonly orderBy?: readonly OrderBy[];
  readonly distinctOn?: readonly Expression[];
  /** Groups the rows by these expressions and by the outputs that are not aggregates, even if no output is an
   *  aggregate. */
  readonly groupBy?: readonly Expression[];
  /** A condition on the groups. */
  readonly having?: Predicate;
  readonly limit?: ValueRef;
  readonly offset?: ValueRef;
  /** The row limit (DB_MAX_ROWS, permission limits). The smaller of `cap` and `limit` applies. In an aggregate read,
   *  `cap` applies only to `nodes`. */
  readonly cap?: number;
  /** Values that plugins leave for their own taps of `transformPlan`, by plugin name. No other code reads the notes.
   *  @rule X-ROW-2 */
  readonly notes?: Readonly<Record<string, ValueRef>>;
}

/** A call of a function. */
export interface RoutineCall {
  readonly routine: QualifiedName;
  readonly oid: number;
  readonly arguments: readonly RoutineArgument[];
  /** A JSON text that contains the arguments instead. With `object`, the text is one object; with `array`, the first
   *  object of an array counts. `names` are the parameters that the text provides. */
  readonly payload?: { readonly json: ValueRef; readonly shape: "object" | "array"; readonly names: readonly string[] };
}

/** A column of a written row, and its value. Without a value, the column has its default. */
export interface Cell {
  readonly column: string;
  readonly value?: ValueRef;
}

/** The rows of an insert or update. */
export type WriteRows =
  /** A JSON text of an object or an array, whose columns `json_to_record[set]` reads. With `missing: "default"`, an
   *  absent key has the default. With `"computed-default"`, the default is computed for every row, so that each row
   *  takes its own number from a sequence (R-INS-4). */
  | {
      readonly payload: ValueRef;
      readonly shape: "object" | "array";
      readonly columns: readonly PayloadColumn[];
      readonly missing: "null" | "default" | "computed-default";
    }
  /** A single row, column by column (steps of a nested insert). */
  | { readonly cells: readonly Cell[] };

/** A column that is read from a payload. @experimental */
export interface PayloadColumn {
  readonly name: string;
  /** A declared function that converts the value, which the statement reads as text (GeoJSON input). */
  readonly apply?: string;
  /** True if the value is a text that contains the document of a JSON column. */
  readonly isText?: true;
}

/** The effect of an insert on existing rows. @rule R-UPS-1 G-UPS-1 */
export interface OnConflict {
  /** The conflict target: columns, or a constraint by name. */
  readonly target: { readonly columns: readonly string[] } | { readonly constraint: string };
  /** The updated columns. An empty list means DO NOTHING. */
  readonly update: readonly string[];
  /** Columns with fixed values in the update (column presets of updates). */
  readonly set?: readonly Cell[];
  /** A condition on the existing row. */
  readonly where?: Predicate;
  /** The permission's update check, on the row after the update. */
  readonly check?: Predicate;
}

interface Write {
  /** A condition on each written row after the write. If the condition is false, the whole request fails (G-PRM-9). */
  readonly check?: Predicate;
  /** True if a separate statement after the write makes the checks, so that they read other rows in their state after
   *  the write. */
  readonly checksAfter?: true;
  /** A read of the written rows (`from: { written }`). If undefined, only their number is returned. */
  readonly returning?: Read;
}

/** Inserts rows, or updates them on conflict. */
export interface Insert extends Write {
  readonly kind: "insert";
  readonly into: QualifiedName;
  readonly rows: WriteRows;
  /** Columns with fixed values in every row (column presets of inserts). These values override `rows`. */
  readonly set?: readonly Cell[];
  readonly onConflict?: OnConflict;
  /** Only rows of the payload whose key equals these values are written (PUT). */
  readonly onlyKeys?: readonly { readonly column: string; readonly value: ValueRef }[];
}

/** The change of one column by an update. */
export interface Assignment {
  readonly column: string;
  /** The name of a declared update operator: `set`, `inc`, `append`, … */
  readonly operator: string;
  readonly operand: ValueRef;
}

/** Updates the rows that match. */
export interface Update extends Write {
  readonly kind: "update";
  readonly relation: QualifiedName;
  readonly where?: Predicate;
  /** The new values come either from a JSON payload (its first object) or from `assignments`. */
  readonly payload?: Extract<WriteRows, { readonly payload: ValueRef }>;
  readonly assignments?: readonly Assignment[];
  /** True if an update without assignments in a sequence finds and locks its rows for later steps (X-SEQ-2). */
  readonly locks?: true;
}

/** Deletes the rows that match. */
export interface Delete extends Write {
  readonly kind: "delete";
  readonly from: QualifiedName;
  readonly where?: Predicate;
}

/** A call of a function for its own result. With `rows`, `result` reads the returned rows; with `values`, `result`
 *  holds only limit and offset. */
export interface Call {
  readonly kind: "call";
  readonly call: RoutineCall;
  /** `value` is one value, `values` a set of them, `rows` composite rows that `result` reads. */
  readonly returns: "value" | "values" | "row" | "rows" | "void";
  readonly result?: Read;
}

/** Several reads that one statement returns as one object, each under its key. @experimental */
export interface Bundle {
  readonly kind: "bundle";
  readonly fields: readonly BundleField[];
}

/** One key of a bundle: a constant, a read, or another bundle. @experimental */
export type BundleField =
  | { readonly as: string; readonly value: string }
  /** A read. With `isOne`, the value is the first row as an object, or null. */
  | { readonly as: string; readonly read: Read; readonly isOne?: boolean }
  /** The value of a declared statement (`StatementSpec`). */
  | { readonly as: string; readonly statement: string; readonly arguments: Readonly<Record<string, ValueRef>> }
  | { readonly as: string; readonly bundle: Bundle };

/** Writes that build on each other's rows: one statement each, in order, before the result is read. Sequences are
 *  nested inserts, and writes whose results follow relationships. @experimental */
export interface Sequence {
  readonly kind: "sequence";
  readonly steps: readonly SequenceStep[];
  /** The read of the rows that the steps wrote: `from` is `{ written, steps }`. */
  readonly result: Read;
  readonly isOne?: boolean;
  /** The error of a later, contradictory part of the request. The steps run only because errors of the steps take
   *  precedence (G-NST-11). */
  readonly rejection?: Rejection;
}

/** An error that ends a sequence after its steps have run. @rule G-NST-11 @experimental */
export interface Rejection {
  readonly message: string;
  readonly path: string;
  /** The steps whose rows are necessary to reach the error. */
  readonly requires: readonly StepRequirement[];
}

/** One step of a sequence. @experimental */
export interface SequenceStep {
  /** The write of the step. A read has no outputs, because the read only finds whole rows for later steps (X-SEQ-2). */
  readonly write: Insert | Update | Delete | Read;
  /** The position in the request, for database errors. */
  readonly path?: string;
  readonly requires?: readonly StepRequirement[];
  /** The earlier step whose rows this step writes again. Rows of both steps count once (X-SEQ-4). */
  readonly rewrittenStep?: number;
}

/** A requirement that an earlier step, or the step itself, has a row. Otherwise the request fails with this message and
 *  path (G-NST-6). @experimental */
export interface StepRequirement {
  readonly step: number;
  /** The largest number of rows that the step may have, as the requirement instead of a row (X-SEQ-3). */
  readonly atMost?: number;
  /** The earlier step whose number of rows the step must have, as the requirement instead of a row (X-SEQ-3). */
  readonly sameCountAs?: number;
  /** The keys that each need a row of the step, as the requirement instead of a row. `paths` are the positions of the
   *  keys in the request (X-SEQ-5). */
  readonly keys?: RowKeys & { readonly paths: readonly string[] };
  readonly message: string;
  readonly path: string;
}

/** The contents of the one row that a statement returns. The envelope is part of the cache key. @experimental */
export interface Envelope {
  /** The media type, for which `compileMedia.for(media)` compiles the body. Undefined for a statement without a
   *  body. */
  readonly media?: string;
  /** Options for the media type's compiler (`{ stripped: true }`). */
  readonly mediaOptions?: Json;
  /** The form of values whose domain has a JSON representation. `stored` is the value itself, which rows of the
   *  relation's row type need. `text` is the text of the JSON, without the quotation marks of a string. Undefined for
   *  the JSON itself. */
  readonly domains?: "stored" | "text";
  readonly count?: "exact" | "planned" | "estimated";
  /** The number of rows up to which an estimated count is exact (N in R-CNT-3). */
  readonly countCap?: number;
  /** The key columns for the `Location` header, which needs exactly one written row. */
  readonly location?: readonly string[];
  /** True if inserted rows are counted separately from updated ones (R-UPS-4). */
  readonly countInserted?: boolean;
  /** A declared wrapper around the whole statement, whose result replaces the body. */
  readonly wrapper?: { readonly name: string; readonly options?: Json };
}

/** The content of a request, as plain data without values. */
export type Plan = Read | Insert | Update | Delete | Call | Bundle | Sequence;

/** A plan and the envelope of its result. @experimental */
export interface PlanWithEnvelope {
  readonly plan: Plan;
  readonly envelope: Envelope;
}
