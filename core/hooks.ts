/** The hooks of core, and the contexts that their taps receive. */
import { AsyncSeriesBailHook, AsyncSeriesWaterfallHook, HookMap, SyncBailHook, SyncWaterfallHook } from "tapable";
import type { Column, Model, PgType, Relation } from "./model/model.ts";
import type { Comparison, Embed, Envelope, Json, Output, Plan, Read } from "./plan/plan.ts";
import type { ResolvedOptions } from "./settings/options.ts";
import type { Route, RouteContext } from "./route.ts";
import type { Credentials, Session } from "./kernel/session.ts";
import type { Sql } from "./sql/fragment.ts";
import type { BuiltIn } from "./sql/built-in.ts";

/** The hooks of core. Plugins define their own with `defineHook`, and share them by tokens. */
export interface RelApiHooks {
  readonly introspect: AsyncSeriesWaterfallHook<[model: Model, context: IntrospectContext]>;
  readonly buildRestRoute: SyncWaterfallHook<[route: Route, context: RouteContext]>;
  readonly buildGqlField: FieldHook;
  readonly compileFilter: HookMap<
    SyncBailHook<[comparison: Comparison, context: FilterContext], Sql | undefined, BuiltIn>
  >;
  readonly authorize: AsyncSeriesBailHook<[credentials: Credentials], Session | undefined>;
  readonly transformPlan: SyncWaterfallHook<[plan: Plan, context: PlanContext], Plan, PlanTap>;
  readonly compileEmbed: HookMap<SyncBailHook<[embed: Embed, context: EmbedContext], EmbedSql | undefined, BuiltIn>>;
  readonly compileMedia: HookMap<SyncBailHook<[context: MediaContext], Sql | undefined, BuiltIn>>;
}

/** Fields by name. The plugin that calls the hook defines the types of fields and contexts, and taps use these
 *  types. */
export type FieldMap = Readonly<Record<string, object>>;

/** The type to which a tap of `buildGqlField` adds fields. */
export interface FieldContext {
  /** The family of types that the fields belong to: `row`, `query_root`, … */
  readonly scope: string;
  /** The name of the type that has these fields. */
  readonly typeName: string;
  readonly model: Model;
  readonly role: string;
}

/** The type of a tap. TypeScript compares parameters of methods bivariantly, so a tap may use the types of the plugin
 *  that calls the hook. */
type FieldTap = { tap(fields: FieldMap, context: FieldContext): FieldMap }["tap"];

/** The hook that adds fields to a type. */
export interface FieldHook {
  tap(
    options: string | { readonly name: string; readonly stage?: number; readonly before?: string },
    tap: FieldTap,
  ): void;
  call(fields: FieldMap, context: FieldContext): FieldMap;
  readonly taps: readonly { readonly name: string; readonly fn: object }[];
}

/** Returns new hooks without taps. */
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

