/** What the database offers, as read by the `introspect` taps. Frozen after a load; one value per reload. */
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
import { memoize } from "../../kernel/memoize.ts";

export type * from "./objects.ts";

/** What the database offers: one frozen value per load. */
export interface Model {
  /** Grows by one with each load of this process; caches are keyed by it. */
  readonly version: number;
  /** Exposed schemas in configured order. */
  readonly schemas: readonly string[];
  readonly schemaComments: ReadonlyMap<string, string>;
  /** Owner and ACL of the exposed schemas, for USAGE. */
  readonly schemaAcls: ReadonlyMap<string, { readonly owner: string; readonly acl: readonly AclItem[] }>;
  /** Relations of the exposed schemas and whatever relationships lead to; no partitions. Key: `nameKey`. */
  readonly relations: ReadonlyMap<string, Relation>;
  /** All overloads by `nameKey`. */
  readonly routines: ReadonlyMap<string, readonly Routine[]>;
  readonly types: ReadonlyMap<number, PgType>;
  readonly roles: ReadonlyMap<string, Role>;
  readonly loginRole: string;
  /** Schemas in the `search_path` of a fresh connection, as the login role or the database sets it; `$user` where a
   *  role has a schema of its name. */
  readonly loginPath: readonly string[];
  readonly representations: ReadonlyMap<number, Representation>;
  readonly mediaHandlers: readonly MediaHandler[];
  /** Schema in which each wanted extension lives (`postgis`, `ltree`, …), absent when not installed. */
  readonly extensions: ReadonlyMap<string, string>;
  /** Names of built-in operators and functions for which user code defines others on built-in types, so that PostgreSQL
   *  may choose those; `::` means casts between them. @rule R-TX-10 */
  readonly rivals: ReadonlySet<string>;
  /** By the name of an aggregate function of one argument: `typname` of what it takes, pseudo-types included. */
  readonly aggregatedTypes: ReadonlyMap<string, ReadonlySet<string>>;
  /** `typname` of types with a default order, without which an array of them has no `max`. */
  readonly orderedTypes: ReadonlySet<string>;
  /** `server_version_num`. */
  readonly serverVersion: number;
  /** By surface: roles whose rights come from metadata, and what those let them see. Their statements run as the login
   *  role (G-PRM-3). */
  readonly loginRoles?: ReadonlyMap<string, ReadonlyMap<string, Visibility>>;
  /** By the role of the session: what holds in all its transactions, whichever role of the database they run as. */
  readonly callerSettings?: ReadonlyMap<string, CallerSettings>;
  /** Facts that plugins add for each other, keyed by plugin name. */
  readonly parts: Readonly<Record<string, unknown>>;
}

/** Settings of a caller's transactions. Those of the database role, the session and the request go before them.
 *  @rule X-SES-2 */
export interface CallerSettings {
  readonly settings: readonly (readonly [name: string, value: string])[];
  /** What they have to do with an error of the database; undefined: nothing. Not asked where the request has set one of
   *  them itself. */
  readonly explain?: (error: {
    readonly code: string;
    readonly message: string;
    /** `isRaised`: the words are an author's. */
    readonly facts: Readonly<Record<string, unknown>>;
  }) => { readonly hint: string; readonly facts: Readonly<Record<string, string | number>> } | undefined;
}

/** The key of `Model.relations` and `Model.routines`. */
export const nameKey = (name: QualifiedName): string => `${name.schema}\u0000${name.name}`;

/** Whether two names are equal. */
export const sameName = (a: QualifiedName, b: QualifiedName): boolean => a.name === b.name && a.schema === b.schema;

/** The relation of that name; undefined: unknown. */
export const relationOf = (model: Model, name: QualifiedName): Relation | undefined =>
  model.relations.get(nameKey(name));

/** All overloads of the function. */
export const routinesOf = (model: Model, name: QualifiedName): readonly Routine[] =>
  model.routines.get(nameKey(name)) ?? [];

const columnsByName = memoize(
  ({ columns }: Relation): ReadonlyMap<string, Column> => new Map(columns.map((column) => [column.name, column])),
);

/** The column of that name. */
export const columnOf = (relation: Relation, name: string): Column | undefined => columnsByName(relation).get(name);

const relationshipsById = memoize(
  ({ relationships }: Relation): ReadonlyMap<string, Relationship> =>
    new Map(relationships.map((relationship) => [relationship.id, relationship])),
);

/** The relationship with that id among those of the relation. */
export const relationshipOf = (relation: Relation, id: string): Relationship | undefined =>
  relationshipsById(relation).get(id);

/** The type below all domains. */
export const baseTypeOf = (model: Model, oid: number): PgType | undefined => {
  let type = model.types.get(oid);
  for (let depth = 0; type?.kind === "domain" && type.base !== undefined && depth < 32; depth++)
    type = model.types.get(type.base);
  return type;
};

/** The database does not generate its values. @rule G-GEN-7 */
export const takesValues = (column: Column): boolean => !column.isGenerated && column.identity !== "always";

/** Columns that accept values; for a view, those that it passes on. A view whose triggers handle only some writes says
 *  nothing about its columns, so all of them. @rule G-GEN-7 G-GEN-12 */
export const writableColumns = (relation: Relation): readonly Column[] => {
  const passing = relation.columns.filter((column) => column.isUpdatable);
  return (passing.length === 0 ? relation.columns : passing).filter(takesValues);
};

/** What the first `introspect` tap gets. */
export const emptyModel = (version: number, schemas: readonly string[]): Model => ({
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
  rivals: new Set(),
  aggregatedTypes: new Map(),
  orderedTypes: new Set(),
  serverVersion: 0,
  parts: {},
});
