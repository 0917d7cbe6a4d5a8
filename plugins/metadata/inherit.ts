/** Resolves the permissions that a role inherits from its parents. @rule G-PRM-13 … G-PRM-18 */
import type { Predicate } from "../../core/index.ts";
import type { MetadataDocument } from "./document.ts";
import type { SelectPermission, TablePermissions } from "./permissions.ts";
import type { LogIgnored } from "./raw-values.ts";

type PermissionsOfRole = ReadonlyMap<string, Readonly<TablePermissions>>;

/** Returns the roles that are their own ancestors. */
const findRolesInCycles = (parentRoles: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const isAncestor = (role: string): boolean => {
    const seenRoles = new Set<string>();
    const pendingRoles = [...(parentRoles.get(role) ?? [])];
    for (let ancestor = pendingRoles.pop(); ancestor !== undefined; ancestor = pendingRoles.pop()) {
      if (ancestor === role) return true;
      if (!seenRoles.has(ancestor)) pendingRoles.push(...(parentRoles.get(ancestor) ?? []));
      seenRoles.add(ancestor);
    }
    return false;
  };
  return new Set([...parentRoles.keys()].filter(isAncestor));
};

/** Returns the parents of each inherited role. @rule G-PRM-17 */
export const readParentRoles = (
  document: MetadataDocument,
  logIgnored: LogIgnored,
): ReadonlyMap<string, readonly string[]> => {
  const parentRoles = new Map(document.inheritedRoles.map(({ role, parents }) => [role, parents]));
  const cyclicRoles = findRolesInCycles(parentRoles);
  for (const role of cyclicRoles) {
    logIgnored(`inherited role ${role}: its parents form a cycle, so it inherits nothing`, {
      type: "inherited_role",
      name: role,
    });
    parentRoles.set(role, []);
  }
  return parentRoles;
};

/** Returns the role itself, followed by the roles from which it inherits. */
export const collectRoleAndAncestors = (
  role: string,
  parentRoles: ReadonlyMap<string, readonly string[]>,
): ReadonlySet<string> => {
  const inheritedRoles = new Set([role]);
  for (const ancestor of inheritedRoles)
    for (const parent of parentRoles.get(ancestor) ?? []) inheritedRoles.add(parent);
  return inheritedRoles;
};

/** Returns the permissions by role and table, with the inherited ones. `explicitPermissions` contains those that the
 *  metadata states, by role and table. */
export const resolveInheritedPermissions = (
  parentRoles: ReadonlyMap<string, readonly string[]>,
  explicitPermissions: ReadonlyMap<string, PermissionsOfRole>,
  logIgnored: LogIgnored,
): ReadonlyMap<string, PermissionsOfRole> => {
  const resolvedRoles = new Map<string, PermissionsOfRole>();
  const resolve = (role: string): PermissionsOfRole | undefined => {
    const parents = parentRoles.get(role);
    if (parents === undefined) return explicitPermissions.get(role);
    const resolvedPermissions = resolvedRoles.get(role);
    if (resolvedPermissions !== undefined) return resolvedPermissions;
    const permissionsOfParents = parents.flatMap((parent) => {
      const parentPermissions = resolve(parent);
      if (parentPermissions === undefined)
        logIgnored(`inherited role ${role}: parent ${parent} has no permission in the metadata`, {
          type: "inherited_role",
          name: role,
        });
      return parentPermissions ?? [];
    });
    const mergedPermissions = new Map<string, Readonly<TablePermissions>>();
    for (const table of new Set([
      ...permissionsOfParents.flatMap((permissions) => [...permissions.keys()]),
      ...(explicitPermissions.get(role)?.keys() ?? []),
    ])) {
      const explicit = explicitPermissions.get(role)?.get(table);
      const inheritedPermissions = permissionsOfParents.flatMap((permissions) => permissions.get(table) ?? []);
      mergedPermissions.set(
        table,
        mergeParents(
          inheritedPermissions,
          explicit ?? {},
          `inherited role ${role}: table ${table.replace("\u0000", ".")}: `,
          logIgnored,
        ),
      );
    }
    resolvedRoles.set(role, mergedPermissions);
    return mergedPermissions;
  };
  for (const role of parentRoles.keys()) resolve(role);
  return new Map([...explicitPermissions, ...resolvedRoles]);
};

