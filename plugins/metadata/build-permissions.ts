/** Builds the permissions of the metadata by role and table, and resolves inherited ones. @rule G-PRM-3 G-PRM-13 …
 *  G-PRM-18 */
import {
  columnOf,
  nameKey,
  numberText,
  routinesOf,
  writableColumns,
  writeJson,
  type Cell,
  type Column,
  type Model,
  type Predicate,
} from "../../core/index.ts";
import { listOf, logUnknownKeys, objectOf, textOf, type LogIgnored, type RawObject } from "./document.ts";
import type { FilterReader } from "./filter.ts";
import { inherit } from "./inherit.ts";
import { isObject, type Raw } from "./load.ts";
import type { NamedTable } from "./names.ts";
import type { Permissions, SelectPermission, TablePermissions, WritePermission } from "./permissions.ts";
import { InconsistentMetadata } from "./values.ts";
import type { GqlComputedEntry, GqlRootFieldName } from "../graphql/api.ts";

type Operation = keyof TablePermissions;

const OPERATIONS: readonly Operation[] = ["select", "insert", "update", "delete"];

const isTrue = (raw: Raw | undefined): boolean =>
  raw === undefined || raw === null || (isObject(raw) && Object.keys(raw).length === 0);

/** Reads `columns` of a permission, which is a list or `"*"`. */
const columnsOf = (
  table: NamedTable,
  raw: Raw | undefined,
  absent: "all" | "none",
  place: string,
  note: LogIgnored,
): readonly Column[] => {
  if (raw === "*" || ((raw === undefined || raw === null) && absent === "all")) return table.relation.columns;
  const names = listOf(raw);
  if (raw !== undefined && raw !== null && !Array.isArray(raw)) note(`${place}columns is neither a list nor "*"`);
  return names.flatMap((name) => {
    const column = typeof name === "string" ? columnOf(table.relation, name) : undefined;
    if (column === undefined) note(`${place}column ${writeJson(name)} does not exist`);
    return column ?? [];
  });
};

const namesOf = (columns: readonly Column[]): ReadonlySet<string> => new Set(columns.map((column) => column.name));

const ROOT_NAMES: ReadonlySet<string> = new Set(["select", "select_by_pk", "select_aggregate"]);

const rootFieldsOf = (raw: Raw | undefined): ReadonlySet<GqlRootFieldName> | undefined =>
  Array.isArray(raw)
    ? new Set(
        raw.flatMap((name) => (typeof name === "string" && ROOT_NAMES.has(name) ? [name as GqlRootFieldName] : [])),
      )
    : undefined; // it is a member of the set

interface PermissionContext {
  readonly model: Model;
  readonly reader: FilterReader;
  readonly note: LogIgnored;
}

/** Builds one permission. Its notes report ignored parts of that permission. */
interface PermissionBuilder extends PermissionContext {
  /** Reports unknown keys, which do not make the permission incomplete. */
  readonly noteKey: LogIgnored;
}

const filterOf = (raw: Raw | undefined, table: NamedTable, { reader }: PermissionContext): Predicate | undefined =>
  isTrue(raw) ? undefined : reader.read(raw as Raw, table.relation); // it is not undefined

/** Reads a required key, because an omission must not grant anything. */
const requireFilter = (raw: RawObject, key: "check" | "filter"): Raw => {
  const given = raw[key];
  if (given === undefined || given === null) throw new InconsistentMetadata(`it has no ${key}`);
  return given;
};

const presetsOf = (raw: RawObject, table: NamedTable, { model, reader }: PermissionContext): readonly Cell[] =>
  Object.entries(raw).map(([name, preset]): Cell => {
    const column = columnOf(table.relation, name);
    const type = column && model.types.get(column.type);
    if (type === undefined) throw new InconsistentMetadata(`preset column "${name}" does not exist`);
    if (preset === null) return { column: name, value: { constant: null, type: type.sqlName } };
    return { column: name, value: reader.value(preset, type) };
  });

const routineOf = (model: Model, table: NamedTable, { routine: name }: GqlComputedEntry) =>
  routinesOf(model, name).find((one) => one.parameters.some((parameter) => parameter.type === table.relation.rowType));

const rowFieldsOf = (table: NamedTable, model: Model): ReadonlySet<string> =>
  new Set(
    table.entry.computedFields.flatMap((field) =>
      routineOf(model, table, field)?.returns.relation === undefined ? [] : [field.name],
    ),
  );

