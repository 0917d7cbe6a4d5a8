/** The hooks through which plugins reach the core, and what their taps see. */
import { AsyncSeriesBailHook, AsyncSeriesWaterfallHook, HookMap, SyncBailHook, SyncWaterfallHook } from "tapable";
import type { Column, Model, PgType, Relation } from "./engine/model/model.ts";
import type { Comparison, Embed, Envelope, Json, Operand, Output, Plan, Read } from "./engine/plan/plan.ts";
import type { ResolvedOptions } from "./kernel/options.ts";
import type { Route, RouteContext } from "./route.ts";
import type { Credentials, Session } from "./kernel/session.ts";
import type { Sql } from "./engine/sql/fragment.ts";
import type { BuiltIn } from "./engine/sql/built-in.ts";

/** The hooks of core. Those of plugins stand behind tokens (`defineHook`). */
export interface RelApiHooks {
  readonly introspect: AsyncSeriesWaterfallHook<[model: Model, context: IntrospectContext]>;
  readonly buildRestRoute: SyncWaterfallHook<[route: Route, context: RouteContext]>;
  readonly buildGqlField: FieldHook;
  readonly compileFilter: HookMap<
    SyncBailHook<[comparison: Comparison, context: FilterContext], Sql | undefined, BuiltIn>
  >;
  readonly authorize: AsyncSeriesBailHook<[credentials: Credentials], Session | undefined>;
  // Beyond the five of the project, for the families that those cannot carry:
  readonly transformPlan: SyncWaterfallHook<[plan: Plan, context: PlanContext], Plan, PlanTap>;
  readonly compileEmbed: HookMap<SyncBailHook<[embed: Embed, context: EmbedContext], EmbedSql | undefined, BuiltIn>>;
  readonly compileMedia: HookMap<SyncBailHook<[context: MediaContext], Sql | undefined, BuiltIn>>;
}

/** Fields by name, and the place that they are for. What more there is to both is the say of the plugin that calls the
 *  hook: taps take its types. */
export type Fields = Readonly<Record<string, object>>;

export interface FieldContext {
  /** Which family of types asks: `row`, `query_root`, … */
  readonly scope: string;
  /** Name of the type whose fields these are. */
  readonly typeName: string;
  readonly model: Model;
  readonly role: string;
}

/** Methods compare their parameters both ways, so that a tap may name the types of the plugin that calls it. */
type FieldTap = { tap(fields: Fields, context: FieldContext): Fields }["tap"];

export interface FieldHook {
  tap(
    options: string | { readonly name: string; readonly stage?: number; readonly before?: string },
    tap: FieldTap,
  ): void;
  call(fields: Fields, context: FieldContext): Fields;
  readonly taps: readonly { readonly name: string; readonly fn: object }[];
}

/** A fresh set of hooks, without taps. */
export const createHooks = (): RelApiHooks => ({
  introspect: new AsyncSeriesWaterfallHook(["model", "context"]),
  buildRestRoute: new SyncWaterfallHook(["route", "context"]),
  buildGqlField: new SyncWaterfallHook(["fields", "context"]),
  compileFilter: new HookMap(() => new SyncBailHook(["comparison", "context"])),
  authorize: new AsyncSeriesBailHook(["credentials"]),
  transformPlan: new SyncWaterfallHook(["plan", "context"]),
  compileEmbed: new HookMap(() => new SyncBailHook(["embed", "context"])),
  compileMedia: new HookMap(() => new SyncBailHook(["context"])),
});

/** What `introspect` taps work with. */
export interface IntrospectContext {
  /** Runs in one read-only, repeatable-read transaction with an empty search path. `json` columns arrive parsed. */
  query<Row>(statement: Sql): Promise<readonly Row[]>;
  /** The same, asked once the model is there: for what only later work needs. A tap that waits for it waits for ever. */
  afterwards<Row>(statement: Sql): Promise<readonly Row[]>;
  /** Exposed schemas in configured order. */
  readonly schemas: readonly string[];
  /** Those that plugins name beside them (`hiddenSchemas`). */
  readonly hiddenSchemas: readonly string[];
  readonly extraSearchPath: readonly string[];
  readonly options: ResolvedOptions;
  warn(message: string, facts?: Readonly<Record<string, unknown>>): void;
}

/** What the compiler of an operator works with. */
export interface FilterContext {
  readonly model: Model;
  /** Left side, quoted; JSON path and casts applied. */
  readonly column: Sql;
  /** Its type below all domains, where known. A JSON path: `json`, `jsonb` or `text`. */
  readonly type: PgType | undefined;
  /** The column, if the left side is a plain one. */
  readonly declared: Column | undefined;
  /** Right side, bound; absent for keyword operands. Parts of an operand of fields: `field(name)`. */
  readonly operand: Sql;
  readonly field: (name: string) => Sql | undefined;
  readonly keyword: string | undefined;
  readonly option: Sql | undefined;
  readonly quantifier: "any" | "all" | undefined;
  /** For operands that the plan builds from other parts. */
  readonly compileOperand: (operand: Operand) => Sql;
}

