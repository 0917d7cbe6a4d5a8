/** What both surfaces say, in one form. Plain JSON, frozen; bound values are not in it: a plan names them by index
 *  (`ValueRef`) and travels with them as a `PlannedRequest`, so that equal plans share one statement whatever the
 *  values. */
import type { ColumnPair, QualifiedName } from "../model/model.ts";

/** A JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A value known only when the statement runs. `type`: sqlName of a model type to cast to; absent: the database infers
 *  it from the place (R-FLT-3). `apply`: a declared function put around it (`PlanFunction`), e.g. GeoJSON to geometry.
 *  */
export type ValueRef =
  /** index into the request's values */
  | { readonly param: number; readonly type?: string; readonly apply?: string }
  /** session variable, lower case: `x-session-user-id`. `missing: "null"`: NULL instead of an error */
  | { readonly session: string; readonly type?: string; readonly apply?: string; readonly missing?: "null" }
  /** all session variables as a JSON object (G-SES-5) */
  | { readonly session: true; readonly type: string }
  /** fixed by schema or metadata: part of the key */
  | { readonly constant: string | null; readonly type?: string; readonly apply?: string }
  /** a column of the row an earlier step of the same `Sequence` wrote */
  | { readonly step: number; readonly column: string; readonly type: string };

/** One key of a path into a JSON value. */
export interface PathKey {
  /** `#>` takes a text[], a whole path at once, and gives json. */
  readonly arrow: "->" | "->>" | "#>";
  readonly key: ValueRef;
}

/** A value computed from one row. */
export type Expression =
  /** `of: "root"`: a column of the row of the outermost predicate, or of the nearest one with `isRoot` (column
   *  comparison with `$`); otherwise of the current row. A name that is not a column is refused (R-NAM-1) and never
   *  reaches the database. `isUnknown`: the name is refused whatever relation the rows come from in the end. */
  | {
      readonly kind: "column";
      readonly name: string;
      readonly path?: readonly PathKey[];
      readonly of?: "root";
      readonly isUnknown?: true;
    }
  /** function of the row; arguments beside the row */
  | {
      readonly kind: "computed";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly path?: readonly PathKey[];
    }
  /** `type`: sqlName of a model type, or a name lexed by R-LEX-7 */
  | { readonly kind: "cast"; readonly of: Expression; readonly type: string }
  /** `operands`: beside `of` */
  | {
      readonly kind: "apply";
      readonly function: string;
      readonly of: Expression;
      readonly operands?: readonly ApplyOperand[];
    }
  /** open: answered by a declared ordering (`OrderingSpec`); for terms of an order */
  | {
      readonly kind: "ordering";
      readonly ordering: string;
      readonly of: Expression;
      readonly operands: readonly ValueRef[];
    }
  /** `when` false: NULL (cells that a parent role's filter hides, G-PRM-14) */
  | { readonly kind: "masked"; readonly of: Expression; readonly when: Predicate }
  /** a column of the one related row, NULL without one */
  | { readonly kind: "related"; readonly relationship: string; readonly where?: Predicate; readonly value: Expression }
  /** an aggregate over the related rows. `fn`: `count`, `sum`, `bool_and`, … */
  | {
      readonly kind: "related-aggregate";
      readonly relationship: string;
      readonly fn: string;
      readonly of: readonly Expression[];
      readonly distinct?: boolean;
      readonly where?: Predicate;
    }
  /** an aggregate over the rows a computed field returns */
  | {
      readonly kind: "computed-aggregate";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly target: QualifiedName;
      readonly fn: string;
      readonly of: readonly Expression[];
      readonly where?: Predicate;
    }
  /** an aggregate over the rows of a group, or of the whole level: in `having` and `orderBy` of a read that groups */
  | { readonly kind: "aggregate"; readonly fn: string; readonly of: readonly Expression[]; readonly distinct?: boolean }
  /** in an order of groups: an output of the same read. `nth`: of several outputs with that name, from 0. @rule R-AGG-5 */
  | { readonly kind: "output"; readonly as: string; readonly nth?: number }
  /** an output key of an embed of the same read (related order, R-ORD-3) */
  | {
      readonly kind: "embedded";
      readonly embed: string;
      readonly name: string;
      readonly path?: readonly PathKey[];
      /** What messages call the embedded row; absent: the embed. @rule R-NAM-1 */
      readonly row?: string;
    };

