/** What the GraphQL surface serves, under which names and for which roles: from metadata if there is any, otherwise
 *  from the model. */
import type { Column, QualifiedName, Relation, Relationship, Routine, Session } from "../../core/index.ts";
import type { GqlComputedField, GqlEnumTable } from "./value-types.ts";

// --- metadata ---------------------------------------------------------------------------------------------

/** Root fields by the names of metadata's `custom_root_fields`. */
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

/** @rule G-MET-8 */
export interface GqlRootFieldEntry {
  readonly name?: string;
  /** Absent: the default description; null: none. */
  readonly comment?: string | null;
}

/** One table of the metadata; everything that is absent has its default. @rule G-MET-8 G-MET-9 */
export interface GqlTableEntry {
  readonly relation: QualifiedName;
  readonly customName?: string;
  /** Description of the type; null: none. */
  readonly comment?: string | null;
  readonly rootFields?: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
  /** By SQL name. */
  readonly columns?: Readonly<Record<string, { readonly customName?: string; readonly comment?: string | null }>>;
  /** `relationship`: id among `Relation.relationships` of the model, manual ones included. */
  readonly relationships: readonly {
    readonly name: string;
    readonly relationship: string;
    readonly isAfter?: boolean;
  }[];
  readonly computedFields: readonly GqlComputedEntry[];
  /** `logical_primary_key` of a view. @rule G-GEN-13 */
  readonly primaryKey?: readonly string[];
  /** It is an enum table, with these keys and descriptions. @rule G-ENM-1 */
  readonly enumValues?: readonly { readonly key: string; readonly comment: string | null }[];
}

/** A computed field of the metadata. @rule G-MET-9 */
export interface GqlComputedEntry {
  readonly name: string;
  readonly routine: QualifiedName;
  readonly tableArgument?: string;
  readonly sessionArgument?: string;
  readonly comment?: string | null;
}

/** @rule G-MET-10 */
export interface GqlFunctionEntry {
  readonly routine: QualifiedName;
  readonly exposedAs?: "query" | "mutation";
  readonly sessionArgument?: string;
  readonly customName?: string;
  readonly rootFields?: { readonly function?: GqlRootFieldEntry; readonly function_aggregate?: GqlRootFieldEntry };
  readonly comment?: string | null;
}

/** @rule G-NAM-6 */
export interface GqlCustomization {
  readonly namespace?: string;
  readonly rootPrefix?: string;
  readonly rootSuffix?: string;
  readonly typePrefix?: string;
  readonly typeSuffix?: string;
  readonly namingConvention?: "hasura-default" | "graphql-default";
}

/** `model.parts.metadata`, put there by the metadata plugin's `introspect` tap. */
export interface GqlMetadata {
  readonly customization?: GqlCustomization;
  /** Exactly these are served; absent: every relation of the exposed schemas. */
  readonly tables?: readonly GqlTableEntry[];
  readonly functions?: readonly GqlFunctionEntry[];
  /** Roles without `__schema` and `__type`, whatever their rights come from. @rule G-INT-9 */
  readonly introspectionClosedFor?: ReadonlySet<string>;
  /** What the role may do according to the metadata; undefined: the metadata does not name the role, so grants apply
   *  (G-PRM-2). Never called for the administrator. */
  view(session: Session): GqlRoleAccess | undefined;
}

// --- what is served -------------------------------------------------------------------------------------------------

/** A column as the GraphQL surface serves it. */
export interface GqlColumn {
  readonly column: Column;
  /** Field name. */
  readonly name: string;
  /** Description; null: none. */
  readonly comment: string | null;
  readonly enumTable?: GqlEnumTable;
}

/** A relationship as the GraphQL surface serves it. */
export interface GqlRelationshipField {
  readonly name: string;
  readonly relationship: Relationship;
  readonly target: Relation;
  readonly isAfter?: boolean;
}

/** A table, or view, as the GraphQL surface serves it. */
export interface GqlTable {
  readonly relation: Relation;
  /** Words of its name; custom ones keep their case. */
  readonly word: GqlNamePart;
  /** Description of the type; undefined: the default; null: none. */
  readonly comment: string | null | undefined;
  readonly columns: readonly GqlColumn[];
  readonly relationships: readonly GqlRelationshipField[];
  readonly computedFields: readonly GqlComputedField[];
  readonly rootFields: Readonly<Partial<Record<GqlRootFieldName, GqlRootFieldEntry>>>;
  /** Columns of the by-pk fields; empty: none. */
  readonly primaryKey: readonly string[];
  readonly enumTable?: GqlEnumTable;
}

/** A function served as a root field. @rule G-FN-1 */
export interface GqlFunction {
  readonly routine: Routine;
  /** Whose rows it returns. */
  readonly relation: Relation;
  readonly word: GqlNamePart;
  readonly rootFields: { readonly function?: GqlRootFieldEntry; readonly function_aggregate?: GqlRootFieldEntry };
  /** Undefined: the default. */
  readonly comment: string | null | undefined;
  readonly isMutation: boolean;
  /** Index in `routine.parameters`. */
  readonly sessionArgument?: number;
}

/** A part of a name that conventions work on: custom ones keep their case. */
export interface GqlNamePart {
  readonly text: string;
  readonly isCustom: boolean;
}

/** The tables and functions that the GraphQL surface serves, independent of roles. */
export interface GqlCatalog {
  /** By (schema, name). */
  readonly tables: readonly GqlTable[];
  /** By `nameKey` of the relation. */
  readonly tableOf: ReadonlyMap<string, GqlTable>;
  readonly functions: readonly GqlFunction[];
  readonly customization: GqlCustomization;
}

// --- rights --------------------------------------------------------------------------------------------------------

/** What a role may do with one relation. Absent parts: nothing. */
export interface GqlTableRights {
  readonly select?: {
    readonly columns: ReadonlySet<string>;
    /** Computed fields by name; those of rows are shown when their table may be read. */
    readonly computedFields: ReadonlySet<string>;
    readonly mayAggregate: boolean;
    /** Absent: all. @rule G-ROOT-16 */
    readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
    readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
    /** Columns and computed fields that may be null although the table says otherwise. @rule G-PRM-14 */
    readonly masked?: ReadonlySet<string>;
    /** There may be rows that the role does not see. */
    readonly isFiltered?: true;
  };
  /** Columns that may be given; presets are not among them. */
  readonly insert?: {
    readonly columns: ReadonlySet<string>;
    /** The database lets the role name only constraints whose columns it may read. @rule G-ENU-4 */
    readonly readsConflicts?: true;
  };
  readonly update?: { readonly columns: ReadonlySet<string> };
  readonly delete?: true;
}

/** What a role may do on the GraphQL surface. */
export interface GqlRoleAccess {
  readonly role: string;
  /** The database's role, whose row policies hold; absent: the login role. */
  readonly actsAs?: string;
  rights(table: GqlTable): GqlTableRights;
  /** The function itself; the rights on the returned table are checked separately. */
  mayCall(fn: GqlFunction): boolean;
  /** Permissions of backends count. @rule G-PRM-11 */
  readonly isBackend?: boolean;
  /** @rule G-INT-9 */
  readonly isIntrospectionClosed?: boolean;
}
