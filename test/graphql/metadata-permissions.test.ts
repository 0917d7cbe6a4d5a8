/**
 * Permissions of the metadata where several rules meet: custom names with filters by SQL names, hidden cells along
 * relationships, writes and hidden cells.
 */
import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  ownFilter,
} from "../support/metadata-document.ts";
import { loadData } from "../support/graphql-data.ts";
import { fetchSchema } from "../support/schema.ts";

const noteLog = collectWarnings();

const api = await startApi(
  forGraphql({
    dbTxEnd: "rollback",
    logger: noteLog.logger,
    metadata: buildMetadataDocument(
      [
        table("album", {
          configuration: { custom_name: "disc", column_config: { artist_id: { custom_name: "maker_id" } } },
          object_relationships: [object("maker", "artist_id")],
          computed_fields: [
            {
              name: "price_in",
              definition: {
                function: { schema: "shop", name: "album_price_in" },
                table_argument: "a",
                session_argument: "hasura_session",
              },
              comment: "Elsewhere",
            },
          ],
          select_permissions: permissions({
            names: { columns: ["id", "title", "artist_id"], filter: {} },
            money: {
              columns: ["id", "artist_id", "price", "tags"],
              filter: ownFilter,
              computed_fields: ["price_in"],
              allow_aggregations: true,
            },
          }),
          insert_permissions: permissions({ money: { check: ownFilter, columns: "*" } }),
          update_permissions: permissions({ money: { columns: ["price", "sold"], filter: ownFilter, check: null } }),
          delete_permissions: permissions({ money: { filter: { price: { _lt: 15 } } } }),
        }),
        table("artist", {
          array_relationships: [array("discs", "album", "artist_id")],
          select_permissions: permissions({
            names: { columns: ["id", "name"], filter: {} },
            money: { columns: ["id", "country", "stats"], filter: { id: "X-Session-Artist-Id" } },
          }),
        }),
        table("studio", {
          array_relationships: [array("takes", "take", "studio_id")],
          select_permissions: permissions({ names: { columns: "*", filter: {} }, money: { columns: "*", filter: {} } }),
        }),
        table("take", {
          select_permissions: permissions({
            names: { columns: ["id", "length"], filter: { kept: true }, allow_aggregations: true },
            money: { columns: ["id", "kept", "tempo"], filter: {}, allow_aggregations: true },
          }),
        }),
        table("invoice", {
          select_permissions: permissions({ money: { columns: "*", filter: {} } }),
          insert_permissions: permissions({ money: { check: {}, columns: "*" } }),
          update_permissions: permissions({ money: { columns: "*", filter: {} } }),
        }),
        table("album_title", {
          select_permissions: permissions({ money: { columns: "*", filter: {} } }),
          update_permissions: permissions({ money: { columns: "*", filter: ownFilter } }),
          delete_permissions: permissions({ money: { filter: ownFilter } }),
        }),
        table("person", {
          computed_fields: [
            { name: "friends", definition: { function: "person_peers" } },
            { name: "letter", definition: { function: "person_title" } },
          ],
          select_permissions: permissions({
            money: { columns: ["id", "name"], filter: { born: { _lt: 2000 } }, limit: 1 },
            blind: { columns: ["name"], filter: { friends: { name: "X-Session-Friend" } } },
            clerk: { columns: "*", filter: {} },
          }),
          insert_permissions: permissions({
            clerk: { columns: "*", check: { letter: { _neq: "Dear X" }, friends: { name: "Cat" } } },
          }),
          update_permissions: permissions({
            clerk: { columns: "*", filter: {}, check: { letter: { _neq: "Dear Y" }, friends: { name: "Cat" } } },
          }),
        }),
        table("passport", {
          object_relationships: [object("holder", "person_id")],
          select_permissions: permissions({ clerk: { columns: "*", filter: {} } }),
          insert_permissions: permissions({ clerk: { columns: "*", check: { holder: { letter: "Dear Ben" } } } }),
          update_permissions: permissions({
            clerk: { columns: "*", filter: {}, check: { holder: { friends: { id: { _ceq: ["$", "id"] } } } } },
          }),
        }),
      ],
      { inherited_roles: [{ role_name: "both", role_set: ["names", "money"] }] },
      { functions: ["search_albums"] },
    ),
  }),
);
const ask = (query: string, role: string, session: Record<string, string> = { "artist-id": "1" }) =>
  api.gql(query, {}, asAdmin(role, session));
