/** Builds the permissions of the metadata by role and table, and resolves inherited ones. @rule G-PRM-3 G-PRM-13 …
 *  G-PRM-18 */
import {
  isJsonObject,
  findColumn,
  buildNameKey,
  getNumberText,
  findRoutines,
  listWritableColumns,
  writeJson,
  type Cell,
  type Column,
  type Model,
  type Predicate,
} from "../../core/index.ts";
import { logUnknownKeys } from "./document.ts";
import type { FilterReader } from "./filter.ts";
import { resolveInheritedPermissions } from "./inherit.ts";
import type { NamedTable } from "./names.ts";
import type { Permissions, SelectPermission, TablePermissions, WritePermission } from "./permissions.ts";
import { InconsistentMetadata } from "./values.ts";
import type { GqlComputedEntry, GqlRootFieldName } from "../graphql/api.ts";
import { type LogIgnored, type RawValue, type RawObject } from "./raw-values.ts";
import { readListOrEmpty, readObjectOrEmpty, readText } from "../shared/json-values.ts";

type Operation = keyof TablePermissions;

const OPERATIONS: readonly Operation[] = ["select", "insert", "update", "delete"];

const isEmptyFilter = (rawValue: RawValue | undefined): boolean =>
  rawValue === undefined || rawValue === null || (isJsonObject(rawValue) && Object.keys(rawValue).length === 0);

/** Reads the `columns` of a permission, which are a list or `"*"`. */
const readColumns = (
  table: NamedTable,
  rawValue: RawValue | undefined,
  absent: "all" | "none",
  location: string,
  logIgnored: LogIgnored,
): readonly Column[] => {
  if (rawValue === "*" || ((rawValue === undefined || rawValue === null) && absent === "all"))
    return table.relation.columns;
  const names = readListOrEmpty(rawValue);
  if (rawValue !== undefined && rawValue !== null && !Array.isArray(rawValue))
    logIgnored(`${location}columns is neither a list nor "*"`);
  return names.flatMap((name) => {
    const column = typeof name === "string" ? findColumn(table.relation, name) : undefined;
    if (column === undefined) logIgnored(`${location}column ${writeJson(name)} does not exist`);
    return column ?? [];
  });
};

const collectNames = (columns: readonly Column[]): ReadonlySet<string> => new Set(columns.map((column) => column.name));

const ROOT_NAMES: ReadonlySet<string> = new Set(["select", "select_by_pk", "select_aggregate"]);

const readRootFields = (rawValue: RawValue | undefined): ReadonlySet<GqlRootFieldName> | undefined =>
  Array.isArray(rawValue)
    ? new Set(
        // The set has only names of root fields.
        rawValue.flatMap((name) =>
          typeof name === "string" && ROOT_NAMES.has(name) ? [name as GqlRootFieldName] : [],
        ),
      )
    : undefined;

interface PermissionContext {
  /** The roles with permissions on objects that are not tables. */
  readonly otherRoles: readonly string[];
  readonly model: Model;
  readonly reader: FilterReader;
  readonly logIgnored: LogIgnored;
}

/** The context of one permission, whose `logIgnored` reports ignored parts of this permission. */
interface PermissionBuilder extends PermissionContext {
  /** Reports an unknown key, which does not make the permission incomplete. */
  readonly logUnknownKey: LogIgnored;
}

const readFilter = (
  rawValue: RawValue | undefined,
  table: NamedTable,
  { reader }: PermissionContext,
): Predicate | undefined =>
  // `isEmptyFilter` returns true for undefined.
  isEmptyFilter(rawValue) ? undefined : reader.read(rawValue as RawValue, table.relation);

/** Reads a required key, because an omitted key must not grant anything. */
const requireFilter = (rawObject: RawObject, key: "check" | "filter"): RawValue => {
  const value = rawObject[key];
  if (value === undefined || value === null) throw new InconsistentMetadata(`it has no ${key}`);
  return value;
};