/** The context of `introspect` taps. */
export interface IntrospectContext {
  /** Runs in one read-only, repeatable-read transaction with an empty search path. `json` columns are returned
   *  parsed. */
  query<Row>(statement: Sql): Promise<readonly Row[]>;
  /** Like `query`, for results that only later work needs. Runs only after every tap has finished, so awaiting it
   *  inside a tap deadlocks. */
  queryLater<Row>(statement: Sql): Promise<readonly Row[]>;
  /** The exposed schemas in configured order. */
  readonly schemas: readonly string[];
  /** The schemas that plugins add to the exposed ones (`hiddenSchemas`). */
  readonly hiddenSchemas: readonly string[];
  readonly extraSearchPath: readonly string[];
  readonly options: ResolvedOptions;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The context of an operator's compiler. */
export interface FilterContext {
  readonly model: Model;
  /** The left operand, quoted, with JSON path and casts applied. */
  readonly column: Sql;
  /** The left operand's type without its domains, if known. For a JSON path it is `json`, `jsonb` or `text`. */
  readonly type: PgType | undefined;
  /** The column, if the left operand is a plain column. */
  readonly declared: Column | undefined;
  /** The bound right operand; empty for keyword operands. `field(name)` returns the parts of an operand of fields. */
  readonly operand: Sql;
  readonly field: (name: string) => Sql | undefined;
  readonly keyword: string | undefined;
  readonly option: Sql | undefined;
  readonly quantifier: "any" | "all" | undefined;
}

/** The properties that a tap of `transformPlan` may declare besides its name. */
export interface PlanTap {
  /** True if the tap may reject a plan but removes no rows from a read. Related rows that must exist then do exist. */
  readonly keepsRows?: boolean;
}

/** The context of `transformPlan` taps: the request that the plan belongs to. */
export interface PlanContext {
  readonly model: Model;
  readonly session: Session;
  readonly surface: string;
  /** The parts of the result. A key for `Location` counts as a read of its columns. */
  readonly envelope: Envelope;
  readonly options: ResolvedOptions;
}

/** The context of an embedding mode's compiler. Each call of `rows`, `array`, … returns a new subquery, which may refer
 *  to the parent row. */
export interface EmbedContext {
  readonly model: Model;
  /** The alias of the parent row. */
  readonly parent: Sql;
  alias(): string;
  /** The relation that the embed reads. Undefined if it reads none. */
  readonly target: Relation | undefined;
  readonly isToOne: boolean;
  /** True if the relationship itself guarantees at most one row. */
  readonly isCertainlyOne: boolean;
  /** True if the parent groups by its columns. JSON values must then be jsonb, because json has no equality operator
   *  (R-AGG-2). */
  readonly isGrouped: boolean;
  /** True if the parent sorts by the embed, so `compile` must return a join with `row`. */
  readonly needsJoin: boolean;
  readonly isLimited: boolean;
  /** Returns the rows, with every output under its key. */
  rows(read?: Read): Sql;
  /** Returns the rows with stored values, without the JSON representations of domains, for parents that group by them.
   *  @rule R-REP-2 */
  storedRows(read?: Read): Sql;
  /** Returns all rows as one JSON array, `[]` without rows. */
  array(read?: Read): Sql;
  /** Returns the first row as a JSON object, NULL without rows. */
  object(read?: Read): Sql;
  /** Returns the aggregate read as one JSON object. */
  aggregate(read?: Read): Sql;
  /** Returns `left join lateral (…) as alias on true`, or `join`, depending on `embed.join`. */
  lateral(rows: Sql, alias: string): Sql;
  /** Returns the outputs with `*` expanded, including those of nested embeds of the same mode. */
  expand(outputs: readonly Output[]): readonly Output[];
}

/** A column that an embed adds to the rows of its parent. */
export interface EmbedColumn {
  readonly as: string;
  readonly value: Sql;
  /** The column of `stored` that the value shows. The parent groups by that column, and core adds the
   *  representation. */
  readonly stored?: string;
  /** True if the value is an aggregate over the parent's rows. */
  readonly isAggregate?: boolean;
}

/** The parts that an embedding mode adds to the SELECT of the parent. */
export interface EmbedSql {
  /** Undefined if the columns are scalar subqueries, with which the database can sort and limit the parents first. */
  readonly join?: Sql;
  /** The columns that the embed adds to the parent's row. */
  readonly columns: readonly EmbedColumn[];
  /** The alias of the joined row, for related orders. */
  readonly row?: Sql;
  /** True if the join removes parents without rows. Otherwise core adds an EXISTS for inner embeds. */
  readonly isInnerJoined?: boolean;
}

/** The context of a media type's compiler. */
export interface MediaContext {
  readonly model: Model;
  /** A row of the result, as an expression. */
  readonly row: Sql;
  /** The row as JSON, if an output has an empty key. No column of a row can have an empty name. */
  readonly object?: Sql;
  /** The alias of the rows, for access to their columns. */
  readonly rowAlias: string;
  readonly envelope: Envelope;
  readonly options: Json | undefined;
  /** The kind of result. `value` is a scalar under the name `value`, and `values` is a set of scalars. `rows` are the
   *  rows of the read, and `row` is at most one row. */
  readonly returns: "rows" | "row" | "value" | "values";
  /** The output names in order, if these are known before the statement runs. The names of `*` come from the last load
   *  of the schema. */
  readonly outputs: readonly string[];
  /** True if the statement itself names the outputs, so the names are correct even after a change of the schema. */
  readonly areOutputsNamed: boolean;
  /** The relation that the rows belong to, if any. */
  readonly relation: Relation | undefined;
  /** True if the selection is exactly the default `*` (R-MED-5). */
  readonly isWholeRow: boolean;
  /** Defined for plans that read rows. @rule X-MED-3 */
  readonly page?: MediaPage;
}

/** The read behind a media type, and expressions for parts of its rows. */
export interface MediaPage {
  readonly read: Read;
  /** Returns a row of only these outputs, as an expression that costs no more than the whole row. */
  buildRow(outputs: readonly string[]): Sql;
}
