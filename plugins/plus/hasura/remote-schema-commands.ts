/** Commands of the metadata API for remote schemas, and for relationships from and to them. @rule X-RMT-11 X-RMT-13h
 *  X-RMT-14e */
import { RelApiError, type Json } from "../../../core/index.ts";
import type { RemoteSchemaControl } from "../../services/api.ts";
import {
  changeObject,
  changeRemoteType,
  formatName,
  objectMissing,
  omitKeys,
  omitUndefined,
  pickArguments,
  readEntry,
  readListOrEmpty,
  rejectAdmin,
  removeEntry,
  requireEntry,
  requireName,
  requireText,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError, kindUnexpected } from "./errors.ts";
import { buildTopLevelKind, createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

const REMOTE_SCHEMA = buildTopLevelKind("remote_schemas", "name", "remote schema with name");

const PERMISSION: ListedKind = {
  changeOwner: (document, from, change) =>
    createChangeCommand({ ...REMOTE_SCHEMA, argument: "remote_schema" }, change)(document, from),
  lists: ["permissions"],
  key: "role",
  description: "permission for role",
};

const RELATIONSHIP: ListedKind = {
  changeOwner: (document, from, change) => changeObject(document, from, "table", change),
  lists: ["remote_relationships", "object_relationships", "array_relationships", "computed_fields"],
  key: "name",
  description: "remote relationship",
  buildTakenError: (name, from) =>
    metadataError(
      "already-exists",
      `field with name "${name}" already exists in table "${formatName(requireName(from, "table"))}"`,
      from.path,
    ),
};

/** The members of a definition that the older form has beside the name. */
const OLD_KEYS = ["remote_schema", "hasura_fields", "remote_field"];

/** Reads the definition of either form. */
const readRelationship = (from: Arguments): Entry =>
  from.args["definition"] === undefined ? { definition: pickArguments(from, ...OLD_KEYS) } : readDefinition(from);

const changeRelationship = (change: Parameters<typeof createChangeCommand>[1]): Command =>
  createChangeCommand({ ...RELATIONSHIP, lists: ["remote_relationships"] }, change);

/** The relationships of a type of a remote schema. */
const TYPE_RELATIONSHIP: ListedKind = {
  changeOwner: (document, from, change) => {
    const [remote, typeName] = [requireText(from, "remote_schema"), requireText(from, "type_name")];
    if (!readListOrEmpty(document["remote_schemas"]).some((remoteSchema) => readEntry(remoteSchema)["name"] === remote))
      throw objectMissing(`remote schema with name "${remote}"`, from.path);
    return changeRemoteType(document, { remote, typeName }, change);
  },
  lists: ["relationships"],
  key: "name",
  description: "remote relationship",
  mayReplace: () => true,
  buildMissingError: (name, from) =>
    metadataError(
      "not-exists",
      `no relationship defined on remote schema "${requireText(from, "remote_schema")}" with name "${name}"`,
      from.path,
    ),
};

const readDefinition = (from: Arguments): Entry => ({ definition: requireEntry(from, "definition") });

export const remoteSchemaCommands: Commands = [
  ["create_remote_schema_remote_relationship", createAddCommand(TYPE_RELATIONSHIP, readDefinition)],
  [
    "update_remote_schema_remote_relationship",
    createChangeCommand(TYPE_RELATIONSHIP, (_entry, from) => ({
      name: requireText(from, "name"),
      ...readDefinition(from),
    })),
  ],
  ["delete_remote_schema_remote_relationship", createChangeCommand(TYPE_RELATIONSHIP, removeEntry)],
  ["pg_create_remote_relationship", createAddCommand(RELATIONSHIP, readRelationship)],
  [
    "pg_update_remote_relationship",
    changeRelationship((entry, from) => ({ ...omitKeys(entry, ...OLD_KEYS), ...readRelationship(from) })),
  ],
  ["pg_delete_remote_relationship", changeRelationship(removeEntry)],
  [
    "add_remote_schema",
    createAddCommand(REMOTE_SCHEMA, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment", "permissions"),
    })),
  ],
  [
    "update_remote_schema",
    createChangeCommand(REMOTE_SCHEMA, (entry, from) => ({
      ...omitKeys(entry, "comment"),
      definition: requireEntry(from, "definition"),
      ...omitUndefined({ comment: from.args["comment"] ?? entry["comment"] }),
    })),
  ],
  ["remove_remote_schema", createChangeCommand(REMOTE_SCHEMA, removeEntry)],
  [
    "add_remote_schema_permissions",
    createAddCommand(PERMISSION, (from) => {
      rejectAdmin(from);
      return { definition: requireEntry(from, "definition"), ...pickArguments(from, "comment") };
    }),
  ],
  ["drop_remote_schema_permissions", createChangeCommand(PERMISSION, removeEntry)],
];

/** Runs work on a remote schema that must exist, with errors of the metadata API. @throws RelApiError */
const runOnRemote = async <Result>(
  control: RemoteSchemaControl | undefined,
  name: string,
  path: string,
  work: (control: RemoteSchemaControl) => Promise<Result>,
): Promise<Result> => {
  if (control?.names().includes(name) !== true) throw objectMissing(`remote schema with name "${name}"`, path);
  try {
    return await work(control);
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    throw metadataError(error.code, error.message, path);
  }
};

export const introspectRemoteSchema = (control: RemoteSchemaControl | undefined, from: Arguments): Promise<Json> => {
  const name = requireText(from, "name");
  return runOnRemote(control, name, from.path, (remoteSchemas) => remoteSchemas.introspect(name));
};

/** Reads the schema of a remote again. The caller reloads the model. */
export const renewRemoteSchema = (control: RemoteSchemaControl | undefined, from: Arguments): Promise<void> => {
  const name = requireText(from, "name");
  return runOnRemote(control, name, from.path, (remoteSchemas) => remoteSchemas.renew(name));
};

/** Reads the schemas again that the argument `reload_remote_schemas` names: none, all, or a list. */
export const renewRemoteSchemas = async (
  control: RemoteSchemaControl | undefined,
  { args, path }: Arguments,
): Promise<void> => {
  const { reload_remote_schemas: selection = false } = args;
  if (typeof selection !== "boolean" && !Array.isArray(selection))
    throw kindUnexpected("reload_remote_schemas", "a boolean or a list", path);
  const names = selection === true ? (control?.names() ?? []) : readListOrEmpty(selection);
  for (const name of names) await renewRemoteSchema(control, { args: readEntry({ name }), path });
};
