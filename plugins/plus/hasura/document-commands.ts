/**
 * Commands of the metadata API for metadata outside of sources: roles, collections, endpoints, limits. @rule P-HAS-1
 */
import type { Json } from "../../../core/index.ts";
import {
  replaceEntry,
  requireEntry,
  readEntry,
  omitUndefined,
  pickArguments,
  requireList,
  readList,
  objectMissing,
  requireText,
  omitKeys,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { metadataError } from "./errors.ts";

interface TopLevelMember {
  readonly list: string;
  readonly key: string;
  readonly description: string;
}

const ROLE: TopLevelMember = { list: "inherited_roles", key: "role_name", description: "inherited role" };
const COLLECTION: TopLevelMember = {
  list: "query_collections",
  key: "name",
  description: "query collection with name",
};
const ALLOWED: TopLevelMember = { list: "allowlist", key: "collection", description: "collection of the allow list" };
const ENDPOINT: TopLevelMember = { list: "rest_endpoints", key: "name", description: "REST endpoint" };

const createAddCommand =
  ({ list, key, description }: TopLevelMember, entry: (from: Arguments) => Entry, replaces = false): Command =>
  (document, from) => {
    const name = requireText(from, key);
    return replaceEntry(
      document,
      list,
      (one) => one[key] === name,
      (one) => {
        if (one !== undefined && !replaces)
          throw metadataError("already-exists", `${description} "${name}" already exists`, from.path);
        return { [key]: name, ...entry(from) };
      },
    );
  };

const createChangeCommand =
  (
    { list, key, description }: TopLevelMember,
    change: (entry: Entry, from: Arguments) => Entry | undefined,
    argument = key,
  ): Command =>
  (document, from) => {
    const name = requireText(from, argument);
    return replaceEntry(
      document,
      list,
      (one) => one[key] === name,
      (one) => {
        if (one === undefined) throw objectMissing(`${description} "${name}"`, from.path);
        return change(one, from);
      },
    );
  };

const removeEntry = (): undefined => undefined;

const createQueryCommand = (
  change: (query: Entry | undefined, from: Arguments, name: string) => Entry | undefined,
): Command =>
  createChangeCommand(
    COLLECTION,
    (collection, from) => {
      const name = requireText(from, "query_name");
      const definition = replaceEntry(
        readEntry(collection["definition"]),
        "queries",
        (query) => query["name"] === name,
        (query) => change(query, from, name),
      );
      return { ...collection, definition: { queries: [], ...definition } };
    },
    "collection_name",
  );

const createSetCommand =
  (key: string, value: (from: Arguments) => Json | undefined): Command =>
  (document, from) => ({ ...omitKeys(document, key), ...omitUndefined({ [key]: value(from) }) });

export const documentCommands: Commands = [
  ["add_inherited_role", createAddCommand(ROLE, (from) => ({ role_set: requireList(from, "role_set") }), true)],
  ["drop_inherited_role", createChangeCommand(ROLE, removeEntry)],
  [
    "create_query_collection",
    createAddCommand(COLLECTION, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["drop_query_collection", createChangeCommand(COLLECTION, removeEntry, "collection")],
  [
    "add_query_to_collection",
    createQueryCommand((query, from, name) => {
      if (query !== undefined)
        throw metadataError(
          "already-exists",
          `query with name "${name}" already exists in collection "${requireText(from, "collection_name")}"`,
          from.path,
        );
      return { name, query: requireText(from, "query") };
    }),
  ],
  [
    "drop_query_from_collection",
    createQueryCommand((query, from, name) => {
      if (query === undefined)
        throw metadataError(
          "not-found",
          `query with name "${name}" not found in collection "${requireText(from, "collection_name")}"`,
          from.path,
        );
      return undefined;
    }),
  ],
  [
    "add_collection_to_allowlist",
    (document, from) => {
      const name = requireText(from, ALLOWED.key);
      const isThere = readList(document[COLLECTION.list]).some((one) => readEntry(one)[COLLECTION.key] === name);
      if (!isThere) throw objectMissing(`${COLLECTION.description} "${name}"`, from.path);
      return createAddCommand(ALLOWED, (one) => pickArguments(one, "scope"))(document, from);
    },
  ],
  ["drop_collection_from_allowlist", createChangeCommand(ALLOWED, removeEntry)],
  [
    "update_scope_of_collection_in_allowlist",
    createChangeCommand(ALLOWED, (entry, from) => ({ ...entry, scope: requireEntry(from, "scope") })),
  ],
  [
    "create_rest_endpoint",
    createAddCommand(ENDPOINT, (from) => ({
      url: requireText(from, "url"),
      methods: requireList(from, "methods"),
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["drop_rest_endpoint", createChangeCommand(ENDPOINT, removeEntry)],
  [
    "set_graphql_schema_introspection_options",
    createSetCommand("graphql_schema_introspection", (from) => ({
      disabled_for_roles: requireList(from, "disabled_for_roles"),
    })),
  ],
  ["set_api_limits", createSetCommand("api_limits", ({ args }) => args)],
  ["remove_api_limits", createSetCommand("api_limits", () => undefined)],
  [
    "clear_metadata",
    ({ sources }) => ({
      version: 3,
      // the connection settings of sources are kept
      sources: readList(sources).map((source) => ({
        ...omitUndefined({
          name: readEntry(source)["name"],
          kind: readEntry(source)["kind"],
          configuration: readEntry(source)["configuration"],
        }),
        tables: [],
      })),
    }),
  ],
];
