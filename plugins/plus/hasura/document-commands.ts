/**
 * Commands of the metadata API for metadata outside of sources: roles, collections, endpoints, limits. @rule P-HAS-1
 */
import type { Json } from "../../../core/index.ts";
import {
  requireEntry,
  readEntry,
  omitUndefined,
  pickArguments,
  requireList,
  readListOrEmpty,
  objectMissing,
  removeEntry,
  requireText,
  omitKeys,
  type Arguments,
  type Command,
  type Commands,
} from "./document.ts";
import { metadataError } from "./errors.ts";
import { buildTopLevelKind, createAddCommand, createChangeCommand, type ListedKind } from "./listed-objects.ts";

/** Adding a role replaces the inherited role of that name. */
const ROLE: ListedKind = {
  ...buildTopLevelKind("inherited_roles", "role_name", "inherited role"),
  mayReplace: () => true,
};
const COLLECTION = buildTopLevelKind("query_collections", "name", "query collection with name");
const ALLOWED_COLLECTION = buildTopLevelKind("allowlist", "collection", "collection of the allow list");
const ENDPOINT = buildTopLevelKind("rest_endpoints", "name", "REST endpoint");

const buildQueryMessage = (name: string, from: Arguments, state: string): string =>
  `query with name "${name}" ${state} in collection "${requireText(from, "collection_name")}"`;

const QUERY: ListedKind = {
  changeOwner: (document, from, change) =>
    createChangeCommand({ ...COLLECTION, argument: "collection_name" }, (collection) => ({
      ...collection,
      definition: { queries: [], ...change(readEntry(collection["definition"])) },
    }))(document, from),
  lists: ["queries"],
  key: "name",
  argument: "query_name",
  description: "query",
  buildTakenError: (name, from) =>
    metadataError("already-exists", buildQueryMessage(name, from, "already exists"), from.path),
  buildMissingError: (name, from) => metadataError("not-found", buildQueryMessage(name, from, "not found"), from.path),
};

const createSetCommand =
  (key: string, value: (from: Arguments) => Json | undefined): Command =>
  (document, from) => ({ ...omitKeys(document, key), ...omitUndefined({ [key]: value(from) }) });

export const documentCommands: Commands = [
  ["add_inherited_role", createAddCommand(ROLE, (from) => ({ role_set: requireList(from, "role_set") }))],
  ["drop_inherited_role", createChangeCommand(ROLE, removeEntry)],
  [
    "create_query_collection",
    createAddCommand(COLLECTION, (from) => ({
      definition: requireEntry(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["drop_query_collection", createChangeCommand({ ...COLLECTION, argument: "collection" }, removeEntry)],
  ["add_query_to_collection", createAddCommand(QUERY, (from) => ({ query: requireText(from, "query") }))],
  ["drop_query_from_collection", createChangeCommand(QUERY, removeEntry)],
  [
    "add_collection_to_allowlist",
    (document, from) => {
      const name = requireText(from, "collection");
      const isThere = readListOrEmpty(document["query_collections"]).some(
        (collection) => readEntry(collection)["name"] === name,
      );
      if (!isThere) throw objectMissing(`${COLLECTION.description} "${name}"`, from.path);
      return createAddCommand(ALLOWED_COLLECTION, (commandArguments) => pickArguments(commandArguments, "scope"))(
        document,
        from,
      );
    },
  ],
  ["drop_collection_from_allowlist", createChangeCommand(ALLOWED_COLLECTION, removeEntry)],
  [
    "update_scope_of_collection_in_allowlist",
    createChangeCommand(ALLOWED_COLLECTION, (entry, from) => ({ ...entry, scope: requireEntry(from, "scope") })),
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
  ["set_api_limits", createSetCommand("api_limits", ({ args }) => ({ ...args }))],
  ["remove_api_limits", createSetCommand("api_limits", () => undefined)],
  [
    "clear_metadata",
    ({ sources }) => ({
      version: 3,
      // The connection settings of sources are kept.
      sources: readListOrEmpty(sources).map((source) => ({
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
