/** Metadata as a plain value, and functions that replace parts of it. */
import {
  isJsonObject,
  getNumberText,
  writeJson,
  type Json,
  type JsonObject,
  type QualifiedName,
} from "../../../core/index.ts";
import { readListOrEmpty, readObjectOrEmpty as readEntry, type MetadataProblem } from "../../metadata/api.ts";
import { keyMissing, metadataError, kindUnexpected } from "./errors.ts";

export type Entry = JsonObject;

export { readEntry, readListOrEmpty };

/** Reads a name written as `name` or `{ schema, name }`. */
export const readQualifiedName = (value: Json | undefined): QualifiedName | undefined => {
  if (typeof value === "string") return { schema: "public", name: value };
  const { schema = "public", name } = readEntry(value);
  return typeof name === "string" && typeof schema === "string" ? { schema, name } : undefined;
};

export const hasName = (value: Json | undefined, { schema, name }: QualifiedName): boolean => {
  const qualifiedName = readQualifiedName(value);
  return qualifiedName?.schema === schema && qualifiedName.name === name;
};

/** Returns the name as messages show it. */
export const formatName = ({ schema, name }: QualifiedName): string =>
  schema === "public" ? name : `${schema}.${name}`;

export const omitKeys = (entry: Entry, ...keys: readonly string[]): Entry =>
  Object.fromEntries(Object.entries(entry).filter(([key]) => !keys.includes(key)));

/** Returns the entry without its undefined members. */
export const omitUndefined = (entry: Readonly<Record<string, Json | undefined>>): Entry =>
  Object.fromEntries(Object.entries(entry).filter((pair): pair is [string, Json] => pair[1] !== undefined));

/** Converts metadata of any version to version 3, with the keys of an export. @throws RelApiError */
export const normalizeMetadata = (rawMetadata: Json): Entry => {
  const envelope = readEntry(rawMetadata);
  const { allow_list: allowList, ...top } = isJsonObject(envelope["metadata"]) ? envelope["metadata"] : envelope;
  const version = Number(getNumberText(top["version"]) ?? top["version"] ?? (top["sources"] === undefined ? 2 : 3));
  const { tables, functions, actions, ...otherMembers } = top;
  // A metadata folder has both keys in one file.
  const actionMembers = isJsonObject(actions) ? actions : omitUndefined({ actions });
  const members = { ...otherMembers, ...actionMembers, ...(allowList === undefined ? {} : { allowlist: allowList }) };
  if (version === 3) return { ...members, version: 3, sources: readListOrEmpty(top["sources"]) };
  if (version !== 2)
    throw metadataError("parse-failed", `metadata of version ${writeJson(top["version"] ?? null)}`, "$.args");
  const source = omitUndefined({ name: "default", kind: "postgres", tables: tables ?? [], functions });
  return { ...members, version: 3, sources: [source] };
};

/** The arguments of a command, and their path in the request. */
export interface Arguments {
  readonly args: Entry;
  readonly path: string;
}

/** A function that applies one command to the metadata. @throws RelApiError */
export type Command = (document: Entry, from: Arguments) => Entry;

/** Pairs of a command's name and its function. */
export type Commands = readonly (readonly [string, Command])[];

/** Returns the chosen arguments in the form that metadata has. */
export const pickArguments = ({ args }: Arguments, ...keys: readonly string[]): Entry =>
  omitUndefined(Object.fromEntries(keys.map((key) => [key, args[key] ?? undefined])));

/** Rejects permissions for `admin`, because an administrator needs none. @throws RelApiError */
export const rejectAdmin = (from: Arguments): void => {
  if (from.args["role"] === "admin")
    throw metadataError("validation-failed", 'role "admin" may do everything: it takes no permission', from.path);
};

export const requireText = ({ args, path }: Arguments, key: string): string => {
  const value = args[key];
  if (value === undefined) throw keyMissing(key, path);
  if (typeof value !== "string" || value === "") throw kindUnexpected(key, "a string that is not empty", path);
  return value;
};

export const requireName = ({ args, path }: Arguments, key: string): QualifiedName => {
  const value = args[key];
  if (value === undefined) throw keyMissing(key, path);
  const name = readQualifiedName(value);
  if (name === undefined) throw kindUnexpected(key, "a name, or an object with schema and name", path);
  return name;
};

