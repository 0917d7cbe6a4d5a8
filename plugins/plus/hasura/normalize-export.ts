/**
 * Normalizes metadata for an export: objects are sorted by name, and equivalent notations become one. Everything else
 * stays unchanged. @rule P-HAS-10
 */
import { isJsonObject, type Json } from "../../../core/index.ts";
import { readEntry, readListOrEmpty, MEMBERS, readQualifiedName, type Entry } from "./document.ts";

/** Compares by code points, as Hasura sorts strings. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sortEntries = (list: Json | undefined, readKey: (entry: Entry) => string): readonly Json[] =>
  readListOrEmpty(list).toSorted((a, b) => compare(readKey(readEntry(a)), readKey(readEntry(b))));

const createTextReader =
  (key: string) =>
  (entry: Entry): string => {
    const value = entry[key];
    return typeof value === "string" ? value : "";
  };

const createNameReader =
  (key: string) =>
  (entry: Entry): string => {
    const { schema = "", name = "" } = readQualifiedName(entry[key]) ?? {};
    return `${schema}\0${name}`;
  };

/** Replaces a bare name by `{ schema, name }`. */
const qualifyName = (entry: Entry, key: string): Entry => {
  const name = readQualifiedName(entry[key]);
  return name === undefined ? entry : { ...entry, [key]: { ...readEntry(entry[key]), ...name } };
};

/** Replaces a member of an entry if it exists. */
const changeMember = (entry: Entry, key: string, change: (member: Entry) => Json): Entry => {
  const member = entry[key];
  return isJsonObject(member) ? { ...entry, [key]: change(member) } : entry;
};

const unwrapSingleColumn = (columns: Json): Json =>
  Array.isArray(columns) && columns.length === 1 ? (columns[0] ?? null) : columns;

/** Writes `column` for a foreign key of one column, `columns` for several. */
const normalizeForeignKey = (key: Entry): Entry => {
  const { column, columns = column, ...otherMembers } = qualifyName(key, "table");
  if (columns === undefined) return otherMembers;
  const exportedColumns = unwrapSingleColumn(columns);
  return { ...otherMembers, [Array.isArray(exportedColumns) ? "columns" : "column"]: exportedColumns };
};

const normalizeUsing = (using: Entry): Entry => {
  const { foreign_key_constraint_on: key } = using;
  const withForeignKey: Entry = Array.isArray(key)
    ? { ...using, foreign_key_constraint_on: unwrapSingleColumn(key as Json) }
    : changeMember(using, "foreign_key_constraint_on", normalizeForeignKey);
  return changeMember(withForeignKey, "manual_configuration", (manual) => ({
    insertion_order: null,
    ...qualifyName(manual, "remote_table"),
  }));
};

const EXPORT_CHANGES: Readonly<Record<string, (entry: Entry) => Entry>> = {
  object_relationships: (entry) => changeMember(entry, "using", normalizeUsing),
  array_relationships: (entry) => changeMember(entry, "using", normalizeUsing),
  computed_fields: (entry) => changeMember(entry, "definition", (definition) => qualifyName(definition, "function")),
  update_permissions: (entry) => changeMember(entry, "permission", (permission) => ({ check: null, ...permission })),
};

const normalizeTable = (entry: Entry): Entry => {
  const lists = Object.values(MEMBERS).flatMap(([list, key]) => {
    if (!Array.isArray(entry[list])) return [];
    const change = EXPORT_CHANGES[list];
    const members = sortEntries(entry[list], createTextReader(key));
    return [[list, change === undefined ? members : members.map((member) => change(readEntry(member)))] as const];
  });
  return { ...qualifyName(entry, "table"), ...Object.fromEntries(lists) };
};

const normalizeSource = (entry: Entry): Entry => ({
  ...entry,
  tables: sortEntries(entry["tables"], createNameReader("table")).map((table) => normalizeTable(readEntry(table))),
  ...(Array.isArray(entry["functions"])
    ? {
        functions: sortEntries(entry["functions"], createNameReader("function")).map((fn) =>
          qualifyName(readEntry(fn), "function"),
        ),
      }
    : {}),
});

export const normalizeForExport = (document: Entry): Entry => ({
  ...document,
  sources: readListOrEmpty(document["sources"]).map((source) => normalizeSource(readEntry(source))),
  ...(Array.isArray(document["inherited_roles"])
    ? { inherited_roles: sortEntries(document["inherited_roles"], createTextReader("role_name")) }
    : {}),
});
