/** The types of the served tables and functions, their names, and the rights of roles. They come from the metadata, or
 *  from the model if there is no metadata. */
import type { Column, QualifiedName, Relation, Relationship, Routine, Session } from "../../core/index.ts";
import type { GqlComputedField, GqlEnumTable } from "./value-types.ts";

/** The root fields, by their keys in the metadata's `custom_root_fields`. @experimental */
export type GqlRootFieldName =
  | "select"
  | "select_by_pk"
  | "select_aggregate"
  | "insert"
  | "insert_one"
  | "update"
  | "update_by_pk"
  | "update_many"
  | "delete"
  | "delete_by_pk";

/** A root field of the metadata, with its name and description. @rule G-MET-8 @experimental */
export interface GqlRootFieldEntry {
  readonly name?: string;
  /** The description of the root field. Undefined for the default, null for no description. */
  readonly comment?: string | null;
}

/** One table of the metadata. Every omitted member has its default. @rule G-MET-8 G-MET-9 @experimental */
export interface GqlTableEntry {
  readonly relation: QualifiedName;
  readonly customName?: string;
  /** The description of the table's type. Null for no description. */
  readonly comment?: string | null;
  readonly rootFields?: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
  /** The columns of the table by SQL name. */
  readonly columns?: Readonly<Record<string, { readonly customName?: string; readonly comment?: string | null }>>;
  /** The relationships of the table. `relationship` is an id in `Relation.relationships` of the model, which includes
   *  manual relationships. */
  readonly relationships: readonly {
    readonly name: string;
    readonly relationship: string;
    readonly isAfter?: boolean;
  }[];
  readonly computedFields: readonly GqlComputedEntry[];
  /** The `logical_primary_key` of a view. @rule G-GEN-13 */
  readonly primaryKey?: readonly string[];
  /** The keys and descriptions of an enum table. @rule G-ENM-1 */
  readonly enumValues?: readonly { readonly key: string; readonly comment: string | null }[];
}

/** A computed field of the metadata. @rule G-MET-9 @experimental */
export interface GqlComputedEntry {
  readonly name: string;
  readonly routine: QualifiedName;
  readonly tableArgument?: string;
  readonly sessionArgument?: string;
  readonly comment?: string | null;
}

/** One function of the metadata. @rule G-MET-10 @experimental */
export interface GqlFunctionEntry {
  readonly routine: QualifiedName;
  readonly exposedAs?: "query" | "mutation";
  readonly sessionArgument?: string;
  readonly customName?: string;
  readonly rootFields?: { readonly function?: GqlRootFieldEntry; readonly function_aggregate?: GqlRootFieldEntry };
  readonly comment?: string | null;
}

/** The customization of names in the metadata. @rule G-NAM-6 @experimental */
export interface GqlCustomization {
  readonly namespace?: string;
  readonly rootPrefix?: string;
  readonly rootSuffix?: string;
  readonly typePrefix?: string;
  readonly typeSuffix?: string;
  readonly namingConvention?: "hasura-default" | "graphql-default";
}

/** The configuration of the metadata, which the metadata plugin's `introspect` tap sets. @experimental */
export interface GqlMetadata {
  readonly customization?: GqlCustomization;
  /** The served tables. Undefined if every relation of the exposed schemas is served. */
  readonly tables?: readonly GqlTableEntry[];
  readonly functions?: readonly GqlFunctionEntry[];
  /** The roles that cannot use `__schema` and `__type`, independent of the source of their rights. @rule G-INT-9 */
  readonly introspectionClosedFor?: ReadonlySet<string>;
  /** Returns the access of the role by the metadata. Undefined if the metadata does not name the role, so grants apply
   *  (G-PRM-2). The administrator has no such access. */
  findAccess(session: Session): GqlRoleAccess | undefined;
}

/** A column that the GraphQL surface serves. @experimental */
export interface GqlColumn {
  readonly column: Column;
  readonly name: string;
  /** The description of the column. Null for no description. */
  readonly comment: string | null;
  readonly enumTable?: GqlEnumTable;
}

