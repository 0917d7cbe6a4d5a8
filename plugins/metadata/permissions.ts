/** Permissions of the metadata by role and table, inherited ones worked out. @rule G-PRM-3 G-PRM-13 … G-PRM-18 */
import { columnOf, nameKey, type Cell, type GqlRootFieldName, type Model, type Predicate } from "../../core/index.ts";
import { listOf, objectOf, textOf, type MetadataDocument, type Note, type RawObject } from "./document.ts";
import { Inconsistent, sessionVariable, type FilterReader } from "./filter.ts";
import { isObject, type Raw } from "./load.ts";
import type { NamedTable } from "./names.ts";

export interface SelectPermission {
  readonly columns: ReadonlySet<string>;
  readonly computedFields: ReadonlySet<string>;
  /** Absent: every row. */
  readonly filter?: Predicate;
  readonly limit?: number;
  readonly mayAggregate: boolean;
  readonly queryRootFields?: ReadonlySet<GqlRootFieldName>;
  readonly subscriptionRootFields?: ReadonlySet<GqlRootFieldName>;
  /** When a column (or computed field) has its value; elsewhere it is NULL (G-PRM-14). */
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

export interface TablePermissions {
  select?: SelectPermission;
  insert?: WritePermission;
  update?: WritePermission;
  delete?: WritePermission;
}

/** By role, then by `nameKey` of the table. */
export type Permissions = ReadonlyMap<string, ReadonlyMap<string, Readonly<TablePermissions>>>;

type Operation = keyof TablePermissions;

const OPERATIONS: readonly Operation[] = ["select", "insert", "update", "delete"];

const isTrue = (raw: Raw | undefined): boolean => raw === undefined || raw === null || (isObject(raw) && Object.keys(raw).length === 0);

const columnsOf = (table: NamedTable, raw: Raw | undefined, absent: "all" | "none", place: string, note: Note): ReadonlySet<string> => {
  const all = table.relation.columns.map((column) => column.name);
  if (raw === "*" || (raw === undefined && absent === "all")) return new Set(all);
  return new Set(
    listOf(raw).flatMap((name) => {
      const isKnown = typeof name === "string" && columnOf(table.relation, name) !== undefined;
      if (!isKnown) note(`${place}column ${JSON.stringify(name)} does not exist`);
      return isKnown ? [name] : [];
    }),
  );
};

const ROOT_NAMES: ReadonlySet<string> = new Set(["select", "select_by_pk", "select_aggregate"]);

const rootFieldsOf = (raw: Raw | undefined): ReadonlySet<GqlRootFieldName> | undefined =>
  Array.isArray(raw) ? new Set(raw.flatMap((name) => (typeof name === "string" && ROOT_NAMES.has(name) ? [name as GqlRootFieldName] : []))) : undefined; // member of the set

interface Builder {
  readonly model: Model;
  readonly reader: FilterReader;
  readonly note: Note;
}

const filterOf = (raw: Raw | undefined, table: NamedTable, { reader }: Builder): Predicate | undefined => (isTrue(raw) ? undefined : reader.read(raw as Raw, table.relation)); // not undefined

const presetsOf = (raw: RawObject, table: NamedTable, { model, reader }: Builder): readonly Cell[] =>
  Object.entries(raw).map(([name, preset]): Cell => {
    const column = columnOf(table.relation, name);
    const type = column && model.types.get(column.type);
    if (type === undefined) throw new Inconsistent(`preset column "${name}" does not exist`);
    if (preset === null && sessionVariable(preset) === undefined) return { column: name, value: { constant: null, type: type.sqlName } };
    return { column: name, value: reader.value(preset, type) };
  });

const selectPermission = (raw: RawObject, table: NamedTable, place: string, builder: Builder): SelectPermission => {
  const filter = filterOf(raw["filter"], table, builder);
  const limit = raw["limit"];
  const queryRootFields = rootFieldsOf(raw["query_root_fields"]);
  const subscriptionRootFields = rootFieldsOf(raw["subscription_root_fields"]);
  return {
    columns: columnsOf(table, raw["columns"], "none", place, builder.note),
    computedFields: new Set(listOf(raw["computed_fields"]).flatMap((name) => textOf(name) ?? [])),
    ...(filter === undefined ? {} : { filter }),
    ...(typeof limit === "number" ? { limit } : {}),
    mayAggregate: raw["allow_aggregations"] === true,
    ...(queryRootFields === undefined ? {} : { queryRootFields }),
    ...(subscriptionRootFields === undefined ? {} : { subscriptionRootFields }),
  };
};

const writePermission = (operation: Operation, raw: RawObject, table: NamedTable, place: string, builder: Builder): WritePermission => {
  const presets = presetsOf(objectOf(raw["set"]), table, builder);
  const preset = new Set(presets.map((cell) => cell.column));
  const columns = operation === "delete" ? [] : columnsOf(table, raw["columns"], operation === "insert" ? "all" : "none", place, builder.note);
  const filter = operation === "insert" ? undefined : filterOf(raw["filter"], table, builder);
  const check = operation === "delete" ? undefined : filterOf(raw["check"], table, builder);
  const given = new Set([...columns].filter((column) => !preset.has(column)));
  return {
    columns: given,
    ...(filter === undefined ? {} : { filter }),
    ...(check === undefined ? {} : { check }),
    presets,
    isBackendOnly: raw["backend_only"] === true,
    source: JSON.stringify([[...given].sort(), filter, check, presets, raw["backend_only"] === true]),
  };
};

export const buildPermissions = (document: MetadataDocument, tables: readonly NamedTable[], builder: Builder): Permissions => {
  const byRole = new Map<string, Map<string, TablePermissions>>();
  const permissionsFor = (role: string, table: string): TablePermissions => {
    const ofRole = byRole.get(role) ?? new Map<string, TablePermissions>();
    byRole.set(role, ofRole);
    const ofTable = ofRole.get(table) ?? {};
    ofRole.set(table, ofTable);
    return ofTable;
  };
  for (const table of tables) {
    for (const operation of OPERATIONS) {
      for (const raw of listOf(table.document.raw[`${operation}_permissions`])) {
        const role = textOf(objectOf(raw)["role"]);
        if (role === undefined) continue;
        const place = `table ${table.relation.name}: ${operation} permission of ${role}: `;
        const permission = objectOf(objectOf(raw)["permission"]);
        const entry = permissionsFor(role, nameKey(table.relation)); // the role is in metadata mode even when the permission is not consistent
        try {
          if (operation === "select") entry.select = selectPermission(permission, table, place, builder);
          else entry[operation] = writePermission(operation, permission, table, place, builder);
        } catch (error) {
          if (!(error instanceof Inconsistent)) throw error;
          builder.note(`${place}${error.message}`);
        }
      }
    }
  }
  return inherit(document, byRole, builder.note);
};

const inherit = (document: MetadataDocument, own: ReadonlyMap<string, ReadonlyMap<string, TablePermissions>>, note: Note): Permissions => {
  const roles = new Map(document.inheritedRoles.map((entry) => [entry.role, entry.parents]));
  const done = new Map<string, ReadonlyMap<string, TablePermissions>>(own);
  const inProgress = new Set<string>();
  const broken = new Set<string>();
  const resolve = (role: string): ReadonlyMap<string, TablePermissions> | undefined => {
    const parents = roles.get(role);
    if (parents === undefined) return own.get(role);
    if (inProgress.has(role)) {
      for (const member of inProgress) broken.add(member);
      return undefined;
    }
    inProgress.add(role);
    const inherited = parents.flatMap((parent) => {
      const found = resolve(parent);
      if (found === undefined && !broken.has(role)) note(`inherited role ${role}: parent ${parent} has no permission in the metadata`);
      return found === undefined ? [] : [found];
    });
    inProgress.delete(role);
    if (broken.has(role)) return undefined;
    const tables = new Set([...inherited.flatMap((one) => [...one.keys()]), ...(own.get(role)?.keys() ?? [])]);
    const merged = new Map<string, TablePermissions>();
    for (const table of tables) {
      const written = own.get(role)?.get(table) ?? {};
      const ofParents = inherited.flatMap((one) => one.get(table) ?? []);
      merged.set(table, { ...mergeParents(ofParents, role, table, note), ...written });
    }
    return merged;
  };
  for (const role of roles.keys()) {
    const resolved = resolve(role);
    if (resolved !== undefined) done.set(role, resolved);
  }
  for (const role of broken) {
    note(`inherited role ${role}: its parents form a circle; it is left out`);
    done.delete(role);
  }
  return done;
};

const anyOf = (filters: readonly (Predicate | undefined)[]): Predicate | undefined => {
  const all: Predicate[] = [];
  for (const filter of filters) {
    if (filter === undefined) return undefined;
    all.push(filter);
  }
  return { kind: "or", of: all };
};

const union = <Item>(sets: readonly ReadonlySet<Item>[]): ReadonlySet<Item> => new Set(sets.flatMap((set) => [...set]));

/** Absent stands for all. */
const unionOrAll = <Item>(sets: readonly (ReadonlySet<Item> | undefined)[]): ReadonlySet<Item> | undefined =>
  sets.some((set) => set === undefined) ? undefined : union(sets as readonly ReadonlySet<Item>[]); // none is undefined

const mergeSelect = (parents: readonly SelectPermission[]): SelectPermission => {
  const [only] = parents;
  if (parents.length === 1 && only !== undefined) return only;
  const columns = union(parents.map((parent) => parent.columns));
  const computedFields = union(parents.map((parent) => parent.computedFields));
  const masked = new Map<string, Predicate>();
  const mask = (name: string, has: (parent: SelectPermission) => boolean): void => {
    const inner = parents.flatMap((parent) => parent.masked?.get(name) ?? []);
    const granting = parents.filter(has);
    if (granting.length === parents.length && inner.length === 0) return;
    masked.set(name, anyOf(granting.map((parent) => parent.masked?.get(name) ?? parent.filter)) ?? { kind: "and", of: [] });
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
    ...(filter === undefined ? {} : { filter }),
    ...(limits.length === 0 ? {} : { limit: Math.max(...limits) }),
    mayAggregate: parents.some((parent) => parent.mayAggregate),
    ...(queryRootFields === undefined ? {} : { queryRootFields }),
    ...(subscriptionRootFields === undefined ? {} : { subscriptionRootFields }),
    ...(masked.size === 0 ? {} : { masked }),
  };
};

/** @rule G-PRM-13 G-PRM-15 */
const mergeParents = (parents: readonly TablePermissions[], role: string, table: string, note: Note): TablePermissions => {
  const merged: TablePermissions = {};
  const selects = parents.flatMap((parent) => parent.select ?? []);
  if (selects.length > 0) merged.select = mergeSelect(selects);
  for (const operation of ["insert", "update", "delete"] as const) {
    const writes = parents.flatMap((parent) => parent[operation] ?? []);
    const [first] = writes;
    if (first === undefined) continue;
    if (writes.every((write) => write.source === first.source)) merged[operation] = first;
    else note(`inherited role ${role}: its parents differ in ${operation} on ${table.replace("\u0000", ".")}: none is inherited`);
  }
  return merged;
};
