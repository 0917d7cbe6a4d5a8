/** The metadata API: requests of Hasura's command line and of other callers. */
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import type { Answer, HeaderValues } from "../support/http.ts";
import {
  array,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
  fullPermission,
} from "../support/metadata-document.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";
import { temporaryFolder } from "../support/temporary-files.ts";

const database = await testDatabase();

/** The files of metadata without objects. */
const EMPTY = { "version.yaml": "version: 3\n" };

const start = (metadata: string | Entry, overrides: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ preset: plus, metadata, ...overrides }));

const send = (api: TestApi, body: unknown, headers: HeaderValues = asAdmin()): Promise<Answer> =>
  api.post("/v1/metadata", { body, headers });

const run = async (api: TestApi, type: string, args: unknown = {}, extraKeys: Entry = {}): Promise<any> =>
  (await send(api, { type, args, ...extraKeys })).json();

const SUCCESS = { message: "success" };
const reader = asAdmin("reader");
const artist = { schema: "public", name: "artist" };
const album = { schema: "public", name: "album" };

const filesIn = async (folder: string): Promise<readonly string[]> => {
  const names = await readdir(folder, { recursive: true });
  const files = await Promise.all(names.map(async (name) => ((await stat(join(folder, name))).isFile() ? [name] : [])));
  return files.flat().sort();
};

const EXPORT = buildMetadataDocument(
  [
    table("album", {
      object_relationships: [object("artist", "artist_id")],
      select_permissions: permissions({ reader: { columns: ["id", "title"], filter: { id: { _lt: 3 } } } }),
    }),
    table("artist", { array_relationships: [array("albums", "album", "artist_id")] }),
  ],
  { inherited_roles: [{ role_name: "heir", role_set: ["reader"] }] },
  { configuration: { connection_info: { database_url: { from_env: "PG_URL" } } } },
);

test("P-HAS-1 P-HAS-3 P-HAS-5 the command line of Hasura applies, compares and exports metadata, which the folder keeps", async () => {
  const folder = temporaryFolder(EMPTY);
  const api = await start(folder);
  expect((await api.get("/v1/version")).status).toBe(200);
  expect(await run(api, "get_catalog_state")).toMatchObject({ cli_state: {}, console_state: {} });
  // These requests belong to the command `apply`.
  const applyResult = await run(
    api,
    "replace_metadata",
    { allow_inconsistent_metadata: true, metadata: EXPORT },
    { version: 2 },
  );
  expect(applyResult).toEqual({ is_consistent: true, inconsistent_objects: [] });
  expect(await api.gql("{ album(order_by: {id: asc}) { id } }", {}, reader)).toEqual({
    data: { album: [{ id: 1 }, { id: 2 }] },
  });
  expect(await api.gql("{ album(where: {id: {_eq: 3}}) { artist { name } } }")).toEqual({
    data: { album: [{ artist: { name: "Bjork" } }] },
  });
  // These requests belong to the commands `diff` and `export`.
  const exportResult = await run(api, "export_metadata", {}, { version: 2 });
  expect(exportResult.metadata).toEqual(EXPORT);
  expect(exportResult.resource_version).toBeGreaterThan(0);
  expect(await run(api, "export_metadata")).toEqual(EXPORT);
  // The folder has the layout of the command line.
  expect(await filesIn(folder)).toEqual([
    "databases/databases.yaml",
    "databases/default/tables/public_album.yaml",
    "databases/default/tables/public_artist.yaml",
    "databases/default/tables/tables.yaml",
    "inherited_roles.yaml",
    "version.yaml",
  ]);
  expect(await readFile(join(folder, "databases/default/tables/tables.yaml"), "utf8")).toBe(
    '- "!include public_album.yaml"\n- "!include public_artist.yaml"\n',
  );
  // A server that starts from it exports the same.
  const restartedApi = await start(folder);
  expect(await run(restartedApi, "export_metadata", {}, { version: 2 })).toEqual(exportResult);
  expect(await run(restartedApi, "reload_metadata")).toMatchObject({ message: "success", is_consistent: true });
  await restartedApi.close();
  await api.close();
});

