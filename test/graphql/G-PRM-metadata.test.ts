/** Roles of the metadata: limits, checks, upserts, derived rights, inherited roles. */
import { beforeEach, describe, expect, test } from "vitest";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import { loadData } from "../support/graphql-data.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  fullPermission,
  ownFilter,
} from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

const noteLog = collectWarnings();
const api = await startApi(
  forGraphql({
    dbTxEnd: "rollback",
    logger: noteLog.logger,
    metadata: buildMetadataDocument(
      [
        table("album", {
          object_relationships: [object("artist", "artist_id")],
          select_permissions: permissions({
            short: {
              columns: ["id", "title", "artist_id"],
              filter: { id: { _gt: 1 } },
              limit: 2,
              allow_aggregations: true,
            },
            limited: { ...fullPermission, limit: 2 },
            no_lists: { ...fullPermission, limit: 0, allow_aggregations: true },
            shorter: { columns: ["id", "sold"], filter: { live: { _eq: true } }, limit: 1 },
            own: { columns: ["id", "artist_id", "title", "price"], filter: ownFilter },
            checked: fullPermission,
            no_artist: fullPermission,
            no_key: { columns: ["title"], filter: {} },
            nothing_seen: { columns: [], filter: {}, allow_aggregations: true },
            public_part: { columns: ["id", "title"], filter: {} },
            owner_part: { columns: ["id", "price", "sold"], filter: ownFilter, allow_aggregations: true },
            query_only: {
              ...fullPermission,
              allow_aggregations: true,
              query_root_fields: ["select_by_pk"],
              subscription_root_fields: [],
            },
            roots_too: {
              ...fullPermission,
              query_root_fields: ["select"],
              subscription_root_fields: ["select_stream"],
            },
            overridden: { columns: ["id"], filter: { id: 1 } },
          }),
          insert_permissions: permissions({
            checked: { check: { price: { _gt: 10 } }, columns: "*" },
            limited: { check: {}, columns: "*" },
            only_insert: { check: {}, columns: ["id", "title", "artist_id"] },
            insert_a: { check: { price: { _gt: 0 } }, columns: ["id", "title"], set: { artist_id: 1 } },
            insert_b: { check: { price: { _gt: 0 } }, columns: ["title", "id"], set: { artist_id: 1 } },
            insert_c: { check: { price: { _gt: 0 } }, columns: ["title", "id", "price"], set: { artist_id: 1 } },
          }),
          update_permissions: permissions({
            checked: { columns: ["price", "title"], filter: { id: { _lt: 4 } }, check: { price: { _lt: 100 } } },
            own: { columns: ["title"], filter: ownFilter, check: null },
            limited: { columns: ["title"], filter: {} },
          }),
          delete_permissions: permissions({
            checked: { filter: { live: { _is_null: true } } },
            backend: { filter: {}, backend_only: true },
            delete_a: { filter: ownFilter },
            delete_b: { filter: { artist_id: "X-Hasura-Artist-Id" } },
          }),
        }),
        table("artist", {
          array_relationships: [array("albums", "album", "artist_id")],
          select_permissions: permissions({
            short: fullPermission,
            limited: fullPermission,
            no_lists: { ...fullPermission, limit: 0 },
            own: { columns: ["id", "name"], filter: {} },
            checked: fullPermission,
            no_key: fullPermission,
            query_only: fullPermission,
          }),
          insert_permissions: permissions({ checked: { check: { country: { _is_null: false } } } }),
        }),
        table("measure", {
          select_permissions: permissions({ checked: fullPermission }),
          insert_permissions: permissions({ checked: { check: { value: { _gt: 0 } } } }),
          update_permissions: permissions({ checked: { columns: "*", filter: {}, check: { value: { _gt: 10 } } } }),
        }),
        table("person", {
          computed_fields: [
            { name: "title", definition: { function: "person_title" } },
            { name: "points", definition: { function: "person_score" } },
            { name: "peers", definition: { function: "person_peers" } },
          ],
          select_permissions: permissions({
            public_part: { columns: ["id", "name"], filter: {}, computed_fields: ["title", "nothing"] },
            owner_part: { columns: ["id"], filter: { id: 1 }, computed_fields: ["points"] },
          }),
        }),
      ],
      {
        inherited_roles: [
          { role_name: "both_short", role_set: ["short", "shorter"] },
          { role_name: "mixed", role_set: ["public_part", "owner_part"] },
          { role_name: "inner", role_set: ["owner_part"] },
          { role_name: "outer", role_set: ["inner", "public_part"] },
          { role_name: "insert_alike", role_set: ["insert_a", "insert_b"] },
          { role_name: "insert_unlike", role_set: ["insert_a", "insert_c"] },
          { role_name: "delete_alike", role_set: ["delete_a", "delete_b"] },
          { role_name: "all_roots", role_set: ["query_only", "short"] },
          { role_name: "two_roots", role_set: ["query_only", "roots_too"] },
          { role_name: "overridden", role_set: ["public_part"] },
          { role_name: "with_grants", role_set: ["public_part", "music_editor"] },
          { role_name: "only_grants", role_set: ["music_editor"] },
          { role_name: "circle_a", role_set: ["circle_b", "circle_b"] },
          { role_name: "circle_b", role_set: ["circle_a", "circle_c"] },
          { role_name: "circle_c", role_set: ["circle_b", "public_part"] },
          { role_name: "beside_circle", role_set: ["circle_a", "public_part"] },
          { role_name: "caller", role_set: ["singer"] },
        ],
      },
      {
        functions: [
          { function: "search_albums" },
          {
            function: { schema: "public", name: "sell_album" },
            permissions: [{ role: "singer" }, { role: "checked" }],
          },
          { function: "first_album" },
        ],
      },
    ),
  }),
);
const ask = (query: string, role: string, session: Record<string, string> = {}) =>
  api.gql(query, {}, asAdmin(role, session));