const data = (query: string, role: string, session: Record<string, string> = { "artist-id": "1" }) =>
  loadData(api, query, {}, asAdmin(role, session));

test("G-FIL-3 G-NAM-5 filters use SQL names, and documents use the names of the metadata", async () => {
  expect(noteLog.all()).toEqual([]);
  expect(
    await data("{ disc(where: {maker_id: {_eq: 1}}, order_by: {id: asc}) { id maker_id price } }", "money"),
  ).toEqual({
    disc: [
      { id: 1, maker_id: 1, price: 12.5 },
      { id: 2, maker_id: 1, price: 20 },
    ],
  });
});

test("G-CF-1 G-CF-6 computed fields with table and session arguments are permitted by name", async () => {
  expect(await data('{ disc(order_by: {id: asc}) { price_in(args: {currency: "SEK"}) } }', "money")).toEqual({
    disc: [{ price_in: "12.50 SEK for money" }, { price_in: "20.00 SEK for money" }],
  });
  expect(Object.keys((await fetchSchema(api, "names")).members("disc"))).not.toContain("price_in");
  expect(
    await data('{ disc(order_by: {id: asc}, limit: 3) { id price_in(args: {currency: "SEK"}) } }', "both"),
  ).toEqual({
    disc: [
      { id: 1, price_in: "12.50 SEK for both" },
      { id: 2, price_in: "20.00 SEK for both" },
      { id: 3, price_in: null },
    ],
  });
});

test("G-INP-3 an order by aggregates needs only the permission to select the rows", async () => {
  const schema = await fetchSchema(api, "names");
  expect(Object.keys(schema.members("artist"))).not.toContain("discs_aggregate");
  expect(schema.members("artist_order_by")).toMatchObject({ discs_aggregate: "disc_aggregate_order_by" });
  expect(Object.keys(schema.members("disc_max_order_by"))).not.toContain("price");
  expect(
    await data("{ artist(order_by: [{discs_aggregate: {count: desc}}, {id: asc}], limit: 1) { id } }", "names"),
  ).toEqual({ artist: [{ id: 1 }] });
  expect((await fetchSchema(api, "money")).members("person_order_by")).toHaveProperty("friends_aggregate");
  expect(await data("{ person(order_by: {friends_aggregate: {count: asc}}) { id } }", "money")).toEqual({
    person: [{ id: 1 }],
  });
});

test("G-PRM-7 G-CF-6 rows of computed fields have the filter and the limit of their table", async () => {
  expect(await data("{ person(order_by: {id: asc}) { id friends { id } } }", "money")).toEqual({
    person: [{ id: 1, friends: [{ id: 3 }] }],
  });
  expect(await data("{ person(order_by: {name: asc}) { name } }", "blind", { friend: "Cat" })).toEqual({
    person: [{ name: "Ann" }, { name: "Ben" }],
  });
});

