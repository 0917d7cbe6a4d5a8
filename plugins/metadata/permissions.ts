/** The types of permissions of a role on a table. */
import type { Cell, Predicate } from "../../core/index.ts";
import type { GqlRootFieldName } from "../graphql/api.ts";

export interface SelectPermission {
  readonly columns: ReadonlySet<string>;
  /** The names of scalar computed fields. */
  readonly computedFields: ReadonlySet<string>;
  /** The names of computed fields that return rows. Access to them depends on the permission on the returned table
   *  (G-CF-6). */
  readonly rowFields: ReadonlySet<string>;
  /** The `buildNameKey` of each computed field's function, by the name of the field. */
  readonly routines: ReadonlyMap<string, string>;
  /** The predicate that visible rows satisfy. Undefined if every row is visible. */
  readonly filter?: Predicate;
  readonly limit?: number;
  readonly mayAggregate: boolean;
  readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
  readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
  /** The condition under which a column or computed field has its value. If the condition does not hold, the value is
   *  NULL (G-PRM-14). */
  readonly maskConditions?: ReadonlyMap<string, Predicate>;
}

export interface WritePermission {
  /** The columns that a request may set. Columns with presets are not included. */
  readonly columns: ReadonlySet<string>;
  readonly filter?: Predicate;
  readonly check?: Predicate;
  readonly presets: readonly Cell[];
  readonly isBackendOnly: boolean;
  /** The permission as text with sorted columns, which is equal for equal permissions. */
  readonly comparisonKey: string;
}

/** The permissions on a table by operation. A key with an undefined value means that a permission exists, but is
 *  inconsistent. */
export interface TablePermissions {
  select?: SelectPermission | undefined;
  insert?: WritePermission | undefined;
  update?: WritePermission | undefined;
  delete?: WritePermission | undefined;
}

/** The permissions by role, then by `buildNameKey` of the table. */
export type Permissions = ReadonlyMap<string, ReadonlyMap<string, Readonly<TablePermissions>>>;
