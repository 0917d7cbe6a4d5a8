/** What the commands of the metadata API make of the metadata. @rule P-HAS-1 */
import type { Json } from "../../../core/index.ts";
import {
  changed,
  entryIn,
  entryOf,
  given,
  inEntry,
  inObject,
  inSource,
  listIn,
  listOf,
  nameIn,
  notExists,
  shown,
  textIn,
  without,
  type Arguments,
  type Entry,
} from "./document.ts";
import { refusal, wrongKind } from "./errors.ts";

/** @throws RelApiError */
export type Command = (document: Entry, from: Arguments) => Entry;

/** The rest of the arguments, as metadata has them. */
const kept = ({ args }: Arguments, ...keys: readonly string[]): Entry =>
  given(Object.fromEntries(keys.map((key) => [key, args[key] ?? undefined])));

// --- tables and functions -------------------------------------------------------------------------------------------

const WORDS = { table: "view/table", function: "function" };

const track =
  (kind: "table" | "function", ...keys: readonly string[]): Command =>
  (document, from) =>
    inEntry(document, from, kind, (object, name) => {
      if (object === undefined) return { [kind]: { ...name }, ...kept(from, ...keys) };
      throw refusal("already-tracked", `${WORDS[kind]} already tracked: "${shown(name)}"`, from.at);
    });

const untrack =
  (kind: "table" | "function"): Command =>
  (document, from) =>
    inEntry(document, from, kind, (object, name) => {
      if (object !== undefined) return undefined;
      throw refusal("already-untracked", `${WORDS[kind]} already untracked: "${shown(name)}"`, from.at);
    });

/** `pg_track_tables`: a list of what the command for one takes. */
const each =
  (key: string, command: Command): Command =>
  (document, from) =>
    listIn(from, key).reduce<Entry>((next, args, i) => {
      // an object of arguments of its own, or the name alone
      const own = entryOf(args);
      const single = key.slice(0, -1);
      const isName = typeof args === "string" || (own[single] === undefined && own["name"] !== undefined);
      return command(next, {
        args: isName ? given({ source: from.args["source"], [single]: args }) : own,
        at: `${from.at}.${key}[${i}]`,
      });
    }, document);

const customize =
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
  /** What names it in the list, and in the arguments. */
  readonly key: string;
  readonly argument?: string;
  readonly what: string;
}

const add =
  (member: Member, entry: (from: Arguments) => Entry, alsoIn: readonly string[] = []): Command =>
  (document, from) => {
    const { of, list, key, what } = member;
    const name = textIn(from, key);
    return inObject(document, from, of, (object) => {
      const isTaken = [list, ...alsoIn].some((one) =>
        listOf(object[one]).some((other) => entryOf(other)[key] === name),
      );
      if (isTaken)
        throw refusal(
          "already-exists",
          `${what} "${name}" already exists in ${of} "${shown(nameIn(from, of))}"`,
          from.at,
        );
      return { ...object, [list]: [...listOf(object[list]), { [key]: name, ...entry(from) }] };
    });
  };