test("P-HAS-1 commands create and drop tables, relationships, permissions, functions, computed fields, roles and endpoints", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const steps: readonly (readonly [string, unknown])[] = [
    ["pg_track_table", { table: "artist" }],
    ["pg_track_tables", { tables: [{ table: album }] }],
    ["pg_set_table_customization", { table: album, configuration: { custom_name: "record_of_album" } }],
    [
      "pg_create_object_relationship",
      { table: album, name: "maker", using: { foreign_key_constraint_on: "artist_id" } },
    ],
    ["pg_rename_relationship", { table: album, name: "maker", new_name: "by" }],
    [
      "pg_create_array_relationship",
      { table: artist, name: "records", using: { foreign_key_constraint_on: { table: album, column: "artist_id" } } },
    ],
    [
      "pg_create_select_permission",
      { table: album, role: "reader", permission: { columns: ["id", "title"], filter: {} } },
    ],
    ["pg_create_insert_permission", { table: album, role: "reader", permission: { columns: ["title"], check: {} } }],
    ["pg_create_update_permission", { table: album, role: "reader", permission: { columns: ["title"], filter: {} } }],
    ["pg_create_delete_permission", { table: album, role: "reader", permission: { filter: { id: { _gt: 900 } } } }],
    ["pg_set_permission_comment", { table: album, role: "reader", type: "select", comment: "all of them" }],
    ["pg_track_function", { function: "search_albums" }],
    ["pg_create_function_permission", { function: "search_albums", role: "reader" }],
    ["add_inherited_role", { role_name: "heir", role_set: ["reader"] }],
    [
      "create_query_collection",
      {
        name: "shop",
        definition: {
          queries: [{ name: "one", query: "query ($id: Int!) { record_of_album_by_pk(id: $id) { title } }" }],
        },
      },
    ],
    [
      "create_rest_endpoint",
      {
        name: "one",
        url: "albums/:id",
        methods: ["GET"],
        definition: { query: { collection_name: "shop", query_name: "one" } },
      },
    ],
  ];
  const asBulk = (list: typeof steps) => list.map(([type, args]) => ({ type, args }));
  expect(await run(api, "bulk", asBulk(steps))).toEqual(steps.map(() => SUCCESS));
  expect(await api.gql("{ record_of_album_by_pk(id: 3) { by { name records { id } } } }")).toMatchObject({
    data: { record_of_album_by_pk: { by: { name: "Bjork" } } },
  });
  expect(await api.gql("{ record_of_album_by_pk(id: 3) { title } }", {}, asAdmin("heir"))).toEqual({
    data: { record_of_album_by_pk: { title: "Debut" } },
  });
  expect((await api.get("/api/rest/albums/3", { headers: reader })).json()).toEqual({
    record_of_album_by_pk: { title: "Debut" },
  });
  expect((await api.gql("{ record_of_album { price } }", {}, reader)).errors[0].extensions.code).toBe(
    "validation-failed",
  );
  const drops: readonly (readonly [string, unknown])[] = [
    ["drop_rest_endpoint", { name: "one" }],
    ["drop_query_from_collection", { collection_name: "shop", query_name: "one" }],
    ["drop_query_collection", { collection: "shop" }],
    ["drop_inherited_role", { role_name: "heir" }],
    ["pg_drop_function_permission", { function: "search_albums", role: "reader" }],
    ["pg_untrack_function", { function: "search_albums" }],
    ["pg_drop_delete_permission", { table: album, role: "reader" }],
    ["pg_drop_update_permission", { table: album, role: "reader" }],
    ["pg_drop_insert_permission", { table: album, role: "reader" }],
    ["pg_drop_select_permission", { table: album, role: "reader" }],
    ["pg_drop_relationship", { table: album, relationship: "by" }],
    ["pg_drop_relationship", { table: artist, relationship: "records" }],
    ["pg_set_table_customization", { table: album }],
    ["pg_untrack_table", { table: album }],
    ["pg_untrack_tables", { tables: ["artist"] }],
  ];
  expect(await run(api, "bulk", asBulk(drops))).toEqual(drops.map(() => SUCCESS));
  expect(await run(api, "export_metadata")).toEqual({
    version: 3,
    sources: [{ name: "default", kind: "postgres", tables: [] }],
  });
  await api.close();
});

describe("P-HAS-2 callers other than administrators cannot use the API", async () => {
  const folder = temporaryFolder(EMPTY);
  const api = await start(folder);
  const body = { type: "pg_track_table", args: { table: "artist" } };
  test.each([
    ["a role, with the admin secret", asAdmin("reader"), 400, "access-denied"],
    ["a role called admin without it", { "x-session-role": "admin" }, 400, "access-denied"],
    ["a wrong secret", { "x-session-admin-secret": "wrong" }, 401, "access-denied"],
    ["nobody", {}, 400, "access-denied"],
  ])("P-HAS-2 %s", async (_, headers, _status, code) => {
    const answer = await send(api, body, headers);
    expect(answer.json()).toMatchObject({ code });
    expect(Object.keys(answer.json()).sort()).toEqual(["code", "error", "path"]);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(await filesIn(folder)).toEqual(["version.yaml"]);
  });

  test.each([
    ["no JSON", "{", "application/json", 400, "invalid-json"],
    ["a list", "[]", "application/json", 400, "parse-failed"],
    ["no type", "{}", "application/json", 400, "parse-failed"],
    ["a type of an object's own", '{"type":"constructor"}', "application/json", 400, "parse-failed"],
    ["an unknown type", '{"type":"pg_track_everything"}', "application/json", 400, "parse-failed"],
    [
      "a table without a name",
      '{"type":"pg_track_table","args":{"table":{"schema":"x"}}}',
      "application/json",
      400,
      "parse-failed",
    ],
    [
      "an unknown source",
      '{"type":"pg_track_table","args":{"source":"x","table":"y"}}',
      "application/json",
      400,
      "not-exists",
    ],
    [
      "bulks in bulks",
      `${'{"type":"bulk","args":['.repeat(20)}${"]}".repeat(20)}`,
      "application/json",
      400,
      "not-supported",
    ],
  ])("P-HAS-1 %s is rejected", async (_, text, type, status, code) => {
    const answer = await api.post("/v1/metadata", { body: text, headers: { ...asAdmin(), "content-type": type } });
    expect([answer.status, answer.json().code]).toEqual([status, code]);
  });

  test("P-HAS-2 any content type is accepted, unless a page of another host sends it", async () => {
    const text = JSON.stringify({ type: "export_metadata", version: 2, args: {} });
    const send = async (headers: HeaderValues): Promise<number> =>
      (await api.post("/v1/metadata", { body: text, headers: { ...asAdmin(), ...headers } })).status;
    const form = "application/x-www-form-urlencoded"; // as curl -d sends it
    const ownOrigin = `http://127.0.0.1:${api.port}`;
    expect(await send({})).toBe(200);
    for (const type of [form, "text/plain"]) {
      expect(await send({ "content-type": type }), type).toBe(200);
      expect(await send({ "content-type": type, origin: ownOrigin }), type).toBe(200);
      for (const origin of ["https://evil.example", "null"])
        expect(await send({ "content-type": type, origin }), `${type} ${origin}`).toBe(415);
    }
    expect(await send({ origin: "https://evil.example" })).toBe(415);
    expect(await send({ origin: "https://shop.example", "content-type": "application/json" })).toBe(200);
  });

  test("P-HAS-1 the metadata API rejects other methods", async () => {
    const answer = await api.get("/v1/metadata", { headers: asAdmin() });
    expect([answer.status, answer.headers["allow"]]).toEqual([405, "OPTIONS, POST"]);
  });

  test.each([
    ["fullCompat", fullCompat, []],
    ["plus without the plugin", plus, [without("metadata-api")]],
  ])("P-GEN-2 the metadata API is unknown to %s", async (_, preset, parts) => {
    const bareApi = await startApi(forGraphql({ preset, parts, metadata: folder }));
    const answer = await send(bareApi, body);
    expect([answer.status, answer.json()]).toEqual([
      404,
      { path: "$", error: "resource does not exist", code: "not-found" },
    ]);
    await bareApi.close();
  });
});

