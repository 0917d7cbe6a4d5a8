/**
 * REST with metadata permissions (`metadataPermissionsForRest`): statements run as the login role, so the metadata has
 * to permit everything that a request can reach.
 */
import { expect, test } from "vitest";
import { adminSecret } from "../support/tokens.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";
import {
  array,
  buildMetadataDocument,
  object,
  permissions,
  table,
  ownFilter,
  fullPermission,
} from "../support/metadata-document.ts";

const metadata = buildMetadataDocument(
  [
    table("album", {
      object_relationships: [object("artist", "artist_id")],
      select_permissions: permissions({
        reader: { columns: ["id", "title", "artist_id"], filter: { id: { _gt: 1 } }, limit: 3 },
        counter: { columns: ["id", "artist_id"], filter: ownFilter, allow_aggregations: true },
        owner: { columns: "*", filter: ownFilter },
        part: { columns: ["id", "title"], filter: {} },
      }),
      insert_permissions: permissions({
        owner: {
          check: { price: { _gt: 0 } },
          columns: ["id", "title", "price"],
          set: { artist_id: "X-Session-Artist-Id" },
        },
        blind: { check: {}, columns: ["title", "artist_id"] },
      }),
      update_permissions: permissions({
        owner: {
          columns: ["id", "title", "price"],
          filter: ownFilter,
          check: { price: { _lt: 100 } },
          set: { live: false },
        },
      }),
      delete_permissions: permissions({
        owner: { filter: ownFilter },
        blind: { filter: { id: 1 } },
        backend: { filter: {}, backend_only: true },
      }),
    }),
    table("artist", {
      array_relationships: [array("albums", "album", "artist_id")],
      select_permissions: permissions({
        reader: { columns: ["id", "name"], filter: { country: { _neq: "IS" } } },
        owner: fullPermission,
        counter: fullPermission,
      }),
    }),
    table("song", { select_permissions: permissions({ reader: fullPermission, listener: fullPermission }) }),
    table("playlist", { select_permissions: permissions({ reader: fullPermission, listener: fullPermission }) }),
    table("playlist_song", { select_permissions: permissions({ listener: fullPermission }) }),
    table("person", {
      computed_fields: [
        { name: "title", definition: { function: "person_title" } },
        { name: "points", definition: { function: "person_score" } },
      ],
      select_permissions: permissions({ reader: { columns: ["id"], filter: {}, computed_fields: ["title"] } }),
    }),
  ],
  { inherited_roles: [{ role_name: "mixed", role_set: ["part", "owner"] }] },
  {
    functions: [
      "search_albums",
      { function: "sell_album", permissions: [{ role: "owner" }] },
      { function: "scalar_answer", permissions: [{ role: "owner" }] },
    ],
  },
);

const api = await startApi(
  forGraphql({
    metadata,
    metadataPermissionsForRest: true,
    dbTxEnd: "rollback-allow-override",
    dbAggregatesEnabled: true,
    dbPlanEnabled: true,
  }),
);
const asRole = (role: string, artist?: string) => ({
  headers: asAdmin(role, artist === undefined ? {} : { "artist-id": artist }),
});
const reader = asRole("reader");
const owner = asRole("owner", "1");
const representation = { headers: { ...owner.headers, prefer: "return=representation" } };
const rejection: Partial<Case> = { status: 403, check: (answer) => expect(answer.json().code).toBe("42501") };

