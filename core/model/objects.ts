/** Defines the database objects in the model: types, columns, relations, relationships, functions, roles. */

/** The name of a relation, function or type, with its schema. */
export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

/** One grant of an ACL. The `grantee` "" is PUBLIC. Privilege letters are those of PostgreSQL (`r` SELECT, `a` INSERT,
 *  `w` UPDATE, `d` DELETE, `X` EXECUTE, `U` USAGE). @experimental */
export interface AclItem {
  readonly grantee: string;
  readonly privileges: string;
}

/** The kinds of types, as in `pg_type.typtype`, with a separate kind for arrays. */
export type TypeKind = "base" | "array" | "composite" | "domain" | "enum" | "range" | "multirange" | "pseudo";

/** A type of the database. */
export interface PgType {
  readonly oid: number;
  readonly schema: string;
  /** The name of the type, as in `pg_type.typname`: `int4`, `_text`. */
  readonly name: string;
  /** The text for a cast, schema-qualified and quoted where needed (`integer`, `"sea".mood`, `text[]`). The catalog
   *  wrote this text, so SQL may contain it unchanged. */
  readonly sqlName: string;
  readonly kind: TypeKind;
  /** The category, as in `pg_type.typcategory`: N number, S string, B boolean, D date, … */
  readonly category: string;
  /** The oid of an array's element type. */
  readonly element?: number;
  /** The oid of the type that a domain is declared on. */
  readonly base?: number;
  readonly notNull?: boolean;
  readonly default?: string;
  /** The labels of an enum in order. */
  readonly labels?: readonly string[];
  /** The attributes of a composite type in order. */
  readonly attributes?: readonly { readonly name: string; readonly type: number }[];
  /** The relation whose row type the composite type is. */
  readonly relation?: QualifiedName;
  readonly comment?: string;
}

/** A column of a relation. */
export interface Column {
  readonly name: string;
  readonly position: number;
  /** The oid of the column's type in `Model.types`. */
  readonly type: number;
  /** The declared type with modifiers, as `format_type` prints it with an empty search path. SQL may contain this text
   *  unchanged. */
  readonly sqlType: string;
  /** True if the column or its domain is NOT NULL. */
  readonly notNull: boolean;
  /** The default as SQL, in the form that R-SC-2 describes (identity BY DEFAULT as `nextval(...)`). Undefined for
   *  generated columns. */
  readonly default?: string;
  /** The default of the table's column behind a view column without a default. The database uses this default for
   *  omitted values. */
  readonly baseDefault?: string;
  readonly identity?: "always" | "by default";
  /** True if the column is GENERATED ALWAYS AS (…) STORED. */
  readonly isGenerated: boolean;
  /** True if the column of a view shows a table column whose values an identity or an expression always generates. */
  readonly isBaseGenerated?: true;
  readonly maxLength?: number;
  readonly comment?: string;
  readonly acl: readonly AclItem[];
  /** True if `pg_column_is_updatable` returns true. Always true for plain tables. */
  readonly isUpdatable: boolean;
}

/** A primary key or unique constraint. */
export interface UniqueKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPrimary: boolean;
}

/** The target of `ON CONFLICT` for a partial unique index, or a unique index of expressions. */
export interface ConflictTarget {
  /** The columns in the index or in its expressions. */
  readonly columns: readonly string[];
  /** The columns and expressions of the index, as SQL. */
  readonly expressions: readonly string[];
  /** The condition of a partial index as SQL. */
  readonly predicate?: string;
}

/** A foreign key of a table. */
export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: QualifiedName;
  readonly targetColumns: readonly string[];
}

/** The kinds of relations, as in `pg_class.relkind`. */
export type RelationKind = "table" | "partitioned" | "view" | "materialized" | "foreign";

/** A table or view, of whatever kind. */
export interface Relation extends QualifiedName {
  readonly oid: number;
  readonly kind: RelationKind;
  /** The oid of the relation's row type. */
  readonly rowType: number;
  /** The row types of the tables of which the relation is a child or a partition, nearest first. Rows of the relation
   *  are also rows of those tables. */
  readonly ancestorTypes?: readonly number[];
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  readonly columns: readonly Column[];
  /** The columns of the primary key, which is derived for views (R-REL-7). The list is empty without a key. */
  readonly primaryKey: readonly string[];
  /** The unique constraints of the relation itself. The list is empty for views. */
  readonly uniqueKeys: readonly UniqueKey[];
  /** The conflict targets for columns that have exactly one such index, and no other unique index. @rule R-UPS-6 */
  readonly conflictTargets?: readonly ConflictTarget[];
  readonly foreignKeys: readonly ForeignKey[];
  /** The writes that `pg_relation_is_updatable(oid, true)` allows. */
  readonly writable: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean };
  /** The effect of rules on writes, including rules of the table that a view shows. `returning`: another statement
   *  replaces the write, and returns its rows. `separate`: the write cannot be part of another statement. `nothing`:
   *  the write has no effect. @rule R-WRT-7 */
  readonly rules?: Readonly<Partial<Record<"insert" | "update" | "delete", "returning" | "separate" | "nothing">>>;
  /** True if inserts cannot use `ON CONFLICT` with the primary key, because of a view's triggers, rules, or a
   *  deferrable key. @rule R-PUT-6 */
  readonly rejectsConflict?: true;
  readonly hasRowSecurity: boolean;
  /** The accesses that are proven for any role. `read`: a read runs no user-defined code and contacts no other server.
   *  `write`: the same is true of writes, including triggers, rules, defaults, checks, indexes, child tables, and
   *  tables that keys cascade to. Undefined for other relations than tables, or if this is not certain. @rule R-TX-10
   *  */
  readonly provenAccess?: "read" | "write";
  /** True if NOT NULL columns may contain nulls. Child tables may have dropped the constraint, and foreign tables do
   *  not check it. @rule X-PLN-1 */
  readonly mayHideNulls?: true;
  /** All relationships whose source is this relation, in no particular order. */
  readonly relationships: readonly Relationship[];
}