test("P-HAS-13 lists of objects change what they can, and the rest are warnings", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const trackedTables = async (): Promise<readonly string[]> => {
    const { sources = [] } = (await run(api, "export_metadata")) as {
      sources?: { tables: { table: { name: string } }[] }[];
    };
    return sources.flatMap(({ tables }) => tables.map(({ table }) => table.name));
  };
  const warning = (code: string, name: string, message: string) => ({
    code,
    message,
    name: `table ${name} in source default`,
    type: "table",
  });
  const missingTable = warning(
    "track-table-failed",
    "nowhere",
    'Inconsistent object: no such table/view exists in source: "nowhere"',
  );
  const alreadyTracked = warning("track-table-failed", "artist", 'view/table already tracked: "artist"');

  expect(await run(api, "pg_track_tables", { tables: ["artist", "nowhere", { table: "album" }] })).toEqual({
    message: "success",
    warnings: [missingTable],
  });
  expect(await run(api, "pg_track_tables", { tables: ["artist", "nowhere", "genre"] })).toEqual({
    message: "success",
    warnings: [alreadyTracked, missingTable],
  });
  expect(await trackedTables()).toEqual(["album", "artist", "genre"]);

  for (const [args, error, code, internal] of [
    [
      { tables: ["artist", "nowhere"] },
      "all tables failed to track",
      "invalid-configuration",
      [alreadyTracked, missingTable],
    ],
    [
      { tables: ["studio", "artist"], allow_warnings: false },
      "failed due to metadata warnings",
      "metadata-warnings",
      [alreadyTracked],
    ],
    [
      { tables: ["studio", "nowhere"], allow_warnings: false },
      "failed due to metadata warnings",
      "metadata-warnings",
      [missingTable],
    ],
    [
      { tables: ["studio", { table: { schema: "public", name: "studio" } }] },
      "The following tables occur more than once in the request: default.studio",
      "bad-request",
      undefined,
    ],
  ] as const)
    expect((await send(api, { type: "pg_track_tables", args })).json()).toEqual({
      path: code === "bad-request" ? "$.args.tables" : "$.args",
      error,
      code,
      ...(internal === undefined ? {} : { internal }),
    });
  expect(await trackedTables()).toEqual(["album", "artist", "genre"]);

  // A table to which another one refers stays, unless both are untracked.
  await run(api, "pg_create_object_relationship", {
    table: "album",
    name: "artist",
    using: { foreign_key_constraint_on: "artist_id" },
  });
  const dependents =
    'cannot drop due to the following dependent objects: relationship album.artist in source "default"';
  expect(await run(api, "pg_untrack_tables", { tables: ["artist", "genre"] })).toEqual({
    message: "success",
    warnings: [warning("untrack-table-failed", "artist", dependents)],
  });
  expect(await run(api, "pg_untrack_tables", { tables: ["artist", "genre", "album"] })).toEqual({
    message: "success",
    warnings: [warning("untrack-table-failed", "genre", 'view/table already untracked: "genre"')],
  });
  expect(await trackedTables()).toEqual([]);
  await api.close();
});

