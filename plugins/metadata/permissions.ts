/** What a role may do with a table by the metadata. */
import type { Cell, Predicate } from "../../core/index.ts";
import type { GqlRootFieldName } from "../graphql/api.ts";

export interface SelectPermission {
  readonly columns: ReadonlySet<string>;
  /** Names of scalar computed fields. */
  readonly computedFields: ReadonlySet<string>;
  /** Names of computed fields that are rows: they come with the right on their table (G-CF-6). */
  readonly rowFields: ReadonlySet<string>;
  /** `nameKey` of the functions of all its computed fields, by name of the field. */
  readonly routines: ReadonlyMap<string, string>;
  /** Absent: every row. */
  readonly filter?: Predicate;
  readonly limit?: number;
  readonly mayAggregate: boolean;
  readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
  readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
  /** When a column (or computed field, by its name) has its value; elsewhere it is NULL (G-PRM-14). */
  readonly masked?: ReadonlyMap<string, Predicate>;
}

export interface WritePermission {
  /** Columns that may be given; presets are not among them. */
  readonly columns: ReadonlySet<string>;
  readonly filter?: Predicate;
  readonly check?: Predicate;
  readonly presets: readonly Cell[];
  readonly isBackendOnly: boolean;
  /** As written, columns sorted: equal for permissions that are alike. */
  readonly source: string;
}

/** A key without a permission: one was written, and is not consistent. */
export interface TablePermissions {
  select?: SelectPermission | undefined;
  insert?: WritePermission | undefined;
  update?: WritePermission | undefined;
  delete?: WritePermission | undefined;
}

/** By role, then by `nameKey` of the table. */
export type Permissions = ReadonlyMap<string, ReadonlyMap<string, Readonly<TablePermissions>>>;