const data = (query: string, role: string, session: Record<string, string> = {}) =>
  loadData(api, query, {}, asAdmin(role, session));
const queries = async (role: string) => Object.keys((await fetchSchema(api, role)).members("query_root"));

test("G-PRM-3 a role of the metadata need not exist in the database, and grants do not apply to it", async () => {
  expect(await api.sql("select from pg_roles where rolname = 'short'")).toEqual([]);
  expect(await queries("short")).toEqual([
    "album",
    "album_aggregate",
    "album_by_pk",
    "artist",
    "artist_by_pk",
    "first_album",
    "first_album_aggregate",
    "search_albums",
    "search_albums_aggregate",
  ]);
});

test("G-PRM-3 a database role with permissions in the metadata has only those, and runs as the login role", async () => {
  await api.sql(
    "create view acting_now as select current_user::text as name, current_setting('session.user_id', true) as who",
  );
  const mixedApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument([
        table("acting_now", { select_permissions: permissions({ music_reader: fullPermission }) }),
        table("album"),
      ]),
    }),
  );
  const [login] = await api.sql("select current_user::text as name");
  const answer = await mixedApi.gql("{ acting_now { name who } }", {}, asAdmin("music_reader", { "user-id": "7" }));
  expect(answer).toEqual({ data: { acting_now: [{ name: login?.name, who: "7" }] } });
  expect((await mixedApi.gql("{ album { id } }", {}, asAdmin("music_reader"))).errors[0].message).toBe(
    "field 'album' not found in type: 'query_root'",
  );
  // Other roles keep their grants on the tables that the metadata lists.
  expect((await mixedApi.gql("{ album { id } }", {}, asAdmin("music_editor"))).data.album).toHaveLength(5);
  await mixedApi.close();
  await api.sql("drop view acting_now");
});

test("G-PRM-7 the filter applies to functions, where, order_by and returned rows of a write", async () => {
  expect(
    await data('{ search_albums(args: {term: "a"}, order_by: {id: asc}) { id } first_album { id } }', "short"),
  ).toEqual({ search_albums: [{ id: 2 }, { id: 4 }], first_album: null });
  expect(await data('{ search_albums_aggregate(args: {term: "a"}) { aggregate { count } } }', "short")).toEqual({
    search_albums_aggregate: { aggregate: { count: 3 } },
  });
  expect(
    await data("{ artist(where: {albums: {}}, order_by: {id: asc}) { id } }", "own", { "artist-id": "3" }),
  ).toEqual({ artist: [{ id: 3 }] });
  expect(
    await data("{ artist(where: {_not: {albums: {}}}, order_by: {id: asc}) { id } }", "own", { "artist-id": "3" }),
  ).toEqual({ artist: [{ id: 1 }, { id: 2 }, { id: 4 }] });
  expect(
    await data(
      "{ artist(order_by: [{albums_aggregate: {count: desc}}, {id: asc}]) { id albums_aggregate { aggregate { count } } } }",
      "short",
    ),
  ).toEqual({
    artist: [
      [3, 2],
      [1, 1],
      [2, 1],
      [4, 0],
    ].map(([id, count]) => ({ id, albums_aggregate: { aggregate: { count } } })),
  });
  expect(await data("{ album_by_pk(id: 1) { id } }", "short")).toEqual({ album_by_pk: null });
  expect(
    await data(
      'mutation { update_album(where: {id: {_in: [1, 3]}}, _set: {title: "t"}) { affected_rows returning { id artist { id albums { id } } } } }',
      "own",
      { "artist-id": "2" },
    ),
  ).toEqual({
    update_album: { affected_rows: 1, returning: [{ id: 3, artist: { id: 2, albums: [{ id: 3 }] } }] },
  });
});