test("G-PRM-14 G-PRM-14a hidden cells are NULL along relationships in where, order_by, aggregates and predicates", async () => {
  expect(
    await data(
      "{ disc(where: {maker: {country: {_is_null: false}}}, order_by: {id: asc}) { id maker { name country } } }",
      "both",
    ),
  ).toEqual({
    disc: [
      { id: 1, maker: { name: "Abba", country: "SE" } },
      { id: 2, maker: { name: "Abba", country: "SE" } },
    ],
  });
  expect(await data("{ disc(order_by: [{maker: {country: desc_nulls_last}}, {id: desc}]) { id } }", "both")).toEqual({
    disc: [2, 1, 5, 4, 3].map((id) => ({ id })),
  });
  expect(
    await data(
      "{ artist(order_by: {id: asc}) { id discs_aggregate { aggregate { max { price } count(columns: [price]) } } } }",
      "both",
    ),
  ).toEqual({
    artist: [
      [1, 20, 2],
      [2, null, 0],
      [3, null, 0],
      [4, null, 0],
    ].map(([id, price, count]) => ({ id, discs_aggregate: { aggregate: { max: { price }, count } } })),
  });
  expect(
    await data("{ artist(order_by: [{discs_aggregate: {max: {price: desc_nulls_last}}}, {id: desc}]) { id } }", "both"),
  ).toEqual({ artist: [1, 4, 3, 2].map((id) => ({ id })) });
  // The lengths of takes that are not kept are hidden from the sum, the rows are not.
  expect(
    await data(
      "{ studio(order_by: {id: asc}) { takes_aggregate { aggregate { count sum { length tempo } } } } }",
      "both",
    ),
  ).toEqual({
    studio: [
      [2, 300, 180],
      [2, 50, 170],
      [0, null, null],
    ].map(([count, length, tempo]) => ({ takes_aggregate: { aggregate: { count, sum: { length, tempo } } } })),
  });
  expect(
    await data("{ studio(where: {takes_aggregate: {sum: {arguments: length, predicate: {_gt: 60}}}}) { id } }", "both"),
  ).toEqual({ studio: [{ id: 1 }] });
  expect(await data('{ artist(order_by: {id: asc}) { stats(path: "members") } }', "both")).toEqual({
    artist: [{ stats: 4 }, { stats: null }, { stats: null }, { stats: null }],
  });
});

test("G-PRM-14 G-PRM-14a hidden cells are NULL in rows of functions, single rows and results of writes", async () => {
  expect(await data('{ search_albums(args: {term: "a"}, order_by: {id: asc}) { id price } }', "both")).toEqual({
    search_albums: [
      { id: 1, price: 12.5 },
      { id: 2, price: 20 },
      { id: 4, price: null },
      { id: 5, price: null },
    ],
  });
  expect(await data("{ mine: disc_by_pk(id: 1) { price } other: disc_by_pk(id: 4) { price title } }", "both")).toEqual({
    mine: { price: 12.5 },
    other: { price: null, title: "Tago Mago" },
  });
  expect(
    await data(
      "mutation { update_disc(where: {price: {_gt: 0}}, _set: {price: 1}) { affected_rows returning { id price title } } }",
      "both",
    ),
  ).toEqual({
    update_disc: {
      affected_rows: 2,
      returning: [
        { id: 1, price: 1, title: "Arrival" },
        { id: 2, price: 1, title: "Waterloo" },
      ],
    },
  });
  // A delete does not reveal hidden values: the permission's filter reads them, and the caller's condition does not.
  expect(await data("mutation { delete_disc(where: {price: {_lt: 100}}) { returning { id } } }", "both")).toEqual({
    delete_disc: { returning: [{ id: 1 }] },
  });
});

test("G-GEN-7 G-GEN-12 generated columns, and columns that a view does not pass on, are in no input", async () => {
  const schema = await fetchSchema(api, "money");
  expect(Object.keys(schema.members("invoice_insert_input"))).toEqual(["created", "net", "note", "ref"]);
  expect(Object.keys(schema.members("invoice_set_input"))).toEqual(["created", "net", "note", "ref"]);
  expect(Object.keys(schema.members("album_title_set_input"))).toEqual(["artist_id", "id", "title"]);
  expect(
    await data(
      'mutation { update_album_title(where: {}, _set: {title: "t"}) { affected_rows } delete_album_title(where: {id: {_eq: 3}}) { affected_rows } }',
      "money",
    ),
  ).toEqual({ update_album_title: { affected_rows: 2 }, delete_album_title: { affected_rows: 0 } });
});