test("P-HAS-4 a command that does not match the database is rejected and changes nothing", async () => {
  const folder = temporaryFolder(EMPTY);
  const api = await start(folder);
  await run(api, "pg_track_tables", { tables: ["artist", "album"] });
  const before = await run(api, "export_metadata", {}, { version: 2 });
  const rejections: readonly (readonly [string, unknown, string])[] = [
    ["pg_track_table", { table: "nowhere" }, "invalid-configuration"],
    ["pg_track_table", { table: "artist" }, "already-tracked"],
    ["pg_untrack_table", { table: "nowhere" }, "already-untracked"],
    [
      "pg_create_object_relationship",
      { table: "album", name: "x", using: { foreign_key_constraint_on: "title" } },
      "invalid-configuration",
    ],
    [
      "pg_create_select_permission",
      { table: "album", role: "r", permission: { columns: ["nothing"], filter: {} } },
      "invalid-configuration",
    ],
    [
      "pg_create_select_permission",
      { table: "album", role: "r", permission: { columns: "*", filter: { nothing: {} } } },
      "invalid-configuration",
    ],
    ["pg_create_select_permission", { table: "album", role: "admin", permission: fullPermission }, "validation-failed"],
    [
      "pg_create_select_permission",
      { table: "album", role: "r", permission: { columns: "*" } },
      "invalid-configuration",
    ],
    [
      "pg_create_select_permission",
      { table: "album", role: "r", permission: { columns: "*", filter: null } },
      "invalid-configuration",
    ],
    ["pg_drop_select_permission", { table: "album", role: "r" }, "permission-denied"],
    ["pg_create_select_permission", { table: "album", role: "r" }, "parse-failed"],
    ["replace_metadata", buildMetadataDocument([table("nowhere")]), "unexpected"],
  ];
  for (const [type, args, code] of rejections) {
    const answer = await send(api, { type, args });
    expect([type, answer.status, answer.json().code]).toEqual([type, 400, code]);
  }
  expect(await run(api, "export_metadata", {}, { version: 2 })).toEqual(before);
  expect(await run(api, "get_inconsistent_metadata")).toEqual({ is_consistent: true, inconsistent_objects: [] });
  expect(await api.gql("{ album_by_pk(id: 3) { id } }")).toEqual({ data: { album_by_pk: { id: 3 } } });
  // The option allows it.
  const lenient = await run(
    api,
    "replace_metadata",
    {
      allow_inconsistent_metadata: true,
      metadata: buildMetadataDocument([
        table("album", {
          select_permissions: permissions({ r: { columns: ["gone"], filter: {} }, s: fullPermission }),
        }),
        table("nowhere"),
      ]),
    },
    { version: 2 },
  );
  expect(lenient.is_consistent).toBe(false);
  expect(lenient.inconsistent_objects.map(({ type, name }: Entry) => [type, name])).toEqual([
    ["table", "table nowhere in source default"],
    ["select_permission", "select_permission r in table album in source default"],
  ]);
  // Other objects can still be added meanwhile.
  expect(await run(api, "pg_track_table", { table: "artist" })).toEqual(SUCCESS);
  expect(await run(api, "drop_inconsistent_metadata")).toEqual(SUCCESS);
  expect(await run(api, "get_inconsistent_metadata")).toMatchObject({ is_consistent: true });
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([
    table("album", { select_permissions: permissions({ s: fullPermission }) }),
    table("artist"),
  ]);
  await api.close();
});

test("P-HAS-9 inconsistent objects are reported in the form of the dialect", async () => {
  const api = await start(temporaryFolder(EMPTY));
  await run(api, "pg_track_tables", { tables: ["artist", "album"] });
  const missingTable = 'Inconsistent object: no such table/view exists in source: "shop.nowhere"';
  expect(await run(api, "pg_track_table", { table: { schema: "shop", name: "nowhere" } })).toEqual({
    path: "$.args",
    error: missingTable,
    code: "invalid-configuration",
    internal: [
      {
        definition: { schema: "shop", name: "nowhere" },
        name: "table shop.nowhere in source default",
        reason: missingTable,
        type: "table",
      },
    ],
  });
  const using = { foreign_key_constraint_on: "title" };
  expect(await run(api, "pg_create_object_relationship", { table: "album", name: "x", using })).toMatchObject({
    error:
      'Inconsistent object: in table "album": in relationship "x": no foreign constraint exists on the given column(s)',
    internal: [
      {
        definition: { comment: null, name: "x", source: "default", table: album, using },
        name: "object_relation x in table album in source default",
      },
    ],
  });
  const permission = { columns: ["nothing"], filter: {} };
  expect(await run(api, "pg_create_select_permission", { table: "album", role: "r", permission })).toMatchObject({
    error: 'Inconsistent object: in table "album": in permission for role "r": column "nothing" does not exist',
    internal: [{ definition: { comment: null, role: "r", source: "default", table: album, permission } }],
  });
  await api.close();
});