test("G-PRM-8 the limit applies to lists, related lists and nodes, and not to counts and single rows", async () => {
  const answer = await data(
    `{ album(order_by: {id: asc}) { id } one: album(order_by: {id: asc}, limit: 1) { id } more: album(order_by: {id: asc}, limit: 10, offset: 1) { id }
       album_aggregate(order_by: {id: asc}) { aggregate { count max { id } } nodes { id } } album_by_pk(id: 5) { id }
       artist_by_pk(id: 3) { albums(order_by: {id: desc}, limit: 5) { id artist { id } } albums_aggregate { aggregate { count } } } }`,
    "short",
  );
  expect(answer).toEqual({
    album: [{ id: 2 }, { id: 3 }],
    one: [{ id: 2 }],
    more: [{ id: 3 }, { id: 4 }],
    album_aggregate: { aggregate: { count: 4, max: { id: 5 } }, nodes: [{ id: 2 }, { id: 3 }] },
    album_by_pk: { id: 5 },
    artist_by_pk: {
      albums: [
        { id: 5, artist: { id: 3 } },
        { id: 4, artist: { id: 3 } },
      ],
      albums_aggregate: { aggregate: { count: 2 } },
    },
  });
});

test("G-PRM-8 the limit does not apply to returned rows of a write", async () => {
  const rows = '[{artist_id: 1, title: "a"}, {artist_id: 1, title: "b"}, {artist_id: 1, title: "c"}]';
  expect(
    await data(`mutation { insert_album(objects: ${rows}) { affected_rows returning { title } } }`, "limited"),
  ).toEqual({ insert_album: { affected_rows: 3, returning: ["a", "b", "c"].map((title) => ({ title })) } });
  const answer = await data(
    'mutation { update_album(where: {}, _set: {title: "t"}) { affected_rows returning { artist { albums { id } } } } }',
    "limited",
  );
  expect(answer.update_album.returning).toHaveLength(answer.update_album.affected_rows);
  expect(answer.update_album.affected_rows).toBeGreaterThan(2);
});

test("G-PRM-8 a limit of 0 empties lists and not single rows", async () => {
  const query = `{ album { id } album_by_pk(id: 5) { id artist { id albums { id } albums_aggregate { aggregate { count } nodes { id } } } } }`;
  expect(await data(query, "no_lists")).toEqual({
    album: [],
    album_by_pk: { id: 5, artist: { id: 3, albums: [], albums_aggregate: { aggregate: { count: 2 }, nodes: [] } } },
  });
});

const checkMessage = "check constraint of an insert/update permission has failed";

test("G-PRM-9 G-PRM-9b a check that is NULL fails, and it sees defaults and triggers", async () => {
  expect(
    (await ask('mutation { insert_album(objects: [{artist_id: 1, title: "x"}]) { affected_rows } }', "checked"))
      .errors[0].message,
  ).toBe(checkMessage);
  expect(
    (
      await ask(
        'mutation { insert_album(objects: [{artist_id: 1, title: "x", price: 11}, {artist_id: 1, title: "x", price: 1}]) { affected_rows } }',
        "checked",
      )
    ).errors[0],
  ).toEqual({
    message: checkMessage,
    extensions: { path: "$.selectionSet.insert_album.args.objects", code: "permission-error" },
  });
  expect(
    await data(
      'mutation { insert_album(objects: [{artist_id: 1, title: "x", price: 11}]) { affected_rows } }',
      "checked",
    ),
  ).toEqual({ insert_album: { affected_rows: 1 } });
});

test("G-PRM-9 G-NST-10 nested rows have the check of their table, with errors at their path", async () => {
  const insertNested = (price: number, country: string) =>
    ask(
      `mutation { insert_artist_one(object: {name: "N", country: ${country}, albums: {data: [{title: "x", price: ${price}}]}}) { name albums { price } } }`,
      "checked",
    );
  expect((await insertNested(1, '"SE"')).errors[0]).toEqual({
    message: checkMessage,
    extensions: { path: "$.selectionSet.insert_artist_one.args.object[0].albums.data", code: "permission-error" },
  });
  expect((await insertNested(11, "null")).errors[0].extensions.path).toBe(
    "$.selectionSet.insert_artist_one.args.object[0]",
  );
  expect((await insertNested(11, '"SE"')).data.insert_artist_one.albums).toEqual([{ price: 11 }]);
});