/** The numbers of rows that a relationship connects, from its source to its target. */
export type Cardinality = "many-to-one" | "one-to-many" | "one-to-one" | "many-to-many";

/** A column of the source, and the column of the target that it equals. */
export type ColumnPair = readonly [source: string, target: string];

/** A relationship from one relation to another (R-REL). */
export interface Relationship {
  /** The id that plans store. It is unique among the relationships of the source and stable across reloads. */
  readonly id: string;
  readonly cardinality: Cardinality;
  readonly isToOne: boolean;
  readonly source: QualifiedName;
  readonly target: QualifiedName;
  /** The source and target columns of a direct relationship. The list is empty with a junction or a function. */
  readonly columns: readonly ColumnPair[];
  /** The name of the foreign key constraint, or "" for computed and manual relationships. */
  readonly constraint: string;
  /** True if the source has the foreign key. The value distinguishes the two directions of a one-to-one key and of a
   *  self reference. */
  readonly isOwnKey: boolean;
  readonly junction?: {
    readonly relation: QualifiedName;
    readonly sourceConstraint: string;
    readonly targetConstraint: string;
    /** The pairs of source column and junction column. */
    readonly source: readonly ColumnPair[];
    /** The pairs of target column and junction column. */
    readonly target: readonly ColumnPair[];
  };
  /** The function of one row behind a computed relationship (R-REL-9). */
  readonly routine?: QualifiedName;
  /** True if the relationship comes from metadata. A to-one relationship from metadata may match several rows
   *  (G-REL-1). */
  readonly isManual?: boolean;
}

/** The volatility, as in `pg_proc.provolatile`. */
export type Volatility = "immutable" | "stable" | "volatile";

/** A parameter that a function declares. */
export interface RoutineParameter {
  /** The name of the parameter, which is empty for an unnamed parameter. */
  readonly name: string;
  readonly type: number;
  /** The type as `format_type` prints it, without length limits (R-RPC-4). SQL may contain this text unchanged. */
  readonly sqlType: string;
  readonly mode: "in" | "inout" | "variadic";
  readonly hasDefault: boolean;
  /** The default as SQL. Defined only for functions with a variadic parameter, because calls by name must state the
   *  defaults that they use. */
  readonly default?: string;
}

/** A function of the database. */
export interface Routine extends QualifiedName {
  readonly oid: number;
  readonly volatility: Volatility;
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  /** The input parameters in order (IN, INOUT, VARIADIC). */
  readonly parameters: readonly RoutineParameter[];
  readonly returns: {
    readonly type: number;
    readonly isSet: boolean;
    /** `scalar` includes enums, arrays and domains on scalars. `composite` is a row type or OUT/TABLE columns. `record`
     *  has no known columns. */
    readonly kind: "scalar" | "composite" | "record" | "void";
    /** The relation whose row type the function returns, also through a domain. */
    readonly relation?: QualifiedName;
    /** The OUT, INOUT and TABLE columns, or the attributes of the composite type. */
    readonly columns: readonly { readonly name: string; readonly type: number }[];
    /** True if the function declares OUT, INOUT or TABLE parameters. */
    readonly hasOutParameters: boolean;
  };
  readonly isStrict: boolean;
  /** The estimated number of rows, as in `pg_proc.prorows`. */
  readonly rows: number;
  /** The function's `SET` clauses as pairs of name and value. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

/** A role of the database. */
export interface Role {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** The roles whose rights the role inherits, transitively and including itself. */
  readonly inherits: readonly string[];
  /** True if the login role may `SET ROLE` to this role. */
  readonly isAssumable: boolean;
  /** The settings of `ALTER ROLE … SET` that may be applied per request (docs/reference/rest/transactions.md). */
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly isolation?: string;
}

/** The functions behind implicit casts from and to a domain (R-REP). The key of the map is the domain's oid.
 *  @experimental */
export interface Representation {
  readonly toJson?: QualifiedName;
  readonly fromJson?: QualifiedName;
  readonly fromText?: QualifiedName;
}

/** An aggregate over a row type or `anyelement`, or a function, that returns a media-type domain (R-MED-4).
 *  @experimental */
export interface MediaHandler {
  readonly mediaType: string;
  readonly aggregate: QualifiedName;
  /** The relation whose rows the handler accepts. Undefined if the handler accepts `anyelement`. */
  readonly relation?: QualifiedName;
  readonly isBytea: boolean;
}