/** A relationship that the GraphQL surface serves. @experimental */
export interface GqlRelationshipField {
  readonly name: string;
  readonly relationship: Relationship;
  readonly target: Relation;
  readonly isAfter?: boolean;
}

/** A table or view that the GraphQL surface serves. @experimental */
export interface GqlTable {
  readonly relation: Relation;
  /** The name part for generated names. Custom names keep their case. */
  readonly namePart: GqlNamePart;
  /** The description of the table's type. Undefined for the default, null for no description. */
  readonly comment: string | null | undefined;
  readonly columns: readonly GqlColumn[];
  readonly relationships: readonly GqlRelationshipField[];
  readonly computedFields: readonly GqlComputedField[];
  readonly rootFields: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
  /** The columns of the by-pk fields. Empty if the table has no such fields. */
  readonly primaryKey: readonly string[];
  readonly enumTable?: GqlEnumTable;
}

/** A function served as a root field. @rule G-FN-1 @experimental */
export interface GqlFunction {
  readonly routine: Routine;
  /** The relation whose rows the function returns. */
  readonly relation: Relation;
  readonly namePart: GqlNamePart;
  readonly rootFields: { readonly function?: GqlRootFieldEntry; readonly function_aggregate?: GqlRootFieldEntry };
  /** The description of the function's field. Undefined for the default, null for no description. */
  readonly comment: string | null | undefined;
  readonly isMutation: boolean;
  /** The index of the session argument in `routine.parameters`. */
  readonly sessionArgument?: number;
}

/** A part of a name to which conventions apply. Custom parts keep their case. @experimental */
export interface GqlNamePart {
  readonly text: string;
  readonly isCustom: boolean;
}

/** The tables and functions that the GraphQL surface serves, independent of roles. @experimental */
export interface GqlCatalog {
  /** The tables by schema and name. */
  readonly tables: readonly GqlTable[];
  /** The tables by `buildNameKey` of the relation. */
  readonly tablesByKey: ReadonlyMap<string, GqlTable>;
  readonly functions: readonly GqlFunction[];
  readonly customization: GqlCustomization;
}

/** The rights of a role on one relation. An undefined member grants no right. @experimental */
export interface GqlTableRights {
  readonly select?: {
    readonly columns: ReadonlySet<string>;
    /** The computed fields by name. A computed field with rows is shown if the role may read their table. */
    readonly computedFields: ReadonlySet<string>;
    readonly mayAggregate: boolean;
    /** The root fields of the query that the role has. Undefined if the role has all of them. @rule G-ROOT-16 */
    readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
    readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
    /** The columns and computed fields that may be null for the role, although the table declares otherwise. @rule
     *  G-PRM-14 */
    readonly masked?: ReadonlySet<string>;
    /** True if some rows may be hidden from the role. */
    readonly isFiltered?: true;
  };
  /** The columns that the client may set when it inserts rows. Columns with presets are not included. */
  readonly insert?: {
    readonly columns: ReadonlySet<string>;
    /** True if the database lets the role name only constraints on columns that it may read. @rule G-ENU-4 */
    readonly readsConflicts?: true;
  };
  readonly update?: { readonly columns: ReadonlySet<string> };
  readonly delete?: true;
}

/** The access of a role to the GraphQL surface. @experimental */
export interface GqlRoleAccess {
  readonly role: string;
  /** True for the administrator. Do not compare `role` with `admin`, because roles of the database and of the metadata
   *  may have that name. @rule G-AUTH-19b */
  readonly isAdmin?: boolean;
  /** The database role whose row policies apply. Undefined for the login role. */
  readonly databaseRole?: string;
  rights(table: GqlTable): GqlTableRights;
  /** Checks the right to call the function. The rights on the returned table are checked separately. */
  mayCall(fn: GqlFunction): boolean;
  /** True if permissions for backends apply. @rule G-PRM-11 */
  readonly isBackend?: boolean;
  /** True if the role may not use introspection. @rule G-INT-9 */
  readonly isIntrospectionClosed?: boolean;
}