/** What a declared function takes beside the value that it is put around. */
export type ApplyOperand = ValueRef | { readonly expression: Expression };

/** An argument of a call. */
export interface RoutineArgument {
  /** Absent: positional. */
  readonly name?: string;
  readonly value: ValueRef;
  /** The row at hand instead of the value; without such an argument the row goes first. */
  readonly isRow?: boolean;
}

/** The right side of a comparison. */
export type Operand =
  | ValueRef
  | { readonly expression: Expression }
  /** several values at one place (list with session variables, arguments of geometry operators) */
  | { readonly items: readonly Operand[] }
  | { readonly fields: Readonly<Record<string, Operand>> };

/** A condition on a row. */
export type Predicate =
  /** An empty `and` is true, an empty `or` false. `isRoot`: `of: "root"` inside means the current row (a permission's
   *  filter inside another condition) */
  | { readonly kind: "and" | "or"; readonly of: readonly Predicate[]; readonly isRoot?: true }
  | { readonly kind: "not"; readonly of: Predicate }
  | Comparison
  /** some related row (visible: transformPlan adds its filter) satisfies `where` */
  | { readonly kind: "related"; readonly relationship: string; readonly where?: Predicate }
  /** some row that a computed field returns satisfies `where` */
  | {
      readonly kind: "computed-rows";
      readonly routine: QualifiedName;
      readonly arguments?: readonly RoutineArgument[];
      readonly target: QualifiedName;
      readonly where?: Predicate;
    }
  /** null filter on an embed of the same read (R-EMB-15). `embed`: its `id` */
  | { readonly kind: "embedded"; readonly embed: string; readonly isNull: boolean }
  /** some row of another relation (G-FIL-9) */
  | { readonly kind: "exists"; readonly from: QualifiedName; readonly where?: Predicate }
  /** the row comes behind a place in an order: that of these values, one per term; null: the term is null there.
   *  @rule X-PLN-9 */
  | { readonly kind: "beyond"; readonly order: readonly OrderBy[]; readonly values: readonly (ValueRef | null)[] }
  /** some row that an earlier step of the same `Sequence` left has the same values: own column, column of that row
   *  (X-SEQ-1) */
  | { readonly kind: "written"; readonly step: number; readonly columns: readonly ColumnPair[] }
  /** the row has one of these keys (X-SEQ-5) */
  | ({ readonly kind: "keys" } & Keys);

/** Values of some columns, as often as there are rows to find by them. */
export interface Keys {
  readonly columns: readonly string[];
  /** One value per column. */
  readonly values: readonly (readonly ValueRef[])[];
}

/** A left side, an operator and its operand. */
export interface Comparison {
  readonly kind: "compare";
  readonly left: Expression;
  /** Open: compiled by `compileFilter.for(operator)`. */
  readonly operator: string;
  readonly operand?: Operand;
  /** `keyword` operands choose syntax and stay in the key (`null`, `true`). */
  readonly keyword?: string;
  readonly quantifier?: "any" | "all";
  /** Second operand of operators that have one (language of full text). */
  readonly option?: ValueRef;
}

/** One term of an order. */
export interface OrderBy {
  readonly by: Expression;
  readonly direction?: "asc" | "desc";
  readonly nulls?: "first" | "last";
}