const readPresets = (rawObject: RawObject, table: NamedTable, { model, reader }: PermissionContext): readonly Cell[] =>
  Object.entries(rawObject).map(([name, preset]): Cell => {
    const column = findColumn(table.relation, name);
    const type = column && model.types.get(column.type);
    if (type === undefined) throw new InconsistentMetadata(`preset column "${name}" does not exist`);
    if (preset === null) return { column: name, value: { constant: null, type: type.sqlName } };
    return { column: name, value: reader.readValue(preset, type) };
  });

const findRowFunction = (model: Model, table: NamedTable, { routine: name }: GqlComputedEntry) =>
  findRoutines(model, name).find((routine) =>
    routine.parameters.some((parameter) => parameter.type === table.relation.rowType),
  );

const findRowFields = (table: NamedTable, model: Model): ReadonlySet<string> =>
  new Set(
    table.entry.computedFields.flatMap((field) =>
      findRowFunction(model, table, field)?.returns.relation === undefined ? [] : [field.name],
    ),
  );

/** Returns the listed computed fields that are scalar. @rule G-CF-6 */
const readComputedFields = (
  rawValue: RawValue | undefined,
  table: NamedTable,
  rowFields: ReadonlySet<string>,
  location: string,
  logIgnored: LogIgnored,
): ReadonlySet<string> =>
  new Set(
    readListOrEmpty(rawValue).flatMap((name) => {
      const field = table.entry.computedFields.find((computedField) => computedField.name === name);
      if (field === undefined) logIgnored(`${location}computed field ${writeJson(name)} does not exist`);
      return field === undefined || rowFields.has(field.name) ? [] : [field.name];
    }),
  );

const readLimit = (rawValue: RawValue | undefined): number | undefined => {
  if (rawValue === undefined || rawValue === null) return undefined;
  const limit = Number(getNumberText(rawValue) ?? Number.NaN);
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InconsistentMetadata(`limit is a whole number, not ${writeJson(rawValue)}`);
  return limit;
};

const SELECT_KEYS: ReadonlySet<string> = new Set([
  "columns",
  "computed_fields",
  "filter",
  "limit",
  "allow_aggregations",
  "query_root_fields",
  "subscription_root_fields",
]);

const buildSelectPermission = (
  rawObject: RawObject,
  table: NamedTable,
  location: string,
  builder: PermissionBuilder,
): SelectPermission => {
  logUnknownKeys(rawObject, SELECT_KEYS, location, builder.logUnknownKey);
  const filter = readFilter(requireFilter(rawObject, "filter"), table, builder);
  const rowFields = findRowFields(table, builder.model);
  const limit = readLimit(rawObject["limit"]);
  const queryRootFields = readRootFields(rawObject["query_root_fields"]);
  const subscriptionRootFields = readRootFields(rawObject["subscription_root_fields"]);
  return {
    columns: collectNames(readColumns(table, rawObject["columns"], "none", location, builder.logIgnored)),
    computedFields: readComputedFields(rawObject["computed_fields"], table, rowFields, location, builder.logIgnored),
    rowFields,
    routines: new Map(table.entry.computedFields.map((field) => [field.name, buildNameKey(field.routine)])),
    ...(filter === undefined ? {} : { filter }),
    ...(limit === undefined ? {} : { limit }),
    mayAggregate: rawObject["allow_aggregations"] === true,
    ...(queryRootFields === undefined ? {} : { queryRootFields }),
    ...(subscriptionRootFields === undefined ? {} : { subscriptionRootFields }),
  };
};

type WriteOperation = Exclude<Operation, "select">;

const WRITE_KEYS: Readonly<Record<WriteOperation, ReadonlySet<string>>> = {
  insert: new Set(["check", "columns", "set", "backend_only", "validate_input"]),
  update: new Set(["columns", "filter", "check", "set", "backend_only", "validate_input"]),
  delete: new Set(["filter", "backend_only", "validate_input"]),
};

