import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";

const api = await startApi(forGraphql({ dbTxEnd: "rollback" }));
await api.sql(
  "create view acting as select current_user::text as name; grant select on acting to music_reader, music_editor",
);
await api.reload();
const admin = await fetchSchema(api);
const reader = await fetchSchema(api, "music_reader");

const unknown = (field: string, type: string) => ({
  message: `field '${field}' not found in type: '${type}'`,
  code: "validation-failed",
});

test("G-PRM-1 the administrator sees every relation and column", () => {
  expect(Object.keys(admin.members("query_root"))).toEqual(
    expect.arrayContaining(["diary", "specimen", "artist_total", "editors_albums"]),
  );
  expect(Object.keys(admin.members("artist"))).toContain("stats");
});

test("G-PRM-1 statements of the administrator run as the login role", async () => {
  const [login] = await api.sql("select current_user::text as name");
  expect(await api.gql("{ acting { name } }")).toEqual({ data: { acting: [login] } });
});

test("G-PRM-2 G-PRM-2a a role has the rights of its grants, including functions and computed fields", async () => {
  const editor = await fetchSchema(api, "music_editor");
  expect(Object.keys(editor.members("query_root"))).toContain("editors_albums");
  expect(Object.keys(reader.members("query_root"))).not.toContain("editors_albums");
  expect(Object.keys(editor.members("person"))).toContain("person_score");
  expect(Object.keys(reader.members("person"))).not.toContain("person_score");
  expect(Object.keys(reader.members("query_root"))).toEqual(
    expect.arrayContaining(["album_aggregate", "artist_total"]),
  );
});

test("G-PRM-2 G-PRM-2a a schema without USAGE is not served", async () => {
  const shopApi = await startApi(forGraphql({ dbSchemas: ["shop"] }));
  try {
    expect((await fetchSchema(shopApi, "music_reader")).members("query_root")).toHaveProperty("no_queries_available");
    expect(Object.keys((await fetchSchema(shopApi, "music_editor")).members("query_root"))).toContain("shop_order");
  } finally {
    await shopApi.close();
  }
});

gqlCases(api, [
  {
    title: "G-PRM-2 statements of a role run as the role",
    query: "{ acting { name } }",
    role: "music_reader",
    data: { acting: [{ name: "music_reader" }] },
  },
  {
    title: "G-PRM-2 row policies decide the visible rows",
    query: "{ album(order_by: {id: asc}) { id } }",
    role: "music_artist",
    session: { "artist-id": "1" },
    data: { album: [{ id: 1 }, { id: 2 }] },
  },
  {
    title: "G-PRM-4 a role without grants and permissions has no fields",
    query: "{ album { id } }",
    role: "no_such_role",
    error: unknown("album", "query_root"),
  },
  {
    title: "G-PRM-5 a row policy rejects a written row",
    query: 'mutation { insert_album_one(object: {artist_id: 1, title: "x", price: -1}) { id } }',
    role: "music_editor",
    error: { message: 'new row violates row-level security policy for table "album"', code: "permission-error" },
  },
  {
    title: "G-PRM-6 a hidden column is not in the selection",
    query: "{ artist { stats } }",
    role: "music_reader",
    error: unknown("stats", "artist"),
  },
  {
    title: "G-PRM-6 a hidden column is not in where",
    query: "{ artist(where: {stats: {_is_null: true}}) { id } }",
    role: "music_reader",
    error: unknown("stats", "artist_bool_exp"),
  },
  {
    title: "G-PRM-6 a hidden column is not in where of related rows",
    query: "{ album(where: {artist: {born: {_is_null: true}}}) { id } }",
    role: "music_reader",
    error: unknown("born", "artist_bool_exp"),
  },
  {
    title: "G-PRM-6 a hidden column is not in order_by",
    query: "{ artist(order_by: {born: asc}) { id } }",
    role: "music_reader",
    error: unknown("born", "artist_order_by"),
  },
  {
    title: "G-PRM-6 a hidden column is not in distinct_on",
    query: "{ artist(distinct_on: [born]) { id } }",
    role: "music_reader",
    error: {
      message: "expected one of the values ['country', 'id', 'name'] for type 'artist_select_column', but found 'born'",
      code: "validation-failed",
    },
  },
  {
    title: "G-PRM-6 a hidden column is not in aggregates",
    query: "{ artist_aggregate { aggregate { max { born } } } }",
    role: "music_reader",
    error: unknown("born", "artist_max_fields"),
  },
  {
    title: "G-PRM-6 a hidden column is not in returning",
    query: 'mutation { add_artist(args: {name: "x"}) { stats } }',
    role: "music_reader",
    error: unknown("stats", "artist"),
  },
  {
    title: "G-PRM-6 a hidden table gives no relationship",
    query: "{ person { passport { number } } }",
    role: "music_reader",
    error: unknown("passport", "person"),
  },
]);

test("G-PRM-2 rights that are granted later take effect after a reload", async () => {
  await api.sql("grant select (born) on artist to music_reader");
  try {
    await api.reload();
    expect(await api.gql("{ artist(where: {id: {_eq: 1}}) { born } }", {}, asAdmin("music_reader"))).toEqual({
      data: { artist: [{ born: "1972-11-01" }] },
    });
  } finally {
    await api.sql("revoke select (born) on artist from music_reader");
    await api.reload();
  }
});

test("G-PRM-2 G-PRM-2a USAGE is required for a schema that only the metadata adds", async () => {
  await api.sql(
    "create schema attic; create table attic.box (id int primary key); grant select on attic.box to music_reader",
  );
  const listedApi = await startApi(forGraphql({ metadata: buildMetadataDocument([table("attic.box")]) }));
  const ask = () => listedApi.gql("{ attic_box { id } }", {}, asAdmin("music_reader"));
  expect((await ask()).errors[0].message).toBe("field 'attic_box' not found in type: 'query_root'");
  await api.sql("grant usage on schema attic to music_reader");
  await listedApi.reload();
  expect(await ask()).toEqual({ data: { attic_box: [] } });
  await listedApi.close();
  await api.sql("drop schema attic cascade");
});
