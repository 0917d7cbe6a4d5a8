/** Defines the state that every part of the compiler shares: the model, the taps, new aliases, and the row scope of an
 *  expression. */
import type { RelApiHooks } from "../hooks.ts";
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
import type { Registry } from "../plugin.ts";
import type { PlannerLevel } from "./exists.ts";
import { quoteIdentifier, joinSql, sql, type Sql } from "./fragment.ts";

/** The format of JSON: `spaced` is the format that json_agg writes (R-FMT-1), `compact` has no spaces (G-HTTP-13). */
export type JsonStyle = "spaced" | "compact";

export interface Compiler {
  readonly model: Model;
  readonly hooks: RelApiHooks;
  readonly registry: Registry;
  readonly style: JsonStyle;
  /** True if columns have their stored values, without the JSON representations of domains. */
  readonly showsStored?: boolean;
  /** The caller's visibility. Only hints in errors may depend on the visibility, because callers share compiled
   *  programs. Undefined if errors have no hints. */
  readonly visibility?: () => Visibility;
  /** The relations and functions that the compiler has found so far, and properties of the program. */
  readonly dependencies: { readonly relations: Set<string>; isOpenEnded: boolean; plansEachTime?: true };
  /** The relations that the earlier steps of a sequence have written, in order. */
  readonly stepRelations?: readonly QualifiedName[];
  /** Returns a row alias that is unique in the statement. The first call for a name returns the name itself, so that
   *  database messages name the relation as the request does. */
  alias(name: string): string;
  /** Compiles a predicate. Predicates contain expressions, and expressions contain predicates. Calls of this function
   *  through the compiler avoid circular imports, as for embeds. */
  compilePredicate(predicate: Predicate, scope: Scope): Sql;
  compileEmbed(embed: Embed, parent: Scope, use: EmbedUse): CompiledEmbed;
}

export type RelatedValue = Extract<Expression, { readonly kind: "related" }>;

/** A value of a row. */
export interface CompiledValue {
  readonly sql: Sql;
  /** The base type of the value, without domains. Undefined if the model does not know it. */
  readonly type: PgType | undefined;
  /** The column that the value consists of. Undefined unless the value is a plain column. */
  readonly column: Column | undefined;
  /** The oid of the type whose JSON representation applies to the value. @rule R-REP-2 */
  readonly representedType?: number;
}

/** The row scope of an expression: the current row and its position in the statement. */
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
  /** True if the row is a record, which functions of the row accept only after a cast to the relation's row type. */
  readonly isRecord?: true;
  /** True if the relation stores the rows. Rows of the relation's type that a function returns are not stored. */
  readonly isStored?: boolean;
  /** The system columns that expressions can name: all system columns of a table, or the listed ones of a record. @rule
   *  R-NAM-7 */
  readonly systemColumns?: "all" | readonly string[];
  /** The relations with which PostgreSQL plans the row's conditions. */
  readonly level?: PlannerLevel;
  /** True if the condition is below an `or`, where no condition becomes a join. */
  readonly isBelowOr?: true;
  /** The scope of the outermost predicate. Undefined in that scope itself. */
  readonly root?: Scope;
  /** The reads embedded at this level, by embed id, for null tests and related orders. */
  readonly embeds?: ReadonlyMap<string, EmbeddedRead>;
  /** Returns the name under which all parts of the level use a related row's value. Undefined unless the rows are
   *  grouped. */
  readonly compileGroupKey?: (relatedValue: RelatedValue) => CompiledValue;
}

export interface EmbeddedRead {
  /** Compiles the condition that the embed has rows. */
  readonly exists: (scope: Scope) => Sql;
  /** The alias of the lateral join. Undefined without a lateral join. */
  readonly row: Sql | undefined;
  /** The output keys of the embed's row. */
  readonly keys: readonly string[];
  readonly read: Read;
}

export interface CompiledColumn {
  readonly as: string;
  /** The value that the output shows. */
  readonly value: Sql;
  /** The stored value and its type. Undefined if the shown value is the same. */
  readonly storedValue?: StoredValue;
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
  /** The output keys of the embed's row. */
  readonly keys: readonly string[];
  /** True if the join itself removes parents without rows. */
  readonly isInnerJoined: boolean;
  /** Compiles the condition that there are embedded rows. */
  readonly exists: (scope: Scope) => Sql;
}

export interface EmbedUse {
  /** True if the parent groups its rows, so that a JSON value needs an equality (R-AGG-2). */
  readonly isGrouped: boolean;
  /** True if the parent sorts by the embed, which then needs a join. */
  readonly needsJoin: boolean;
  readonly isLimited: boolean;
  readonly isOutput: boolean;
  /** True if the parent's values are text, not JSON. @rule R-REP-2 */
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
    return sql`row(${joinSql(relation.columns.map(({ name }) => quoteIdentifier(scope.row, name)))})::${quoteQualifiedName(relation)}`;
  const type = scope.isRecord === true ? (relation ?? scope.rowTypeName) : undefined;
  return type === undefined
    ? sql`${quoteIdentifier(scope.row)}.*`
    : sql`(${quoteIdentifier(scope.row)}.*)::${quoteIdentifier(type.schema, type.name)}`;
};

/** Adds the relation to the program's dependencies, and returns the relation. Returns undefined if the relation is
 *  unknown. */
export const findAndRecordRelation = (compiler: Compiler, name: QualifiedName): Relation | undefined => {
  compiler.dependencies.relations.add(`${name.schema}.${name.name}`);
  return findRelation(compiler.model, name);
};

/** Opens the scope of a subquery's row, with a new alias. */
export const openScope = (compiler: Compiler, outer: Scope, relation: QualifiedName): Scope => ({
  row: compiler.alias(relation.name),
  relation: findAndRecordRelation(compiler, relation),
  root: outer.root ?? outer,
});

/** Creates an internal error of a surface or plugin, because plans must be valid before they are compiled. */
export const planInvalid = (message: string): Error => new Error(`bad plan: ${message}`);

export const quoteQualifiedName = (name: QualifiedName): Sql => quoteIdentifier(name.schema, name.name);