/** One key of the rows that a read returns. */
export type Output =
  /** every column, in order (R-SEL-2); representations apply */
  | { readonly kind: "all" }
  /** `isOfAll`: it stands for one of all columns, which the request asked for */
  | { readonly kind: "value"; readonly as: string; readonly value: Expression; readonly isOfAll?: true }
  /** the same text in every row (`__typename`) */
  | { readonly kind: "constant"; readonly as: string; readonly value: string }
  /** over the rows of the level; in a `rows` read the other outputs become group terms (R-AGG-2) */
  | {
      readonly kind: "aggregate";
      readonly as: string;
      readonly fn: string;
      readonly of?: readonly Expression[];
      readonly distinct?: boolean;
      readonly cast?: string;
    }
  /** in an aggregate read: an object of further outputs, the row list */
  | { readonly kind: "object"; readonly as: string; readonly of: readonly Output[] }
  | {
      readonly kind: "nodes";
      readonly as: string;
      readonly of: readonly Output[];
      readonly cap?: number;
      /** The first `cap` of them, in reverse order. */
      readonly isReversed?: boolean;
    }
  /** the number of rows written by the write, or by all steps of the sequence, that this read belongs to (G-INS-4) */
  | { readonly kind: "affected"; readonly as: string }
  /** in an aggregate read: the number of its rows without `limit`, `offset` and places in an order (`beyond`) */
  | { readonly kind: "total"; readonly as: string }
  | Embed;

/** Related rows inside a row. */
export interface Embed {
  readonly kind: "embed";
  /** Output key. */
  readonly as: string;
  /** What filters, orders and null tests of the parent call it; unique in its level. */
  readonly id: string;
  /** Open: compiled by `compileEmbed.for(mode)`: `nest`, `aggregate`, yours. */
  readonly mode: string;
  readonly via: EmbedSource;
  readonly join: "left" | "inner";
  /** Joins and filters, adds no key (R-EMB-13). */
  readonly isHidden?: boolean;
  readonly read: Read;
}

/** Along a relationship of the parent, or the rows a computed field returns. */
export type EmbedSource =
  | { readonly relationship: string }
  | { readonly routine: QualifiedName; readonly arguments?: readonly RoutineArgument[]; readonly isToOne: boolean };

/** Where the rows of a read come from. */
export type ReadFrom =
  | { readonly relation: QualifiedName }
  | { readonly call: RoutineCall }
  /** rows written by the write this read belongs to, or by steps of its sequence. They have the relation's row type.
   *  `isCurrent`: as they are when they are read, found again by the primary key where there is one (X-SEQ-4) */
  | { readonly written: QualifiedName; readonly steps?: readonly number[]; readonly isCurrent?: true };

/** The rows of one level, and what is returned from them. */
export interface Read {
  readonly kind: "read";
  readonly from: ReadFrom;
  /** `rows`: outputs of each row. `aggregate`: outputs over all rows (G-AGG). */
  readonly shape: "rows" | "aggregate";
  /** What messages call its rows; absent: the relation or function. @rule R-NAM-1 */
  readonly row?: string;
  readonly output: readonly Output[];
  readonly where?: Predicate;
  readonly orderBy?: readonly OrderBy[];
  readonly distinctOn?: readonly Expression[];
  /** The rows are grouped, by these and by the outputs that are no aggregates, even without an aggregate among them. */
  readonly groupBy?: readonly Expression[];
  /** Of groups. */
  readonly having?: Predicate;
  readonly limit?: ValueRef;
  readonly offset?: ValueRef;
  /** Row limit (DB_MAX_ROWS, permission limits); the smaller of it and `limit` applies. In an aggregate read it applies
   *  only to `nodes`. */
  readonly cap?: number;
  /** What a plugin says to its own tap of `transformPlan`, by its name: values that go with the read, and that nobody
   *  else looks at. @rule X-ROW-2 */
  readonly notes?: Readonly<Record<string, ValueRef>>;
}

