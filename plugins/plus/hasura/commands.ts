/** How the commands of the metadata API change the metadata. @rule P-HAS-1 */
import {
  replaceEntry,
  requireEntry,
  readEntry,
  omitUndefined,
  changeOrAddObject,
  changeObject,
  pickArguments,
  requireList,
  readList,
  requireName,
  refuseAdmin,
  formatName,
  requireText,
  omitKeys,
  type Arguments,
  type Command,
  type Entry,
} from "./document.ts";
import { metadataError, wrongKind } from "./errors.ts";
import { documentCommands } from "./document-commands.ts";
import { nativeQueryCommands } from "./native-query-commands.ts";

// --- tables and functions -------------------------------------------------------------------------------------------

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

/** Makes a list command, such as `pg_track_tables`, of the command for a single object. */
const createListCommand =
  (key: string, command: Command): Command =>
  (document, from) =>
    requireList(from, key).reduce<Entry>((next, args, i) => {
      // an item is an object with its own arguments, or only a name
      const own = readEntry(args);
      const single = key.slice(0, -1);
      const isName = typeof args === "string" || (own[single] === undefined && own["name"] !== undefined);
      return command(next, {
        args: isName ? omitUndefined({ source: from.args["source"], [single]: args }) : own,
        path: `${from.path}.${key}[${i}]`,
      });
    }, document);

const createConfigurationCommand =
  (kind: "table" | "function"): Command =>
  (document, from) =>
    changeObject(document, from, kind, (object) => ({
      ...object,
      configuration: from.args["configuration"] === undefined ? {} : requireEntry(from, "configuration"),
    }));

const setIsEnum: Command = (document, from) => {
  const { is_enum: isEnum } = from.args;
  if (typeof isEnum !== "boolean") throw wrongKind("is_enum", "a boolean", from.path);
  return changeObject(document, from, "table", (table) =>
    isEnum ? { ...table, is_enum: true } : omitKeys(table, "is_enum"),
  );
};

// --- what a table or function has -----------------------------------------------------------------------------------

interface Member {
  readonly owner: "table" | "function";
  readonly list: string;
  /** The key that names the member in the metadata's list and in the arguments. */
  readonly key: string;
  readonly argument?: string;
  readonly description: string;
}

/** Error codes for members that do not use the general ones. */
interface MemberErrors {
  readonly buildTakenMessage?: (name: string, owner: string) => string;
  readonly buildMissingError?: (name: string, owner: string) => readonly [code: string, message: string];
}

const createAddCommand =
  (member: Member & MemberErrors, entry: (from: Arguments) => Entry, alsoIn: readonly string[] = []): Command =>
  (document, from) => {
    const { owner: of, list, key, description } = member;
    const taken =
      member.buildTakenMessage ?? ((name, owner) => `${description} "${name}" already exists in ${of} "${owner}"`);
    const name = requireText(from, key);
    return changeObject(document, from, of, (object) => {
      const isTaken = [list, ...alsoIn].some((one) =>
        readList(object[one]).some((other) => readEntry(other)[key] === name),
      );
      if (isTaken) throw metadataError("already-exists", taken(name, formatName(requireName(from, of))), from.path);
      return { ...object, [list]: [...readList(object[list]), { [key]: name, ...entry(from) }] };
    });
  };

/** Applies a change to a member of whichever list contains it. */
const createChangeCommand = (
  { owner, key, argument = key, description, buildMissingError }: Omit<Member, "list"> & MemberErrors,
  lists: (from: Arguments) => readonly string[],
  change: (entry: Entry, from: Arguments, object: Entry) => Entry | undefined,
): Command => {
  return (document, from) => {
    const name = requireText(from, argument);
    return changeObject(document, from, owner, (object) => {
      const list = lists(from).find((one) => readList(object[one]).some((entry) => readEntry(entry)[key] === name));
      if (list === undefined) {
        const [code, message] = buildMissingError?.(name, formatName(requireName(from, owner))) ?? [
          "not-exists",
          `${description} "${name}" does not exist`,
        ];
        throw metadataError(code, message, from.path);
      }
      return replaceEntry(
        object,
        list,
        (entry) => entry[key] === name,
        (entry) => change(readEntry(entry), from, object),
      );
    });
  };
};