test("G-PRM-9 G-UPS-3 G-UPS-4 G-PRM-9a an upsert applies the insert check to new rows, and the update filter and check to others", async () => {
  const upsert = (id: number, price: number) =>
    ask(
      `mutation { insert_album(objects: [{id: ${id}, artist_id: 1, title: "x", price: ${price}}], on_conflict: {constraint: album_pkey, update_columns: [price]}) { affected_rows returning { price } } }`,
      "checked",
    );
  expect((await upsert(1, 5)).data.insert_album.affected_rows).toBe(1); // the insert check would reject 5
  expect((await upsert(1, 150)).errors[0].message).toBe(checkMessage); // the update check rejects 150
  expect((await upsert(900, 150)).data.insert_album.affected_rows).toBe(1); // the update check does not apply to new rows
  expect((await upsert(900, 5)).errors[0].message).toBe(checkMessage);
  // The update filter excludes album 4.
  expect((await upsert(4, 5)).data.insert_album).toEqual({ affected_rows: 0, returning: [] });
});

test("G-PRM-9 G-UPS-4 an upsert on a partitioned table applies the insert and the update check", async () => {
  const upsert = (id: number, value: number) =>
    ask(
      `mutation { insert_measure(objects: [{id: ${id}, kind: "a", value: ${value}}], on_conflict: {constraint: measure_pkey, update_columns: [value]}) { affected_rows } }`,
      "checked",
    );
  expect(await upsert(1, 5)).toMatchObject({ errors: [{ message: checkMessage }] });
  expect(await upsert(1, 50)).toEqual({ data: { insert_measure: { affected_rows: 1 } } });
  expect(await upsert(9, 5)).toEqual({ data: { insert_measure: { affected_rows: 1 } } });
});

test("G-PRM-10 on_conflict is rejected without an update permission", async () => {
  const schema = await fetchSchema(api, "only_insert");
  expect(schema.values("album_update_column")).toEqual(["_PLACEHOLDER"]);
  expect(Object.keys(schema.members("album_bool_exp"))).toEqual(["_and", "_not", "_or"]);
  const insert = (columns: string) =>
    ask(
      `mutation { insert_album(objects: [{id: 1, artist_id: 1, title: "x"}], on_conflict: {constraint: album_pkey, update_columns: [${columns}]}) { affected_rows } }`,
      "only_insert",
    );
  expect(await insert("")).toEqual({ data: { insert_album: { affected_rows: 0 } } });
  expect((await insert("_PLACEHOLDER")).errors[0]).toMatchObject({
    message: "erroneous column name",
    extensions: { code: "validation-failed" },
  });
});

test("G-PRM-11 G-AUTH-20 backend-only fields need the header with a true value", async () => {
  const remove = (headers: Record<string, string>) =>
    api.gql("mutation { delete_album(where: {}) { affected_rows } }", {}, { ...asAdmin("backend"), ...headers });
  expect((await remove({})).errors[0].message).toBe("no mutations exist");
  for (const text of ["TRUE", "t", "Yes", "y"])
    expect(await remove({ "x-session-use-backend-only-permissions": text })).toEqual({
      data: { delete_album: { affected_rows: 5 } },
    });
  for (const text of ["false", "F", "no", "N"])
    expect((await remove({ "X-Hasura-Use-Backend-Only-Permissions": text })).errors[0].message).toBe(
      "no mutations exist",
    );
  expect((await remove({ "x-session-use-backend-only-permissions": "maybe" })).errors[0].extensions).toEqual({
    path: "$",
    code: "bad-request",
  });
});

test("G-PRM-12 relationships need a permission on their target, and by_pk fields one on the key", async () => {
  const without = await fetchSchema(api, "no_artist");
  expect(Object.keys(without.members("album"))).not.toContain("artist");
  expect(Object.keys(without.members("album_bool_exp"))).not.toContain("artist");
  expect(Object.keys(without.members("album_order_by"))).not.toContain("artist");
  expect(await queries("no_artist")).toEqual(["album", "album_by_pk", "first_album", "search_albums"]);
  const noKey = await fetchSchema(api, "no_key");
  expect(Object.keys(noKey.members("query_root")).filter((name) => name.startsWith("album"))).toEqual(["album"]);
  expect(noKey.members("album")).toHaveProperty("artist");
});

