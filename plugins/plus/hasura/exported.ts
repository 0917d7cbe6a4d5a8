/**
 * Normalizes metadata for an export: objects are sorted by name, and equivalent notations become one. Everything else
 * stays unchanged. @rule P-HAS-10
 */
import type { Json } from "../../../core/index.ts";
import { entryOf, isEntry, listOf, MEMBERS, nameOf, type Entry } from "./document.ts";

/** Compares by code points, as Hasura sorts strings. */
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const sorted = (list: Json | undefined, keyOf: (entry: Entry) => string): readonly Json[] =>
  listOf(list).toSorted((a, b) => compare(keyOf(entryOf(a)), keyOf(entryOf(b))));

const textAt =
  (key: string) =>
  (entry: Entry): string => {
    const value = entry[key];
    return typeof value === "string" ? value : "";
  };

const nameAt =
  (key: string) =>
  (entry: Entry): string => {
    const { schema = "", name = "" } = nameOf(entry[key]) ?? {};
    return `${schema}\0${name}`;
  };

/** Replaces a bare name by `{ schema, name }`. */
const withName = (entry: Entry, key: string): Entry => {
  const name = nameOf(entry[key]);
  return name === undefined ? entry : { ...entry, [key]: { ...entryOf(entry[key]), ...name } };
};

/** Replaces a member of an entry if it exists. */
const withMember = (entry: Entry, key: string, change: (member: Entry) => Json): Entry => {
  const member = entry[key];
  return isEntry(member) ? { ...entry, [key]: change(member) } : entry;
};

const columnOrColumns = (columns: Json): Json =>
  Array.isArray(columns) && columns.length === 1 ? (columns[0] ?? null) : columns;

/** Writes `column` for a foreign key of one column, `columns` for several. */
const foreignKey = (key: Entry): Entry => {
  const { column, columns = column, ...others } = withName(key, "table");
  if (columns === undefined) return others;
  const own = columnOrColumns(columns);
  return { ...others, [Array.isArray(own) ? "columns" : "column"]: own };
};

const exportedUsing = (how: Entry): Entry => {
  const { foreign_key_constraint_on: key } = how;
  const along: Entry = Array.isArray(key)
    ? { ...how, foreign_key_constraint_on: columnOrColumns(key as Json) }
    : withMember(how, "foreign_key_constraint_on", foreignKey);
  return withMember(along, "manual_configuration", (manual) => ({
    insertion_order: null,
    ...withName(manual, "remote_table"),
  }));
};

const EXPORT_CHANGES: Readonly<Record<string, (entry: Entry) => Entry>> = {
  object_relationships: (entry) => withMember(entry, "using", exportedUsing),
  array_relationships: (entry) => withMember(entry, "using", exportedUsing),
  computed_fields: (entry) => withMember(entry, "definition", (definition) => withName(definition, "function")),
  update_permissions: (entry) => withMember(entry, "permission", (permission) => ({ check: null, ...permission })),
};

const table = (entry: Entry): Entry => {
  const lists = Object.values(MEMBERS).flatMap(([list, key]) => {
    if (!Array.isArray(entry[list])) return [];
    const change = EXPORT_CHANGES[list];
    const members = sorted(entry[list], textAt(key));
    return [[list, change === undefined ? members : members.map((member) => change(entryOf(member)))] as const];
  });
  return { ...withName(entry, "table"), ...Object.fromEntries(lists) };
};

const source = (entry: Entry): Entry => ({
  ...entry,
  tables: sorted(entry["tables"], nameAt("table")).map((one) => table(entryOf(one))),
  ...(Array.isArray(entry["functions"])
    ? {
        functions: sorted(entry["functions"], nameAt("function")).map((one) => withName(entryOf(one), "function")),
      }
    : {}),
});

export const exported = (document: Entry): Entry => ({
  ...document,
  sources: listOf(document["sources"]).map((one) => source(entryOf(one))),
  ...(Array.isArray(document["inherited_roles"])
    ? { inherited_roles: sorted(document["inherited_roles"], textAt("role_name")) }
    : {}),
});
