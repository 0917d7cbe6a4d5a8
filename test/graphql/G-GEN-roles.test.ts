/** Schemas of roles with unusual permissions: no columns, only computed fields, only writes, only aggregates. */
import { buildClientSchema, getIntrospectionQuery, validateSchema } from "graphql";
import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

type Permissions = Readonly<Record<string, Entry>>;

const select = (overrides: Entry): Permissions => ({ select: { columns: [], filter: {}, ...overrides } });

const personReads: Readonly<Record<string, Permissions>> = {
  unreadable: {},
  empty: select({}),
  named: select({ columns: ["name"] }),
  counted: select({ allow_aggregations: true }),
  lettered: select({ computed_fields: ["letter"] }),
  aged: select({ computed_fields: ["age"] }),
};
const passportReads: Readonly<Record<string, Permissions>> = {
  unreadable: {},
  empty: select({}),
  numbered: select({ columns: ["number"] }),
  counted: select({ allow_aggregations: true }),
};
const insert: Permissions = { insert: { columns: ["id"], check: {} } };
const update: Permissions = { update: { columns: ["id"], filter: {} } };
const remove: Permissions = { delete: { filter: {} } };
const writes: Readonly<Record<string, Permissions>> = {
  none: {},
  insert,
  update,
  delete: remove,
  upsert: { ...insert, ...update },
  add_and_drop: { ...insert, ...remove },
  change_and_drop: { ...update, ...remove },
  all: { ...insert, ...update, ...remove },
  bare: { insert: { columns: [], check: {} }, update: { columns: [], filter: {} } },
};

interface Role {
  readonly name: string;
  readonly person: Permissions;
  readonly passport: Permissions;
}

const roles: readonly Role[] = Object.entries(personReads).flatMap(([person, personRead]) =>
  Object.entries(passportReads).flatMap(([passport, passportRead]) =>
    Object.entries(writes).map(([write, rights]): Role => ({
      name: `${person}_${passport}_${write}`,
      person: { ...personRead, ...rights },
      passport: { ...passportRead, ...rights },
    })),
  ),
);

const buildPermissions = (side: "person" | "passport"): Entry =>
  Object.fromEntries(
    ["select", "insert", "update", "delete"].map((operation) => [
      `${operation}_permissions`,
      permissions(
        Object.fromEntries(
          roles.flatMap(({ name, [side]: rights }) => {
            const right = rights[operation];
            return right === undefined ? [] : [[name, right]];
          }),
        ),
      ),
    ]),
  );

const noteLog = collectWarnings();
const api = await startApi(
  forGraphql({
    logger: noteLog.logger,
    metadata: buildMetadataDocument([
      table("person", {
        array_relationships: [array("passports", "passport", "person_id")],
        computed_fields: [
          { name: "letter", definition: { function: "person_title" } },
          { name: "age", definition: { function: "person_age_in" } },
          { name: "friends", definition: { function: "person_peers" } },
        ],
        ...buildPermissions("person"),
      }),
      table("album", {
        object_relationships: [object("artist", "artist_id")],
        computed_fields: [
          {
            name: "price_in",
            definition: {
              function: { schema: "shop", name: "album_price_in" },
              table_argument: "a",
              session_argument: "hasura_session",
            },
          },
        ],
        select_permissions: permissions({ listener: { columns: [], computed_fields: ["price_in"], filter: {} } }),
      }),
      table("artist", { select_permissions: permissions({ listener: { columns: [], filter: {} } }) }),
      table("passport", { object_relationships: [object("holder", "person_id")], ...buildPermissions("passport") }),
    ]),
  }),
);

test("G-GEN-14a the schema of every role is valid", async () => {
  expect(noteLog.all()).toEqual([]);
  const invalid: string[] = [];
  for (const name of [...roles.map((role) => role.name), "listener"]) {
    const { data, errors } = await api.gql(getIntrospectionQuery(), {}, asAdmin(name));
    if (data === undefined) throw new Error(`no schema of ${name}: ${JSON.stringify(errors)}`);
    for (const { message } of validateSchema(buildClientSchema(data))) invalid.push(`${name}: ${message}`);
  }
  expect(invalid).toEqual([]);
});

test("G-GEN-14a a table without a selectable field is left out, and relationships to it too", async () => {
  const emptySchema = await fetchSchema(api, "empty_empty_none");
  expect(Object.keys(emptySchema.members("query_root"))).toEqual(["no_queries_available"]);

  const listener = await fetchSchema(api, "listener");
  expect(Object.keys(listener.members("query_root"))).toEqual(["album"]);
  expect(Object.keys(listener.members("album"))).toEqual(["price_in"]);
  expect(Object.keys(listener.members("album_bool_exp"))).toEqual(["_and", "_not", "_or"]);
  // The only computed field has an argument, so rows cannot be ordered.
  expect(Object.keys(listener.args("query_root", "album"))).toEqual(["limit", "offset", "where"]);

  const writer = await fetchSchema(api, "empty_empty_all");
  expect(writer.members("person_mutation_response")).toEqual({ affected_rows: "Int!" });
  expect(Object.keys(writer.members("mutation_root"))).toEqual([
    "delete_passport",
    "delete_person",
    "insert_passport",
    "insert_person",
    "update_passport",
    "update_passport_many",
    "update_person",
    "update_person_many",
  ]);
});

test("G-GEN-14a rows may consist of relationships, computed fields or aggregates", async () => {
  const countSchema = await fetchSchema(api, "empty_counted_none");
  expect(countSchema.members("person")).toEqual({
    friends: "[person!]",
    passports: "[passport!]!",
    passports_aggregate: "passport_aggregate!",
  });
  expect(countSchema.members("passport_aggregate")).toEqual({
    aggregate: "passport_aggregate_fields",
    nodes: "[passport!]!",
  });
  expect(countSchema.members("passport")).toEqual({ holder: "person!" });

  const relatedSchema = await fetchSchema(api, "empty_numbered_none");
  expect(relatedSchema.members("person")).toEqual({ friends: "[person!]", passports: "[passport!]!" });
  expect(
    await api.gql(
      "{ person(order_by: {passports_aggregate: {count: desc}}, limit: 1) { passports { number } } }",
      {},
      asAdmin("empty_numbered_none"),
    ),
  ).toEqual({ data: { person: [{ passports: [{ number: "N1" }] }] } });

  expect(await api.gql("{ person_aggregate { aggregate { count } } }", {}, asAdmin("counted_unreadable_none"))).toEqual(
    { data: { person_aggregate: { aggregate: { count: 3 } } } },
  );
});
