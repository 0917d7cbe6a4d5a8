/** The database objects in the model: types, columns, relations, relationships, functions, roles. */

/** The name of a relation, function or type, with its schema. */
export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

/** One grant of an ACL. The `grantee` "" is PUBLIC. Privilege letters are those of PostgreSQL (`r` SELECT, `a` INSERT,
 *  `w` UPDATE, `d` DELETE, `X` EXECUTE, `U` USAGE). */
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
  /** `typname`, e.g. `int4`, `_text`. */
  readonly name: string;
  /** The text for a cast, schema-qualified and quoted where needed (`integer`, `"sea".mood`, `text[]`). It comes from
   *  the catalog, so it may enter SQL as text. */
  readonly sqlName: string;
  readonly kind: TypeKind;
  /** `typcategory`: N number, S string, B boolean, D date, … */
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
  /** The relation, if the composite type is a row type. */
  readonly relation?: QualifiedName;
  readonly comment?: string;
}

/** A column of a relation. */
export interface Column {
  readonly name: string;
  readonly position: number;
  /** An oid in `Model.types`. */
  readonly type: number;
  /** The declared type with modifiers, as `format_type` prints it with an empty search path. It may enter SQL as
   *  text. */
  readonly sqlType: string;
  /** Includes NOT NULL of the column's domain. */
  readonly notNull: boolean;
  /** The default as SQL, in the form of R-SC-2 (identity BY DEFAULT as `nextval(...)`). Undefined for generated
   *  columns. */
  readonly default?: string;
  /** For a view column without a default, the default of the table's column, which the database uses for omitted
   *  values. */
  readonly baseDefault?: string;
  readonly identity?: "always" | "by default";
  /** The column is GENERATED ALWAYS AS (…) STORED. */
  readonly isGenerated: boolean;
  /** The column of a view shows a table column whose values are always generated, by an identity or an expression. */
  readonly isBaseGenerated?: true;
  readonly maxLength?: number;
  readonly comment?: string;
  readonly acl: readonly AclItem[];
  /** `pg_column_is_updatable`; true for plain tables. */
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
  /** The expressions of the index as SQL. */
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
  /** The oid of its row type. */
  readonly rowType: number;
  /** The row types of the tables that it inherits from or is a partition of, nearest first. Its rows are also rows of
   *  those tables. */
  readonly ancestorTypes?: readonly number[];
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  readonly columns: readonly Column[];
  /** The columns of the primary key, derived for views (R-REL-7). Empty without a key. */
  readonly primaryKey: readonly string[];
  /** The unique constraints of the relation itself; empty for views. */
  readonly uniqueKeys: readonly UniqueKey[];
  /** The conflict targets for columns with exactly one such unique index and no other. @rule R-UPS-6 */
  readonly conflictTargets?: readonly ConflictTarget[];
  readonly foreignKeys: readonly ForeignKey[];
  /** `pg_relation_is_updatable(oid, true)`. */
  readonly writable: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean };
  /** The effect of rules on writes, including rules of the table that a view shows. `returning`: another statement
   *  replaces the write, and returns its rows. `separate`: the write cannot be part of another statement. `nothing`:
   *  the write has no effect. @rule R-WRT-7 */
  readonly rules?: Readonly<Partial<Record<"insert" | "update" | "delete", "returning" | "separate" | "nothing">>>;
  /** Inserts cannot use `ON CONFLICT` with the primary key: a view with triggers, a relation with rules, or a
   *  deferrable key. @rule R-PUT-6 */
  readonly refusesConflict?: true;
  readonly hasRowSecurity: boolean;
  /** Defined only for tables. `read`: for any role, a read runs no user code and contacts no other server. `write`: the
   *  same is true of writes, including triggers, rules, defaults, checks, indexes, child tables, and tables that its
   *  keys cascade to. Undefined if this is not certain. @rule R-TX-10 */
  readonly provenAccess?: "read" | "write";
  /** Columns may contain nulls although they are NOT NULL. Child tables may have dropped the constraint, and foreign
   *  tables do not check it. @rule X-PLN-1 */
  readonly mayHideNulls?: true;
  /** All relationships whose source is this relation, in no particular order. */
  readonly relationships: readonly Relationship[];
}

/** The number of rows that a relationship connects, seen from its source. */
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
  /** The source and target columns of a direct relationship. Empty with a junction or a function. */
  readonly columns: readonly ColumnPair[];
  /** The name of the foreign key constraint; "" for computed and manual relationships. */
  readonly constraint: string;
  /** The source has the foreign key. This distinguishes the two directions of a one-to-one key and of a self
   *  reference. */
  readonly isOwnKey: boolean;
  readonly junction?: {
    readonly relation: QualifiedName;
    readonly sourceConstraint: string;
    readonly targetConstraint: string;
    /** Pairs of source column and junction column. */
    readonly source: readonly ColumnPair[];
    /** Pairs of target column and junction column. */
    readonly target: readonly ColumnPair[];
  };
  /** The function of one row behind a computed relationship (R-REL-9). */
  readonly routine?: QualifiedName;
  /** The relationship comes from metadata, so it may match several rows even if it is to-one (G-REL-1). */
  readonly isManual?: boolean;
}

/** The volatility, as in `pg_proc.provolatile`. */
export type Volatility = "immutable" | "stable" | "volatile";

/** A parameter that a function declares. */
export interface RoutineParameter {
  /** Empty for an unnamed parameter. */
  readonly name: string;
  readonly type: number;
  /** The type as `format_type` prints it, without length limits (R-RPC-4). It may enter SQL as text. */
  readonly sqlType: string;
  readonly mode: "in" | "inout" | "variadic";
  readonly hasDefault: boolean;
  /** The default as SQL, only for functions with a variadic parameter, because calls by name must state the defaults
   *  that they use. */
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
    /** The relation whose row type is returned, also through a domain. */
    readonly relation?: QualifiedName;
    /** The OUT, INOUT and TABLE columns, or the attributes of the composite type. */
    readonly columns: readonly { readonly name: string; readonly type: number }[];
    /** The function is declared with OUT, INOUT or TABLE parameters. */
    readonly hasOutParameters: boolean;
  };
  readonly isStrict: boolean;
  /** `prorows`. */
  readonly rows: number;
  /** The `SET` clauses as pairs of name and value. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

/** A role of the database. */
export interface Role {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** The roles whose rights it inherits, including itself, transitively. */
  readonly inherits: readonly string[];
  /** The login role may `SET ROLE` to it. */
  readonly isAssumable: boolean;
  /** The settings of `ALTER ROLE … SET` that may be applied per request (docs/reference/rest/transactions.md). */
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly isolation?: string;
}

/** The functions behind implicit casts from and to a domain (R-REP). The key is the domain's oid. */
export interface Representation {
  readonly toJson?: QualifiedName;
  readonly fromJson?: QualifiedName;
  readonly fromText?: QualifiedName;
}

/** An aggregate over a row type or `anyelement` that returns a media-type domain, or a function that does (R-MED-4). */
export interface MediaHandler {
  readonly mediaType: string;
  readonly aggregate: QualifiedName;
  /** Undefined if the aggregate accepts `anyelement`. */
  readonly relation?: QualifiedName;
  readonly isBytea: boolean;
}
