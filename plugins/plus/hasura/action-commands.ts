/** Commands of the metadata API for actions and custom types. @rule P-HAS-1 X-ACT-10 */
import {
  objectMissing,
  pickArguments,
  readEntry,
  readList,
  refuseAdmin,
  removeEntry,
  replaceEntry,
  requireEntry,
  requireText,
  type Command,
  type Commands,
} from "./document.ts";
import { metadataError } from "./errors.ts";
import { createAddCommand, createChangeCommand, type ListedKind } from "./list-commands.ts";

const ACTION: ListedKind = {
  changeOwner: (document, _from, change) => change(document),
  lists: ["actions"],
  key: "name",
  description: "action",
  buildMissingError: (name, { path }) => objectMissing(`action with name "${name}"`, path),
};

const PERMISSION: ListedKind = {
  changeOwner: (document, from, change) => {
    const name = requireText(from, "action");
    if (!readList(document["actions"]).some((action) => readEntry(action)["name"] === name))
      throw objectMissing(`action with name "${name}"`, from.path);
    return replaceEntry(
      document,
      "actions",
      (action) => action["name"] === name,
      (action) => change(readEntry(action)),
    );
  },
  lists: ["permissions"],
  key: "role",
  description: "permission for role",
  buildTakenError: (role, from) =>
    metadataError(
      "already-exists",
      `permission for role "${role}" is already defined on action "${requireText(from, "action")}"`,
      from.path,
    ),
};

const setCustomTypes: Command = (document, from) => ({
  ...document,
  custom_types: pickArguments(from, "scalars", "enums", "input_objects", "objects"),
});

export const actionCommands: Commands = [
  ["set_custom_types", setCustomTypes],
  [
    "create_action",
    createAddCommand(ACTION, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  [
    "update_action",
    createChangeCommand(ACTION, (action, from) => ({
      ...action,
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["drop_action", createChangeCommand(ACTION, removeEntry)],
  [
    "create_action_permission",
    createAddCommand(PERMISSION, (from) => {
      refuseAdmin(from);
      return pickArguments(from, "comment");
    }),
  ],
  ["drop_action_permission", createChangeCommand(PERMISSION, removeEntry)],
];
