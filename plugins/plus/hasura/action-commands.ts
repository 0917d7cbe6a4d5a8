/** Commands of the metadata API for actions and custom types. @rule P-HAS-1 X-ACT-10 */
import { isJsonObject } from "../../../core/index.ts";
import {
  objectMissing,
  pickArguments,
  rejectAdmin,
  removeEntry,
  requireEntry,
  requireList,
  requireText,
  type Command,
  type Commands,
} from "./document.ts";
import { metadataError, kindUnexpected } from "./errors.ts";
import { buildTopLevelKind, createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

const ACTION: ListedKind = {
  ...buildTopLevelKind("actions", "name", "action"),
  buildMissingError: (name, { path }) => objectMissing(`action with name "${name}"`, path),
};

const PERMISSION: ListedKind = {
  changeOwner: (document, from, change) =>
    createChangeCommand({ ...ACTION, argument: "action" }, change)(document, from),
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

const TYPE_LISTS = ["scalars", "enums", "input_objects", "objects"] as const;

const setCustomTypes: Command = (document, from) => {
  for (const list of TYPE_LISTS) {
    if ((from.args[list] ?? null) === null) continue;
    const at = requireList(from, list).findIndex((item) => !isJsonObject(item));
    if (at !== -1) throw kindUnexpected(`${list}[${at}]`, "an object", from.path);
  }
  return { ...document, custom_types: pickArguments(from, ...TYPE_LISTS) };
};

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
      rejectAdmin(from);
      return pickArguments(from, "comment");
    }),
  ],
  ["drop_action_permission", createChangeCommand(PERMISSION, removeEntry)],
];
