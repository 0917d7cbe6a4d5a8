/** What every part of the compiler shares: the model, the taps, fresh aliases, and the row an expression stands on. */
import type { RelApiHooks } from "../../hooks.ts";
import {
  relationOf,
  type Column,
  type Model,
  type PgType,
  type QualifiedName,
  type Relation,
  type Routine,
} from "../model/model.ts";
import { systemColumnType } from "../model/system-columns.ts";
import type { Visibility } from "../model/visibility.ts";
import type { Embed, Expression, Predicate, Read } from "../plan/plan.ts";
import type { Registry } from "../../plugin.ts";
import type { PlannerLevel } from "./exists.ts";
import { ident, join, sql, type Sql } from "./fragment.ts";

/** How JSON is printed: `spaced` is what json_agg prints (R-FMT-1), `compact` has no spaces (G-HTTP-13). */
export type JsonStyle = "spaced" | "compact";

export interface Compiler {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  readonly style: JsonStyle;
  /** Columns come as they are stored, not as the JSON that represents their domains. */
  readonly showsStored?: boolean;
  /** What the caller may see, only for hints in errors: compiled programs are shared. Absent: no hints. */
  readonly sight?: () => Visibility;
  /** Relations and functions seen so far, and what is told of the program. */
  readonly seen: { readonly relations: Set<string>; isOpenEnded: boolean; plansEachTime?: true };
  /** The relations that the earlier steps of a sequence have written, in order. */
  readonly stepRelations?: readonly QualifiedName[];
  /** A row alias that is unique in the statement. The first request for a name gets the name itself, so that database
   *  messages name the relation as the request does. */
  alias(name: string): string;
  /** Conditions hold expressions, which hold conditions; reads hold embeds, which hold reads. The second half of each
   *  pair is reached through here, so that the files import each other in one direction only. */
  compilePredicate(predicate: Predicate, scope: Scope): Sql;
  compileEmbed(embed: Embed, parent: Scope, use: EmbedUse): CompiledEmbed;
}

export type RelatedValue = Extract<Expression, { readonly kind: "related" }>;

/** A value of a row. */
export interface Compiled {
  readonly sql: Sql;
  /** The type below all domains; undefined if the model does not know it. */
  readonly type: PgType | undefined;
  /** The plain column it is. */
  readonly declared: Column | undefined;
  /** oid of the type whose representations count for it. @rule R-REP-2 */
  readonly represented?: number;
}

/** The row at hand. */
export interface Scope {
  readonly row: string;
  /** What messages call it; absent: the relation or function. */
  readonly shown?: string;
  readonly relation: Relation | undefined;
  /** Types of columns by name, if there is no relation (function results). */
  readonly columns?: ReadonlyMap<string, number>;
  /** The function whose result the row is. */
  readonly routine?: Routine;
  /** The composite type of such a row, if it is no relation's. */
  readonly rowTypeName?: QualifiedName;
  /** The row is a record that must be cast to the relation's row type before functions of the row take it. */
  readonly isRecord: boolean;
  /** The rows are those that the relation has, not what a function returns in its name. */
  readonly isStored?: true;
  /** System columns of the row can be named: those of a table, or (of a record) these. @rule R-NAM-7 */
  readonly systemColumns?: "all" | readonly string[];
  /** What its conditions are planned with. */
  readonly level?: PlannerLevel;
  /** Below an `or`. */
  readonly isApart?: true;
  /** The scope of the outermost predicate. */
  readonly root: Scope | undefined;
  /** Reads embedded at this level, by embed id: for null tests and related orders. */
  readonly embeds: ReadonlyMap<string, EmbeddedRead>;
  /** The rows are grouped: a value of a related row has one name in all that the level says of its groups. */
  readonly groupedBy?: (related: RelatedValue) => Compiled;
}

export interface EmbeddedRead {
  /** `exists (rows of the embed)`. */
  readonly exists: (scope: Scope) => Sql;
  /** Alias of the lateral join, where the level has one. */
  readonly row: Sql | undefined;
  /** Keys that the row offers. */
  readonly keys: readonly string[];
  readonly read: Read;
}

export interface CompiledColumn {
  readonly as: string;
  /** As it is shown. */
  readonly value: Sql;
  /** As it is stored, where that is another value, and its type. */
  readonly stored?: StoredValue;
  readonly isAggregate?: boolean;
}

export interface StoredValue {
  readonly sql: Sql;
  readonly type: number;
}

export interface CompiledEmbed {
  readonly join: Sql | undefined;
  readonly columns: readonly CompiledColumn[];
  readonly row: Sql | undefined;
  /** Keys that the row offers. */
  readonly keys: readonly string[];
  /** The join drops parents without rows by itself. */
  readonly isInnerJoined: boolean;
  /** There are embedded rows. */
  readonly exists: (scope: Scope) => Sql;
}

export interface EmbedUse {
  /** The parent groups: a JSON value needs an equality (R-AGG-2). */
  readonly isGrouped: boolean;
  /** The parent sorts by it. */
  readonly needsJoin: boolean;
  /** The parent has a limit. */
  readonly isLimited: boolean;
  readonly isOutput: boolean;
  /** The parent's values are text, not JSON. @rule R-REP-2 */
  readonly showsText: boolean;
}

export const noEmbeds: ReadonlyMap<string, EmbeddedRead> = new Map();

/** The row is a record with system columns beside those of the relation. @rule R-NAM-7 */
export const isWider = ({ isRecord, relation, systemColumns = [] }: Scope): boolean =>
  isRecord && systemColumns !== "all" && systemColumns.some((name) => systemColumnType(relation, name) !== undefined);

/** The row itself, as a value of the relation's row type. @rule R-SQL-8 */
export const rowValue = (scope: Scope): Sql => {
  const { relation } = scope;
  if (relation !== undefined && isWider(scope))
    return sql`row(${join(relation.columns.map(({ name }) => ident(scope.row, name)))})::${qualified(relation)}`;
  const type = scope.isRecord ? (relation ?? scope.rowTypeName) : undefined;
  return type === undefined
    ? sql`${ident(scope.row)}.*`
    : sql`(${ident(scope.row)}.*)::${ident(type.schema, type.name)}`;
};

export const lookUp = (compiler: Compiler, name: QualifiedName): Relation | undefined => {
  compiler.seen.relations.add(`${name.schema}.${name.name}`);
  return relationOf(compiler.model, name);
};

/** A bug in a surface or plugin: plans are validated before they are compiled. */
export const badPlan = (message: string): Error => new Error(`bad plan: ${message}`);

export const qualified = (name: QualifiedName): Sql => ident(name.schema, name.name);