test("G-PRM-13 an inherited role has the rows and root fields of its parents, the largest limit, and aggregates of any parent", async () => {
  expect(
    await data("{ album(order_by: {id: asc}) { id } album_aggregate { aggregate { count } } }", "both_short"),
  ).toEqual({ album: [{ id: 1 }, { id: 2 }], album_aggregate: { aggregate: { count: 5 } } });
  expect((await queries("two_roots")).filter((name) => name.startsWith("album"))).toEqual(["album", "album_by_pk"]);
  expect((await queries("all_roots")).filter((name) => name.startsWith("album"))).toEqual([
    "album",
    "album_aggregate",
    "album_by_pk",
  ]);
});

test("G-PRM-13 G-PRM-14 computed fields of an inherited role are like columns", async () => {
  expect((await fetchSchema(api, "mixed")).members("person")).toMatchObject({
    id: "Int!",
    name: "String",
    title: "String",
    points: "numeric",
  });
  expect(await data("{ person(order_by: {id: asc}) { id name title points } }", "mixed", { "artist-id": "1" })).toEqual(
    {
      person: [
        { id: 1, name: "Ann", title: "Dear Ann", points: 1.5 },
        { id: 2, name: "Ben", title: "Dear Ben", points: null },
        { id: 3, name: "Cat", title: "Dear Cat", points: null },
      ],
    },
  );
  expect(
    await data(
      "{ person(where: {points: {_is_null: false}}) { id } ordered: person(order_by: {points: asc_nulls_first}, limit: 2) { points } }",
      "mixed",
      { "artist-id": "1" },
    ),
  ).toEqual({ person: [{ id: 1 }], ordered: [{ points: null }, { points: null }] });
});

test("G-PRM-14 G-PRM-14a a hidden cell is NULL in every position", async () => {
  const session = { "artist-id": "1" };
  const schema = await fetchSchema(api, "mixed");
  expect(schema.members("album")).toEqual({ id: "Int!", title: "String", price: "numeric", sold: "Int" });
  expect(await data("{ album(order_by: {id: asc}) { id title price } }", "mixed", session)).toEqual({
    album: [
      [1, "Arrival", 12.5],
      [2, "Waterloo", 20],
      [3, "Debut", null],
      [4, "Tago Mago", null],
      [5, "Future Days", null],
    ].map(([id, title, price]) => ({ id, title, price })),
  });
  expect(
    await data(
      `{ filtered: album(where: {price: {_gt: 0}}, order_by: {id: asc}) { id } negated: album(where: {_not: {price: {_gt: 0}}}) { id } nulls: album(where: {price: {_is_null: true}}, order_by: {id: asc}) { id }
         ordered: album(order_by: [{price: desc_nulls_last}, {id: asc}]) { id } first: album(order_by: [{price: asc_nulls_first}, {id: desc}], limit: 1) { id }
         distinct: album(distinct_on: [sold], order_by: [{sold: asc_nulls_last}, {id: asc}]) { id sold }
         album_aggregate { aggregate { count priced: count(columns: [price]) max { price } sum { sold } } nodes { id price } } }`,
      "mixed",
      session,
    ),
  ).toMatchObject({
    filtered: [{ id: 1 }, { id: 2 }],
    negated: [],
    nulls: [{ id: 3 }, { id: 4 }, { id: 5 }],
    ordered: [{ id: 2 }, { id: 1 }, { id: 3 }, { id: 4 }, { id: 5 }],
    first: [{ id: 5 }],
    distinct: [
      { id: 1, sold: 3 },
      { id: 2, sold: 10 },
      { id: 3, sold: null },
    ],
    album_aggregate: { aggregate: { count: 5, priced: 2, max: { price: 20 }, sum: { sold: 13 } } },
  });
});

test("G-PRM-14 G-PRM-17 an inherited role of an inherited role has the same cells", async () => {
  expect(await data("{ album(order_by: {id: asc}) { id title price } }", "outer", { "artist-id": "2" })).toEqual({
    album: [
      [1, "Arrival", null],
      [2, "Waterloo", null],
      [3, "Debut", 9.99],
      [4, "Tago Mago", null],
      [5, "Future Days", null],
    ].map(([id, title, price]) => ({ id, title, price })),
  });
  expect((await fetchSchema(api, "inner")).members("album")).toEqual({ id: "Int!", price: "numeric", sold: "Int" });
});

