/** Resolves the permissions that a role inherits from its parents. @rule G-PRM-13 … G-PRM-18 */
import type { Predicate } from "../../core/index.ts";
import type { MetadataDocument, LogIgnored } from "./document.ts";
import type { SelectPermission, TablePermissions } from "./permissions.ts";

type PermissionsOfRole = ReadonlyMap<string, Readonly<TablePermissions>>;

/** The roles that are their own ancestors. */
const rolesInCycles = (parentsOf: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const isAncestor = (of: string): boolean => {
    const seen = new Set<string>();
    const open = [...(parentsOf.get(of) ?? [])];
    for (let role = open.pop(); role !== undefined; role = open.pop()) {
      if (role === of) return true;
      if (!seen.has(role)) open.push(...(parentsOf.get(role) ?? []));
      seen.add(role);
    }
    return false;
  };
  return new Set([...parentsOf.keys()].filter(isAncestor));
};

/** The parents of each inherited role. @rule G-PRM-17 */
export const inheritance = (document: MetadataDocument, note: LogIgnored): ReadonlyMap<string, readonly string[]> => {
  const parentsOf = new Map(document.inheritedRoles.map(({ role, parents }) => [role, parents]));
  const circular = rolesInCycles(parentsOf);
  for (const role of circular) {
    note(`inherited role ${role}: its parents form a cycle, so it inherits nothing`, {
      type: "inherited_role",
      name: role,
    });
    parentsOf.set(role, []);
  }
  return parentsOf;
};

/** The role itself, followed by the roles that it inherits from. */
export const ancestorsOf = (role: string, parentsOf: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> => {
  const found = new Set([role]);
  for (const one of found) for (const parent of parentsOf.get(one) ?? []) found.add(parent);
  return found;
};

/** `own` holds the explicit permissions by role and table. */
export const inherit = (
  parentsOf: ReadonlyMap<string, readonly string[]>,
  own: ReadonlyMap<string, PermissionsOfRole>,
  note: LogIgnored,
): ReadonlyMap<string, PermissionsOfRole> => {
  const done = new Map<string, PermissionsOfRole>();
  const resolve = (role: string): PermissionsOfRole | undefined => {
    const parents = parentsOf.get(role);
    if (parents === undefined) return own.get(role);
    const known = done.get(role);
    if (known !== undefined) return known;
    const inherited = parents.flatMap((parent) => {
      const found = resolve(parent);
      if (found === undefined)
        note(`inherited role ${role}: parent ${parent} has no permission in the metadata`, {
          type: "inherited_role",
          name: role,
        });
      return found ?? [];
    });
    const merged = new Map<string, Readonly<TablePermissions>>();
    for (const table of new Set([...inherited.flatMap((one) => [...one.keys()]), ...(own.get(role)?.keys() ?? [])])) {
      const written = own.get(role)?.get(table);
      const ofParents = inherited.flatMap((one) => one.get(table) ?? []);
      merged.set(
        table,
        mergeParents(ofParents, written ?? {}, `inherited role ${role}: table ${table.replace("\u0000", ".")}: `, note),
      );
    }
    done.set(role, merged);
    return merged;
  };
  for (const role of parentsOf.keys()) resolve(role);
  return new Map([...own, ...done]);
};

const anyOf = (filters: readonly (Predicate | undefined)[]): Predicate | undefined => {
  const all: Predicate[] = [];
  for (const filter of filters) {
    if (filter === undefined) return undefined;
    all.push(filter);
  }
  return { kind: "or", of: all };
};

const unionOf = <Item>(sets: readonly ReadonlySet<Item>[]): ReadonlySet<Item> =>
  new Set(sets.flatMap((set) => [...set]));

/** Undefined means all items. */
const unionOrAll = <Item>(sets: readonly (ReadonlySet<Item> | undefined)[]): ReadonlySet<Item> | undefined =>
  // no set is undefined in the second case
  sets.some((set) => set === undefined) ? undefined : unionOf(sets as readonly ReadonlySet<Item>[]);

const mergeSelect = (parents: readonly SelectPermission[]): SelectPermission => {
  const [only] = parents;
  if (parents.length === 1 && only !== undefined) return only;
  const columns = unionOf(parents.map((parent) => parent.columns));
  const computedFields = unionOf(parents.map((parent) => parent.computedFields));
  const masked = new Map<string, Predicate>();
  const mask = (name: string, has: (parent: SelectPermission) => boolean): void => {
    const inner = parents.flatMap((parent) => parent.masked?.get(name) ?? []);
    const granting = parents.filter(has);
    if (granting.length === parents.length && inner.length === 0) return;
    masked.set(
      name,
      anyOf(granting.map((parent) => parent.masked?.get(name) ?? parent.filter)) ?? { kind: "and", of: [] },
    );
  };
  for (const column of columns) mask(column, (parent) => parent.columns.has(column));
  for (const field of computedFields) mask(field, (parent) => parent.computedFields.has(field));
  const filter = anyOf(parents.map((parent) => parent.filter));
  const limits = parents.flatMap((parent) => parent.limit ?? []);
  const queryRootFields = unionOrAll(parents.map((parent) => parent.queryRootFields));
  const subscriptionRootFields = unionOrAll(parents.map((parent) => parent.subscriptionRootFields));
  return {
    columns,
    computedFields,
    rowFields: unionOf(parents.map((parent) => parent.rowFields)),
    routines: new Map(parents.flatMap((parent) => [...parent.routines])),
    ...(filter === undefined ? {} : { filter }),
    ...(limits.length === 0 ? {} : { limit: Math.max(...limits) }),
    mayAggregate: parents.some((parent) => parent.mayAggregate),
    ...(queryRootFields === undefined ? {} : { queryRootFields }),
    ...(subscriptionRootFields === undefined ? {} : { subscriptionRootFields }),
    ...(masked.size === 0 ? {} : { masked }),
  };
};

/** Explicit permissions of the role replace inherited ones. @rule G-PRM-13 G-PRM-15 G-PRM-17 */
const mergeParents = (
  parents: readonly Readonly<TablePermissions>[],
  written: Readonly<TablePermissions>,
  place: string,
  note: LogIgnored,
): Readonly<TablePermissions> => {
  const merged: TablePermissions = { ...written };
  const selects = parents.flatMap((parent) => parent.select ?? []);
  if (!("select" in written) && selects.length > 0) merged.select = mergeSelect(selects);
  for (const operation of ["insert", "update", "delete"] as const) {
    const writes = parents.flatMap((parent) => parent[operation] ?? []);
    const [first] = writes;
    if (operation in written || first === undefined) continue;
    if (writes.every((write) => write.source === first.source)) merged[operation] = first;
    else note(`${place}its parents have different ${operation} permissions, so it inherits none`);
  }
  return merged;
};
