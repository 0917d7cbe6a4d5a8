/** Commands of the metadata API for tables, functions, relationships and permissions. @rule P-HAS-1 */
import {
  requireEntry,
  readEntry,
  changeOrAddObject,
  changeObject,
  pickArguments,
  readItems,
  readListOrEmpty,
  requireName,
  rejectAdmin,
  removeEntry,
  formatName,
  requireText,
  omitKeys,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError, kindUnexpected } from "./errors.ts";
import { createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";
import { documentCommands } from "./document-commands.ts";
import { eventTriggerCommands } from "./event-commands.ts";
import { cronTriggerCommands } from "./schedule-commands.ts";
import { actionCommands } from "./action-commands.ts";
import { nativeQueryCommands } from "./native-query-commands.ts";
import { remoteSchemaCommands } from "./remote-schema-commands.ts";

const WORDS = { table: "view/table", function: "function" };

const createTrackCommand =
  (kind: "table" | "function", ...keys: readonly string[]): Command =>
  (document, from) =>
    changeOrAddObject(document, from, kind, (object, name) => {
      if (object === undefined) return { [kind]: { ...name }, ...pickArguments(from, ...keys) };
      throw metadataError("already-tracked", `${WORDS[kind]} already tracked: "${formatName(name)}"`, from.path);
    });

const untrackTable: Command = (document, from) =>
  changeOrAddObject(document, from, "table", (object, name) => {
    if (object !== undefined) return undefined;
    throw metadataError("already-untracked", `view/table already untracked: "${formatName(name)}"`, from.path);
  });

const untrackFunction: Command = (document, from) => changeObject(document, from, "function", () => undefined);

/** Creates a list command, such as `pg_track_tables`, from the command for a single object. It runs within a bulk, where
 *  the first object that fails is an error. Otherwise, `runListCommand` runs the command. @rule P-HAS-13a */
const createListCommand =
  (key: "tables" | "functions", command: Command): Command =>
  (document, from) =>
    readItems(from, key).reduce<Entry>((next, item) => command(next, item), document);

const createConfigurationCommand =
  (kind: "table" | "function"): Command =>
  (document, from) =>
    changeObject(document, from, kind, (object) => ({
      ...object,
      configuration: from.args["configuration"] === undefined ? {} : requireEntry(from, "configuration"),
    }));

const setIsEnum: Command = (document, from) => {
  const { is_enum: isEnum } = from.args;
  if (typeof isEnum !== "boolean") throw kindUnexpected("is_enum", "a boolean", from.path);
  return changeObject(document, from, "table", (table) =>
    isEnum ? { ...table, is_enum: true } : omitKeys(table, "is_enum"),
  );
};

const formatOwner = (from: Arguments, owner: "table" | "function"): string => formatName(requireName(from, owner));

const buildMemberKind = (
  owner: "table" | "function",
  lists: ListedKind["lists"],
  key: string,
  description: string,
): ListedKind => ({
  changeOwner: (document, from, change) => changeObject(document, from, owner, change),
  lists,
  key,
  description,
  buildTakenError: (name, from) =>
    metadataError(
      "already-exists",
      `${description} "${name}" already exists in ${owner} "${formatOwner(from, owner)}"`,
      from.path,
    ),
});

const RELATIONSHIP = buildMemberKind("table", ["object_relationships", "array_relationships"], "name", "relationship");

const createRelationshipCommand = (list: string): Command =>
  createAddCommand(
    {
      ...RELATIONSHIP,
      lists: [list, ...RELATIONSHIP.lists, "computed_fields"],
      buildTakenError: (name, from) =>
        metadataError(
          "already-exists",
          `field with name "${name}" already exists in table "${formatOwner(from, "table")}"`,
          from.path,
        ),
    },
    (from) => ({ using: requireEntry(from, "using"), ...pickArguments(from, "comment") }),
  );

const renameRelationship: Command = createChangeCommand(RELATIONSHIP, (entry, from, table) => {
  const name = requireText(from, "new_name");
  const isTaken = RELATIONSHIP.lists.some((list) =>
    readListOrEmpty(table[list]).some((relationship) => readEntry(relationship)["name"] === name),
  );
  if (isTaken) throw metadataError("already-exists", `relationship "${name}" already exists`, from.path);
  return { ...entry, name };
});

/** Sets the comment of an entry; `null` removes it. */
const setComment = (entry: Entry, { args }: Arguments): Entry =>
  typeof args["comment"] === "string" ? { ...entry, comment: args["comment"] } : omitKeys(entry, "comment");

const OPERATIONS = ["select", "insert", "update", "delete"] as const;

const buildPermissionKind = (operation: string): ListedKind => ({
  ...buildMemberKind("table", [`${operation}_permissions`], "role", "permission for role"),
  buildTakenError: (role, from) =>
    metadataError(
      "already-exists",
      `${operation} permission already defined on table "${formatOwner(from, "table")}" with role "${role}"`,
      from.path,
    ),
  buildMissingError: (role, from) =>
    metadataError(
      "permission-denied",
      `${operation} permission on "${formatOwner(from, "table")}" for role "${role}" does not exist`,
      from.path,
    ),
});

const permissionCommands: Commands = OPERATIONS.flatMap((operation) => {
  const permission = buildPermissionKind(operation);
  const create = createAddCommand(permission, (from) => {
    rejectAdmin(from);
    return { permission: requireEntry(from, "permission"), ...pickArguments(from, "comment") };
  });
  return [
    [`pg_create_${operation}_permission`, create],
    [`pg_drop_${operation}_permission`, createChangeCommand(permission, removeEntry)],
  ] as const;
});

const setPermissionComment: Command = (document, from) => {
  const operation = requireText(from, "type");
  if (!OPERATIONS.some((knownOperation) => knownOperation === operation))
    throw kindUnexpected("type", `one of ${OPERATIONS.join(", ")}`, from.path);
  return createChangeCommand(buildPermissionKind(operation), setComment)(document, from);
};

const FUNCTION_PERMISSION = buildMemberKind("function", ["permissions"], "role", "permission for role");
const COMPUTED_FIELD = buildMemberKind("table", ["computed_fields"], "name", "computed field");

/** The commands by name. Callers of this map handle all other names. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["pg_track_table", createTrackCommand("table", "is_enum", "configuration", "apollo_federation_config")],
  ["pg_untrack_table", untrackTable],
  [
    "pg_track_tables",
    createListCommand("tables", createTrackCommand("table", "is_enum", "configuration", "apollo_federation_config")),
  ],
  ["pg_untrack_tables", createListCommand("tables", untrackTable)],
  ["pg_set_table_customization", createConfigurationCommand("table")],
  ["pg_set_table_is_enum", setIsEnum],
  ["pg_track_function", createTrackCommand("function", "configuration", "comment")],
  ["pg_untrack_function", untrackFunction],
  ["pg_track_functions", createListCommand("functions", createTrackCommand("function", "configuration", "comment"))],
  ["pg_untrack_functions", createListCommand("functions", untrackFunction)],
  ["pg_set_function_customization", createConfigurationCommand("function")],
  ["pg_create_object_relationship", createRelationshipCommand("object_relationships")],
  ["pg_create_array_relationship", createRelationshipCommand("array_relationships")],
  ["pg_drop_relationship", createChangeCommand({ ...RELATIONSHIP, argument: "relationship" }, removeEntry)],
  ["pg_rename_relationship", renameRelationship],
  ["pg_set_relationship_comment", createChangeCommand(RELATIONSHIP, setComment)],
  ...permissionCommands,
  ["pg_set_permission_comment", setPermissionComment],
  [
    "pg_create_function_permission",
    createAddCommand(FUNCTION_PERMISSION, (from) => {
      rejectAdmin(from);
      return {};
    }),
  ],
  ["pg_drop_function_permission", createChangeCommand(FUNCTION_PERMISSION, removeEntry)],
  [
    "pg_add_computed_field",
    createAddCommand(COMPUTED_FIELD, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["pg_drop_computed_field", createChangeCommand(COMPUTED_FIELD, removeEntry)],
  ...actionCommands,
  ...nativeQueryCommands,
  ...remoteSchemaCommands,
  ...eventTriggerCommands,
  ...cronTriggerCommands,
  ...documentCommands,
]);