export const requireEntry = ({ args, path }: Arguments, key: string): Entry => {
  const value = args[key];
  if (value === undefined) throw keyMissing(key, path);
  if (!isJsonObject(value)) throw kindUnexpected(key, "an object", path);
  return value;
};

export const requireList = ({ args, path }: Arguments, key: string): readonly Json[] => {
  const value = args[key];
  if (value === undefined) throw keyMissing(key, path);
  if (!Array.isArray(value)) throw kindUnexpected(key, "a list", path);
  return value;
};

/** Returns the arguments for each item of a list such as `tables`. An item is an object with its own arguments, or
 *  only a name. @throws RelApiError */
export const readItems = (from: Arguments, key: "tables" | "functions"): readonly Arguments[] =>
  requireList(from, key).map((item, i) => {
    const entry = readEntry(item);
    const single = key.slice(0, -1);
    const isName = typeof item === "string" || (entry[single] === undefined && entry["name"] !== undefined);
    return {
      args: isName ? omitUndefined({ source: from.args["source"], [single]: item }) : entry,
      path: `${from.path}.${key}[${i}]`,
    };
  });

export const objectMissing = (object: string, path: string): Error =>
  metadataError("not-exists", `${object} does not exist`, path);

/**
 * Replaces the matching entry of the list under `key` by the result of `change`, or removes it. `change` receives
 * `undefined` if no entry matches.
 */
export const replaceEntry = (
  owner: Entry,
  key: string,
  fits: (entry: Entry) => boolean,
  change: (entry: Entry | undefined) => Entry | undefined,
): Entry => {
  const list = readListOrEmpty(owner[key]);
  const at = list.findIndex((entry) => fits(readEntry(entry)));
  const next = change(at === -1 ? undefined : readEntry(list[at]));
  if (at === -1) return next === undefined ? owner : { ...owner, [key]: [...list, next] };
  const changedList = next === undefined ? list.toSpliced(at, 1) : list.with(at, next);
  // Exports leave out an empty list unless other keys need it.
  return changedList.length === 0 && key !== "tables" ? omitKeys(owner, key) : { ...owner, [key]: changedList };
};

/** Returns the change that removes an entry from its list. */
export const removeEntry = (): undefined => undefined;

const readSourceName = (from: Arguments): string =>
  from.args["source"] === undefined ? "default" : requireText(from, "source");

/** Changes the source that the arguments name, or `default` if they name none. @throws RelApiError `not-exists` */
export const changeSource = (document: Entry, from: Arguments, change: (source: Entry) => Entry): Entry => {
  const name = readSourceName(from);
  // The settings contain the connection, so the first source exists without being added.
  const isFirst = readListOrEmpty(document["sources"]).length === 0 && name === "default";
  return replaceEntry(
    document,
    "sources",
    (source) => source["name"] === name,
    (source) => {
      if (source !== undefined) return change(source);
      if (isFirst) return change({ name, kind: "postgres", tables: [] });
      throw objectMissing(`source with name "${name}"`, from.path);
    },
  );
};

/** Changes or adds the table or function of the arguments, or removes it if `change` returns undefined. */
export const changeOrAddObject = (
  document: Entry,
  from: Arguments,
  kind: "table" | "function",
  change: (object: Entry | undefined, name: ReturnType<typeof requireName>) => Entry | undefined,
): Entry => {
  const name = requireName(from, kind);
  return changeSource(document, from, (source) =>
    replaceEntry(
      source,
      `${kind}s`,
      (object) => hasName(object[kind], name),
      (object) => change(object, name),
    ),
  );
};

/** Changes the table or function of the arguments. @throws RelApiError `not-exists` */
export const changeObject = (
  document: Entry,
  from: Arguments,
  kind: "table" | "function",
  change: (object: Entry) => Entry | undefined,
): Entry =>
  changeOrAddObject(document, from, kind, (object, name) => {
    if (object !== undefined) return change(object);
    throw metadataError(
      "not-exists",
      `${kind} "${formatName(name)}" does not exist in source: ${readSourceName(from)}`,
      from.path,
    );
  });