cases(api, [
  {
    ...reader,
    title: "G-PRM-7 a read has the filter, the columns and the limit",
    request: "GET /album?order=id",
    answer: [
      [2, "Waterloo", 1],
      [3, "Debut", 2],
      [4, "Tago Mago", 3],
    ].map(([id, title, artist_id]) => ({ id, title, artist_id })),
  },
  {
    ...reader,
    title: "G-PRM-8 the smaller of the request's and the permission's limit applies",
    request: "GET /album?select=id&order=id&limit=1",
    answer: [{ id: 2 }],
  },
  {
    headers: { ...reader.headers, prefer: "count=exact" },
    title: "G-PRM-7 a count includes only visible rows",
    request: "GET /album?select=id&limit=1",
    status: 206,
    responseHeaders: { "content-range": "0-0/4" },
  },
  {
    headers: { ...reader.headers, prefer: "count=exact" },
    title: "G-PRM-7 the count of HEAD includes only visible rows",
    request: "HEAD /album",
    responseHeaders: { "content-range": "0-2/4" },
    status: 206,
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in select",
    request: "GET /album?select=price",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in a filter",
    request: "GET /album?select=id&price=gt.10",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in a logic tree",
    request: "GET /album?select=id&or=(id.eq.1,not.and(price.gt.10,id.gt.0))",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in an order",
    request: "GET /album?select=id&order=price",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected with a cast",
    request: "GET /album?select=id,x:price::text",
  },
  { ...reader, ...rejection, title: "G-PRM-6 a table without permission is rejected", request: "GET /specimen" },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a view without permission over permitted tables is rejected",
    request: "GET /artist_total",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 an aggregate without permission is rejected",
    request: "GET /album?select=count()",
  },
  {
    ...asRole("counter", "1"),
    title: "G-PRM-6 a permitted aggregate counts visible rows",
    request: "GET /album?select=count()",
    answer: [{ count: 2 }],
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 an aggregate without permission is rejected in an embed",
    request: "GET /artist?select=id,album(count())",
  },
  {
    ...reader,
    title: "G-PRM-7 a to-one embed applies the filter of its table",
    request: "GET /album?select=id,artist(name)&order=id",
    answer: [
      { id: 2, artist: { name: "Abba" } },
      { id: 3, artist: null },
      { id: 4, artist: { name: "Can" } },
    ],
  },
  {
    ...reader,
    title: "G-PRM-7 a to-many embed applies the filter of its table",
    request: "GET /artist?select=id,album(id)&order=id",
    answer: [
      { id: 1, album: [{ id: 2 }] },
      { id: 3, album: [{ id: 4 }, { id: 5 }] },
      { id: 4, album: [] },
    ],
  },
  {
    ...reader,
    title: "G-PRM-7 an inner embed removes rows without a visible related row",
    request: "GET /artist?select=id,album!inner()&order=id",
    answer: [{ id: 1 }, { id: 3 }],
  },
  {
    ...reader,
    title: "G-PRM-7 a null filter on an embed regards visible related rows",
    request: "GET /artist?select=id,album()&album=is.null",
    answer: [{ id: 4 }],
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in an embed",
    request: "GET /artist?select=id,album(price)",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in a filter on an embed",
    request: "GET /artist?select=id,album(id)&album.price=gt.1",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 a column without permission is rejected in a spread",
    request: "GET /album?select=id,...artist(country)",
  },
  {
    ...reader,
    title: "G-PRM-7 a spread shows only visible related rows",
    request: "GET /album?select=id,...artist(name)&id=eq.3",
    answer: [{ id: 3, name: null }],
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 an embed of a table without permission is rejected",
    request: "GET /person?select=id,passport(number)",
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 an embed through a junction without permission is rejected",
    request: "GET /playlist?select=name,song(title)",
  },
  {
    ...asRole("listener"),
    title: "G-PRM-6 an embed through a permitted junction is answered",
    request: "GET /playlist?select=name,song(title)&id=eq.1",
    answer: [{ name: "Morning", song: [{ title: "One" }, { title: "Two" }] }],
  },
  {
    ...reader,
    title: "G-CF-6 a permitted computed field is answered",
    request: "GET /person?select=id,person_title&id=eq.1",
    answer: [{ id: 1, person_title: "Dear Ann" }],
  },
  {
    ...reader,
    ...rejection,
    title: "G-CF-6 a computed field without permission is rejected",
    request: "GET /person?select=id,person_score",
  },
  {
    ...reader,
    ...rejection,
    title: "G-CF-6 a computed field that the metadata does not list is rejected",
    request: "GET /person?select=id,person_card",
  },
  {
    ...reader,
    ...rejection,
    title: "G-CF-6 a computed field without permission is rejected in a filter",
    request: "GET /person?select=id&person_score=gt.1",
  },
  {
    ...reader,
    title: "G-PRM-7 G-FN-8 the rows of a function have the filter of their table",
    request: "GET /rpc/search_albums?term=a&select=id&order=id",
    answer: [{ id: 2 }, { id: 4 }, { id: 5 }],
  },
  {
    ...reader,
    ...rejection,
    title: "G-FN-8 a column without permission is rejected in the rows of a function",
    request: "GET /rpc/search_albums?term=a&select=price",
  },
  {
    ...reader,
    ...rejection,
    title: "G-FN-8 a function that the metadata does not list is rejected",
    request: "GET /rpc/live_albums",
  },
  {
    ...reader,
    ...rejection,
    title: "G-FN-8 a function of scalar values without permission is rejected",
    request: "GET /rpc/scalar_answer",
  },
  {
    ...reader,
    ...rejection,
    title: "G-FN-8 a function that writes is rejected without permission",
    request: "POST /rpc/sell_album",
    body: { album_id: 1 },
  },
  {
    ...owner,
    title: "G-FN-8 a function that writes is answered for the listed roles",
    request: "POST /rpc/sell_album",
    body: { album_id: 1 },
    check: (answer) => expect(answer.json()).toMatchObject({ id: 1, sold: 4 }),
  },
  {
    ...owner,
    title: "G-FN-8 a function of scalar values is answered if it is listed",
    request: "GET /rpc/scalar_answer",
    answer: 42,
  },
  {
    ...representation,
    title: "G-PRE-1 G-PRM-9 an insert applies the column presets and the check",
    request: "POST /album?select=title,artist_id",
    body: { title: "x", price: 1 },
    status: 201,
    answer: [{ title: "x", artist_id: 1 }],
  },
  {
    ...owner,
    title: "G-PRM-9 an insert that violates the check is rejected",
    request: "POST /album",
    body: { title: "x", price: 0 },
    status: 403,
    check: (answer) => expect(answer.json().message).toBe("check constraint of an insert/update permission has failed"),
  },
  {
    ...owner,
    ...rejection,
    title: "G-PRE-2 an insert may not set a column that has a preset",
    request: "POST /album",
    body: { title: "x", price: 1, artist_id: 2 },
  },
  {
    ...owner,
    ...rejection,
    title: "G-PRM-6 an insert may not set a column without permission",
    request: "POST /album",
    body: { title: "x", price: 1, sold: 2 },
  },
  {
    ...reader,
    ...rejection,
    title: "G-PRM-6 an insert without permission is rejected",
    request: "POST /album",
    body: { title: "x" },
  },
  {
    headers: { ...asRole("blind").headers, prefer: "return=representation" },
    ...rejection,
    title: "G-PRM-6 a representation is rejected for a role without select permission",
    request: "POST /album",
    body: { title: "x", artist_id: 1 },
  },
  {
    ...asRole("blind"),
    title: "G-PRM-6 an insert without a representation needs no select permission",
    request: "POST /album",
    body: { title: "x", artist_id: 1 },
    status: 201,
    bytes: "",
  },
  {
    ...representation,
    title: "G-PRM-9 an update applies the filter, the check and the presets",
    request: "PATCH /album?id=in.(1,3)&select=id,title,live",
    body: { title: "t" },
    answer: [{ id: 1, title: "t", live: false }],
  },
  {
    ...owner,
    title: "G-PRM-9 an update that violates the check is rejected",
    request: "PATCH /album?id=eq.1",
    body: { price: 100 },
    status: 403,
  },
  {
    ...owner,
    ...rejection,
    title: "G-PRM-6 an update of a column without permission is rejected",
    request: "PATCH /album?id=eq.1",
    body: { artist_id: 2 },
  },
  {
    ...representation,
    title: "G-PRM-9 a delete applies the filter",
    request: "DELETE /album?select=id",
    answer: [{ id: 1 }, { id: 2 }],
  },
  {
    ...asRole("blind"),
    ...rejection,
    title: "G-PRM-6 a delete with a filter on an unreadable column is rejected",
    request: "DELETE /album?price=gt.0",
  },
  {
    ...asRole("blind"),
    title: "G-PRM-6 a delete without a filter needs no select permission",
    request: "DELETE /album",
    status: 204,
  },
  {
    ...asRole("backend"),
    ...rejection,
    title: "G-PRM-11 a backend-only permission is rejected without the header",
    request: "DELETE /album",
  },
  {
    headers: { ...asRole("backend").headers, "x-session-use-backend-only-permissions": "true" },
    title: "G-PRM-11 a backend-only permission is granted with the header",
    request: "DELETE /album",
    status: 204,
  },
  {
    headers: { ...owner.headers, prefer: "resolution=merge-duplicates,return=representation" },
    title: "G-UPS-3 G-UPS-4 an upsert applies the insert and the update permission",
    request: "POST /album?select=id,title,live",
    body: [
      { id: 1, title: "t", price: 5 },
      { id: 3, title: "not mine", price: 5 },
    ],
    status: 200,
    answer: [{ id: 1, title: "t", live: false }],
  },
  {
    ...asRole("mixed", "1"),
    title: "G-PRM-14 an inherited role sees cells by the filter of each parent",
    request: "GET /album?select=id,price&order=id&limit=3",
    answer: [
      { id: 1, price: 12.5 },
      { id: 2, price: 20 },
      { id: 3, price: null },
    ],
  },
  {
    ...asRole("mixed", "1"),
    title: "G-PRM-14 hidden cells of an inherited role are null in filters, orders and by a star",
    request: "GET /album?price=gt.0&order=price.desc",
    check: (answer) =>
      expect(answer.json().map((row: { id: number; sold: number }) => [row.id, row.sold])).toEqual([
        [2, 10],
        [1, 3],
      ]),
  },
  {
    ...asRole("owner"),
    title: "G-FIL-7 a missing session variable is an error",
    request: "GET /album",
    status: 400,
    check: (answer) => expect(answer.json().message).toContain("x-session-artist-id"),
  },
  {
    title: "G-PRM-1 the administrator sees every column",
    headers: { "x-session-admin-secret": adminSecret },
    request: "GET /album?select=price&id=eq.1",
    answer: [{ price: 12.5 }],
  },
  {
    title: "G-PRM-2 a role that is not in the metadata has its grants",
    role: "music_reader",
    request: "GET /song?select=id&id=eq.1",
    answer: [{ id: 1 }],
  },
]);