test("G-PRM-15 equal write permissions are inherited, and different ones are logged and left out", async () => {
  expect(Object.keys((await fetchSchema(api, "insert_alike")).members("album_insert_input"))).toEqual(["id", "title"]);
  expect((await fetchSchema(api, "insert_unlike")).roots.mutation).toBeUndefined();
  expect(noteLog.all()).toContainEqual(
    expect.stringMatching(
      /^inherited role insert_unlike: table public\.album: its parents have different insert permissions/,
    ),
  );
  expect(
    await data("mutation { delete_album(where: {}) { affected_rows } }", "delete_alike", { "artist-id": "1" }),
  ).toEqual({ delete_album: { affected_rows: 2 } });
});

test("G-PRM-16 G-FN-8 mutation functions are available to listed roles and to roles that inherit from them", async () => {
  expect(Object.keys((await fetchSchema(api, "checked")).members("mutation_root"))).toContain("sell_album");
  expect(await ask("mutation { sell_album(args: {album_id: 1}) { id sold } }", "checked")).toEqual({
    data: { sell_album: { id: 1, sold: 4 } },
  });
  expect((await fetchSchema(api, "short")).roots.mutation).toBeUndefined();
  const inheritedApi = await startApi(
    forGraphql({
      metadata: buildMetadataDocument(
        [
          table("album", {
            select_permissions: permissions({
              singer: { columns: ["id"], filter: {} },
              other: { columns: ["id"], filter: {} },
            }),
          }),
        ],
        { inherited_roles: [{ role_name: "caller", role_set: ["other", "singer"] }] },
        { functions: [{ function: "sell_album", permissions: [{ role: "singer" }] }] },
      ),
    }),
  );
  expect(Object.keys((await fetchSchema(inheritedApi, "caller")).members("mutation_root"))).toEqual(["sell_album"]);
  expect((await fetchSchema(inheritedApi, "other")).roots.mutation).toBeUndefined();
});

test("G-PRM-17 a role's own permission replaces the inherited one", async () => {
  expect((await fetchSchema(api, "overridden")).members("album")).toEqual({ id: "Int!" });
  expect(await data("{ album { id } }", "overridden")).toEqual({ album: [{ id: 1 }] });
});

test("G-PRM-17 roles in a cycle inherit nothing, with a log line, and other roles are unaffected", async () => {
  for (const role of ["circle_a", "circle_b", "circle_c"]) {
    expect(await queries(role)).toEqual(["no_queries_available"]);
    expect(noteLog.all()).toContainEqual(expect.stringContaining(`inherited role ${role}: its parents form a cycle`));
  }
  expect(await data("{ album(limit: 1, order_by: {id: asc}) { title } }", "beside_circle")).toEqual({
    album: [{ title: "Arrival" }],
  });
});

test("G-PRM-17 G-PRM-18 a parent without permissions in the metadata passes on nothing, with any grants", async () => {
  expect((await fetchSchema(api, "with_grants")).members("album")).toEqual({ id: "Int!", title: "String!" });
  expect(await queries("only_grants")).toEqual(["no_queries_available"]);
  expect(noteLog.all()).toContain("inherited role only_grants: parent music_editor has no permission in the metadata");
});

test("G-PRM-7 live queries apply the filters and cells of permissions", async () => {
  const socket = await openSocket(api);
  await socket.init({ headers: asAdmin("mixed", { "artist-id": "1" }) });
  socket.send({
    id: "1",
    type: "subscribe",
    payload: { query: "subscription { album(order_by: {id: asc}, offset: 1, limit: 2) { id price } }" },
  });
  const next = await socket.next((message) => message.id === "1");
  expect(next.payload).toEqual({
    data: {
      album: [
        { id: 2, price: 20 },
        { id: 3, price: null },
      ],
    },
  });
  await socket.close();
});

test("G-PRM-7 G-SUB-6 live queries of one role and document keep the rows of each caller separate", async () => {
  const callers = await Promise.all(
    ["1", "2", "3", "4"].map(async (artist) => {
      const socket = await openSocket(api);
      await socket.init({ headers: asAdmin("own", { "artist-id": artist }) });
      socket.send({
        id: "1",
        type: "subscribe",
        payload: { query: "subscription { album(order_by: {id: asc}) { artist_id } }" },
      });
      return { artist: Number(artist), socket };
    }),
  );
  const counts = { 1: 2, 2: 1, 3: 2, 4: 0 } as Readonly<Record<number, number>>;
  for (const { artist, socket } of callers) {
    const next = await socket.next((message) => message.id === "1");
    expect(next.payload.data.album, `artist ${artist}`).toEqual(
      Array.from({ length: counts[artist] ?? 0 }, () => ({ artist_id: artist })),
    );
    await socket.close();
  }
});

