/** Permissions of the metadata, over HTTP. */
import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { buildMetadataDocument, table, permissions } from "../support/metadata-document.ts";

const owner = { artist_id: { _eq: "X-Session-Artist-Id" } };

const metadata = buildMetadataDocument(
  [
    table("album", {
      object_relationships: [{ name: "artist", using: { foreign_key_constraint_on: "artist_id" } }],
      select_permissions: permissions({
        reader: {
          columns: ["id", "title", "artist_id"],
          filter: { live: { _eq: true } },
          limit: 2,
          allow_aggregations: true,
        },
        owner: { columns: "*", filter: owner, allow_aggregations: true },
        editor: { columns: "*", filter: {} },
      }),
      insert_permissions: permissions({
        owner: {
          columns: ["id", "title", "price"],
          check: { price: { _gt: 0 } },
          set: { artist_id: "X-Session-Artist-Id" },
        },
      }),
      update_permissions: permissions({
        owner: { columns: ["title", "price"], filter: owner, check: { price: { _gt: 0 } } },
        editor: { columns: ["title"], filter: {}, check: null, set: { sold: 7 }, backend_only: true },
      }),
      delete_permissions: permissions({ owner: { filter: owner } }),
    }),
    {
      table: "artist",
      array_relationships: [
        {
          name: "albums",
          using: { foreign_key_constraint_on: { table: { schema: "public", name: "album" }, column: "artist_id" } },
        },
      ],
      select_permissions: [
        { role: "reader", permission: { columns: ["id", "name"], filter: {} } },
        {
          role: "owner",
          permission: { columns: ["id", "name", "country"], filter: { id: "X-Session-Artist-Id" } },
        },
      ],
    },
  ],
  { inherited_roles: [{ role_name: "both", role_set: ["reader", "owner"] }] },
);

const api = await startApi(forGraphql({ metadata }));
test("G-PRM-7 G-PRM-8 the select filter and the limit apply to the root, relationships and aggregates", async () => {
  const answer = await api.gql(
    "{ album(order_by: {id: asc}) { id } all: album_aggregate { aggregate { count } nodes { id } } artist(order_by: {id: asc}, limit: 1) { albums { id } } }",
    {},
    asAdmin("reader"),
  );
  const plain = await api.sql<{ id: number }>("select id from album where live order by id");
  expect(answer.data.album).toEqual(plain.slice(0, 2));
  expect(answer.data.all.aggregate.count).toBe(plain.length);
  expect(answer.data.all.nodes.length).toBeLessThanOrEqual(2);
});

test("G-FIL-7 G-CON-5 a missing session variable is an error", async () => {
  expect(await api.gql("{ album { id } }", {}, asAdmin("owner"))).toEqual({
    errors: [
      { message: 'missing session variable: "x-session-artist-id"', extensions: { path: "$", code: "not-found" } },
    ],
  });
});

test("G-PRM-6 objects that a role may not use are not in its schema", async () => {
  const answer = await api.gql("{ album { price } }", {}, asAdmin("reader"));
  expect(answer.errors[0].message).toBe("field 'price' not found in type: 'album'");
});

test("G-PRM-9 G-CON-5 a failing check rolls back the mutation, and presets are applied", async () => {
  const bad = await api.gql(
    'mutation { insert_album(objects: [{id: 901, title: "x", price: 0}]) { affected_rows } }',
    {},
    asAdmin("owner", { "artist-id": "1" }),
  );
  expect(bad.errors[0]).toEqual({
    message: "check constraint of an insert/update permission has failed",
    extensions: { path: "$.selectionSet.insert_album.args.objects", code: "permission-error" },
  });
  expect(await api.sql("select 1 from album where id = 901")).toEqual([]);
  const good = await api.gql(
    'mutation { insert_album_one(object: {id: 902, title: "y", price: 3}) { id artist_id } }',
    {},
    asAdmin("owner", { "artist-id": "2" }),
  );
  expect(good).toEqual({ data: { insert_album_one: { id: 902, artist_id: 2 } } });
  const update = await api.gql(
    "mutation { update_album(where: {}, _set: {price: 0}) { affected_rows } }",
    {},
    asAdmin("owner", { "artist-id": "2" }),
  );
  expect(update.errors[0].extensions.path).toBe("$");
  const deleteAnswer = await api.gql(
    "mutation { delete_album(where: {id: {_in: [1, 902]}}) { returning { id } } }",
    {},
    asAdmin("owner", { "artist-id": "2" }),
  );
  expect(deleteAnswer).toEqual({ data: { delete_album: { returning: [{ id: 902 }] } } });
});

test("G-PRM-11 backend-only fields need the header", async () => {
  const document = 'mutation { update_album(where: {id: {_eq: 1}}, _set: {title: "z"}) { affected_rows } }';
  expect((await api.gql(document, {}, asAdmin("editor"))).errors[0].message).toBe("no mutations exist");
  expect(
    await api.gql(document, {}, { ...asAdmin("editor"), "x-session-use-backend-only-permissions": "true" }),
  ).toEqual({
    data: { update_album: { affected_rows: 1 } },
  });
  expect(await api.sql("select title, sold from album where id = 1")).toEqual([{ title: "z", sold: 7 }]);
});

test("G-PRM-13 G-PRM-14 an inherited role sees the rows of any parent, and columns by the filter of their parent", async () => {
  const answer = await api.gql(
    "{ album(order_by: {id: asc}) { id title price } }",
    {},
    asAdmin("both", { "artist-id": "1" }),
  );
  const rows = await api.sql<{ id: number; title: string; artist_id: number; price: string | null }>(
    "select id, title, artist_id, price from album where live or artist_id = 1 order by id limit 2",
  );
  expect(answer.data.album.map((row: { id: number; price: number | null }) => [row.id, row.price === null])).toEqual(
    rows.map((row) => [row.id, row.artist_id !== 1 || row.price === null]),
  );
});
