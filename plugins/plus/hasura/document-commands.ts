/**
 * Commands of the metadata API for metadata outside of sources: roles, collections, endpoints, limits. @rule P-HAS-1
 */
import type { Json } from "../../../core/index.ts";
import {
  withChangedEntry,
  entryIn,
  entryOf,
  withoutUndefined,
  pickArguments,
  listIn,
  listOf,
  notExists,
  textIn,
  without,
  type Arguments,
  type Command,
  type Commands,
  type Entry,
} from "./document.ts";
import { refusal } from "./errors.ts";

interface TopMember {
  readonly list: string;
  readonly key: string;
  readonly what: string;
}

const ROLE: TopMember = { list: "inherited_roles", key: "role_name", what: "inherited role" };
const COLLECTION: TopMember = { list: "query_collections", key: "name", what: "query collection with name" };
const ALLOWED: TopMember = { list: "allowlist", key: "collection", what: "collection of the allow list" };
const ENDPOINT: TopMember = { list: "rest_endpoints", key: "name", what: "REST endpoint" };

const addTop =
  ({ list, key, what }: TopMember, entry: (from: Arguments) => Entry, replaces = false): Command =>
  (document, from) => {
    const name = textIn(from, key);
    return withChangedEntry(
      document,
      list,
      (one) => one[key] === name,
      (one) => {
        if (one !== undefined && !replaces)
          throw refusal("already-exists", `${what} "${name}" already exists`, from.at);
        return { [key]: name, ...entry(from) };
      },
    );
  };

const changeTop =
  (
    { list, key, what }: TopMember,
    change: (entry: Entry, from: Arguments) => Entry | undefined,
    argument = key,
  ): Command =>
  (document, from) => {
    const name = textIn(from, argument);
    return withChangedEntry(
      document,
      list,
      (one) => one[key] === name,
      (one) => {
        if (one === undefined) throw notExists(`${what} "${name}"`, from.at);
        return change(one, from);
      },
    );
  };

const noEntry = (): undefined => undefined;

const inQueries = (change: (query: Entry | undefined, from: Arguments, name: string) => Entry | undefined): Command =>
  changeTop(
    COLLECTION,
    (collection, from) => {
      const name = textIn(from, "query_name");
      const definition = withChangedEntry(
        entryOf(collection["definition"]),
        "queries",
        (query) => query["name"] === name,
        (query) => change(query, from, name),
      );
      return { ...collection, definition: { queries: [], ...definition } };
    },
    "collection_name",
  );

const setTop =
  (key: string, value: (from: Arguments) => Json | undefined): Command =>
  (document, from) => ({ ...without(document, key), ...withoutUndefined({ [key]: value(from) }) });

export const documentCommands: Commands = [
  ["add_inherited_role", addTop(ROLE, (from) => ({ role_set: listIn(from, "role_set") }), true)],
  ["drop_inherited_role", changeTop(ROLE, noEntry)],
  [
    "create_query_collection",
    addTop(COLLECTION, (from) => ({ definition: entryIn(from, "definition"), ...pickArguments(from, "comment") })),
  ],
  ["drop_query_collection", changeTop(COLLECTION, noEntry, "collection")],
  [
    "add_query_to_collection",
    inQueries((query, from, name) => {
      if (query !== undefined)
        throw refusal(
          "already-exists",
          `query with name "${name}" already exists in collection "${textIn(from, "collection_name")}"`,
          from.at,
        );
      return { name, query: textIn(from, "query") };
    }),
  ],
  [
    "drop_query_from_collection",
    inQueries((query, from, name) => {
      if (query === undefined)
        throw refusal(
          "not-found",
          `query with name "${name}" not found in collection "${textIn(from, "collection_name")}"`,
          from.at,
        );
      return undefined;
    }),
  ],
  [
    "add_collection_to_allowlist",
    (document, from) => {
      const name = textIn(from, ALLOWED.key);
      const isThere = listOf(document[COLLECTION.list]).some((one) => entryOf(one)[COLLECTION.key] === name);
      if (!isThere) throw notExists(`${COLLECTION.what} "${name}"`, from.at);
      return addTop(ALLOWED, (one) => pickArguments(one, "scope"))(document, from);
    },
  ],
  ["drop_collection_from_allowlist", changeTop(ALLOWED, noEntry)],
  [
    "update_scope_of_collection_in_allowlist",
    changeTop(ALLOWED, (entry, from) => ({ ...entry, scope: entryIn(from, "scope") })),
  ],
  [
    "create_rest_endpoint",
    addTop(ENDPOINT, (from) => ({
      url: textIn(from, "url"),
      methods: listIn(from, "methods"),
      definition: entryIn(from, "definition"),
      ...pickArguments(from, "comment"),
    })),
  ],
  ["drop_rest_endpoint", changeTop(ENDPOINT, noEntry)],
  [
    "set_graphql_schema_introspection_options",
    setTop("graphql_schema_introspection", (from) => ({ disabled_for_roles: listIn(from, "disabled_for_roles") })),
  ],
  ["set_api_limits", setTop("api_limits", ({ args }) => args)],
  ["remove_api_limits", setTop("api_limits", () => undefined)],
  [
    "clear_metadata",
    ({ sources }) => ({
      version: 3,
      // the connection settings of sources are kept
      sources: listOf(sources).map((source) => ({
        ...withoutUndefined({
          name: entryOf(source)["name"],
          kind: entryOf(source)["kind"],
          configuration: entryOf(source)["configuration"],
        }),
        tables: [],
      })),
    }),
  ],
];
