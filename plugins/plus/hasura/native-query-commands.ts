/** Commands of the metadata API for native queries and logical models. @rule P-HAS-1 */
import {
  requireEntry,
  readEntry,
  changeSource,
  pickArguments,
  requireList,
  readListOrEmpty,
  objectMissing,
  rejectAdmin,
  removeEntry,
  requireText,
  type Commands,
} from "./document.ts";
import { metadataError } from "./errors.ts";
import { createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

const buildSourceKind = (list: string, key: string, description: string): ListedKind => ({
  changeOwner: changeSource,
  lists: [list],
  key,
  description,
  buildTakenError: (name, { path }) =>
    metadataError("already-tracked", `${description} "${name}" already exists`, path),
});

const LOGICAL_MODEL = buildSourceKind("logical_models", "name", "logical model");
const NATIVE_QUERY = buildSourceKind("native_queries", "root_field_name", "native query");

const MODEL_PERMISSION: ListedKind = {
  changeOwner: (document, from, change) => createChangeCommand(LOGICAL_MODEL, change)(document, from),
  lists: ["select_permissions"],
  key: "role",
  description: "permission for role",
};

const trackNativeQuery = createAddCommand(NATIVE_QUERY, (from, source) => {
  const returns = requireText(from, "returns");
  if (!readListOrEmpty(source["logical_models"]).some((model) => readEntry(model)["name"] === returns))
    throw objectMissing(`logical model "${returns}"`, from.path);
  return {
    code: requireText(from, "code"),
    returns,
    ...pickArguments(
      from,
      "arguments",
      "type",
      "description",
      "comment",
      "object_relationships",
      "array_relationships",
    ),
  };
});

const untrackLogicalModel = createChangeCommand(LOGICAL_MODEL, ({ name }, from, source) => {
  const user = readListOrEmpty(source["native_queries"]).find((query) => readEntry(query)["returns"] === name);
  if (user === undefined) return undefined;
  throw metadataError(
    "dependency-error",
    `native query "${String(readEntry(user)["root_field_name"])}" returns the logical model`,
    from.path,
  );
});

export const nativeQueryCommands: Commands = [
  [
    "pg_track_logical_model",
    createAddCommand(LOGICAL_MODEL, (from) => ({
      fields: requireList(from, "fields"),
      ...pickArguments(from, "description"),
    })),
  ],
  ["pg_untrack_logical_model", untrackLogicalModel],
  ["pg_track_native_query", trackNativeQuery],
  ["pg_untrack_native_query", createChangeCommand(NATIVE_QUERY, removeEntry)],
  [
    "pg_create_logical_model_select_permission",
    createAddCommand(MODEL_PERMISSION, (from) => {
      rejectAdmin(from);
      return { permission: requireEntry(from, "permission"), ...pickArguments(from, "comment") };
    }),
  ],
  ["pg_drop_logical_model_select_permission", createChangeCommand(MODEL_PERMISSION, removeEntry)],
];