const RELATIONSHIPS = ["object_relationships", "array_relationships"];
const relationshipMember = { owner: "table", key: "name", description: "relationship" } as const;

const createRelationshipCommand = (list: string): Command =>
  createAddCommand(
    {
      ...relationshipMember,
      list,
      buildTakenMessage: (name, table) => `field with name "${name}" already exists in table "${table}"`,
    },
    (from) => ({ using: requireEntry(from, "using"), ...pickArguments(from, "comment") }),
    [...RELATIONSHIPS, "computed_fields"],
  );

const renameRelationship: Command = createChangeCommand(
  relationshipMember,
  () => RELATIONSHIPS,
  (entry, from, table) => {
    const name = requireText(from, "new_name");
    const isTaken = RELATIONSHIPS.some((list) =>
      readList(table[list]).some((other) => readEntry(other)["name"] === name),
    );
    if (isTaken) throw metadataError("already-exists", `relationship "${name}" already exists`, from.path);
    return { ...entry, name };
  },
);

/** Sets the comment of an entry; `null` removes it. */
const setComment = (entry: Entry, { args }: Arguments): Entry =>
  typeof args["comment"] === "string" ? { ...entry, comment: args["comment"] } : omitKeys(entry, "comment");

const OPERATIONS = ["select", "insert", "update", "delete"] as const;
const buildPermissionMember = (operation: string) =>
  ({
    owner: "table",
    key: "role",
    description: "permission for role",
    buildTakenMessage: (role: string, table: string) =>
      `${operation} permission already defined on table "${table}" with role "${role}"`,
    buildMissingError: (role: string, table: string) =>
      ["permission-denied", `${operation} permission on "${table}" for role "${role}" does not exist`] as const,
  }) as const;

const permissionCommands = OPERATIONS.flatMap((operation): readonly (readonly [string, Command])[] => {
  const list = `${operation}_permissions`;
  const permission = buildPermissionMember(operation);
  const create = createAddCommand({ ...permission, list }, (from) => {
    refuseAdmin(from);
    return { permission: requireEntry(from, "permission"), ...pickArguments(from, "comment") };
  });
  const remove = createChangeCommand(
    permission,
    () => [list],
    () => undefined,
  );
  return [
    [`pg_create_${operation}_permission`, create],
    [`pg_drop_${operation}_permission`, remove],
  ];
});

const findPermissionList = (from: Arguments): readonly string[] => {
  const operation = requireText(from, "type");
  if (!OPERATIONS.some((one) => one === operation))
    throw wrongKind("type", `one of ${OPERATIONS.join(", ")}`, from.path);
  return [`${operation}_permissions`];
};

const functionPermission = { owner: "function", key: "role", description: "permission for role" } as const;
const computedField = { owner: "table", key: "name", description: "computed field" } as const;

/** Commands by name. Other names are unknown, or the caller of this map handles them. */
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
  [
    "pg_drop_relationship",
    createChangeCommand(
      { ...relationshipMember, argument: "relationship" },
      () => RELATIONSHIPS,
      () => undefined,
    ),
  ],
  ["pg_rename_relationship", renameRelationship],
  ["pg_set_relationship_comment", createChangeCommand(relationshipMember, () => RELATIONSHIPS, setComment)],
  ...permissionCommands,
  [
    "pg_set_permission_comment",
    (document, from) =>
      createChangeCommand(
        buildPermissionMember(requireText(from, "type")),
        findPermissionList,
        setComment,
      )(document, from),
  ],
  [
    "pg_create_function_permission",
    createAddCommand({ ...functionPermission, list: "permissions" }, (from) => {
      refuseAdmin(from);
      return {};
    }),
  ],
  [
    "pg_drop_function_permission",
    createChangeCommand(
      functionPermission,
      () => ["permissions"],
      () => undefined,
    ),
  ],
  [
    "pg_add_computed_field",
    createAddCommand({ ...computedField, list: "computed_fields" }, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  [
    "pg_drop_computed_field",
    createChangeCommand(
      computedField,
      () => ["computed_fields"],
      () => undefined,
    ),
  ],
  ...nativeQueryCommands,
  ...documentCommands,
]);