test("P-HAS-4 P-NAT-6 a native query that the database rejects, or with a name in use, is inconsistent", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const model = { name: "tune", fields: [{ name: "id", type: "integer" }] };
  expect(await run(api, "pg_track_table", { table: "album" })).toEqual(SUCCESS);
  expect(await run(api, "pg_track_logical_model", model)).toEqual(SUCCESS);
  const query = { root_field_name: "tunes", arguments: {}, returns: "tune", code: "select id from public.album" };
  for (const [wrong, reason] of [
    [{ code: "select nope from public.album" }, 'column "nope" does not exist'],
    [{ code: "delete from public.album returning id" }, "syntax error"],
    [{ code: "select title from public.album" }, "column _q.id does not exist"],
    [{ root_field_name: "album" }, "a table or function has that name in GraphQL"],
  ] as const) {
    const answer = await run(api, "pg_track_native_query", { ...query, ...wrong });
    expect([wrong, answer.code, answer.error]).toEqual([
      wrong,
      "invalid-configuration",
      expect.stringContaining(reason),
    ]);
  }
  expect(await run(api, "pg_track_native_query", query)).toEqual(SUCCESS);
  expect(await run(api, "pg_track_logical_model", { ...model, name: "album" })).toMatchObject({
    code: "invalid-configuration",
  });
  expect(await run(api, "get_inconsistent_metadata")).toEqual({ is_consistent: true, inconsistent_objects: [] });
  // This includes replacing all metadata, and changes of the database.
  const native = (extraKeys: Entry): Entry =>
    buildMetadataDocument(
      [table("album")],
      {},
      { native_queries: [{ ...query, ...extraKeys }], logical_models: [model] },
    );
  const replacement = { allow_inconsistent_metadata: true, metadata: native({ code: "select nope" }) };
  expect(await run(api, "replace_metadata", replacement, { version: 2 })).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ type: "native_query", name: "native_query tunes" }],
  });
  expect(await run(api, "replace_metadata", native({ code: "select nope" }))).toMatchObject({ code: "unexpected" });
  await api.close();
});

test("P-HAS-4 G-NAM-3 G-MET-12a a table or function without a valid GraphQL name is inconsistent until it has one", async () => {
  await database.query(`create table public."Odd Table" (id int primary key); create schema al; create table al.bum (id int primary key);
    create table public.al_bum (id int primary key);
    create function public."odd one"() returns setof public.al_bum stable language sql as 'select * from public.al_bum'`);
  const api = await start(temporaryFolder(EMPTY));
  const rejection = await run(api, "pg_track_table", { table: "Odd Table" });
  expect([rejection.code, rejection.error]).toEqual([
    "invalid-configuration",
    'Inconsistent object: the table "Odd Table" has no fields in GraphQL: "Odd Table" is not a valid GraphQL name: set custom_name',
  ]);
  const configuration = { custom_name: "odd_table" };
  expect(await run(api, "pg_track_table", { table: "Odd Table", configuration })).toEqual(SUCCESS);
  expect(await api.gql("{ odd_table { id } }")).toEqual({ data: { odd_table: [] } });
  expect(await run(api, "pg_track_table", { table: "al_bum" })).toEqual(SUCCESS);
  const secondTrack = await run(api, "pg_track_table", { table: { schema: "al", name: "bum" } });
  expect([secondTrack.code, secondTrack.error]).toEqual([
    "invalid-configuration",
    expect.stringContaining('the table public.al_bum has the name "al_bum" too: set custom_name'),
  ]);
  expect(await run(api, "pg_track_function", { function: "odd one" })).toMatchObject({
    code: "invalid-configuration",
    error: expect.stringContaining("set custom_name"),
  });
  expect(await run(api, "get_inconsistent_metadata")).toEqual({ is_consistent: true, inconsistent_objects: [] });
  await api.close();
  const loadedApi = await start(buildMetadataDocument([table("Odd Table")]));
  expect(await run(loadedApi, "get_inconsistent_metadata")).toMatchObject({
    is_consistent: false,
    inconsistent_objects: [{ type: "table", reason: expect.stringContaining("set custom_name") }],
  });
  await loadedApi.close();
});

test("P-HAS-4 an error of a bulk names the position of its command and links to no other documentation", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const bulk = async (...last: readonly [string, Entry]) =>
    run(api, "bulk", [
      { type: "pg_track_table", args: { table: "album" } },
      { type: "pg_create_select_permission", args: { table: "album", role: "r", permission: fullPermission } },
      {
        type: "bulk",
        args: [
          { type: "pg_track_table", args: { table: "artist" } },
          { type: last[0], args: last[1] },
        ],
      },
      { type: "pg_track_table", args: { table: "song" } },
    ]);
  const path = "$.args[2].args[1].args";
  const permission = { columns: ["nothing"], filter: {} };
  expect(await bulk("pg_create_select_permission", { table: "artist", role: "r", permission })).toMatchObject({
    path,
    code: "invalid-configuration",
  });
  expect(await bulk("pg_track_table", { table: "nowhere" })).toMatchObject({ path, code: "invalid-configuration" });
  expect(await bulk("pg_drop_select_permission", { table: "artist", role: "r" })).toMatchObject({
    path,
    code: "permission-denied",
  });
  const unreadError = await bulk("pg_create_select_permission", { table: "artist", role: "r" });
  expect(unreadError).toMatchObject({ path, code: "parse-failed" });
  expect(unreadError.error).not.toContain("http");
  await api.close();
});

test("P-HAS-4a in a bulk, a lenient replacement does not make the other commands lenient", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const replacement = (name: string, isLenient: boolean) => ({
    type: "replace_metadata",
    args: { metadata: buildMetadataDocument([table(name)]), allow_inconsistent_metadata: isLenient },
  });
  const track = (name: string) => ({ type: "pg_track_table", args: { table: name } });
  const lenient = replacement("nowhere", true);
  const before = await run(api, "export_metadata");
  for (const type of ["bulk", "bulk_atomic"]) {
    expect(await run(api, type, [lenient, track("missing")])).toMatchObject({
      path: "$.args[1].args",
      code: "invalid-configuration",
    });
    expect(await run(api, type, [track("missing"), lenient])).toMatchObject({ code: "invalid-configuration" });
    expect(await run(api, type, [replacement("missing", false), lenient])).toMatchObject({ code: "unexpected" });
    expect(await run(api, "export_metadata")).toEqual(before);
  }
  expect(await run(api, "bulk", [lenient, track("album")])).toEqual([SUCCESS, SUCCESS]);
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([table("album"), table("nowhere")]);
  expect(await run(api, "get_inconsistent_metadata")).toMatchObject({ inconsistent_objects: [{ type: "table" }] });
  await api.close();
});

