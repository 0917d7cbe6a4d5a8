/** Defines the model of the database, which the `introspect` taps read. */
import type {
  AclItem,
  Column,
  MediaHandler,
  PgType,
  QualifiedName,
  Relation,
  Relationship,
  Representation,
  Role,
  Routine,
} from "./objects.ts";
import type { Visibility } from "./visibility.ts";
import { memoize } from "../kernel/memoize.ts";

export type * from "./objects.ts";

/** The database objects that requests can use. The model is frozen, and each load creates a new one. */
export interface Model {
  /** The number of the load in this process, which is part of cache keys. */
  readonly version: number;
  /** The exposed schemas in configured order. */
  readonly schemas: readonly string[];
  readonly schemaComments: ReadonlyMap<string, string>;
  /** The owner and ACL of the exposed schemas, for USAGE. */
  readonly schemaAcls: ReadonlyMap<string, { readonly owner: string; readonly acl: readonly AclItem[] }>;
  /** The relations of the exposed schemas and the targets of relationships, without partitions. The key is
   *  `buildNameKey`. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** All overloads of each function, by `buildNameKey`. */
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly types: ReadonlyMap<number, PgType>;
  readonly roles: ReadonlyMap<string, Role>;
  readonly loginRole: string;
  /** The schemas in the `search_path` of a new connection, as set for the login role or the database. `$user` is
   *  included if a schema has the name of a role. */
  readonly loginPath: readonly string[];
  readonly representations: ReadonlyMap<number, Representation>;
  readonly mediaHandlers: readonly MediaHandler[];
  /** The schema of each known extension (`postgis`, `ltree`, …) that is installed. */
  readonly extensions: ReadonlyMap<string, string>;
  /** The shadowed names: built-in operators and functions for which user-defined code defines others on built-in types,
   *  so that PostgreSQL may choose those. `::` represents casts between such types. @rule R-TX-10 */
  readonly shadowedNames: ReadonlySet<string>;
  /** The version of the server, as in `server_version_num`. */
  readonly serverVersion: number;
  /** The visibility of roles whose rights come from metadata, by surface. Statements of these roles run as the login
   *  role (G-PRM-3). */
  readonly loginRoles?: ReadonlyMap<string, ReadonlyMap<string, Visibility>>;
  /** Settings for all transactions of a session's role, whichever database role runs them. */
  readonly callerSettings?: ReadonlyMap<string, CallerSettings>;
  /** Facts that plugins share with other plugins, by plugin name. */
  readonly pluginFacts: Readonly<Record<string, unknown>>;
}

/** Returns whether the relation is a view or a materialized view. */
export const isView = (relation: Pick<Relation, "kind"> | undefined): boolean =>
  relation?.kind === "view" || relation?.kind === "materialized";

/** Settings of a caller's transactions. The settings of the database role, the session and the request take precedence.
 *  @rule X-SES-2 @experimental */
export interface CallerSettings {
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** Explains how the settings caused a database error. Returns undefined if the settings did not. The function is not
   *  called if the request itself has set one of these settings. */
  readonly explain?: (error: {
    readonly code: string;
    readonly message: string;
    /** The fact `isRaised` says that user-defined code raised the error. */
    readonly facts: Readonly<Record<string, unknown>>;
  }) => { readonly hint: string; readonly facts: Readonly<Record<string, string | number>> } | undefined;
}

/** Returns the key for `Model.relations` and `Model.routines`. */
export const buildNameKey = (name: QualifiedName): string => `${name.schema}\u0000${name.name}`;

/** Returns whether both names have the same schema and the same name. */
export const isSameName = (a: QualifiedName, b: QualifiedName): boolean => a.name === b.name && a.schema === b.schema;

/** Returns the relation of that name, or undefined if it is unknown. */
export const findRelation = (model: Model, name: QualifiedName): Relation | undefined =>
  model.relations.get(buildNameKey(name));

/** Returns all overloads of the function. */
export const findRoutines = (model: Model, name: QualifiedName): readonly Routine[] =>
  model.routines.get(buildNameKey(name)) ?? [];

const indexColumns = memoize(
  ({ columns }: Relation): ReadonlyMap<string, Column> => new Map(columns.map((column) => [column.name, column])),
);

/** Returns the column of that name, or undefined if the relation lacks it. */
export const findColumn = (relation: Relation, name: string): Column | undefined => indexColumns(relation).get(name);

const indexRelationships = memoize(
  ({ relationships }: Relation): ReadonlyMap<string, Relationship> =>
    new Map(relationships.map((relationship) => [relationship.id, relationship])),
);

/** Returns the relationship with that id whose source is the relation. */
export const findRelationship = (relation: Relation, id: string): Relationship | undefined =>
  indexRelationships(relation).get(id);

/** The first oid of objects that users create. All objects of PostgreSQL itself have smaller ones. */
export const FIRST_USER_OID = 16_384;

/** Returns the base type of a type: the type itself, or the type under all domains. */
export const findBaseType = (model: Model, oid: number): PgType | undefined => {
  let type = model.types.get(oid);
  for (let depth = 0; type?.kind === "domain" && type.base !== undefined && depth < 32; depth++)
    type = model.types.get(type.base);
  return type;
};

/** Returns whether the column accepts values, because the database does not generate them. @rule G-GEN-7 */
export const takesValues = (column: Column): boolean => !column.isGenerated && column.identity !== "always";

/** Returns the columns that accept values. A view accepts the columns that it passes on. If a view's triggers handle
 *  only some writes, its columns are unknown, so all are returned. @rule G-GEN-7 G-GEN-12 */
export const listWritableColumns = (relation: Relation): readonly Column[] => {
  const passing = relation.columns.filter((column) => column.isUpdatable);
  return (passing.length === 0 ? relation.columns : passing).filter(takesValues);
};

/** Returns the input of the first `introspect` tap. */
export const createEmptyModel = (version: number, schemas: readonly string[]): Model => ({
  version,
  schemas,
  schemaComments: new Map(),
  schemaAcls: new Map(),
  relations: new Map(),
  routines: new Map(),
  types: new Map(),
  roles: new Map(),
  loginRole: "",
  loginPath: [],
  representations: new Map(),
  mediaHandlers: [],
  extensions: new Map(),
  shadowedNames: new Set(),
  serverVersion: 0,
  pluginFacts: {},
});

/** Returns the qualified name of an object without the object's other properties. @experimental */
export const getQualifiedName = ({ schema, name }: QualifiedName): QualifiedName => ({ schema, name });
