/** The state that every part of the compiler shares: the model, the taps, new aliases, and the row scope of an
 *  expression. */
import type { RelApiHooks } from "../../hooks.ts";
import {
  findRelation,
  type Column,
  type Model,
  type PgType,
  type QualifiedName,
  type Relation,
  type Routine,
} from "../model/model.ts";
import { findSystemColumnType } from "../model/system-columns.ts";
import type { Visibility } from "../model/visibility.ts";
import type { Embed, Expression, Predicate, Read } from "../plan/plan.ts";
import type { Registry } from "../../plugin.ts";
import type { PlannerLevel } from "./exists.ts";
import { ident, join, sql, type Sql } from "./fragment.ts";

/** The format of JSON: `spaced` is the format of json_agg (R-FMT-1), `compact` has no spaces (G-HTTP-13). */
export type JsonStyle = "spaced" | "compact";

export interface Compiler {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  readonly style: JsonStyle;
  /** Columns have their stored values, without the JSON representations of domains. */
  readonly showsStored?: boolean;
  /** The caller's visibility, only for hints in errors, because compiled programs are shared. Undefined if errors have
   *  no hints. */
  readonly visibility?: () => Visibility;
  /** The relations and functions seen so far, and properties of the program. */
  readonly dependencies: { readonly relations: Set<string>; isOpenEnded: boolean; plansEachTime?: true };
  /** The relations that the earlier steps of a sequence have written, in order. */
  readonly stepRelations?: readonly QualifiedName[];
  /** Returns a row alias that is unique in the statement. The first call for a name returns the name itself, so that
   *  database messages name the relation as the request does. */
  alias(name: string): string;
  /** Conditions contain expressions, which contain conditions; reads contain embeds, which contain reads. The second
   *  half of each pair is called through the compiler, which avoids circular imports. */
  compilePredicate(predicate: Predicate, scope: Scope): Sql;
  compileEmbed(embed: Embed, parent: Scope, use: EmbedUse): CompiledEmbed;
}

export type RelatedValue = Extract<Expression, { readonly kind: "related" }>;

/** A value of a row. */
export interface CompiledValue {
  readonly sql: Sql;
  /** The type without its domains. Undefined if the model does not know it. */
  readonly type: PgType | undefined;
  /** The column, if the value is a plain column. */
  readonly column: Column | undefined;
  /** The oid of the type whose representations apply. @rule R-REP-2 */
  readonly representedType?: number;
}

/** The current row. */
export interface Scope {
  readonly row: string;
  /** The name of the row in messages, by default that of the relation or function. */
  readonly displayName?: string;
  readonly relation: Relation | undefined;
  /** The column types by name, if there is no relation (function results). */
  readonly columns?: ReadonlyMap<string, number>;
  /** The function whose result the row is. */
  readonly routine?: Routine;
  /** The composite type of a function's row, if it is not a relation's row type. */
  readonly rowTypeName?: QualifiedName;
  /** The row is a record that must be cast to the relation's row type before functions of the row accept it. */
  readonly isRecord?: true;
  /** The rows are stored in the relation. Rows of its type that a function returns are not. */
  readonly isStored?: boolean;
  /** The system columns that expressions can name: all of a table, or these of a record. @rule R-NAM-7 */
  readonly systemColumns?: "all" | readonly string[];
  /** The relations with which PostgreSQL plans the row's conditions. */
  readonly level?: PlannerLevel;
  /** The condition is below an `or`. */
  readonly isBelowOr?: true;
  /** The scope of the outermost predicate. Undefined in that scope itself. */
  readonly root?: Scope;
  /** The reads embedded at this level, by embed id, for null tests and related orders. */
  readonly embeds?: ReadonlyMap<string, EmbeddedRead>;
  /** Defined if the rows are grouped. Returns the one name of a related row's value, which all parts of the level
   *  use. */
  readonly compileGroupKey?: (related: RelatedValue) => CompiledValue;
}

export interface EmbeddedRead {
  /** Compiles `exists (rows of the embed)`. */
  readonly exists: (scope: Scope) => Sql;
  /** The alias of the lateral join, if there is one. */
  readonly row: Sql | undefined;
  /** The keys of the row. */
  readonly keys: readonly string[];
  readonly read: Read;
}

export interface CompiledColumn {
  readonly as: string;
  /** The shown value. */
  readonly value: Sql;
  /** The stored value and its type, if it differs from the shown value. */
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
  /** The keys of the row. */
  readonly keys: readonly string[];
  /** The join itself removes parents without rows. */
  readonly isInnerJoined: boolean;
  /** Compiles the condition that there are embedded rows. */
  readonly exists: (scope: Scope) => Sql;
}

export interface EmbedUse {
  /** The parent groups, so a JSON value needs an equality (R-AGG-2). */
  readonly isGrouped: boolean;
  /** The parent sorts by the embed. */
  readonly needsJoin: boolean;
  readonly isLimited: boolean;
  readonly isOutput: boolean;
  /** The parent's values are text, not JSON. @rule R-REP-2 */
  readonly showsText: boolean;
}

/** Returns whether the row is a record with system columns besides those of the relation. @rule R-NAM-7 */
export const hasExtraSystemColumns = ({ isRecord, relation, systemColumns = [] }: Scope): boolean =>
  isRecord === true &&
  systemColumns !== "all" &&
  systemColumns.some((name) => findSystemColumnType(relation, name) !== undefined);

/** Compiles the row itself, as a value of the relation's row type. @rule R-SQL-8 */
export const compileRow = (scope: Scope): Sql => {
  const { relation } = scope;
  if (relation !== undefined && hasExtraSystemColumns(scope))
    return sql`row(${join(relation.columns.map(({ name }) => ident(scope.row, name)))})::${quoteQualifiedName(relation)}`;
  const type = scope.isRecord === true ? (relation ?? scope.rowTypeName) : undefined;
  return type === undefined
    ? sql`${ident(scope.row)}.*`
    : sql`(${ident(scope.row)}.*)::${ident(type.schema, type.name)}`;
};

export const lookUpRelation = (compiler: Compiler, name: QualifiedName): Relation | undefined => {
  compiler.dependencies.relations.add(`${name.schema}.${name.name}`);
  return findRelation(compiler.model, name);
};

/** An internal error of a surface or plugin: plans must be valid before they are compiled. */
export const badPlan = (message: string): Error => new Error(`bad plan: ${message}`);

export const quoteQualifiedName = (name: QualifiedName): Sql => ident(name.schema, name.name);
