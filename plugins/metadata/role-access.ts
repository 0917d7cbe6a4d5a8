/** Computes the rights of a role on the tables and functions of the GraphQL schema. */
import { buildNameKey, type QualifiedName, type Session } from "../../core/index.ts";
import type { MetadataDocument } from "./document.ts";
import { collectRoleAndAncestors } from "./inherit.ts";
import type { Permissions, TablePermissions } from "./permissions.ts";
import type { GqlMetadata, GqlTableRights } from "../graphql/api.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

/** Builds the rights on a table. Writes with `backend_only` are omitted, unless the caller is a backend. */
const buildTableRights = (permissions: Readonly<TablePermissions> | undefined, isBackend: boolean): GqlTableRights => {
  const { select, insert, update } = permissions ?? {};
  const isOffered = (write: { readonly isBackendOnly: boolean } | undefined): boolean =>
    write !== undefined && (isBackend || !write.isBackendOnly);
  return {
    ...(select === undefined
      ? {}
      : {
          select: {
            columns: select.columns,
            computedFields: new Set([...select.computedFields, ...select.rowFields]),
            mayAggregate: select.mayAggregate,
            ...(select.queryRootFields === undefined ? {} : { queryRootFields: select.queryRootFields }),
            ...(select.subscriptionRootFields === undefined
              ? {}
              : { subscriptionRootFields: select.subscriptionRootFields }),
            ...(select.filter === undefined ? {} : { isFiltered: true as const }),
            ...(select.maskConditions === undefined ? {} : { masked: new Set(select.maskConditions.keys()) }),
          },
        }),
    ...(insert !== undefined && isOffered(insert) ? { insert: { columns: insert.columns } } : {}),
    ...(update !== undefined && isOffered(update) ? { update: { columns: update.columns } } : {}),
    ...(isOffered(permissions?.delete) ? { delete: true as const } : {}),
  };
};

/** Tests whether the metadata lists a function, and whether it grants a role, or one of its parents, the call. */
export interface FunctionRights {
  isListed(routine: QualifiedName): boolean;
  isGranted(role: string, routine: QualifiedName): boolean;
}

/** Creates the tests for functions of a role. @rule G-FN-8 G-PRM-16 */
export const createFunctionRights = (
  document: MetadataDocument,
  parentRoles: ReadonlyMap<string, readonly string[]>,
): FunctionRights => {
  const rolesByFunction = new Map<string, ReadonlySet<string>>();
  for (const fn of document.functions) {
    const roles = readListOrEmpty(fn.raw["permissions"]).flatMap(
      (entry) => readText(readObjectOrEmpty(entry)["role"]) ?? [],
    );
    rolesByFunction.set(buildNameKey(fn.name), new Set(roles));
  }
  return {
    isListed: (routine) => rolesByFunction.has(buildNameKey(routine)),
    isGranted: (role, routine) => {
      const grantedRoles = rolesByFunction.get(buildNameKey(routine));
      return (
        grantedRoles !== undefined &&
        [...collectRoleAndAncestors(role, parentRoles)].some((ancestor) => grantedRoles.has(ancestor))
      );
    },
  };
};

export type MayCall = (routine: QualifiedName, isOfTable: boolean, isMutation: boolean) => boolean;

/** Creates the test whether a role may call a listed function on REST. `isOfTable` says that the function returns rows
 *  of a relation. @rule G-FN-8 */
export const createCallTest =
  (functions: FunctionRights, role: string, infersPermissions: boolean): MayCall =>
  (routine, isOfTable, isMutation) =>
    functions.isGranted(role, routine) ||
    (infersPermissions && isOfTable && !isMutation && functions.isListed(routine));

/** Creates the access of roles to the GraphQL surface. @rule G-PRM-3 G-PRM-11 G-FN-8 G-INT-9 */
export const createRoleAccess =
  (
    permissions: Permissions,
    functions: FunctionRights,
    closedForRoles: readonly string[],
    infersPermissions: boolean,
  ): GqlMetadata["findAccess"] =>
  (session: Session) => {
    const { role } = session;
    const rolePermissions = permissions.get(role);
    if (rolePermissions === undefined) return undefined;
    const isBackend = session.isBackend === true;
    return {
      role,
      isBackend,
      rights: (table) => buildTableRights(rolePermissions.get(buildNameKey(table.relation)), isBackend),
      mayCall: (fn) => (!fn.isMutation && infersPermissions) || functions.isGranted(role, fn.routine),
      ...(closedForRoles.includes(role) ? { isIntrospectionClosed: true } : {}),
    };
  };