/** How a function is called. */
export interface RoutineCall {
  readonly routine: QualifiedName;
  /** oid: picks the overload. */
  readonly oid: number;
  readonly arguments: readonly RoutineArgument[];
  /** Arguments come from one JSON text instead: `object` one object, `array` the first of an array. `names`: parameters
   *  taken from it. */
  readonly payload?: { readonly json: ValueRef; readonly shape: "object" | "array"; readonly names: readonly string[] };
}

/** A cell of a written row. Absent value: the column's default. */
export interface Cell {
  readonly column: string;
  readonly value?: ValueRef;
}

/** The rows of an insert or update. */
export type WriteRows =
  /** one JSON text of an object or an array; each column read by `json_to_record[set]`. `missing: "default"`: an absent
   *  key takes the default; `"computed-default"`: which is computed for every row, wanted or not, so that each takes a
   *  number of a sequence (R-INS-4) */
  | {
      readonly payload: ValueRef;
      readonly shape: "object" | "array";
      readonly columns: readonly PayloadColumn[];
      readonly missing: "null" | "default" | "computed-default";
    }
  /** a single row cell by cell (steps of a nested insert) */
  | { readonly cells: readonly Cell[] };

/** A column that is read from a payload. */
export interface PayloadColumn {
  readonly name: string;
  /** A declared function put around the value, read as text (GeoJSON input). */
  readonly apply?: string;
  /** The value is a text with the document of a JSON column. */
  readonly isText?: true;
}

/** What an insert does with rows that exist already. @rule R-UPS-1 G-UPS-1 */
export interface OnConflict {
  /** Conflict target: columns, or a constraint by name. */
  readonly target: { readonly columns: readonly string[] } | { readonly constraint: string };
  /** Empty: DO NOTHING. */
  readonly update: readonly string[];
  /** Columns set to fixed values in the update (update presets). */
  readonly set?: readonly Cell[];
  /** On the existing row. */
  readonly where?: Predicate;
  /** Update check of the permission, on the row after the update. */
  readonly check?: Predicate;
}

interface Write {
  /** Holds for each written row after the write, else the whole request fails (G-PRM-9). */
  readonly check?: Predicate;
  /** The checks have a statement of their own behind the write: what they read beside the row is as the write has left
   *  it. */
  readonly checksAfter?: true;
  /** Read of the written rows (`from: { written }`). Absent: only their count. */
  readonly returning?: Read;
}

/** Inserts rows, or updates them on conflict. */
export interface Insert extends Write {
  readonly kind: "insert";
  readonly into: QualifiedName;
  readonly rows: WriteRows;
  /** Columns with fixed values in every row (insert presets); they win over `rows`. */
  readonly set?: readonly Cell[];
  readonly onConflict?: OnConflict;
  /** Only rows of the payload whose key equals these values are written (PUT). */
  readonly only?: readonly { readonly column: string; readonly value: ValueRef }[];
}

/** How an update changes one column. */
export interface Assignment {
  readonly column: string;
  /** Open: `set`, `inc`, `append`, … compiled by the declared update operators. */
  readonly operator: string;
  readonly operand: ValueRef;
}

/** Updates the rows that match. */
export interface Update extends Write {
  readonly kind: "update";
  readonly relation: QualifiedName;
  readonly where?: Predicate;
  /** One of both: from a JSON payload (first object), or column by column. */
  readonly payload?: Extract<WriteRows, { readonly payload: ValueRef }>;
  readonly assignments?: readonly Assignment[];
  /** In a sequence: with nothing to set, the rows are found and locked, for later steps (X-SEQ-2). */
  readonly locks?: true;
}

/** Deletes the rows that match. */
export interface Delete extends Write {
  readonly kind: "delete";
  readonly from: QualifiedName;
  readonly where?: Predicate;
}

/** A function called for its own value (`rows`: it returns rows, read by `result`; for `values`, `result` holds only
 *  the range). */
