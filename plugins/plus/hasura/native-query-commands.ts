/** Commands of the metadata API for native queries and logical models. @rule P-HAS-1 */
import {
  replaceEntry,
  requireEntry,
  readEntry,
  changeSource,
  pickArguments,
  requireList,
  readList,
  objectMissing,
  refuseAdmin,
  requireText,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError } from "./errors.ts";

interface SourceMember {
  readonly list: string;
  readonly key: string;
  readonly description: string;
}

const LOGICAL_MODEL: SourceMember = { list: "logical_models", key: "name", description: "logical model" };
const NATIVE_QUERY: SourceMember = { list: "native_queries", key: "root_field_name", description: "native query" };

/** Applies a change to an entry of a list in a source. `change` receives the existing entry and the source. */
const createSourceCommand =
  (
    { list, key }: SourceMember,
    change: (entry: Entry | undefined, from: Arguments, name: string, source: Entry) => Entry | undefined,
  ): Command =>
  (document, from) => {
    const name = requireText(from, key);
    return changeSource(document, from, (source) =>
      replaceEntry(
        source,
        list,
        (entry) => entry[key] === name,
        (entry) => change(entry, from, name, source),
      ),
    );
  };

const createAddCommand = (member: SourceMember, entry: (from: Arguments, source: Entry) => Entry): Command =>
  createSourceCommand(member, (found, from, name, source) => {
    if (found !== undefined)
      throw metadataError("already-tracked", `${member.description} "${name}" already exists`, from.path);
    return { [member.key]: name, ...entry(from, source) };
  });

const createChangeCommand = (
  member: SourceMember,
  change: (entry: Entry, from: Arguments, source: Entry) => Entry | undefined,
): Command =>
  createSourceCommand(member, (found, from, name, source) => {
    if (found === undefined) throw objectMissing(`${member.description} "${name}"`, from.path);
    return change(found, from, source);
  });

const trackNativeQuery = createAddCommand(NATIVE_QUERY, (from, source) => {
  const returns = requireText(from, "returns");
  if (!readList(source["logical_models"]).some((model) => readEntry(model)["name"] === returns))
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
  const user = readList(source["native_queries"]).find((query) => readEntry(query)["returns"] === name);
  if (user === undefined) return undefined;
  throw metadataError(
    "dependency-error",
    `native query "${String(readEntry(user)["root_field_name"])}" returns the logical model`,
    from.path,
  );
});

const createRoleTest =
  (from: Arguments) =>
  (entry: Entry): boolean =>
    entry["role"] === requireText(from, "role");

const createModelPermission = createChangeCommand(LOGICAL_MODEL, (model, from) => {
  refuseAdmin(from);
  return replaceEntry(model, "select_permissions", createRoleTest(from), (found) => {
    if (found === undefined)
      return {
        role: requireText(from, "role"),
        permission: requireEntry(from, "permission"),
        ...pickArguments(from, "comment"),
      };
    throw metadataError(
      "already-exists",
      `permission for role "${requireText(from, "role")}" already exists`,
      from.path,
    );
  });
});

const dropModelPermission = createChangeCommand(LOGICAL_MODEL, (model, from) =>
  replaceEntry(model, "select_permissions", createRoleTest(from), (found) => {
    if (found === undefined) throw objectMissing(`permission for role "${requireText(from, "role")}"`, from.path);
    return undefined;
  }),
);

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
  ["pg_untrack_native_query", createChangeCommand(NATIVE_QUERY, () => undefined)],
  ["pg_create_logical_model_select_permission", createModelPermission],
  ["pg_drop_logical_model_select_permission", dropModelPermission],
];