/** In the one of the lists that has it. */
const member = (
  { of, key, argument = key, what }: Omit<Member, "list">,
  lists: (from: Arguments) => readonly string[],
  change: (entry: Entry, from: Arguments, object: Entry) => Entry | undefined,
): Command => {
  return (document, from) => {
    const name = textIn(from, argument);
    return inObject(document, from, of, (object) => {
      const list = lists(from).find((one) => listOf(object[one]).some((entry) => entryOf(entry)[key] === name));
      if (list === undefined) throw notExists(`${what} "${name}" of ${of} "${shown(nameIn(from, of))}"`, from.at);
      return changed(
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
  add(
    { ...relationship, list },
    (from) => ({ using: entryIn(from, "using"), ...kept(from, "comment") }),
    RELATIONSHIPS,
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

/** `null` takes it away. */
const setComment = (entry: Entry, { args }: Arguments): Entry =>
  typeof args["comment"] === "string" ? { ...entry, comment: args["comment"] } : without(entry, "comment");

const OPERATIONS = ["select", "insert", "update", "delete"] as const;
const permission = { of: "table", key: "role", what: "permission for role" } as const;

const refuseAdmin = (from: Arguments): void => {
  if (from.args["role"] === "admin")
    throw refusal("validation-failed", 'role "admin" may do everything: it takes no permission', from.at);
};

const permissionCommands = OPERATIONS.flatMap((operation): readonly (readonly [string, Command])[] => {
  const list = `${operation}_permissions`;
  const create = add({ ...permission, list }, (from) => {
    refuseAdmin(from);
    return { permission: entryIn(from, "permission"), ...kept(from, "comment") };
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

// --- native queries and logical models ----------------------------------------------------------------------------

interface SourceMember {
  readonly list: string;
  readonly key: string;
  readonly what: string;
}

const MODEL: SourceMember = { list: "logical_models", key: "name", what: "logical model" };
const NATIVE: SourceMember = { list: "native_queries", key: "root_field_name", what: "native query" };

/** `change` gets the one that is there, and the source. */
const inSourceList =
  (
    { list, key }: SourceMember,
    change: (entry: Entry | undefined, from: Arguments, name: string, source: Entry) => Entry | undefined,
  ): Command =>
  (document, from) => {
    const name = textIn(from, key);
    return inSource(document, from, (source) =>
      changed(
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
    ...kept(from, "arguments", "type", "description", "comment", "object_relationships", "array_relationships"),
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
  return changed(model, "select_permissions", isOfRole(from), (found) => {
    if (found === undefined)
      return { role: textIn(from, "role"), permission: entryIn(from, "permission"), ...kept(from, "comment") };
    throw refusal("already-exists", `permission for role "${textIn(from, "role")}" already exists`, from.at);
  });
});

const forbidModel = ofSource(MODEL, (model, from) =>
  changed(model, "select_permissions", isOfRole(from), (found) => {
    if (found === undefined) throw notExists(`permission for role "${textIn(from, "role")}"`, from.at);
    return undefined;
  }),
);

// --- what stands beside the sources ---------------------------------------------------------------------------------

interface TopMember {
  readonly list: string;
  readonly key: string;
  readonly what: string;
}

const ROLE: TopMember = { list: "inherited_roles", key: "role_name", what: "inherited role" };
const COLLECTION: TopMember = { list: "query_collections", key: "name", what: "query collection" };
const ALLOWED: TopMember = { list: "allowlist", key: "collection", what: "collection of the allow list" };
const ENDPOINT: TopMember = { list: "rest_endpoints", key: "name", what: "REST endpoint" };

const addTop =
  ({ list, key, what }: TopMember, entry: (from: Arguments) => Entry, replaces = false): Command =>
  (document, from) => {
    const name = textIn(from, key);
    return changed(
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
    return changed(
      document,
      list,
      (one) => one[key] === name,
      (one) => {
        if (one === undefined) throw notExists(`${what} "${name}"`, from.at);
        return change(one, from);
      },
    );
  };

const gone = (): undefined => undefined;

const inQueries = (change: (query: Entry | undefined, from: Arguments, name: string) => Entry | undefined): Command =>
  changeTop(
    COLLECTION,
    (collection, from) => {
      const name = textIn(from, "query_name");
      const definition = changed(
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
  (document, from) => ({ ...without(document, key), ...given({ [key]: value(from) }) });

/** By name. Others are no commands, or are answered by the caller. */
export const commands: ReadonlyMap<string, Command> = new Map<string, Command>([
  ["pg_track_table", track("table", "is_enum", "configuration", "apollo_federation_config")],
  ["pg_untrack_table", untrack("table")],
  ["pg_track_tables", each("tables", track("table", "is_enum", "configuration", "apollo_federation_config"))],
  ["pg_untrack_tables", each("tables", untrack("table"))],
  ["pg_set_table_customization", customize("table")],
  ["pg_set_table_is_enum", setIsEnum],
  ["pg_track_function", track("function", "configuration", "comment")],
  ["pg_untrack_function", untrack("function")],
  ["pg_track_functions", each("functions", track("function", "configuration", "comment"))],
  ["pg_untrack_functions", each("functions", untrack("function"))],
  ["pg_set_function_customization", customize("function")],
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
  ["pg_set_permission_comment", member(permission, permissionList, setComment)],
  [
    "pg_create_function_permission",
    add({ ...functionPermission, list: "permissions" }, (from) => {
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
    add({ ...computedField, list: "computed_fields" }, (from) => ({
      definition: entryIn(from, "definition"),
      ...kept(from, "comment"),
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
  [
    "pg_track_logical_model",
    addToSource(MODEL, (from) => ({ fields: listIn(from, "fields"), ...kept(from, "description") })),
  ],
  ["pg_untrack_logical_model", untrackModel],
  ["pg_track_native_query", trackNative],
  ["pg_untrack_native_query", ofSource(NATIVE, () => undefined)],
  ["pg_create_logical_model_select_permission", permitModel],
  ["pg_drop_logical_model_select_permission", forbidModel],
  ["add_inherited_role", addTop(ROLE, (from) => ({ role_set: listIn(from, "role_set") }), true)],
  ["drop_inherited_role", changeTop(ROLE, gone)],
  [
    "create_query_collection",
    addTop(COLLECTION, (from) => ({ definition: entryIn(from, "definition"), ...kept(from, "comment") })),
  ],
  ["drop_query_collection", changeTop(COLLECTION, gone, "collection")],
  [
    "add_query_to_collection",
    inQueries((query, from, name) => {
      if (query !== undefined) throw refusal("already-exists", `query "${name}" already exists`, from.at);
      return { name, query: textIn(from, "query") };
    }),
  ],
  [
    "drop_query_from_collection",
    inQueries((query, from, name) => {
      if (query === undefined) throw notExists(`query "${name}"`, from.at);
      return undefined;
    }),
  ],
  ["add_collection_to_allowlist", addTop(ALLOWED, (from) => kept(from, "scope"))],
  ["drop_collection_from_allowlist", changeTop(ALLOWED, gone)],
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
      ...kept(from, "comment"),
    })),
  ],
  ["drop_rest_endpoint", changeTop(ENDPOINT, gone)],
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
      // how they are reached is not forgotten
      sources: listOf(sources).map((source) => ({
        ...given({
          name: entryOf(source)["name"],
          kind: entryOf(source)["kind"],
          configuration: entryOf(source)["configuration"],
        }),
        tables: [],
      })),
    }),
  ],
]);