test("P-HAS-10 an export is sorted, whatever the order of the metadata", async () => {
  const metadataText = JSON.stringify({
    version: 3,
    sources: [
      {
        name: "default",
        kind: "postgres",
        tables: [
          {
            table: "artist",
            array_relationships: [
              { name: "works", using: { foreign_key_constraint_on: { table: "album", columns: ["artist_id"] } } },
              {
                name: "records",
                using: { manual_configuration: { remote_table: "album", column_mapping: { id: "artist_id" } } },
              },
            ],
            update_permissions: [
              { role: "b", permission: { columns: ["name"], filter: {} } },
              { role: "a", permission: { columns: ["name"], filter: {}, check: {} } },
            ],
          },
          {
            table: "album",
            object_relationships: [{ name: "artist", using: { foreign_key_constraint_on: ["artist_id"] } }],
          },
        ],
        functions: [{ function: "search_albums" }],
      },
    ],
    inherited_roles: [
      { role_name: "z", role_set: ["a"] },
      { role_name: "y", role_set: ["a", "b"] },
    ],
  });
  const folder = temporaryFolder({ "metadata.json": metadataText });
  const api = await start(join(folder, "metadata.json"));
  expect(await run(api, "export_metadata")).toEqual({
    version: 3,
    sources: [
      {
        name: "default",
        kind: "postgres",
        tables: [
          table("album", {
            object_relationships: [{ name: "artist", using: { foreign_key_constraint_on: "artist_id" } }],
          }),
          table("artist", {
            array_relationships: [
              {
                name: "records",
                using: {
                  manual_configuration: {
                    remote_table: album,
                    column_mapping: { id: "artist_id" },
                    insertion_order: null,
                  },
                },
              },
              { name: "works", using: { foreign_key_constraint_on: { table: album, column: "artist_id" } } },
            ],
            update_permissions: [
              { role: "a", permission: { columns: ["name"], filter: {}, check: {} } },
              { role: "b", permission: { columns: ["name"], filter: {}, check: null } },
            ],
          }),
        ],
        functions: [{ function: { schema: "public", name: "search_albums" } }],
      },
    ],
    inherited_roles: [
      { role_name: "y", role_set: ["a", "b"] },
      { role_name: "z", role_set: ["a"] },
    ],
  });
  expect(await readFile(join(folder, "metadata.json"), "utf8")).toBe(metadataText);
  await api.close();
});

test("P-HAS-9 invalid commands have the errors of the dialect", async () => {
  const api = await start(temporaryFolder(EMPTY));
  await run(api, "pg_track_tables", { tables: ["artist", "album"] });
  const relationship = { table: "album", name: "artist", using: { foreign_key_constraint_on: "artist_id" } };
  const grant = { table: "album", role: "r", permission: fullPermission };
  expect(await run(api, "pg_create_object_relationship", relationship)).toEqual(SUCCESS);
  expect(await run(api, "pg_create_insert_permission", { ...grant, permission: { check: {} } })).toEqual(SUCCESS);
  const errors: (readonly [string, unknown, string, string])[] = [
    [
      "pg_create_object_relationship",
      relationship,
      "already-exists",
      'field with name "artist" already exists in table "album"',
    ],
    ["pg_drop_relationship", { table: "album", relationship: "x" }, "not-exists", 'relationship "x" does not exist'],
    [
      "pg_create_insert_permission",
      { ...grant, permission: { check: {} } },
      "already-exists",
      'insert permission already defined on table "album" with role "r"',
    ],
    [
      "pg_drop_select_permission",
      { table: "album", role: "r" },
      "permission-denied",
      'select permission on "album" for role "r" does not exist',
    ],
    [
      "pg_set_table_is_enum",
      { table: "team", is_enum: true },
      "not-exists",
      'table "team" does not exist in source: default',
    ],
    ["pg_untrack_function", { function: "f" }, "not-exists", 'function "f" does not exist in source: default'],
    [
      "pg_drop_relationship",
      { relationship: "x" },
      "parse-failed",
      `Error when parsing command drop_relationship.\nInternal error message: key "table" not found`,
    ],
  ];
  const collection = { name: "c", definition: { queries: [{ name: "q", query: "{ album { id } }" }] } };
  expect(await run(api, "create_query_collection", collection)).toEqual(SUCCESS);
  const query = { collection_name: "c", query_name: "q", query: "{ artist { id } }" };
  errors.push(
    ["create_query_collection", collection, "already-exists", 'query collection with name "c" already exists'],
    ["add_query_to_collection", query, "already-exists", 'query with name "q" already exists in collection "c"'],
    [
      "drop_query_from_collection",
      { ...query, query_name: "x" },
      "not-found",
      'query with name "x" not found in collection "c"',
    ],
    ["add_collection_to_allowlist", { collection: "x" }, "not-exists", 'query collection with name "x" does not exist'],
  );
  for (const [type, args, code, error] of errors)
    expect(await run(api, type, args)).toMatchObject({ path: "$.args", code, error });
  await api.close();
});

