/** How the commands of the metadata API change the metadata. @rule P-HAS-1 */
import {
  withChangedEntry,
  entryIn,
  entryOf,
  withoutUndefined,
  inEntry,
  inObject,
  pickArguments,
  listIn,
  listOf,
  nameIn,
  refuseAdmin,
  displayName,
  textIn,
  without,
  type Arguments,
  type Command,
  type Entry,
} from "./document.ts";
import { refusal, wrongKind } from "./errors.ts";
import { documentCommands } from "./document-commands.ts";
import { nativeQueryCommands } from "./native-query-commands.ts";

// --- tables and functions -------------------------------------------------------------------------------------------

const WORDS = { table: "view/table", function: "function" };

const track =
  (kind: "table" | "function", ...keys: readonly string[]): Command =>
  (document, from) =>
    inEntry(document, from, kind, (object, name) => {
      if (object === undefined) return { [kind]: { ...name }, ...pickArguments(from, ...keys) };
      throw refusal("already-tracked", `${WORDS[kind]} already tracked: "${displayName(name)}"`, from.at);
    });

const untrackTable: Command = (document, from) =>
  inEntry(document, from, "table", (object, name) => {
    if (object !== undefined) return undefined;
    throw refusal("already-untracked", `view/table already untracked: "${displayName(name)}"`, from.at);
  });

const untrackFunction: Command = (document, from) => inObject(document, from, "function", () => undefined);

/** Makes a list command, such as `pg_track_tables`, of the command for a single object. */
const forEachEntry =
  (key: string, command: Command): Command =>
  (document, from) =>
    listIn(from, key).reduce<Entry>((next, args, i) => {
      // an item is an object with its own arguments, or only a name
      const own = entryOf(args);
      const single = key.slice(0, -1);
      const isName = typeof args === "string" || (own[single] === undefined && own["name"] !== undefined);
      return command(next, {
        args: isName ? withoutUndefined({ source: from.args["source"], [single]: args }) : own,
        at: `${from.at}.${key}[${i}]`,
      });
    }, document);

const setConfiguration =
  (kind: "table" | "function"): Command =>
  (document, from) =>
    inObject(document, from, kind, (object) => ({
      ...object,
      configuration: from.args["configuration"] === undefined ? {} : entryIn(from, "configuration"),
    }));

const setIsEnum: Command = (document, from) => {
  const { is_enum: isEnum } = from.args;
  if (typeof isEnum !== "boolean") throw wrongKind("is_enum", "a boolean", from.at);
  return inObject(document, from, "table", (table) =>
    isEnum ? { ...table, is_enum: true } : without(table, "is_enum"),
  );
};

// --- what a table or function has -----------------------------------------------------------------------------------

interface Member {
  readonly of: "table" | "function";
  readonly list: string;
  /** The key that names the member in the metadata's list and in the arguments. */
  readonly key: string;
  readonly argument?: string;
  readonly what: string;
}

/** Error codes for members that do not use the general ones. */
interface MemberErrors {
  readonly taken?: (name: string, owner: string) => string;
  readonly missing?: (name: string, owner: string) => readonly [code: string, message: string];
}

const addMember =
  (member: Member & MemberErrors, entry: (from: Arguments) => Entry, alsoIn: readonly string[] = []): Command =>
  (document, from) => {
    const { of, list, key, what } = member;
    const taken = member.taken ?? ((name, owner) => `${what} "${name}" already exists in ${of} "${owner}"`);
    const name = textIn(from, key);
    return inObject(document, from, of, (object) => {
      const isTaken = [list, ...alsoIn].some((one) =>
        listOf(object[one]).some((other) => entryOf(other)[key] === name),
      );
      if (isTaken) throw refusal("already-exists", taken(name, displayName(nameIn(from, of))), from.at);
      return { ...object, [list]: [...listOf(object[list]), { [key]: name, ...entry(from) }] };
    });
  };

/** Applies a change to a member of whichever list contains it. */
const member = (
  { of, key, argument = key, what, missing }: Omit<Member, "list"> & MemberErrors,
  lists: (from: Arguments) => readonly string[],
  change: (entry: Entry, from: Arguments, object: Entry) => Entry | undefined,
): Command => {
  return (document, from) => {
    const name = textIn(from, argument);
    return inObject(document, from, of, (object) => {
      const list = lists(from).find((one) => listOf(object[one]).some((entry) => entryOf(entry)[key] === name));
      if (list === undefined) {
        const [code, message] = missing?.(name, displayName(nameIn(from, of))) ?? [
          "not-exists",
          `${what} "${name}" does not exist`,
        ];
        throw refusal(code, message, from.at);
      }
      return withChangedEntry(
        object,
        list,
        (entry) => entry[key] === name,
        (entry) => change(entryOf(entry), from, object),
      );
    });
  };
};