const buildDisjunction = (filters: readonly (Predicate | undefined)[]): Predicate | undefined => {
  const predicates: Predicate[] = [];
  for (const filter of filters) {
    if (filter === undefined) return undefined;
    predicates.push(filter);
  }
  return { kind: "or", predicates };
};

const unite = <Item>(sets: readonly ReadonlySet<Item>[]): ReadonlySet<Item> => new Set(sets.flatMap((set) => [...set]));

/** Returns the union of the sets. A set that is undefined contains all items. */
const uniteUnlessAll = <Item>(sets: readonly (ReadonlySet<Item> | undefined)[]): ReadonlySet<Item> | undefined =>
  // No set is undefined in the second case.
  sets.some((set) => set === undefined) ? undefined : unite(sets as readonly ReadonlySet<Item>[]);

const mergeSelect = (parents: readonly SelectPermission[]): SelectPermission => {
  const [firstParent] = parents;
  if (parents.length === 1 && firstParent !== undefined) return firstParent;
  const columns = unite(parents.map((parent) => parent.columns));
  const computedFields = unite(parents.map((parent) => parent.computedFields));
  const maskConditions = new Map<string, Predicate>();
  const mask = (name: string, has: (parent: SelectPermission) => boolean): void => {
    const inner = parents.flatMap((parent) => parent.maskConditions?.get(name) ?? []);
    const granting = parents.filter(has);
    if (granting.length === parents.length && inner.length === 0) return;
    maskConditions.set(
      name,
      buildDisjunction(granting.map((parent) => parent.maskConditions?.get(name) ?? parent.filter)) ?? {
        kind: "and",
        predicates: [],
      },
    );
  };
  for (const column of columns) mask(column, (parent) => parent.columns.has(column));
  for (const field of computedFields) mask(field, (parent) => parent.computedFields.has(field));
  const filter = buildDisjunction(parents.map((parent) => parent.filter));
  const limits = parents.flatMap((parent) => parent.limit ?? []);
  const queryRootFields = uniteUnlessAll(parents.map((parent) => parent.queryRootFields));
  const subscriptionRootFields = uniteUnlessAll(parents.map((parent) => parent.subscriptionRootFields));
  return {
    columns,
    computedFields,
    rowFields: unite(parents.map((parent) => parent.rowFields)),
    routines: new Map(parents.flatMap((parent) => [...parent.routines])),
    ...(filter === undefined ? {} : { filter }),
    ...(limits.length === 0 ? {} : { limit: Math.max(...limits) }),
    mayAggregate: parents.some((parent) => parent.mayAggregate),
    ...(queryRootFields === undefined ? {} : { queryRootFields }),
    ...(subscriptionRootFields === undefined ? {} : { subscriptionRootFields }),
    ...(maskConditions.size === 0 ? {} : { maskConditions }),
  };
};

/** Merges the permissions of a role's parents. Explicit permissions of the role replace inherited ones. @rule G-PRM-13
 *  G-PRM-15 G-PRM-17 */
const mergeParents = (
  parents: readonly Readonly<TablePermissions>[],
  explicit: Readonly<TablePermissions>,
  location: string,
  logIgnored: LogIgnored,
): Readonly<TablePermissions> => {
  const mergedPermissions: TablePermissions = { ...explicit };
  const selects = parents.flatMap((parent) => parent.select ?? []);
  if (!("select" in explicit) && selects.length > 0) mergedPermissions.select = mergeSelect(selects);
  for (const operation of ["insert", "update", "delete"] as const) {
    const writes = parents.flatMap((parent) => parent[operation] ?? []);
    const [first] = writes;
    if (operation in explicit || first === undefined) continue;
    if (writes.every((write) => write.comparisonKey === first.comparisonKey)) mergedPermissions[operation] = first;
    else logIgnored(`${location}its parents have different ${operation} permissions, so it inherits none`);
  }
  return mergedPermissions;
};