const buildWritePermission = (
  operation: WriteOperation,
  rawObject: RawObject,
  table: NamedTable,
  location: string,
  builder: PermissionBuilder,
): WritePermission => {
  logUnknownKeys(rawObject, WRITE_KEYS[operation], location, builder.logUnknownKey);
  const { relation } = table;
  // Rows that a service should validate first must not be written unvalidated.
  if (!isEmptyFilter(rawObject["validate_input"])) throw new InconsistentMetadata("validate_input is not served");
  if (!relation.writable[operation])
    throw new InconsistentMetadata("the database does not support this write on the relation");
  const presets = operation === "delete" ? [] : readPresets(readObjectOrEmpty(rawObject["set"]), table, builder);
  const presetNames = new Set(presets.map((cell) => cell.column));
  const writable = collectNames(listWritableColumns(table.relation));
  const columns =
    operation === "delete"
      ? []
      : readColumns(table, rawObject["columns"], operation === "insert" ? "all" : "none", location, builder.logIgnored);
  const filter = operation === "insert" ? undefined : readFilter(requireFilter(rawObject, "filter"), table, builder);
  const check =
    operation === "delete"
      ? undefined
      : readFilter(operation === "insert" ? requireFilter(rawObject, "check") : rawObject["check"], table, builder);
  const writableNames = collectNames(columns.filter(({ name }) => writable.has(name) && !presetNames.has(name)));
  return {
    columns: writableNames,
    ...(filter === undefined ? {} : { filter }),
    ...(check === undefined ? {} : { check }),
    presets,
    isBackendOnly: rawObject["backend_only"] === true,
    comparisonKey: JSON.stringify([
      [...writableNames].sort(),
      filter ?? null,
      check ?? null,
      [...presets].sort((a, b) => (a.column < b.column ? -1 : 1)),
      rawObject["backend_only"] === true,
    ]),
  };
};

/** Builds all permissions. An inconsistent permission is logged and omitted, but its key stays, so that the role gets
 *  no other rights on the table. `parentRoles` maps inherited roles to their parents. */
export const buildPermissions = (
  tables: readonly NamedTable[],
  parentRoles: ReadonlyMap<string, readonly string[]>,
  builder: PermissionContext,
): Permissions => {
  const byRole = new Map(builder.otherRoles.map((role) => [role, new Map<string, TablePermissions>()]));
  const findOrCreatePermissions = (role: string, table: string): TablePermissions => {
    const rolePermissions = byRole.get(role) ?? new Map<string, TablePermissions>();
    byRole.set(role, rolePermissions);
    const tablePermissions = rolePermissions.get(table) ?? {};
    rolePermissions.set(table, tablePermissions);
    return tablePermissions;
  };
  for (const table of tables) {
    for (const operation of OPERATIONS) {
      for (const rawEntry of readListOrEmpty(table.document.raw[`${operation}_permissions`])) {
        const role = readText(readObjectOrEmpty(rawEntry)["role"]);
        if (role === undefined) continue;
        const location = `table ${table.relation.name}: ${operation} permission of ${role}: `;
        const permission = readObjectOrEmpty(readObjectOrEmpty(rawEntry)["permission"]);
        // Even an inconsistent permission makes the role one of the metadata.
        const entry = findOrCreatePermissions(role, buildNameKey(table.relation));
        if (operation in entry) {
          builder.logIgnored(`${location}listed twice; using the first one`);
          continue;
        }
        entry[operation] = undefined;
        const { schema, name } = table.relation;
        const objectFields = { type: `${operation}_permission`, owner: { schema, name }, name: role } as const;
        const logIgnored: LogIgnored = (message) =>
          builder.logIgnored(message, {
            ...objectFields,
            detail: message.startsWith(location) ? message.slice(location.length) : message,
          });
        const permissionBuilder: PermissionBuilder = { ...builder, logIgnored, logUnknownKey: builder.logIgnored };
        try {
          if (operation === "select")
            entry.select = buildSelectPermission(permission, table, location, permissionBuilder);
          else entry[operation] = buildWritePermission(operation, permission, table, location, permissionBuilder);
        } catch (error) {
          if (!(error instanceof InconsistentMetadata)) throw error;
          logIgnored(`${location}${error.message}`);
        }
      }
    }
  }
  return resolveInheritedPermissions(parentRoles, byRole, builder.logIgnored);
};