const RELATIONSHIPS = ["object_relationships", "array_relationships"];
const relationship = { of: "table", key: "name", what: "relationship" } as const;

const createRelationship = (list: string): Command =>
  addMember(
    { ...relationship, list, taken: (name, table) => `field with name "${name}" already exists in table "${table}"` },
    (from) => ({ using: entryIn(from, "using"), ...pickArguments(from, "comment") }),
    [...RELATIONSHIPS, "computed_fields"],
  );

const rename: Command = member(
  relationship,
  () => RELATIONSHIPS,
  (entry, from, table) => {
    const name = textIn(from, "new_name");
    const isTaken = RELATIONSHIPS.some((list) => listOf(table[list]).some((other) => entryOf(other)["name"] === name));
    if (isTaken) throw refusal("already-exists", `relationship "${name}" already exists`, from.at);
    return { ...entry, name };
  },
);

/** Sets the comment of an entry; `null` removes it. */
const setComment = (entry: Entry, { args }: Arguments): Entry =>
  typeof args["comment"] === "string" ? { ...entry, comment: args["comment"] } : without(entry, "comment");

const OPERATIONS = ["select", "insert", "update", "delete"] as const;
const permissionOf = (operation: string) =>
  ({
    of: "table",
    key: "role",
    what: "permission for role",
    taken: (role: string, table: string) =>
      `${operation} permission already defined on table "${table}" with role "${role}"`,
    missing: (role: string, table: string) =>
      ["permission-denied", `${operation} permission on "${table}" for role "${role}" does not exist`] as const,
  }) as const;

const permissionCommands = OPERATIONS.flatMap((operation): readonly (readonly [string, Command])[] => {
  const list = `${operation}_permissions`;
  const permission = permissionOf(operation);
  const create = addMember({ ...permission, list }, (from) => {
    refuseAdmin(from);
    return { permission: entryIn(from, "permission"), ...pickArguments(from, "comment") };
  });
  const remove = member(
    permission,
    () => [list],
    () => undefined,
  );
  return [
    [`pg_create_${operation}_permission`, create],
    [`pg_drop_${operation}_permission`, remove],
  ];
});

const permissionList = (from: Arguments): readonly string[] => {
  const operation = textIn(from, "type");
  if (!OPERATIONS.some((one) => one === operation)) throw wrongKind("type", `one of ${OPERATIONS.join(", ")}`, from.at);
  return [`${operation}_permissions`];
};

const functionPermission = { of: "function", key: "role", what: "permission for role" } as const;
const computedField = { of: "table", key: "name", what: "computed field" } as const;

/** Commands by name. Other names are unknown, or the caller of this map handles them. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["pg_track_table", track("table", "is_enum", "configuration", "apollo_federation_config")],
  ["pg_untrack_table", untrackTable],
  ["pg_track_tables", forEachEntry("tables", track("table", "is_enum", "configuration", "apollo_federation_config"))],
  ["pg_untrack_tables", forEachEntry("tables", untrackTable)],
  ["pg_set_table_customization", setConfiguration("table")],
  ["pg_set_table_is_enum", setIsEnum],
  ["pg_track_function", track("function", "configuration", "comment")],
  ["pg_untrack_function", untrackFunction],
  ["pg_track_functions", forEachEntry("functions", track("function", "configuration", "comment"))],
  ["pg_untrack_functions", forEachEntry("functions", untrackFunction)],
  ["pg_set_function_customization", setConfiguration("function")],
  ["pg_create_object_relationship", createRelationship("object_relationships")],
  ["pg_create_array_relationship", createRelationship("array_relationships")],
  [
    "pg_drop_relationship",
    member(
      { ...relationship, argument: "relationship" },
      () => RELATIONSHIPS,
      () => undefined,
    ),
  ],
  ["pg_rename_relationship", rename],
  ["pg_set_relationship_comment", member(relationship, () => RELATIONSHIPS, setComment)],
  ...permissionCommands,
  [
    "pg_set_permission_comment",
    (document, from) => member(permissionOf(textIn(from, "type")), permissionList, setComment)(document, from),
  ],
  [
    "pg_create_function_permission",
    addMember({ ...functionPermission, list: "permissions" }, (from) => {
      refuseAdmin(from);
      return {};
    }),
  ],
  [
    "pg_drop_function_permission",
    member(
      functionPermission,
      () => ["permissions"],
      () => undefined,
    ),
  ],
  [
    "pg_add_computed_field",
    addMember({ ...computedField, list: "computed_fields" }, (from) => ({
      definition: entryIn(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  [
    "pg_drop_computed_field",
    member(
      computedField,
      () => ["computed_fields"],
      () => undefined,
    ),
  ],
  ...nativeQueryCommands,
  ...documentCommands,
]);