test("G-PRM-9 an update without a check uses its filter, and an insert uses its condition", async () => {
  expect(await data("mutation { update_disc(where: {}, _inc: {sold: 1}) { affected_rows } }", "money")).toEqual({
    update_disc: { affected_rows: 2 },
  });
  expect(
    (await ask('mutation { insert_disc_one(object: {maker_id: 2, title: "x"}) { id } }', "money")).errors[0].message,
  ).toBe("check constraint of an insert/update permission has failed");
});

test("G-UPS-4 G-PRM-9 checks of upserts apply with computed fields, also of related rows", async () => {
  const checkMessage = "check constraint of an insert/update permission has failed";
  const upsert = async (table: string, objects: string, columns: string) => {
    const answer = await ask(
      `mutation { insert_${table}(objects: ${objects}, on_conflict: {constraint: ${table}_pkey, update_columns: [${columns}]}) { affected_rows } }`,
      "clerk",
    );
    return answer.errors?.[0].message ?? answer.data[`insert_${table}`].affected_rows;
  };
  expect(await upsert("person", '[{id: 1, name: "X"}, {name: "Y"}]', "name")).toBe(2);
  expect(await upsert("person", '[{id: 1, name: "Y"}, {name: "Y"}]', "name")).toBe(checkMessage);
  expect(await upsert("person", '[{id: 1, name: "X"}, {name: "X"}]', "name")).toBe(checkMessage);
  expect(await upsert("person", '{id: 3, name: "X"}', "name")).toBe(checkMessage); // no other artist is called Cat
  expect(await upsert("passport", '[{id: 1, person_id: 1, number: "A"}]', "number")).toBe(checkMessage);
  expect(await upsert("passport", '[{id: 2, person_id: 3, number: "A"}, {person_id: 2, number: "B"}]', "number")).toBe(
    2,
  );
});

test("G-NAM-6 G-NAM-7 a naming convention and a namespace of the metadata apply with permissions", async () => {
  const namedApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument(
        [
          table("play_log"),
          table("album", {
            object_relationships: [object("the_artist", "artist_id")],
            select_permissions: permissions({
              reader: {
                columns: ["id", "artist_id"],
                filter: { the_artist: { country: "SE" } },
                allow_aggregations: true,
              },
            }),
          }),
          table("artist"),
        ],
        {},
        {
          customization: {
            root_fields: { namespace: "music", prefix: "my_" },
            type_names: { suffix: "_x" },
            naming_convention: "graphql-default",
          },
        },
      ),
    }),
  );
  expect(
    await namedApi.gql(
      "{ music { my_album: myAlbum(orderBy: {artistId: ASC, id: ASC}) { id artistId } myAlbumAggregate { aggregate { count } } } }",
      {},
      asAdmin("reader"),
    ),
  ).toMatchObject({
    data: {
      music: {
        my_album: [
          { id: 1, artistId: 1 },
          { id: 2, artistId: 1 },
        ],
        myAlbumAggregate: { aggregate: { count: 2 } },
      },
    },
  });
});

test("G-NAM-6 G-NAM-6a the mutations in a namespace have another type for backends", async () => {
  const namedApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument(
        [
          table("album", {
            insert_permissions: permissions({ reader: { check: {}, columns: ["title"] } }),
            delete_permissions: permissions({ reader: { filter: {}, backend_only: true } }),
          }),
        ],
        {},
        { customization: { root_fields: { namespace: "music" }, type_names: { prefix: "T_" } } },
      ),
    }),
  );
  const typeFor = (headers: Record<string, string>) =>
    namedApi.gql("mutation { music { __typename } }", {}, { ...asAdmin("reader"), ...headers });
  expect(await typeFor({})).toEqual({ data: { music: { __typename: "T_music_mutation_frontend" } } });
  expect(await typeFor({ "x-session-use-backend-only-permissions": "true" })).toEqual({
    data: { music: { __typename: "T_music_mutation_backend" } },
  });
});