test("G-PRM-3 without the option REST follows the grants of the database", async () => {
  const plain = await startApi(
    forGraphql({
      metadata: buildMetadataDocument([
        table("song", { select_permissions: permissions({ music_reader: { columns: ["id"], filter: { id: 1 } } }) }),
      ]),
    }),
  );
  expect((await plain.get("/song?select=title", { headers: asAdmin("music_reader") })).json()).toHaveLength(3);
  expect((await plain.get("/song", { headers: asAdmin("in_metadata_alone") })).status).toBeGreaterThanOrEqual(400);
  expect(await plain.gql("{ song { id } }", {}, asAdmin("music_reader"))).toEqual({ data: { song: [{ id: 1 }] } });
});

test("G-PRM-9 G-UPS-4 an upsert through a view without system columns is checked with a computed field", async () => {
  await api.sql(`create view album_sheet as select id, artist_id, title, price from album;
    create function sheet_cost(sheet album_sheet) returns text language sql stable as $$ select sheet.title || ' ' || sheet.price $$`);
  const sheet = await startApi(
    forGraphql({
      dbTxEnd: "rollback",
      metadataPermissionsForRest: true,
      metadata: buildMetadataDocument([
        table("album_sheet", {
          computed_fields: [{ name: "cost", definition: { function: "sheet_cost" } }],
          select_permissions: permissions({ writer: fullPermission }),
          insert_permissions: permissions({ writer: { check: { price: { _gt: 10 }, cost: { _neq: "x 13" } } } }),
          update_permissions: permissions({
            writer: { columns: "*", filter: {}, check: { price: { _lt: 5 }, cost: { _neq: "x 3" } } },
          }),
        }),
      ]),
    }),
  );
  const upsert = async (body: unknown) =>
    (
      await sheet.post("/album_sheet?on_conflict=id", {
        headers: { ...asAdmin("writer"), prefer: "resolution=merge-duplicates,return=representation" },
        body,
      })
    ).status;
  const row = (id: number, price: number) => ({ id, artist_id: 1, title: "x", price });
  expect(await upsert([row(900, 11), row(1, 4), row(901, 12), row(2, 2)])).toBeLessThan(300);
  expect(await upsert([row(1, 4), row(900, 13)])).toBe(403);
  expect(await upsert([row(900, 11), row(1, 3)])).toBe(403);
  expect(await upsert([row(1, 4), row(900, 4)])).toBe(403);
  expect(await upsert([row(900, 11), row(1, 11)])).toBe(403);
  await sheet.close();
  await api.sql("drop view album_sheet cascade");
});