/** The listed computed fields that are scalar. @rule G-CF-6 */
const computedFieldsOf = (
  raw: Raw | undefined,
  table: NamedTable,
  rowFields: ReadonlySet<string>,
  place: string,
  note: LogIgnored,
): ReadonlySet<string> =>
  new Set(
    listOf(raw).flatMap((name) => {
      const field = table.entry.computedFields.find((one) => one.name === name);
      if (field === undefined) note(`${place}computed field ${writeJson(name)} does not exist`);
      return field === undefined || rowFields.has(field.name) ? [] : [field.name];
    }),
  );

const limitOf = (raw: Raw | undefined): number | undefined => {
  if (raw === undefined || raw === null) return undefined;
  const limit = Number(numberText(raw) ?? Number.NaN);
  if (!Number.isSafeInteger(limit) || limit < 0)
    throw new InconsistentMetadata(`limit is a whole number, not ${writeJson(raw)}`);
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

const selectPermission = (
  raw: RawObject,
  table: NamedTable,
  place: string,
  builder: PermissionBuilder,
): SelectPermission => {
  logUnknownKeys(raw, SELECT_KEYS, place, builder.noteKey);
  const filter = filterOf(requireFilter(raw, "filter"), table, builder);
  const rowFields = rowFieldsOf(table, builder.model);
  const limit = limitOf(raw["limit"]);
  const queryRootFields = rootFieldsOf(raw["query_root_fields"]);
  const subscriptionRootFields = rootFieldsOf(raw["subscription_root_fields"]);
  return {
    columns: namesOf(columnsOf(table, raw["columns"], "none", place, builder.note)),
    computedFields: computedFieldsOf(raw["computed_fields"], table, rowFields, place, builder.note),
    rowFields,
    routines: new Map(table.entry.computedFields.map((field) => [field.name, nameKey(field.routine)])),
    ...(filter === undefined ? {} : { filter }),
    ...(limit === undefined ? {} : { limit }),
    mayAggregate: raw["allow_aggregations"] === true,
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

const writePermission = (
  operation: WriteOperation,
  raw: RawObject,
  table: NamedTable,
  place: string,
  builder: PermissionBuilder,
): WritePermission => {
  logUnknownKeys(raw, WRITE_KEYS[operation], place, builder.noteKey);
  const { relation } = table;
  // written rows that a service should validate first are not accepted unvalidated
  if (!isTrue(raw["validate_input"])) throw new InconsistentMetadata("validate_input is not served");
  if (!relation.writable[operation]) throw new InconsistentMetadata("it cannot be written so in the database");
  const presets = operation === "delete" ? [] : presetsOf(objectOf(raw["set"]), table, builder);
  const preset = new Set(presets.map((cell) => cell.column));
  const writable = namesOf(writableColumns(table.relation));
  const columns =
    operation === "delete"
      ? []
      : columnsOf(table, raw["columns"], operation === "insert" ? "all" : "none", place, builder.note);
  const filter = operation === "insert" ? undefined : filterOf(requireFilter(raw, "filter"), table, builder);
  const check =
    operation === "delete"
      ? undefined
      : filterOf(operation === "insert" ? requireFilter(raw, "check") : raw["check"], table, builder);
  const given = namesOf(columns.filter(({ name }) => writable.has(name) && !preset.has(name)));
  return {
    columns: given,
    ...(filter === undefined ? {} : { filter }),
    ...(check === undefined ? {} : { check }),
    presets,
    isBackendOnly: raw["backend_only"] === true,
    source: JSON.stringify([
      [...given].sort(),
      filter ?? null,
      check ?? null,
      [...presets].sort((a, b) => (a.column < b.column ? -1 : 1)),
      raw["backend_only"] === true,
    ]),
  };
};

/** `parentsOf` maps inherited roles to their parents. */
export const buildPermissions = (
  tables: readonly NamedTable[],
  parentsOf: ReadonlyMap<string, readonly string[]>,
  builder: PermissionContext,
): Permissions => {
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
        if (operation in entry) {
          builder.note(`${place}listed twice; using the first one`);
          continue;
        }
        entry[operation] = undefined;
        const { schema, name } = table.relation;
        const of = { type: `${operation}_permission`, of: { schema, name }, name: role } as const;
        const note: LogIgnored = (message) =>
          builder.note(message, { ...of, detail: message.startsWith(place) ? message.slice(place.length) : message });
        const own: PermissionBuilder = { ...builder, note, noteKey: builder.note };
        try {
          if (operation === "select") entry.select = selectPermission(permission, table, place, own);
          else entry[operation] = writePermission(operation, permission, table, place, own);
        } catch (error) {
          if (!(error instanceof InconsistentMetadata)) throw error;
          note(`${place}${error.message}`);
        }
      }
    }
  }
  return inherit(parentsOf, byRole, builder.note);
};
