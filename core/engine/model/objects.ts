/** The objects of a database as the model holds them: types, columns, relations, relationships, routines, roles. */

/** The name of a relation, function or type, with its schema. */
export interface QualifiedName {
  readonly schema: string;
  readonly name: string;
}

/** One grant of an ACL. `grantee` "" is PUBLIC. Privilege letters are those of PostgreSQL (`r` SELECT, `a` INSERT, `w`
 *  UPDATE, `d` DELETE, `X` EXECUTE, `U` USAGE). */
export interface AclItem {
  readonly grantee: string;
  readonly privileges: string;
}

/** Kinds of types, as in `pg_type.typtype`; arrays apart. */
export type TypeKind = "base" | "array" | "composite" | "domain" | "enum" | "range" | "multirange" | "pseudo";

/** A type of the database. */
export interface PgType {
  readonly oid: number;
  readonly schema: string;
  /** `typname`, e.g. `int4`, `_text`. */
  readonly name: string;
  /** Text for a cast, schema-qualified and quoted where needed (`integer`, `"sea".mood`, `text[]`). Comes from the
   *  catalog, so it may enter SQL as text. */
  readonly sqlName: string;
  readonly kind: TypeKind;
  /** `typcategory`: N number, S string, B boolean, D date, … */
  readonly category: string;
  /** Arrays: oid of the element. */
  readonly element?: number;
  /** Domains: oid of the type directly below. */
  readonly base?: number;
  readonly notNull?: boolean;
  readonly default?: string;
  /** Enums: labels in order. */
  readonly labels?: readonly string[];
  /** Composites: attributes in order. */
  readonly attributes?: readonly { readonly name: string; readonly type: number }[];
  /** Composites that are the row type of a relation. */
  readonly relation?: QualifiedName;
  readonly comment?: string;
}

/** A column of a relation. */
export interface Column {
  readonly name: string;
  readonly position: number;
  /** oid in `Model.types`. */
  readonly type: number;
  /** Declared type with modifiers, as `format_type` prints it with an empty search path: may enter SQL as text. */
  readonly sqlType: string;
  /** Domain NOT NULL counts. */
  readonly notNull: boolean;
  /** SQL text of the default as R-SC-2 has it (identity BY DEFAULT as `nextval(...)`); generated columns have none. */
  readonly default?: string;
  /** For a view column without a default: the default of the table's column, which the database uses for omitted
   *  values. */
  readonly baseDefault?: string;
  readonly identity?: "always" | "by default";
  /** GENERATED ALWAYS AS (…) STORED. */
  readonly isGenerated: boolean;
  /** Column of a view: that of its table always has generated values, of an identity or an expression. */
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

/** What `ON CONFLICT` says to mean a unique index of a part of the rows, or of expressions. */
export interface ConflictTarget {
  /** That the index is of, or its expressions. */
  readonly columns: readonly string[];
  /** SQL. */
  readonly expressions: readonly string[];
  /** SQL. */
  readonly predicate?: string;
}

/** A foreign key of a table. */
export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: QualifiedName;
  readonly targetColumns: readonly string[];
}

/** Kinds of relations, as in `pg_class.relkind`. */
export type RelationKind = "table" | "partitioned" | "view" | "materialized" | "foreign";

/** A table or view, of whatever kind. */
export interface Relation extends QualifiedName {
  readonly oid: number;
  readonly kind: RelationKind;
  /** oid of its row type. */
  readonly rowType: number;
  /** Row types of the tables that it inherits from or is a partition of, nearest first: its rows are rows of theirs. */
  readonly ancestorTypes?: readonly number[];
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  readonly columns: readonly Column[];
  /** Derived for views (R-REL-7). Empty: none. */
  readonly primaryKey: readonly string[];
  /** Of the relation itself; views have none. */
  readonly uniqueKeys: readonly UniqueKey[];
  /** For columns that have no other unique index, and only one such. @rule R-UPS-6 */
  readonly conflictTargets?: readonly ConflictTarget[];
  readonly foreignKeys: readonly ForeignKey[];
  /** `pg_relation_is_updatable(oid, true)`. */
  readonly writable: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean };
  /** Writes that pass rules, its own or those of the table that a view shows. `returning`: another statement replaces the
   *  write, and returns its rows. `separate`: it cannot be part of another statement. `nothing`: it has no effect.
   *  @rule R-WRT-7 */
  readonly rules?: Readonly<Partial<Record<"insert" | "update" | "delete", "returning" | "separate" | "nothing">>>;
  /** Its inserts take no `ON CONFLICT` with the primary key: a view with triggers, a relation with rules, a deferrable
   *  key. @rule R-PUT-6 */
  readonly takesNoConflict?: true;
  readonly hasRowSecurity: boolean;
  /** Only for tables. `read`: reading it runs no user code and contacts no other server, for any role; `write`: neither
   *  does writing it (triggers, rules, defaults, checks, indexes, including those of children and of tables that its
   *  keys cascade to). Absent: they may. @rule R-TX-10 */
  readonly plain?: "read" | "write";
  /** Its columns may hold nulls though they are NOT NULL: of child tables, which may have dropped the constraint, or of
   *  foreign ones, which do not check it. @rule X-PLN-1 */
  readonly mayHideNulls?: true;
  /** All relationships whose source this relation is, R-REL order not guaranteed. */
  readonly relationships: readonly Relationship[];
}