describe("G-PRM-19 permission checks after the statement", async () => {
  const countCheck = { counts: { active: { _lt: 3 } } };
  const ownCheck = { parent: { owner: { _eq: "X-Session-User" } } };
  const metadata = buildMetadataDocument([
    table("member", {
      array_relationships: [array("tasks", "task", "member_id")],
      object_relationships: [
        {
          name: "counts",
          using: { manual_configuration: { remote_table: "member_count", column_mapping: { team: "team" } } },
        },
      ],
      select_permissions: permissions({ mem: { ...fullPermission, allow_aggregations: true } }),
      insert_permissions: permissions({ mem: { columns: "*", check: countCheck } }),
      update_permissions: permissions({ mem: { columns: "*", filter: {}, check: countCheck } }),
    }),
    table("member_count"),
    table("task", {
      object_relationships: [object("member", "member_id")],
      select_permissions: permissions({ mem: fullPermission }),
      // Each member has at most two tasks.
      insert_permissions: permissions({
        mem: { columns: "*", check: { member: { tasks_aggregate: { count: { predicate: { _lte: 2 } } } } } },
      }),
    }),
    table("node", {
      object_relationships: [object("parent", "parent_id")],
      select_permissions: permissions({ mem: fullPermission }),
      insert_permissions: permissions({
        mem: { columns: ["id", "parent_id"], check: ownCheck, set: { owner: "X-Session-User" } },
      }),
      update_permissions: permissions({
        mem: { columns: ["id", "parent_id"], filter: {}, check: { id: { _lt: 100 } } },
      }),
    }),
  ]);
  const options = forGraphql({ metadata, metadataPermissionsForRest: true });
  const inStatementApi = await startApi(options);
  const afterStatementApi = await startApi({ ...options, checksAfterStatement: true });
  await inStatementApi.sql(`
    create table member (id int primary key, status text not null, team text);
    create table task (id int primary key, member_id int references member);
    create table node (id int primary key, parent_id int references node, owner text);
    create view member_count as select team, count(*) filter (where status = 'active') as active from member group by team;
    create function take_over() returns trigger language plpgsql as
      $$ begin update node set owner = 'u1' where id = new.parent_id and id < 0; return null; end $$;
    create trigger take_over after insert on node for each row execute function take_over()`);
  await inStatementApi.reload();
  await afterStatementApi.reload();

  const CHECK_FAILED = "check constraint of an insert/update permission has failed";
  const resetRows = async (): Promise<void> =>
    void (await inStatementApi.sql(`
      truncate member, task, node;
      insert into member values (1, 'active', 'a'), (2, 'inactive', 'a'), (3, 'inactive', 'a'), (4, 'active', 'b');
      insert into node values (-1, null, 'u2'), (1, null, 'u2'), (2, null, 'u1')`));
  beforeEach(resetRows);

  const mutate = (target: TestApi, mutation: string): Promise<any> =>
    target.gql(`mutation { ${mutation} }`, {}, asAdmin("mem", { user: "u1" }));
  const outcomes = async (mutation: string): Promise<readonly unknown[]> => {
    const results: unknown[] = [];
    for (const target of [inStatementApi, afterStatementApi]) {
      const { data, errors } = await mutate(target, mutation);
      results.push(errors?.[0].message ?? Object.values(data)[0]);
      await resetRows();
    }
    return results;
  };
  const rows = (count: number) => ({ affected_rows: count });

  test.each<[string, string, unknown, unknown]>([
    [
      "an update that goes beyond a quota",
      'update_member(where: {id: {_in: [2, 3]}}, _set: {status: "active"}) { affected_rows }',
      rows(2),
      CHECK_FAILED,
    ],
    [
      "an update within it",
      'update_member(where: {id: {_eq: 2}}, _set: {status: "active"}) { affected_rows }',
      rows(1),
      rows(1),
    ],
    [
      "an insert beyond it",
      'insert_member(objects: [{id: 5, status: "active", team: "a"}, {id: 6, status: "active", team: "a"}]) { affected_rows }',
      rows(2),
      CHECK_FAILED,
    ],
    [
      "a row whose parent is in the same insert",
      "insert_node(objects: [{id: 10, parent_id: 2}, {id: 11, parent_id: 10}]) { affected_rows }",
      CHECK_FAILED,
      rows(2),
    ],
    [
      "a row with another's parent",
      "insert_node(objects: [{id: 10, parent_id: 1}]) { affected_rows }",
      CHECK_FAILED,
      CHECK_FAILED,
    ],
    [
      "rows that a trigger changes after the write",
      "insert_node(objects: [{id: 10, parent_id: -1}]) { affected_rows }",
      CHECK_FAILED,
      rows(1),
    ],
    [
      "an upsert that inserts and updates beyond the quota",
      `insert_member(objects: [{id: 2, status: "active", team: "a"}, {id: 5, status: "active", team: "a"}],
         on_conflict: {constraint: member_pkey, update_columns: [status]}) { affected_rows }`,
      rows(2),
      CHECK_FAILED,
    ],
    [
      "an upsert that only updates, beyond the quota",
      `insert_member(objects: [{id: 2, status: "active", team: "x"}, {id: 3, status: "active", team: "x"}],
         on_conflict: {constraint: member_pkey, update_columns: [status]}) { affected_rows }`,
      rows(2),
      CHECK_FAILED,
    ],
    [
      "nested rows beyond a quota of their own",
      `insert_member_one(object: {id: 5, status: "inactive", team: "b", tasks: {data: [{id: 1}, {id: 2}, {id: 3}]}}) { id }`,
      { id: 5 },
      CHECK_FAILED,
    ],
    [
      "nested rows within it",
      `insert_member_one(object: {id: 5, status: "inactive", team: "b", tasks: {data: [{id: 1}, {id: 2}]}}) { id tasks { id } }`,
      { id: 5, tasks: [{ id: 1 }, { id: 2 }] },
      { id: 5, tasks: [{ id: 1 }, { id: 2 }] },
    ],
    [
      "a nested parent that is written first",
      "insert_node_one(object: {id: 12, parent: {data: {id: 13, parent_id: 2}}}) { id parent { id } }",
      { id: 12, parent: { id: 13 } },
      { id: 12, parent: { id: 13 } },
    ],
  ])(
    "G-PRM-19 the check sees related data in its state after the statement: %s",
    async (_, mutation, inStatement, afterStatement) => {
      expect(await outcomes(mutation)).toEqual([inStatement, afterStatement]);
    },
  );

  test("G-PRM-19 a failing check undoes the mutation, with the path of its write", async () => {
    const { errors } = await mutate(
      afterStatementApi,
      'a: insert_task(objects: [{id: 9, member_id: 1}]) { affected_rows } b: insert_member_one(object: {id: 5, status: "inactive", team: "b", tasks: {data: [{id: 1}, {id: 2}, {id: 3}]}}) { id }',
    );
    expect(errors).toEqual([
      expect.objectContaining({
        message: CHECK_FAILED,
        extensions: expect.objectContaining({ code: "permission-error", path: expect.stringContaining("tasks") }),
      }),
    ]);
    expect(await afterStatementApi.sql("select from task")).toEqual([]);
  });

  test("G-PRM-19 a write that removes rows allows a later one in the same mutation", async () => {
    await afterStatementApi.sql("update member set status = 'active' where team = 'a'");
    expect(
      await mutate(
        afterStatementApi,
        'a: update_member(where: {id: {_in: [2, 3]}}, _set: {status: "inactive"}) { affected_rows } b: update_member(where: {id: {_eq: 2}}, _set: {status: "active"}) { affected_rows }',
      ),
    ).toEqual({ data: { a: rows(2), b: rows(1) } });
  });

  test("G-PRM-19 the check applies to REST, including bulk inserts and upserts", async () => {
    const headers = asAdmin("mem", { user: "u1" });
    const body = [
      { id: 5, status: "active", team: "a" },
      { id: 6, status: "active", team: "a" },
    ];
    for (const prefer of [
      "return=minimal",
      "return=representation",
      "resolution=merge-duplicates,return=representation",
    ]) {
      const rejection = await afterStatementApi.post("/member", { headers: { ...headers, prefer }, body });
      expect([rejection.status, rejection.json().message]).toEqual([403, CHECK_FAILED]);
      const insertAnswer = await afterStatementApi.post("/member", {
        headers: { ...headers, prefer },
        body: body.slice(0, 1),
      });
      expect(insertAnswer.status).toBe(201);
      await resetRows();
    }
    const updateAnswer = await afterStatementApi.patch("/member?id=in.(2,3)", { headers, body: { status: "active" } });
    expect(updateAnswer.json().message).toBe(CHECK_FAILED);
    expect((await inStatementApi.patch("/member?id=in.(2,3)", { headers, body: { status: "active" } })).status).toBe(
      204,
    );
  });
});
