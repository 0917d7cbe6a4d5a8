/** Commands of the metadata API for native queries and logical models. @rule P-HAS-1 */
import {
  withChangedEntry,
  entryIn,
  entryOf,
  inSource,
  pickArguments,
  listIn,
  listOf,
  notExists,
  refuseAdmin,
  textIn,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { refusal } from "./errors.ts";

interface SourceMember {
  readonly list: string;
  readonly key: string;
  readonly what: string;
}

const MODEL: SourceMember = { list: "logical_models", key: "name", what: "logical model" };
const NATIVE: SourceMember = { list: "native_queries", key: "root_field_name", what: "native query" };

/** Applies a change to an entry of a list in a source. `change` receives the existing entry and the source. */
const inSourceList =
  (
    { list, key }: SourceMember,
    change: (entry: Entry | undefined, from: Arguments, name: string, source: Entry) => Entry | undefined,
  ): Command =>
  (document, from) => {
    const name = textIn(from, key);
    return inSource(document, from, (source) =>
      withChangedEntry(
        source,
        list,
        (entry) => entry[key] === name,
        (entry) => change(entry, from, name, source),
      ),
    );
  };

const addToSource = (member: SourceMember, entry: (from: Arguments, source: Entry) => Entry): Command =>
  inSourceList(member, (found, from, name, source) => {
    if (found !== undefined) throw refusal("already-tracked", `${member.what} "${name}" already exists`, from.at);
    return { [member.key]: name, ...entry(from, source) };
  });

const ofSource = (
  member: SourceMember,
  change: (entry: Entry, from: Arguments, source: Entry) => Entry | undefined,
): Command =>
  inSourceList(member, (found, from, name, source) => {
    if (found === undefined) throw notExists(`${member.what} "${name}"`, from.at);
    return change(found, from, source);
  });

const trackNative = addToSource(NATIVE, (from, source) => {
  const returns = textIn(from, "returns");
  if (!listOf(source["logical_models"]).some((model) => entryOf(model)["name"] === returns))
    throw notExists(`logical model "${returns}"`, from.at);
  return {
    code: textIn(from, "code"),
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

const untrackModel = ofSource(MODEL, ({ name }, from, source) => {
  const user = listOf(source["native_queries"]).find((query) => entryOf(query)["returns"] === name);
  if (user === undefined) return undefined;
  throw refusal(
    "dependency-error",
    `native query "${String(entryOf(user)["root_field_name"])}" returns the logical model`,
    from.at,
  );
});

const isOfRole =
  (from: Arguments) =>
  (entry: Entry): boolean =>
    entry["role"] === textIn(from, "role");

const permitModel = ofSource(MODEL, (model, from) => {
  refuseAdmin(from);
  return withChangedEntry(model, "select_permissions", isOfRole(from), (found) => {
    if (found === undefined)
      return { role: textIn(from, "role"), permission: entryIn(from, "permission"), ...pickArguments(from, "comment") };
    throw refusal("already-exists", `permission for role "${textIn(from, "role")}" already exists`, from.at);
  });
});

const forbidModel = ofSource(MODEL, (model, from) =>
  withChangedEntry(model, "select_permissions", isOfRole(from), (found) => {
    if (found === undefined) throw notExists(`permission for role "${textIn(from, "role")}"`, from.at);
    return undefined;
  }),
);

export const nativeQueryCommands: Commands = [
  [
    "pg_track_logical_model",
    addToSource(MODEL, (from) => ({ fields: listIn(from, "fields"), ...pickArguments(from, "description") })),
  ],
  ["pg_untrack_logical_model", untrackModel],
  ["pg_track_native_query", trackNative],
  ["pg_untrack_native_query", ofSource(NATIVE, () => undefined)],
  ["pg_create_logical_model_select_permission", permitModel],
  ["pg_drop_logical_model_select_permission", forbidModel],
];