/** How many rows a relationship connects, seen from its source. */
export type Cardinality = "many-to-one" | "one-to-many" | "one-to-one" | "many-to-many";

/** A column of the source and the column of the target that it is compared with. */
export type ColumnPair = readonly [source: string, target: string];

/** A way from one relation to another (R-REL). */
export interface Relationship {
  /** Unique among the relationships of its source and stable across reloads; what a plan stores. */
  readonly id: string;
  readonly cardinality: Cardinality;
  readonly isToOne: boolean;
  readonly source: QualifiedName;
  readonly target: QualifiedName;
  /** Direct ones: source column, target column. Empty with a junction or a routine. */
  readonly columns: readonly ColumnPair[];
  /** Name of the foreign key constraint; "" for computed and manual ones. */
  readonly constraint: string;
  /** The source holds the foreign key. Distinguishes the two directions of a one-to-one key and of a self reference. */
  readonly isOwnKey: boolean;
  readonly junction?: {
    readonly relation: QualifiedName;
    readonly sourceConstraint: string;
    readonly targetConstraint: string;
    /** source column, junction column */
    readonly source: readonly ColumnPair[];
    /** target column, junction column */
    readonly target: readonly ColumnPair[];
  };
  /** Computed relationships (R-REL-9): the function of one row. */
  readonly routine?: QualifiedName;
  /** From metadata: may match several rows though it is to-one (G-REL-1). */
  readonly isManual?: boolean;
}

/** As in `pg_proc.provolatile`. */
export type Volatility = "immutable" | "stable" | "volatile";

/** A parameter that a function declares. */
export interface RoutineParameter {
  /** "" when unnamed. */
  readonly name: string;
  readonly type: number;
  /** As `format_type` prints it, without length limits (R-RPC-4): may enter SQL as text. */
  readonly sqlType: string;
  readonly mode: "in" | "inout" | "variadic";
  readonly hasDefault: boolean;
  /** The default as SQL, only for functions with a variadic parameter: calls by name must state the defaults they
   *  use. */
  readonly default?: string;
}

/** A function of the database. */
export interface Routine extends QualifiedName {
  readonly oid: number;
  readonly volatility: Volatility;
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  /** Input parameters in order (IN, INOUT, VARIADIC). */
  readonly parameters: readonly RoutineParameter[];
  readonly returns: {
    readonly type: number;
    readonly isSet: boolean;
    /** `scalar` includes domains over scalars, enums, arrays; `composite`: a row type or OUT/TABLE columns; `record`:
     *  no known columns; `void`. */
    readonly kind: "scalar" | "composite" | "record" | "void";
    /** Row type of a relation (domains over it resolved). */
    readonly relation?: QualifiedName;
    /** OUT, INOUT and TABLE columns, or the attributes of the composite type. */
    readonly columns: readonly { readonly name: string; readonly type: number }[];
    /** Declared with OUT, INOUT or TABLE parameters. */
    readonly hasOutParameters: boolean;
  };
  readonly isStrict: boolean;
  /** `prorows`. */
  readonly rows: number;
  /** `SET` clauses: name, value. */
  readonly settings: readonly (readonly [name: string, value: string])[];
}

/** A role of the database. */
export interface Role {
  readonly name: string;
  readonly isSuperuser: boolean;
  /** Roles whose rights it has (inherit), itself included, transitively. */
  readonly inherits: readonly string[];
  /** The login role may `SET ROLE` to it. */
  readonly isAssumable: boolean;
  /** Settings of `ALTER ROLE … SET` that may be applied per request (section 21). */
  readonly settings: readonly (readonly [name: string, value: string])[];
  readonly isolation?: string;
}

/** R-REP: the function behind an implicit cast from or to a domain. Key: domain oid. */
export interface Representation {
  readonly toJson?: QualifiedName;
  readonly fromJson?: QualifiedName;
  readonly fromText?: QualifiedName;
}

/** R-MED-4: an aggregate over a row type or anyelement that returns a media-type domain, or (routine) a function that
 *  does. */
export interface MediaHandler {
  readonly mediaType: string;
  readonly aggregate: QualifiedName;
  /** Absent: over `anyelement`. */
  readonly relation?: QualifiedName;
  readonly isBytea: boolean;
}
