/** The objects of a database as the model holds them: types, columns, relations, relationships, routines, roles. */

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

export type TypeKind = "base" | "array" | "composite" | "domain" | "enum" | "range" | "multirange" | "pseudo";

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
  /** What the database puts in place of a value left out on a view without a default of its own: the default of the
   *  table's column. */
  readonly baseDefault?: string;
  readonly identity?: "always" | "by default";
  /** GENERATED ALWAYS AS (…) STORED. */
  readonly isGenerated: boolean;
  readonly maxLength?: number;
  readonly comment?: string;
  readonly acl: readonly AclItem[];
  /** `pg_column_is_updatable`; true for plain tables. */
  readonly isUpdatable: boolean;
}

export interface UniqueKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly isPrimary: boolean;
}

export interface ForeignKey {
  readonly name: string;
  readonly columns: readonly string[];
  readonly target: QualifiedName;
  readonly targetColumns: readonly string[];
}

export type RelationKind = "table" | "partitioned" | "view" | "materialized" | "foreign";

export interface Relation extends QualifiedName {
  readonly oid: number;
  readonly kind: RelationKind;
  /** oid of its row type. */
  readonly rowType: number;
  readonly owner: string;
  readonly acl: readonly AclItem[];
  readonly comment?: string;
  readonly columns: readonly Column[];
  /** Derived for views (R-REL-7). Empty: none. */
  readonly primaryKey: readonly string[];
  /** Of the relation itself; views have none. */
  readonly uniqueKeys: readonly UniqueKey[];
  readonly foreignKeys: readonly ForeignKey[];
  /** `pg_relation_is_updatable(oid, true)`. */
  readonly writable: { readonly insert: boolean; readonly update: boolean; readonly delete: boolean };
  readonly hasRowSecurity: boolean;
  /** Tables alone: `read`: reading it runs no code of users and asks no other server, whoever reads; `write`: neither
   *  does writing (triggers, rules, defaults, checks, indexes; of children and of tables that its keys cascade to as
   *  well). Absent: it may. @rule R-TX-10 */
  readonly plain?: "read" | "write";
  /** All relationships whose source this relation is, R-REL order not guaranteed. */
  readonly relationships: readonly Relationship[];
}

export type Cardinality = "many-to-one" | "one-to-many" | "one-to-one" | "many-to-many";

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
  /** The source holds the foreign key. Tells the two directions of a one-to-one key and of a self reference apart. */
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

export type Volatility = "immutable" | "stable" | "volatile";

export interface RoutineParameter {
  /** "" when unnamed. */
  readonly name: string;
  readonly type: number;
  /** As `format_type` prints it, without length limits (R-RPC-4): may enter SQL as text. */
  readonly sqlType: string;
  readonly mode: "in" | "inout" | "variadic";
  readonly hasDefault: boolean;
  /** The default as SQL, of functions with a variadic parameter alone: calls of those by name must say what they leave
   *  out. */
  readonly default?: string;
}

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