test("P-HAS-4 dependent objects are dropped only with cascade, and a failing bulk changes nothing unless keep-going is set", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const make = [
    { type: "pg_track_table", args: { table: "artist" } },
    { type: "pg_track_table", args: { table: "album" } },
    {
      type: "pg_create_object_relationship",
      args: { table: "album", name: "artist", using: { foreign_key_constraint_on: "artist_id" } },
    },
  ];
  expect(await run(api, "bulk", make)).toEqual([SUCCESS, SUCCESS, SUCCESS]);
  const failure = await run(api, "pg_untrack_table", { table: "artist" });
  expect(failure.code).toBe("dependency-error");
  expect(failure.error).toBe(
    'cannot drop due to the following dependent objects: relationship album.artist in source "default"',
  );
  expect(await run(api, "pg_untrack_table", { table: "artist", cascade: true })).toEqual(SUCCESS);
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([table("album")]);
  const commands = [
    { type: "pg_track_table", args: { table: "artist" } },
    { type: "pg_drop_relationship", args: { table: "album", relationship: "none" } },
    { type: "pg_track_table", args: { table: "nowhere" } },
  ];
  expect(await run(api, "bulk", commands)).toMatchObject({ code: "not-exists", path: "$.args[1].args" });
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([table("album")]);
  const results = await run(api, "bulk_keep_going", commands);
  expect(results.map(({ message, code }: Entry) => message ?? code)).toEqual([
    "success",
    "not-exists",
    "invalid-configuration",
  ]);
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([table("album"), table("artist")]);
  await api.close();
});

test("P-HAS-3 an outdated version is rejected, and concurrent changes run in sequence", async () => {
  const api = await start(temporaryFolder(EMPTY));
  const { resource_version: version } = await run(api, "export_metadata", {}, { version: 2 });
  const args = { metadata: buildMetadataDocument([table("artist")]) };
  expect(await run(api, "replace_metadata", args, { resource_version: version })).toEqual(SUCCESS);
  const lateAnswer = await send(api, { type: "replace_metadata", args, resource_version: version });
  expect([lateAnswer.status, lateAnswer.json().code]).toEqual([409, "conflict"]);
  const names = ["album", "team", "search_albums"];
  const answers = await Promise.all(names.map((name) => run(api, "pg_track_table", { table: name })));
  expect(answers.map(({ message, code }) => message ?? code)).toEqual(["success", "success", "invalid-configuration"]);
  expect((await run(api, "export_metadata")).sources[0].tables).toHaveLength(3);
  await api.close();
});

test("P-HAS-5 unchanged files keep their text, and no name leads out of the folder", async () => {
  const folder = temporaryFolder({
    "version.yaml": "version: 3\n",
    "databases/databases.yaml": "- name: default\n  kind: postgres\n  tables: !include default/tables/tables.yaml\n",
    "databases/default/tables/tables.yaml": "- !include public_artist.yaml\n- !include public_team.yaml\n",
    "databases/default/tables/public_artist.yaml": "# who\ntable: { schema: public, name: artist }\n",
    "databases/default/tables/public_team.yaml": "table: { schema: public, name: team }\n",
    "notes.yaml": "not: ours\n",
  });
  const api = await start(folder);
  expect(await run(api, "pg_untrack_table", { table: "team" })).toEqual(SUCCESS);
  expect(await readFile(join(folder, "databases/default/tables/public_artist.yaml"), "utf8")).toBe(
    "# who\ntable: { schema: public, name: artist }\n",
  );
  expect(await filesIn(folder)).toEqual([
    "databases/databases.yaml",
    "databases/default/tables/public_artist.yaml",
    "databases/default/tables/tables.yaml",
    "notes.yaml",
    "version.yaml",
  ]);
  const hostile = ["..", "../../../evil", "/etc/evil", "Artist", "artist", "x".repeat(500)].map((name) =>
    table("x", { table: { schema: "public", name } }),
  );
  const metadata = buildMetadataDocument(hostile, {}, { name: "../up" });
  const answer = await run(api, "replace_metadata", { metadata, allow_inconsistent_metadata: true }, { version: 2 });
  expect(answer.is_consistent).toBe(false);
  expect(await run(api, "export_metadata")).toEqual(metadata);
  expect((await filesIn(folder)).filter((name) => !name.startsWith("databases/"))).toEqual([
    "notes.yaml",
    "version.yaml",
  ]);
  const texts: readonly Entry[] = [{ comment: "!include ../../../etc/passwd" }];
  for (const configuration of texts) {
    const rejection = await run(api, "replace_metadata", buildMetadataDocument([table("artist", { configuration })]));
    expect(rejection).toMatchObject({ code: "not-supported" });
  }
  // The database does not accept the name.
  const nul = await run(api, "replace_metadata", {
    metadata: buildMetadataDocument([table("a\u0000b")]),
    allow_inconsistent_metadata: true,
  });
  expect(nul.error).toBeDefined();
  const unknown = await run(api, "replace_metadata", buildMetadataDocument([table("artist")], { of_my_own: 1 }));
  expect(unknown).toMatchObject({ code: "not-supported" });
  expect(await run(api, "export_metadata")).toEqual(metadata);
  await api.close();
});