/** The members of a table by object type: the list that contains them, and the key that names them in it. */
export const MEMBERS = {
  object_relation: ["object_relationships", "name"],
  array_relation: ["array_relationships", "name"],
  computed_field: ["computed_fields", "name"],
  select_permission: ["select_permissions", "role"],
  insert_permission: ["insert_permissions", "role"],
  update_permission: ["update_permissions", "role"],
  delete_permission: ["delete_permissions", "role"],
  event_trigger: ["event_triggers", "name"],
  remote_relationship: ["remote_relationships", "name"],
} as const;

/** Returns whether the source is the database that is served. */
export const isServedSource = ({ kind = "postgres" }: Entry): boolean => kind === "postgres" || kind === "pg";

/** Removes a type, or a relationship such as `Token.artist`. */
const removeCustomType = (types: Json | undefined, name: string): Entry => {
  const [typeName, relationship] = name.split(".");
  const has = (name: string | undefined) => (entry: Entry) => entry["name"] === name;
  return Object.fromEntries(
    Object.entries(readEntry(types)).map(([list, items]) => [
      list,
      readListOrEmpty(items).flatMap((item) => {
        const type = readEntry(item);
        if (!has(typeName)(type)) return [item];
        return relationship === undefined ? [] : [replaceEntry(type, "relationships", has(relationship), removeEntry)];
      }),
    ]),
  );
};

/** Changes the relationships of a type of a remote schema. A type without relationships is removed. */
export const changeRemoteType = (
  document: Entry,
  { remote, typeName }: NonNullable<MetadataProblem["remoteType"]> = { remote: "", typeName: "" },
  change: (type: Entry) => Entry,
): Entry =>
  replaceEntry(
    document,
    "remote_schemas",
    (remoteSchema) => remoteSchema["name"] === remote,
    (remoteSchema) =>
      remoteSchema &&
      replaceEntry(
        remoteSchema,
        "remote_relationships",
        (type) => type["type_name"] === typeName,
        (type) => {
          const changedType = change(type ?? { type_name: typeName });
          return changedType["relationships"] === undefined ? undefined : changedType;
        },
      ),
  );

/** Removes the object that does not fit the database from the document. @rule P-HAS-4 */
export const removeObject = (document: Entry, { type, owner, name = "", role, remoteType }: MetadataProblem): Entry => {
  if (type === "inherited_role")
    return replaceEntry(document, "inherited_roles", (role) => role["role_name"] === name, removeEntry);
  if (type === "rest_endpoint")
    return replaceEntry(document, "rest_endpoints", (endpoint) => endpoint["name"] === name, removeEntry);
  if (type === "remote_schema" || type === "remote_schema_permission")
    return replaceEntry(
      document,
      "remote_schemas",
      (remote) => remote["name"] === name,
      (remote) =>
        remote && type === "remote_schema_permission"
          ? replaceEntry(remote, "permissions", (permission) => permission["role"] === role, removeEntry)
          : undefined,
    );
  if (type === "remote_schema_remote_relationship")
    return changeRemoteType(document, remoteType, (entry) =>
      replaceEntry(entry, "relationships", (relationship) => relationship["name"] === name, removeEntry),
    );
  if (type === "cron_trigger")
    return replaceEntry(document, "cron_triggers", (trigger) => trigger["name"] === name, removeEntry);
  if (type === "action") return replaceEntry(document, "actions", (action) => action["name"] === name, removeEntry);
  if (type === "custom_types") return { ...document, custom_types: removeCustomType(document["custom_types"], name) };
  if (type === "native_query" || type === "logical_model") {
    const [list, key] = type === "native_query" ? ["native_queries", "root_field_name"] : ["logical_models", "name"];
    return replaceEntry(
      document,
      "sources",
      isServedSource,
      (source) => source && replaceEntry(source, list, (entry) => entry[key] === name, removeEntry),
    );
  }
  if (owner === undefined) return document;
  return replaceEntry(document, "sources", isServedSource, (source) => {
    if (source === undefined) return undefined;
    if (type === "function")
      return replaceEntry(source, "functions", (fn) => hasName(fn["function"], owner), removeEntry);
    return replaceEntry(
      source,
      "tables",
      (table) => hasName(table["table"], owner),
      (table) => {
        if (table === undefined || type === "table") return undefined;
        if (type === "enum_table") return omitKeys(table, "is_enum");
        const [list, key] = MEMBERS[type];
        return replaceEntry(table, list, (entry) => entry[key] === name, removeEntry);
      },
    );
  });
};
