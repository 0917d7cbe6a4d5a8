/** What a role of the metadata may see of the GraphQL schema. */
import { nameKey, type GqlMetadata, type GqlRoleView, type GqlTableRights, type Session } from "../../core/index.ts";
import type { MetadataDocument } from "./document.ts";
import { listOf, objectOf, textOf } from "./document.ts";
import type { Permissions, TablePermissions } from "./permissions.ts";

const rightsOf = (permissions: Readonly<TablePermissions> | undefined, isBackend: boolean): GqlTableRights => {
  const { select, insert, update } = permissions ?? {};
  const isOffered = (write: { readonly isBackendOnly: boolean } | undefined): boolean => write !== undefined && (isBackend || !write.isBackendOnly);
  return {
    ...(select === undefined
      ? {}
      : {
          select: {
            columns: select.columns,
            computedFields: select.computedFields,
            mayAggregate: select.mayAggregate,
            ...(select.queryRootFields === undefined ? {} : { queryRootFields: select.queryRootFields }),
            ...(select.subscriptionRootFields === undefined ? {} : { subscriptionRootFields: select.subscriptionRootFields }),
            ...(select.masked === undefined ? {} : { masked: new Set(select.masked.keys()) }),
          },
        }),
    ...(insert !== undefined && isOffered(insert) ? { insert: { columns: insert.columns } } : {}),
    ...(update !== undefined && isOffered(update) ? { update: { columns: update.columns } } : {}),
    ...(isOffered(permissions?.delete) ? { delete: true as const } : {}),
  };
};

/** @rule G-PRM-3 G-PRM-11 G-FN-8 G-PRM-16 G-INT-9 */
export const createView = (document: MetadataDocument, permissions: Permissions, infersFunctions: boolean): GqlMetadata["view"] => {
  const callers = new Map<string, ReadonlySet<string>>();
  for (const fn of document.functions) {
    const roles = listOf(fn.raw["permissions"]).flatMap((entry) => textOf(objectOf(entry)["role"]) ?? []);
    callers.set(nameKey(fn.name), new Set(roles));
  }
  const parentsOf = new Map(document.inheritedRoles.map((entry) => [entry.role, entry.parents]));
  const mayCall = (role: string, name: string, depth = 0): boolean =>
    callers.get(name)?.has(role) === true || (depth < 32 && (parentsOf.get(role) ?? []).some((parent) => mayCall(parent, name, depth + 1)));
  const views = new Map<string, GqlRoleView>();
  return (session: Session) => {
    const ofRole = permissions.get(session.role);
    if (ofRole === undefined) return undefined;
    const isBackend = session.isBackend === true;
    const key = `metadata ${session.role}${isBackend ? " backend" : ""}`;
    let view = views.get(key);
    if (view === undefined) {
      view = {
        key,
        role: session.role,
        rights: (table) => rightsOf(ofRole.get(nameKey(table.relation)), isBackend),
        mayCall: (fn) => (!fn.isMutation && infersFunctions) || mayCall(session.role, nameKey(fn.routine)),
        ...(document.closedForRoles.includes(session.role) ? { isIntrospectionClosed: true } : {}),
      };
      views.set(key, view);
    }
    return view;
  };
};