test("P-HAS-5 a single file keeps its format, mode and digits, and version 2 becomes version 3", async () => {
  const folder = temporaryFolder({
    "metadata.json": '{"resource_version": 4, "metadata": {"version": 2, "tables": [{"table": "artist"}]}}',
    "metadata.yaml": "version: 3\nsources: []\n",
  });
  const path = join(folder, "metadata.json");
  const api = await start(path);
  const filter = '{"columns":"*","filter":{"price":{"_gt":9007199254740993.50}}}';
  const body = `{"type":"bulk","args":[{"type":"pg_track_table","args":{"table":"album"}},{"type":"pg_create_select_permission","args":{"table":"album","role":"reader","permission":${filter}}}]}`;
  const answer = await api.post("/v1/metadata", {
    body,
    headers: { ...asAdmin(), "content-type": "application/json" },
  });
  expect(answer.json()).toEqual([SUCCESS, SUCCESS]);
  const text = await readFile(path, "utf8");
  expect(text).toContain('"_gt": 9007199254740993.50');
  expect(JSON.parse(text)).toMatchObject({
    resource_version: 5,
    metadata: { version: 3, sources: [{ name: "default" }] },
  });
  expect((await send(api, { type: "export_metadata" })).text).toContain("9007199254740993.50");
  await api.close();
  const yamlApi = await start(join(folder, "metadata.yaml"));
  expect(await run(yamlApi, "pg_track_table", { table: "artist" })).toEqual(SUCCESS);
  expect(await readFile(join(folder, "metadata.yaml"), "utf8")).toContain("name: artist\n");
  expect(await filesIn(folder)).toEqual(["metadata.json", "metadata.yaml"]);
  await yamlApi.close();
});

test("P-HAS-5 metadata that the program provides can be read and not changed", async () => {
  const memoryApi = await start(buildMetadataDocument([table("artist")]));
  const answer = await run(memoryApi, "pg_track_table", { table: "album" });
  expect(answer).toEqual({
    path: "$",
    error: "the metadata cannot be changed here: the program gives it as an object",
    code: "not-supported",
  });
  expect(await run(memoryApi, "export_metadata")).toEqual(buildMetadataDocument([table("artist")]));
  await memoryApi.close();
  const emptyApi = await startApi(forGraphql({ preset: plus }));
  expect(await run(emptyApi, "pg_track_table", { table: "album" })).toMatchObject({ code: "not-supported" });
  expect(await run(emptyApi, "export_metadata")).toEqual({ version: 3, sources: [] });
  await emptyApi.close();
});

test("P-HAS-5 a write that a process has begun is finished by the next process", async () => {
  const folder = temporaryFolder({
    "version.yaml": "version: 3\n",
    "databases/databases.yaml": "- { name: default, kind: postgres, tables: [] }\n",
    ".metadata-journal.json": JSON.stringify([
      { path: "databases/databases.yaml", text: "- { name: default, kind: postgres, tables: [{ table: artist }] }\n" },
      { path: "databases/old.yaml" },
    ]),
    "databases/old.yaml": "[]\n",
  });
  const api = await start(folder);
  expect((await run(api, "export_metadata")).sources[0].tables).toEqual([table("artist")]);
  expect(await filesIn(folder)).toEqual(["databases/databases.yaml", "version.yaml"]);
  await api.close();
});

test("P-HAS-3 P-HAS-5 other processes with the folder serve changed metadata", async ({ skip }) => {
  if (database.options.databaseUrl === undefined) skip("an embedded database has one process");
  const folder = temporaryFolder(EMPTY);
  const [firstApi, secondApi] = await Promise.all([start(folder), start(folder)]);
  const names = ["artist", "album", "team"];
  const answers = await Promise.all(
    names.map((name, i) => run(i === 1 ? secondApi : firstApi, "pg_track_table", { table: name })),
  );
  expect(answers).toEqual([SUCCESS, SUCCESS, SUCCESS]);
  expect((await run(firstApi, "export_metadata")).sources[0].tables).toHaveLength(3);
  for (const api of [firstApi, secondApi]) {
    const servedRows = async (): Promise<any> =>
      (await api.gql("{ artist(limit: 1) { id } album(limit: 1) { id } team(limit: 1) { id } }")).data;
    await until(async () => (await servedRows()) !== undefined, "all three tables are served");
    expect((await servedRows()).artist).toEqual([{ id: 1 }]);
  }
  await Promise.all([firstApi.close(), secondApi.close()]);
});

test("P-HAS-9b arguments that a command does not read are in the log once", async () => {
  const log: [string, unknown][] = [];
  const warn = (line: string, fields: unknown): void => void log.push([line, fields]);
  const api = await start(temporaryFolder(EMPTY), {
    logger: createLogger({ warn }),
  });
  const misspelt = { table: "album", configuraton: {}, cascade: false };
  expect(await run(api, "bulk", [{ type: "pg_track_table", args: misspelt }])).toEqual([SUCCESS]);
  const limits = { disabled: false, rate_limit: { global: { unique_params: null, max_reqs_per_min: 1000 } } };
  expect(await run(api, "set_api_limits", limits)).toEqual(SUCCESS);
  const warningText = "a metadata command has an unknown argument; ignored";
  expect(log.filter(([line]) => line === warningText)).toEqual([
    [warningText, { type: "pg_track_table", path: "$.args[0].args.configuraton" }],
  ]);
});