/** What a tap of `transformPlan` may say of itself, beside its name. */
export interface PlanTap {
  /** It may refuse a plan, but takes no rows from a read: related rows that must exist are there. */
  readonly keepsRows?: boolean;
}

/** The request that a plan belongs to, for `transformPlan` taps. */
export interface PlanContext {
  readonly model: Model;
  readonly session: Session;
  readonly surface: string;
  /** What the result contains; a key for `Location` is read too. */
  readonly envelope: Envelope;
  readonly options: ResolvedOptions;
}

/** What compilers of an embedding mode work with. Each `rows`, `array`, … is a fresh subquery that may refer to the
 *  parent row. */
export interface EmbedContext {
  readonly model: Model;
  /** The parent row's alias. */
  readonly parent: Sql;
  /** A fresh alias. */
  alias(): string;
  /** The relation that the embed leads to, if it leads to one. */
  readonly target: Relation | undefined;
  readonly isToOne: boolean;
  /** The relationship itself guarantees at most one row. */
  readonly isCertainlyOne: boolean;
  /** The parent groups by its columns: JSON values must be jsonb, because json has no equality operator (R-AGG-2). */
  readonly isGrouped: boolean;
  /** The parent sorts by it: `compile` must return a join with `row`. */
  readonly needsJoin: boolean;
  /** The parent has a limit. */
  readonly isLimited: boolean;
  /** The rows: every output under its key. */
  rows(read?: Read): Sql;
  /** The rows with values as they are stored, not as JSON represents their domains: for parents that group by them. @rule
   *  R-REP-2 */
  stored(read?: Read): Sql;
  /** All rows as one JSON array, `[]` if there are none. */
  array(read?: Read): Sql;
  /** The first row as a JSON object, NULL if there is none. */
  object(read?: Read): Sql;
  /** The aggregate read as one json object. */
  aggregate(read?: Read): Sql;
  /** json array over an element of joined rows; NULL over no rows. */
  arrayOf(element: Sql): Sql;
  /** `left join lateral (…) as alias on true`, or `join`, by `embed.join`. */
  lateral(rows: Sql, alias: string): Sql;
  /** Outputs with `*` expanded, including those of nested embeds of the same mode. */
  expand(outputs: readonly Output[]): readonly Output[];
}

export interface EmbedColumn {
  readonly as: string;
  readonly value: Sql;
  /** The value is this column of `stored`: groups are formed by it, and core shows it as JSON represents it. */
  readonly stored?: string;
  /** An aggregate of the parent's level. */
  readonly isAggregate?: boolean;
}

/** What an embedding mode adds to the SELECT of the parent. */
export interface EmbedSql {
  /** Absent: the columns are scalar subqueries, which lets the database sort and limit the parents first. */
  readonly join?: Sql;
  /** The columns that it adds to the parent's row. */
  readonly columns: readonly EmbedColumn[];
  /** Alias of the joined row, for related orders. */
  readonly row?: Sql;
  /** The join drops parents without rows; otherwise core adds an EXISTS for inner embeds. */
  readonly isInnerJoined?: boolean;
}

/** What the compiler of a media type works with. */
export interface MediaContext {
  readonly model: Model;
  /** A row of the result, as an expression. */
  readonly row: Sql;
  /** The row as JSON, where a key is empty: no column of a row can have that name. */
  readonly object?: Sql;
  /** Alias of the rows, for their columns. */
  readonly rowAlias: string;
  readonly envelope: Envelope;
  readonly options: Json | undefined;
  /** `value`: a scalar under the name `value`; `values`: several; `rows`: rows of the read; `row`: at most one. */
  readonly returns: "rows" | "row" | "value" | "values";
  /** Output names in order, when known without running. For `*` they are those of the schema as it was read last. */
  readonly outputs: readonly string[];
  /** The statement itself names the outputs, so that they are right whatever has changed since the schema was read. */
  readonly areOutputsNamed: boolean;
  /** The relation that the rows belong to, if any. */
  readonly relation: Relation | undefined;
  /** The select is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** Of a plan that reads rows. @rule X-MED-3 */
  readonly page?: MediaPage;
}

/** What reads the rows, and parts of them. */
export interface MediaPage {
  readonly read: Read;
  /** A row of these outputs alone, as an expression that costs no more than the whole row. */
  rowOf(outputs: readonly string[]): Sql;
}