export interface Call {
  readonly kind: "call";
  readonly call: RoutineCall;
  /** `value`: one value; `values`: a set of them; `rows`: composite rows shaped by `result`; `void`: none. */
  readonly returns: "value" | "values" | "row" | "rows" | "void";
  readonly result?: Read;
}

/** Several reads that one statement returns as one object, each under its key. */
export interface Bundle {
  readonly kind: "bundle";
  readonly fields: readonly BundleField[];
}

/** One key of a bundle: a constant, a read, or a further bundle. */
export type BundleField =
  | { readonly as: string; readonly value: string }
  /** `one`: the first row as an object, or null. A further bundle: a namespace. */
  | { readonly as: string; readonly read: Read; readonly one?: boolean }
  /** The value that a declared statement gives (`StatementSpec`). */
  | { readonly as: string; readonly statement: string; readonly arguments: Readonly<Record<string, ValueRef>> }
  | { readonly as: string; readonly bundle: Bundle };

/** Writes that build on each other's rows, in order, one statement each; then the result is read from them (nested
 *  inserts, and results that follow relationships after the write). */
export interface Sequence {
  readonly kind: "sequence";
  readonly steps: readonly SequenceStep[];
  /** Reads `{ written, steps }`. */
  readonly result: Read;
  readonly one?: boolean;
  /** The request is contradictory further on: the steps run only because their errors take precedence over this one
   *  (G-NST-11). */
  readonly refusal?: Refusal;
}

/** An error that a sequence ends with after its steps have run. @rule G-NST-11 */
export interface Refusal {
  readonly message: string;
  readonly path: string;
  /** Steps without whose rows it would not have been reached. */
  readonly requires: readonly StepRequirement[];
}

/** One write of a sequence. */
export interface SequenceStep {
  /** A read has no outputs: whole rows are found for later steps (X-SEQ-2). */
  readonly write: Insert | Update | Delete | Read;
  /** Its place in the request, for database errors. */
  readonly path?: string;
  readonly requires?: readonly StepRequirement[];
  /** It writes the rows of that earlier step again: they count once (X-SEQ-4). */
  readonly again?: number;
}

/** A step needs a row of an earlier step, or of itself; without one the request fails with this text at that place
 *  (G-NST-6). */
export interface StepRequirement {
  readonly step: number;
  /** Instead: the step must not have more rows than that (X-SEQ-3). */
  readonly atMost?: number;
  /** Instead: it must have as many as that step before it (X-SEQ-3). */
  readonly asManyAs?: number;
  /** Instead: it must have a row for each of these keys; `paths` has the place of each in the request (X-SEQ-5). */
  readonly each?: Keys & { readonly paths: readonly string[] };
  readonly message: string;
  readonly path: string;
}

/** What the one row of a statement contains. Part of the cache key. */
export interface Envelope {
  /** Open: `compileMedia.for(media)` compiles the body. Absent: no body. */
  readonly media?: string;
  /** Whatever the media type's compiler takes (`{ stripped: true }`). */
  readonly mediaOptions?: Json;
  /** How the rows show a value whose domain has a JSON representation. `stored`: the value itself, which rows of the
   *  relation's row type need. `text`: the text of the JSON, a string without its quotation marks. Undefined: the JSON. */
  readonly domains?: "stored" | "text";
  readonly count?: "exact" | "planned" | "estimated";
  /** The N of R-CNT-3. */
  readonly countCap?: number;
  /** Key columns for `Location`, filled when exactly one row was written. */
  readonly location?: readonly string[];
  /** Count the inserted rows apart from the updated ones (R-UPS-4). */
  readonly countInserted?: boolean;
  /** A declared wrapper around the whole statement: what that returns is the body, instead of the result. */
  readonly wrapper?: { readonly name: string; readonly options?: Json };
}

/** What a request asks for. */
export type Plan = Read | Insert | Update | Delete | Call | Bundle | Sequence;

/** A plan and the envelope of its result. */
export interface Planned {
  readonly plan: Plan;
  readonly envelope: Envelope;
}
