/** Metadata of all forms: folders, files, versions, entries that are left out and logged, and reading it again. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { openSocket } from "../support/socket.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
  type MetadataWarnings,
  fullPermission,
} from "../support/metadata-document.ts";
import { fetchSchema } from "../support/schema.ts";
import { temporaryFile, temporaryFolder } from "../support/temporary-files.ts";

const database = await testDatabase();

const start = async (
  metadata: string | Entry,
  noteLog: MetadataWarnings = collectWarnings(),
  overrides: Entry = {},
): Promise<{ readonly api: TestApi; readonly notes: MetadataWarnings }> => ({
  api: await startApi(forGraphql({ metadata, logger: noteLog.logger, ...overrides })),
  notes: noteLog,
});

const fetchRootFields = async (api: TestApi, role?: string): Promise<readonly string[]> =>
  Object.keys((await fetchSchema(api, role)).members("query_root"));

const ALBUM = `
table: { schema: public, name: album }
configuration:
  custom_name: record_of_album
object_relationships:
  - name: maker
    using: { foreign_key_constraint_on: artist_id }
select_permissions:
  - role: reader
    permission: !include ../../../permissions/reader.yaml
`;

const FOLDER = {
  "version.yaml": "version: 3\n",
  "databases/databases.yaml": `
- name: default
  kind: postgres
  configuration: { connection_info: { database_url: "postgres://nobody@nowhere/none" } }
  tables: "!include default/tables/tables.yaml"
  functions: "!include default/functions/functions.yaml"
`,
  "databases/default/tables/tables.yaml": '- "!include public_album.yaml"\n- "!include public_artist.yaml"\n',
  "databases/default/tables/public_album.yaml": ALBUM,
  "databases/default/tables/public_artist.yaml": "table: artist\n",
  "databases/default/functions/functions.yaml": '- "!include public_search_albums.yaml"\n',
  "databases/default/functions/public_search_albums.yaml": "function: { schema: public, name: search_albums }\n",
  "permissions/reader.yaml": "columns: [id, title]\nfilter: { id: { _gt: 3 } }\n",
  "inherited_roles.yaml": "- role_name: heir\n  role_set: [reader]\n",
  "graphql_schema_introspection.yaml": "disabled_for_roles: [heir]\n",
  "actions.yaml": "actions: []\ncustom_types: { enums: [], input_objects: [], objects: [], scalars: [] }\n",
  "cron_triggers.yaml": "[]\n",
  "network.yaml": "{}\n",
};

test("G-MET-2 a folder of metadata is read with nested and tagged includes", async () => {
  const { api, notes: noteLog } = await start(temporaryFolder(FOLDER));
  expect(await fetchRootFields(api)).toEqual(expect.arrayContaining(["artist", "record_of_album", "search_albums"]));
  expect(await api.gql("{ record_of_album(where: {id: {_eq: 3}}) { maker { name } } }")).toEqual({
    data: { record_of_album: [{ maker: { name: "Bjork" } }] },
  });
  expect(await api.gql("{ record_of_album(order_by: {id: asc}) { id title } }", {}, asAdmin("heir"))).toEqual({
    data: {
      record_of_album: [
        { id: 4, title: "Tago Mago" },
        { id: 5, title: "Future Days" },
      ],
    },
  });
  expect((await api.gql("{ __schema { queryType { name } } }", {}, asAdmin("heir"))).errors[0]).toMatchObject({
    message: 'introspection is disabled for role: "heir"',
    extensions: { code: "not-supported" },
  });
  expect(noteLog.all()).toEqual([]);
  await api.close();
});

test("G-MET-14 collections, the allow list and endpoints of a folder are read", async () => {
  const folder = temporaryFolder({
    ...FOLDER,
    "query_collections.yaml": `
- name: shop
  definition:
    queries:
      - { name: one, query: "query ($id: Int!) { record_of_album_by_pk(id: $id) { title } }" }
`,
    "allow_list.yaml": "- collection: shop\n",
    "rest_endpoints.yaml": `
- name: one
  url: albums/:id
  methods: [GET]
  definition: { query: { collection_name: shop, query_name: one } }
`,
  });
  const { api, notes: noteLog } = await start(folder, collectWarnings(), { enableAllowlist: true });
  const answer = await api.get("/api/rest/albums/4", { headers: asAdmin("reader") });
  expect(answer.json()).toEqual({ record_of_album_by_pk: { title: "Tago Mago" } });
  const rejection = await api.gql("{ record_of_album { id } }", {}, asAdmin("reader"));
  expect(rejection.errors[0].message).toBe("query is not allowed");
  expect(noteLog.all()).toEqual([]);
  await api.close();
});

test("G-MET-2 files outside the folder and cyclic includes are rejected", async () => {
  const outsideFolder = temporaryFolder({
    ...FOLDER,
    "databases/default/tables/tables.yaml": '- "!include ../../../../outside.yaml"\n',
  });
  await expect(start(outsideFolder)).rejects.toThrow("is outside the metadata folder");
  const circle = temporaryFolder({
    ...FOLDER,
    "databases/default/tables/public_artist.yaml": '["!include tables.yaml", "!include tables.yaml"]\n',
  });
  await expect(start(circle)).rejects.toThrow("which includes it in turn");
});

const single = buildMetadataDocument([
  table("album", { select_permissions: permissions({ reader: { columns: ["id"], filter: {} } }) }),
]);

test("G-MET-1 one file of JSON or YAML is read, also with the envelope of an export", async () => {
  const folder = temporaryFolder({
    "plain.json": JSON.stringify(single),
    "export.json": JSON.stringify({ resource_version: 12, metadata: single }),
    "plain.yaml":
      "version: 3\nsources:\n  - name: default\n    kind: postgres\n    tables:\n      - table: { name: album, schema: public }\n        select_permissions:\n          - { role: reader, permission: { columns: [id], filter: {} } }\n",
  });
  for (const name of ["plain.json", "export.json", "plain.yaml"]) {
    const { api } = await start(join(folder, name));
    expect(await fetchRootFields(api, "reader"), name).toEqual(["album", "album_by_pk"]);
    await api.close();
  }
});

test("G-MET-3 version 2 is read as an object and as a folder", async () => {
  const tables = [
    {
      table: { schema: "public", name: "album" },
      configuration: { custom_root_fields: { select: "records" }, custom_column_names: { title: "heading" } },
    },
  ];
  const { api } = await start({
    version: 2,
    tables,
    functions: [{ function: { schema: "public", name: "search_albums" } }],
  });
  expect(await fetchRootFields(api)).toEqual(expect.arrayContaining(["records", "search_albums"]));
  expect(await api.gql("{ records(where: {id: {_eq: 1}}) { heading } }")).toEqual({
    data: { records: [{ heading: "Arrival" }] },
  });
  await api.close();
  const folder = await start(
    temporaryFolder({
      "version.yaml": "version: 2\n",
      "tables.yaml": "- table: { schema: public, name: artist }\n",
      "functions.yaml": "[]\n",
    }),
  );
  expect(await fetchRootFields(folder.api)).toEqual(["artist", "artist_aggregate", "artist_by_pk"]);
  await folder.api.close();
});

test("G-MET-3 other versions stop the start", async () => {
  await expect(start({ version: 1, tables: [] })).rejects.toThrow("metadata has version 1: versions 2 and 3 are read");
  await expect(start(temporaryFolder({ "version.yaml": "version: 4\n" }))).rejects.toThrow("metadata has version 4");
});

test("G-MET-4 the first source of kind postgres is served, and the others are logged", async () => {
  const { api, notes: noteLog } = await start({
    version: 3,
    sources: [
      { name: "lake", kind: "mssql", tables: [table("artist")] },
      {
        name: "main",
        kind: "postgres",
        tables: [table("album")],
        configuration: { connection_info: { database_url: { from_env: "NOWHERE" } } },
      },
      { name: "more", kind: "postgres", tables: [table("artist")] },
    ],
  });
  expect(await fetchRootFields(api)).toEqual(["album", "album_aggregate", "album_by_pk"]);
  expect(noteLog.all()).toEqual([
    expect.stringMatching(/^source lake is skipped/),
    expect.stringMatching(/^source more is skipped/),
  ]);
  await api.close();
});

const UNSERVED_KEYS = [
  "actions",
  "custom_types",
  "remote_schemas",
  "remote_schema_permissions",
  "query_collections",
  "allowlist",
  "rest_endpoints",
  "cron_triggers",
  "network",
  "api_limits",
  "metrics_config",
  "opentelemetry",
  "backend_configs",
];

const UNSERVED_PARTS = [
  "trusted-documents",
  "rest-endpoints",
  "api-limits",
  "rate-limits",
  "row-limits",
  "cost-limits",
].map(without);

test("G-MET-5 entries that are not served are read and logged once each unless they are empty", async () => {
  const { api, notes: noteLog } = await start(
    buildMetadataDocument(
      [table("album", { event_triggers: [{ name: "e" }], remote_relationships: [{ name: "r" }] })],
      Object.fromEntries(UNSERVED_KEYS.map((key) => [key, [{ name: "x" }]])),
      { native_queries: [{ name: "q" }], logical_models: [{ name: "m" }], stored_procedures: [{ name: "s" }] },
    ),
    collectWarnings(),
    { parts: UNSERVED_PARTS },
  );
  for (const key of [
    ...UNSERVED_KEYS,
    "native_queries",
    "logical_models",
    "stored_procedures",
    "event_triggers",
    "remote_relationships",
  ])
    expect(
      noteLog.all().filter((note) => note.includes(`${key} is not supported; ignored`)),
      key,
    ).toHaveLength(1);
  await api.close();
  const empty = await start(
    buildMetadataDocument([table("album")], Object.fromEntries(UNSERVED_KEYS.map((key) => [key, []]))),
  );
  expect(empty.notes.all()).toEqual([]);
  await empty.api.close();
});

test("G-MET-6 unknown keys are ignored and logged with their position", async () => {
  const { api, notes: noteLog } = await start(
    buildMetadataDocument(
      [
        table("album", {
          colour: "red",
          configuration: { shape: "round", custom_root_fields: { select_all: "x" } },
          select_permissions: permissions({ reader: { ...fullPermission, because: "so" } }),
        }),
      ],
      { mood: "good" },
      { weather: "fair", functions: [{ function: "search_albums", configuration: { speed: 1 } }] },
    ),
  );
  expect(noteLog.all()).toEqual(
    expect.arrayContaining([
      'unknown key "mood"; ignored',
      'source: unknown key "weather"; ignored',
      'table album: unknown key "colour"; ignored',
      'table album: configuration: unknown key "shape"; ignored',
      'table album: custom_root_fields: unknown key "select_all"; ignored',
      'table album: select permission of reader: unknown key "because"; ignored',
      'function search_albums: configuration: unknown key "speed"; ignored',
    ]),
  );
  expect(await fetchRootFields(api, "reader")).toContain("album");
  await api.close();
});

test("G-MET-6 unreadable and malformed files stop the start, with file, line and column", async () => {
  const bad = temporaryFolder({
    ...FOLDER,
    "databases/default/tables/public_artist.yaml": "table: artist\nconfiguration: {a: [}\n",
  });
  await expect(start(bad)).rejects.toThrow(/public_artist\.yaml:2:\d+ cannot be read/);
  const json = temporaryFolder({ "metadata.json": '{"version": 3,\n  "sources": [}' });
  await expect(start(join(json, "metadata.json"))).rejects.toThrow(/metadata\.json:2:\d+ cannot be read/);
  const incompleteFolder = temporaryFolder({
    ...FOLDER,
    "databases/default/tables/tables.yaml": '- "!include nothing.yaml"\n',
  });
  await expect(start(incompleteFolder)).rejects.toThrow(/nothing\.yaml cannot be read/);
  await expect(start(join(incompleteFolder, "elsewhere"))).rejects.toThrow("no such file or folder");
  await expect(start(temporaryFolder({ "tables.yaml": "[]" }))).rejects.toThrow("the folder has no version.yaml");
});

/** Nine levels of nine aliases each: `a` is one value of nine to the ninth. */
const bomb = `x:\n${Array.from({ length: 9 }, (_, i) => `  ${"ihgfedcba"[i]}: &${"ihgfedcba"[i]} [${Array.from({ length: 9 }, () => (i === 0 ? "lol" : `*${"ihgfedcba"[i - 1]}`)).join()}]`).join("\n")}\n`;

test("G-MET-6 small files that would expand to large values are rejected at once, with the file's name", async () => {
  const table = "databases/default/tables/public_artist.yaml";
  for (const text of [`table: artist\n${bomb}`, `table: ${"[".repeat(30_000)}${"]".repeat(30_000)}`])
    await expect(start(temporaryFolder({ ...FOLDER, [table]: text }))).rejects.toThrow(
      /public_artist\.yaml(?::1:\d+)? cannot be read: /,
    );
  await expect(start(temporaryFile("metadata.yaml", bomb))).rejects.toThrow(/metadata\.yaml cannot be read: /);
});

test("G-MET-6 metadata that includes too many files is rejected, and no other file is read", async () => {
  const file = (name: string, includedName: string) =>
    [`${name}.yaml`, Array.from({ length: 60 }, () => `- "!include ${includedName}.yaml"\n`).join("")] as const;
  const forest = Object.fromEntries([file("a", "b"), file("b", "c"), file("c", "d"), ["d.yaml", "1\n"]]);
  const folder = temporaryFolder({ ...forest, "metadata.yaml": 'version: 3\nsources: "!include a.yaml"\n' });
  const metadata = join(folder, "metadata.yaml");
  const includeError = /[abc]\.yaml cannot be read: the metadata includes more than 10000 files/;
  await expect(start(metadata)).rejects.toThrow(includeError);
  // Each of the five files is read once, with any number of includes.
  expect(process.getActiveResourcesInfo().filter((resource) => resource === "FSReqPromise").length).toBeLessThanOrEqual(
    5,
  );
});

test("G-MET-6 metadata with too many includes in one file is rejected before one of them is read", async () => {
  const includeLines = Array.from({ length: 10_001 }, (_, i) => `- "!include ${i}.yaml"\n`);
  const folder = temporaryFolder({ "metadata.yaml": `version: 3\nsources:\n${includeLines.join("")}` });
  // The files do not exist, so reading one would fail with another error.
  await expect(start(join(folder, "metadata.yaml"))).rejects.toThrow("includes more than 10000 files");
  expect(process.getActiveResourcesInfo().filter((resource) => resource === "FSReqPromise")).toEqual([]);
});

test("G-MET-7 metadata is read again on a reload, and the old one stays if the new one is invalid", async () => {
  const folder = temporaryFolder({ "metadata.json": JSON.stringify(single) });
  const file = join(folder, "metadata.json");
  const { api, notes: noteLog } = await start(file);
  expect(await fetchRootFields(api, "reader")).toEqual(["album", "album_by_pk"]);
  await writeFile(
    file,
    JSON.stringify(
      buildMetadataDocument([table("artist", { select_permissions: permissions({ reader: fullPermission }) })]),
    ),
  );
  await api.reload();
  expect(await fetchRootFields(api, "reader")).toEqual(["artist", "artist_by_pk"]);
  await writeFile(file, '{"version": 3, "sources": [');
  await api.reload();
  expect(await fetchRootFields(api, "reader")).toEqual(["artist", "artist_by_pk"]);
  expect(noteLog.all()).toEqual([
    expect.stringMatching(/^failed to load the new metadata; keeping the previous metadata: .*metadata\.json:1:/),
  ]);
  await writeFile(file, JSON.stringify(single));
  await api.reload();
  expect(await fetchRootFields(api, "reader")).toEqual(["album", "album_by_pk"]);
  await api.close();
});

test("G-MET-7 a caller whose role has left the metadata does not run as the login role", async () => {
  const role = `g_met_left_${process.pid}`; // roles belong to the whole cluster
  const folder = temporaryFolder({
    "metadata.json": JSON.stringify(
      buildMetadataDocument([table("album", { select_permissions: permissions({ [role]: fullPermission }) })]),
    ),
  });
  const file = join(folder, "metadata.json");
  const { api } = await start(file);
  const socket = await openSocket(api);
  await socket.init({ headers: asAdmin(role) });
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { album(limit: 1) { id } }" } });
  expect((await socket.next((message) => message.id === "1")).type).toBe("next");
  await writeFile(file, JSON.stringify(buildMetadataDocument([table("album")])));
  await api.sql(
    `create role ${role} nologin; grant usage on schema public to ${role}; grant select (id) on album to ${role}; grant ${role} to current_user`,
  );
  try {
    await api.reload();
    expect((await socket.next((message) => message.id === "1")).type).toBe("error");
    socket.send({ id: "2", type: "subscribe", payload: { query: "{ album(limit: 1) { id } }" } });
    const answer = await socket.next((message) => message.id === "2");
    expect(JSON.stringify(answer)).toContain("permission denied");
    // A new caller has the grants and the row policies of the table, none of which is for this role.
    expect((await api.gql("{ album { id } }", {}, asAdmin(role))).data.album).toEqual([]);
    expect((await api.gql("{ album { title } }", {}, asAdmin(role))).errors).toHaveLength(1);
  } finally {
    await socket.close();
    await api.close();
    await database.query(`drop owned by ${role}; drop role ${role}`);
  }
});

test("G-MET-8 custom root fields are read as names, with comments, for columns, and in older forms", async () => {
  const { api } = await start(
    buildMetadataDocument([
      table("album", {
        configuration: {
          custom_name: "record",
          comment: "Published albums",
          custom_root_fields: {
            select: "records",
            select_by_pk: { name: "the_record", comment: "One of them" },
            select_aggregate: { name: null, comment: "" },
            select_stream: "ignored",
            insert: "addRecords",
            insert_one: "addRecord",
            update: "changeRecords",
            update_by_pk: "changeRecord",
            update_many: "changeMany",
            delete: "dropRecords",
            delete_by_pk: "dropRecord",
          },
          column_config: {
            artist_id: { custom_name: "artistId", comment: "Who made it" },
            title: { custom_name: "heading" },
          },
          custom_column_names: { title: "old_heading", sold: "sales" },
        },
      }),
      table("artist_total", { logical_primary_key: ["artist_id"] }),
      table("album_title", {}),
    ]),
  );
  const schema = await fetchSchema(api);
  expect(Object.keys(schema.members("query_root"))).toEqual(
    expect.arrayContaining(["records", "the_record", "record_aggregate", "artist_total_by_pk"]),
  );
  expect(Object.keys(schema.members("query_root"))).not.toContain("album_title_by_pk");
  expect(
    Object.keys(schema.members("mutation_root"))
      .filter((name) => /record|change/i.test(name))
      .sort(),
  ).toEqual(["addRecord", "addRecords", "changeMany", "changeRecord", "changeRecords", "dropRecord", "dropRecords"]);
  expect(schema.members("record")).toMatchObject({ artistId: "Int!", heading: "String!", sales: "Int" });
  expect([
    schema.description("record"),
    schema.description("record", "artistId"),
    schema.description("query_root", "the_record"),
    schema.description("query_root", "record_aggregate"),
  ]).toEqual(["Published albums", "Who made it", "One of them", null]);
  expect(
    await api.gql("{ the_record(id: 3) { heading artistId } artist_total_by_pk(artist_id: 3) { albums } }"),
  ).toEqual({ data: { the_record: { heading: "Debut", artistId: 2 }, artist_total_by_pk: { albums: 2 } } });
  expect(
    (await api.gql('mutation { addRecord(object: {heading: "x", artistId: 99}) { id } }')).errors[0].message,
  ).toContain('"album_artist_id_fkey"');
  await api.close();
});

const manual = (name: string, remote: unknown, mapping: Entry, insertionOrder?: string): Entry => ({
  name,
  using: {
    manual_configuration: {
      remote_table: remote,
      column_mapping: mapping,
      ...(insertionOrder === undefined ? {} : { insertion_order: insertionOrder }),
    },
  },
});

test("G-MET-9 relationships of every form are read", async () => {
  const { api, notes: noteLog } = await start(
    buildMetadataDocument([
      table("album", {
        object_relationships: [
          object("maker", ["artist_id"]),
          manual("total", { schema: "public", name: "artist_total" }, { artist_id: "artist_id" }),
        ],
      }),
      table("artist", {
        array_relationships: [array("works", "album", "artist_id"), manual("namesakes", "person", { name: "name" })],
      }),
      table("artist_total"),
      table("person", {
        object_relationships: [object("pass", { table: "passport", column: "person_id" })],
        array_relationships: [array("passes", "passport", "person_id")],
      }),
      table("passport"),
      table("hall", {
        array_relationships: [
          {
            name: "shows",
            using: { foreign_key_constraint_on: { table: "concert", columns: ["hall_number", "hall_city"] } },
          },
        ],
      }),
      table("concert", { object_relationships: [object("place", ["hall_city", "hall_number"])] }),
      table("match", { object_relationships: [object("home", "home_team_id"), object("away", "away_team_id")] }),
      table("team", { array_relationships: [array("home_games", "match", "home_team_id")] }),
    ]),
  );
  expect(noteLog.all()).toEqual([]);
  const schema = await fetchSchema(api);
  expect(schema.members("album")).toMatchObject({ maker: "artist!", total: "artist_total" });
  expect(schema.members("person")).toMatchObject({ pass: "passport", passes: "[passport!]!" });
  expect(schema.members("concert")).toMatchObject({ place: "hall" });
  const answer = await api.gql(
    `{ album_by_pk(id: 4) { maker { name } total { albums } } artist_by_pk(id: 3) { works(order_by: {id: asc}) { id } namesakes { id } }
       person(order_by: {id: asc}) { pass { number } passes { number } passes_aggregate { aggregate { count } } }
       hall(order_by: {number: asc}) { shows { title place { name } } } match_by_pk(id: 1) { home { name home_games { id } } away { name } } }`,
  );
  expect(answer).toEqual({
    data: {
      album_by_pk: { maker: { name: "Can" }, total: { albums: 2 } },
      artist_by_pk: { works: [{ id: 4 }, { id: 5 }], namesakes: [] },
      person: [
        { pass: { number: "N1" }, passes: [{ number: "N1" }], passes_aggregate: { aggregate: { count: 1 } } },
        { pass: null, passes: [], passes_aggregate: { aggregate: { count: 0 } } },
        { pass: { number: "N3" }, passes: [{ number: "N3" }], passes_aggregate: { aggregate: { count: 1 } } },
      ],
      hall: [{ shows: [{ title: "Opening", place: { name: "Grand" } }] }, { shows: [] }],
      match_by_pk: { home: { name: "Reds", home_games: [{ id: 1 }, { id: 3 }] }, away: { name: "Blues" } },
    },
  });
  await api.close();
});

test("G-MET-9 columns of relationships are read in every form", async () => {
  const relationshipBy = (name: string, key: unknown): Entry => ({ name, using: { foreign_key_constraint_on: key } });
  const pair = ["hall_number", "hall_city"];
  const { api, notes: noteLog } = await start(
    buildMetadataDocument([
      table("album", { object_relationships: [relationshipBy("a", "artist_id"), relationshipBy("b", ["artist_id"])] }),
      table("artist", {
        array_relationships: ["column", "columns"].flatMap((key) => [
          relationshipBy(`${key}_text`, { table: "album", [key]: "artist_id" }),
          relationshipBy(`${key}_list`, { table: { schema: "public", name: "album" }, [key]: ["artist_id"] }),
        ]),
      }),
      table("person", {
        object_relationships: ["column", "columns"].flatMap((key) => [
          relationshipBy(`${key}_text`, { table: "passport", [key]: "person_id" }),
          relationshipBy(`${key}_list`, { table: "passport", [key]: ["person_id"] }),
        ]),
      }),
      table("passport"),
      table("hall", {
        array_relationships: [
          relationshipBy("column_list", { table: "concert", column: pair }),
          relationshipBy("columns_list", { table: "concert", columns: pair }),
        ],
      }),
      table("concert", { object_relationships: [relationshipBy("place", pair)] }),
    ]),
  );
  expect(noteLog.all()).toEqual([]);
  const schema = await fetchSchema(api);
  const types = (type: string, names: readonly string[]): readonly unknown[] =>
    names.map((name) => schema.members(type)[name]);
  const forms = ["column_text", "column_list", "columns_text", "columns_list"];
  expect(types("album", ["a", "b"])).toEqual(["artist!", "artist!"]);
  expect(types("artist", forms)).toEqual(forms.map(() => "[album!]!"));
  expect(types("person", forms)).toEqual(forms.map(() => "passport"));
  expect(types("hall", ["column_list", "columns_list"])).toEqual(["[concert!]!", "[concert!]!"]);
  expect(schema.members("concert")["place"]).toBe("hall");
  await api.close();
});

test("G-MET-9 an object relationship to several rows returns one of them", async () => {
  const { api, notes: noteLog } = await start(
    buildMetadataDocument([
      table("artist", { object_relationships: [object("any_album", { table: "album", column: "artist_id" })] }),
      table("album"),
    ]),
    collectWarnings(),
    { dbTxEnd: "rollback" },
  );
  expect(noteLog.all()).toEqual([]);
  expect((await fetchSchema(api)).members("artist")["any_album"]).toBe("album");
  const answer = await api.gql(
    '{ artist(order_by: {id: asc}) { id any_album { artist_id } } x: artist(where: {any_album: {title: {_eq: "Waterloo"}}}, order_by: {any_album: {id: asc}}) { id } }',
  );
  expect(answer).toEqual({
    data: {
      artist: [1, 2, 3, 4].map((id) => ({ id, any_album: id === 4 ? null : { artist_id: id } })),
      x: [{ id: 1 }],
    },
  });
  expect(
    await api.gql(
      'mutation { insert_artist_one(object: {name: "N", any_album: {data: {title: "t"}}}) { any_album { title } } }',
    ),
  ).toEqual({ data: { insert_artist_one: { any_album: { title: "t" } } } });
  await api.close();
});

test("G-MET-9 G-MET-12 an ambiguous foreign_key_constraint_on is logged", async () => {
  await database.query(`
    create table depot (id int primary key); create table stall (id int primary key);
    create table crate (id int primary key, place int references depot, constraint crate_stall foreign key (place) references stall, half int references depot, constraint half_again foreign key (half) references depot);
    create view crate_view as select * from crate`);
  const relationshipBy = (name: string, key: unknown, manual?: unknown): Entry => ({
    name,
    using: { foreign_key_constraint_on: key, ...(manual === undefined ? {} : { manual_configuration: manual }) },
  });
  const { api, notes: noteLog } = await start(
    buildMetadataDocument([
      table("crate", {
        object_relationships: [
          relationshipBy("none", []),
          relationshipBy("number", 5),
          relationshipBy("mixed", ["place", 5]),
          relationshipBy("unknown", ["place", "nothing"]),
          relationshipBy("no_key", ["id"]),
          relationshipBy("too_many", ["place", "half"]),
          relationshipBy("two_keys", "place"),
          relationshipBy("same_key_twice", "half"),
          relationshipBy("no_table", { column: "place" }),
          relationshipBy("both", "half", { remote_table: "depot", column_mapping: { id: "id" } }),
        ],
        array_relationships: [relationshipBy("own", "half"), relationshipBy("own_list", ["half"])],
      }),
      table("depot", {
        array_relationships: [
          relationshipBy("no_columns", { table: "crate" }),
          relationshipBy("empty", { table: "crate", columns: [] }),
          relationshipBy("unknown", { table: "crate", columns: ["nothing"] }),
          relationshipBy("no_such", { table: "nowhere", columns: ["place"] }),
          relationshipBy("other", { table: "crate", column: "id" }),
          relationshipBy("crates", { table: "crate", columns: "half" }),
        ],
      }),
    ]),
  );
  expect(noteLog.all()).toEqual([
    "table crate: object relationship none: it names no columns",
    "table crate: object relationship number: it names no table",
    "table crate: object relationship mixed: it names no columns",
    'table crate: object relationship unknown: column "nothing" does not exist',
    'table crate: object relationship no_key: no foreign key has exactly the columns "id"',
    'table crate: object relationship too_many: no foreign key has exactly the columns "place", "half"',
    'table crate: object relationship two_keys: several foreign keys have exactly the columns "place"',
    "table crate: object relationship no_table: it names no table",
    "table crate: object relationship both: it has both foreign_key_constraint_on and manual_configuration",
    "table crate: array relationship own: it names no table",
    "table crate: array relationship own_list: it names no table",
    "table depot: array relationship no_columns: it names no columns",
    "table depot: array relationship empty: it names no columns",
    'table depot: array relationship unknown: column "nothing" of table "crate" does not exist',
    'table depot: array relationship no_such: table "nowhere" does not exist',
    'table depot: array relationship other: table "crate" has no foreign key of "id" to this one',
  ]);
  expect((await fetchSchema(api)).members("crate")).toMatchObject({ same_key_twice: "depot" });
  await api.close();
  await database.query("drop view crate_view; drop table crate, depot, stall");
});

test("G-MET-9 G-NST-9 manual relationships choose the order of inserts", async () => {
  await database.query(
    "create table leader (id serial primary key, tag text); create table follower (id serial primary key, leader_tag text, note text)",
  );
  const startOrdered = (order?: string) =>
    start(
      buildMetadataDocument([
        table("leader", { object_relationships: [manual("follower", "follower", { tag: "leader_tag" }, order)] }),
        table("follower"),
      ]),
      collectWarnings(),
      { dbTxEnd: "rollback" },
    );
  const insert = (api: TestApi, leader: string, follower: string) =>
    api.gql(
      `mutation { insert_leader_one(object: {${leader} follower: {data: {${follower}}}}) { tag follower { leader_tag note } } }`,
    );
  const after = await startOrdered("after_parent");
  expect(await insert(after.api, 'tag: "a"', 'note: "n"')).toEqual({
    data: { insert_leader_one: { tag: "a", follower: { leader_tag: "a", note: "n" } } },
  });
  await after.api.close();
  for (const order of ["before_parent", undefined]) {
    const before = await startOrdered(order);
    expect(await insert(before.api, "", 'note: "n", leader_tag: "b"')).toEqual({
      data: { insert_leader_one: { tag: "b", follower: { leader_tag: "b", note: "n" } } },
    });
    await before.api.close();
  }
  await database.query("drop table leader, follower");
});

test("G-MET-10 functions and their configuration are read", async () => {
  const { api } = await start(
    buildMetadataDocument(
      [table("album", { select_permissions: permissions({ reader: fullPermission }) })],
      {},
      {
        functions: [
          "search_albums",
          {
            function: { schema: "public", name: "volatile_albums" },
            configuration: { exposed_as: "query", custom_name: "shuffled", comment: "In no order" },
          },
          {
            function: "session_albums",
            configuration: {
              session_argument: "hasura_session",
              custom_root_fields: { function: "mine", function_aggregate: { name: "countMine", comment: "How many" } },
            },
          },
          { function: "sell_album", permissions: [{ role: "reader" }] },
        ],
      },
    ),
  );
  const schema = await fetchSchema(api, "reader");
  expect(Object.keys(schema.members("query_root"))).toEqual([
    "album",
    "album_by_pk",
    "mine",
    "search_albums",
    "shuffled",
  ]);
  expect(Object.keys((await fetchSchema(api)).members("query_root"))).toContain("countMine");
  expect(schema.description("query_root", "shuffled")).toBe("In no order");
  expect(schema.args("query_root", "mine")).not.toHaveProperty("args");
  expect(Object.keys(schema.members("mutation_root"))).toEqual(["sell_album"]);
  expect(await api.gql("{ mine { id } }", {}, asAdmin("reader", { "artist-id": "2" }))).toEqual({
    data: { mine: [{ id: 3 }] },
  });
  await api.close();
  const listedStart = await start(
    buildMetadataDocument(
      [table("album", { select_permissions: permissions({ reader: fullPermission, listed: fullPermission }) })],
      {},
      { functions: [{ function: "search_albums", permissions: [{ role: "listed" }] }] },
    ),
    collectWarnings(),
    { inferFunctionPermissions: false },
  );
  expect(await fetchRootFields(listedStart.api, "reader")).toEqual(["album", "album_by_pk"]);
  expect(await fetchRootFields(listedStart.api, "listed")).toEqual(["album", "album_by_pk", "search_albums"]);
  await listedStart.api.close();
});

test("G-MET-11 G-INT-9 introspection can be disabled for roles of the metadata and of the database", async () => {
  const { api } = await start(
    buildMetadataDocument(
      [table("album", { select_permissions: permissions({ reader: fullPermission, other: fullPermission }) })],
      {
        graphql_schema_introspection: { disabled_for_roles: ["reader", "music_reader"] },
      },
    ),
  );
  const look = (role: string) => api.gql("{ __schema { queryType { name } } }", {}, asAdmin(role));
  for (const role of ["reader", "music_reader"])
    expect((await look(role)).errors[0]).toEqual({
      message: `introspection is disabled for role: "${role}"`,
      extensions: { path: "$", code: "not-supported" },
    });
  for (const role of ["other", "music_editor"])
    expect((await look(role)).data.__schema.queryType.name).toBe("query_root");
  expect(await api.gql("{ album_by_pk(id: 1) { __typename } }", {}, asAdmin("music_reader"))).toEqual({
    data: { album_by_pk: { __typename: "album" } },
  });
  await api.close();
});

test("G-MET-12 invalid entries are left out separately, each logged with its position", async () => {
  const { api, notes: noteLog } = await start(
    buildMetadataDocument(
      [
        table("nothing", { select_permissions: permissions({ reader: fullPermission }) }),
        table("album", {
          is_enum: true,
          configuration: { column_config: { prize: { custom_name: "x" } } },
          object_relationships: [
            object("maker", "artist"),
            object("title", "artist_id"),
            object("artist", "artist_id"),
            object("bad name", "artist_id"),
            manual("other", "nothing", { id: "id" }),
            manual("half", "artist", { id: "nothing" }),
            manual("team", "team", { id: "id" }),
          ],
          array_relationships: [array("artist", "artist", "id"), array("tracks", "track", "album_id")],
          computed_fields: [{ name: "loud", definition: { function: "person_title" } }],
          logical_primary_key: ["nothing"],
          select_permissions: permissions({
            reader: { columns: ["id", "title", "prize"], filter: {} },
            broken: { columns: ["id"], filter: { prize: 1 } },
            endless: { columns: ["id"], filter: {}, limit: "5" },
            open: { columns: ["id"] },
          }),
          insert_permissions: permissions({ reader: { columns: ["id"] } }),
          update_permissions: permissions({ reader: { columns: ["title"], filter: {}, check: {}, set: { prize: 1 } } }),
          delete_permissions: permissions({ reader: {}, remover: { filter: {} } }),
        }),
        table("album", { select_permissions: permissions({ second: fullPermission }) }),
        table("artist"),
        table("artist_total", { insert_permissions: permissions({ reader: { check: {} } }) }),
        { name: "album" },
      ],
      { inherited_roles: [{ role_name: "heir", role_set: ["reader", "unknown"] }] },
      {
        functions: [
          "no_function",
          { function: "search_albums", configuration: { exposed_as: "mutation" } },
          { function: "live_albums", configuration: { session_argument: "nothing" } },
          { function: "scalar_answer" },
        ],
        customization: { naming_convention: "loud" },
      },
    ),
  );
  expect([...noteLog.all()].sort()).toEqual(
    [
      'table entry without a name; ignored: {"name":"album"}',
      "table nothing: does not exist in schema public; ignored",
      "table album: listed twice; using the first entry",
      "table album: it cannot be an enum table: its primary key is not of type text",
      'table album: column "prize" does not exist',
      'table album: object relationship maker: column "artist" does not exist',
      "table album: object relationship title: a column has that name",
      "table album: object relationship bad name: its name is not a valid GraphQL name",
      'table album: object relationship other: table "nothing" does not exist',
      'table album: object relationship half: column "nothing" of table "artist" does not exist',
      'table album: object relationship team: table "team" is not in the metadata',
      "table album: array relationship artist: the name is taken",
      'table album: array relationship tracks: table "track" does not exist',
      'table album: computed field loud: no function "public"."person_title" takes a row of the table',
      "table album: logical_primary_key names a column that does not exist",
      'table album: select permission of reader: column "prize" does not exist',
      'table album: select permission of broken: "prize" is neither a column nor a relationship nor a computed field of table "album"',
      'table album: select permission of endless: limit is a whole number, not "5"',
      "table album: select permission of open: it has no filter",
      "table album: insert permission of reader: it has no check",
      'table album: update permission of reader: preset column "prize" does not exist',
      "table album: delete permission of reader: it has no filter",
      "table artist_total: insert permission of reader: the database does not support this write on the relation",
      "inherited role heir: parent unknown has no permission in the metadata",
      "function no_function: does not exist in schema public; ignored",
      'the function "search_albums" cannot be tracked because the function was requested to be exposed as a mutation, but is not marked VOLATILE. Maybe the function was given the wrong volatility when it was defined?',
      'function live_albums: session argument "nothing" is not an argument of type json',
      "function scalar_answer: it does not return rows of a table, so GraphQL has no field for it",
      "customization: naming_convention loud is unknown; ignored",
    ].sort(),
  );
  const reader = await fetchSchema(api, "heir");
  expect(Object.keys(reader.members("query_root"))).toEqual(["album", "album_by_pk"]);
  expect(reader.members("album")).toEqual({ id: "Int!", title: "String!" });
  expect(reader.roots.mutation).toBeUndefined();
  expect(Object.keys((await fetchSchema(api, "remover")).members("mutation_root"))).toEqual(["delete_album"]);
  expect((await fetchSchema(api)).members("album")).toMatchObject({ artist: "artist!" });
  await api.close();
});

test("G-FIL-11 a permission without its filter or check grants nothing, inherited or not", async () => {
  const { api } = await start(
    buildMetadataDocument(
      [
        table("album", {
          select_permissions: permissions({ open: { columns: "*" }, empty: { columns: "*", filter: null } }),
          insert_permissions: permissions({ open: { columns: "*" } }),
          update_permissions: permissions({ open: { columns: "*" } }),
          delete_permissions: permissions({ open: {} }),
        }),
        table("artist", { select_permissions: permissions({ open: fullPermission, empty: fullPermission }) }),
      ],
      { inherited_roles: [{ role_name: "heir", role_set: ["open", "empty"] }] },
    ),
  );
  for (const role of ["open", "empty", "heir"]) {
    const { roots, members } = await fetchSchema(api, role);
    const fields = Object.keys(members("query_root"));
    expect(fields).toContain("artist");
    expect(fields.filter((name) => name.startsWith("album"))).toEqual([]);
    expect(roots.mutation).toBeUndefined();
  }
  await api.close();
});

test("G-MET-13 numbers keep their digits, in JSON, in YAML and as bigint", async () => {
  await database.query(
    "create table long_number (id bigint primary key, amount numeric, doc jsonb); insert into long_number values (9007199254740992), (9007199254740993), (9007199254740995)",
  );
  const preset = '{"amount": 12.50, "doc": {"n": [12345678901234567890, 0.10]}}';
  const tables = (inFilter: string) => `[{"table": "long_number",
    "select_permissions": [{"role": "reader", "permission": {"columns": "*", "filter": {"id": {"_in": [${inFilter}, 4]}}, "limit": 5.0}}],
    "insert_permissions": [{"role": "reader", "permission": {"columns": ["id"], "check": {"id": {"_neq": 9007199254740997}}, "set": ${preset}}}]}]`;
  const json = `{"version": 3.0, "sources": [{"name": "default", "kind": "postgres", "tables": ${tables("9007199254740993")}}]}`;
  const files = temporaryFolder({
    "metadata.json": json,
    "metadata.yaml": `version: 3\nsources:\n  - name: default\n    kind: postgres\n    tables: ${tables("+9007199254740993").replaceAll("\n", "\n      ")}\n`,
  });
  const insert = (id: string) => `mutation { insert_long_number_one(object: {id: "${id}"}) { id amount doc } }`;
  for (const name of ["metadata.json", "metadata.yaml"]) {
    const { api } = await start(join(files, name), collectWarnings(), { dbTxEnd: "rollback" });
    const ask = async (query: string) =>
      (await api.post("/v1/graphql", { headers: asAdmin("reader"), body: { query } })).text;
    expect(await ask("{ long_number { id } }")).toBe('{"data":{"long_number":[{"id":9007199254740993}]}}');
    expect(await ask(insert("9007199254740996"))).toBe(
      '{"data":{"insert_long_number_one":{"id":9007199254740996,"amount":12.50,"doc":{"n": [12345678901234567890, 0.10]}}}}',
    );
    expect(await ask(insert("9007199254740997"))).toContain(
      "check constraint of an insert/update permission has failed",
    );
    await api.close();
  }
  const longMetadata = buildMetadataDocument([
    table("long_number", {
      select_permissions: permissions({ reader: { columns: ["id"], filter: { id: { _eq: 9007199254740995n } } } }),
    }),
  ]);
  const { api } = await start(longMetadata);
  expect(
    (await api.post("/v1/graphql", { headers: asAdmin("reader"), body: { query: "{ long_number { id } }" } })).text,
  ).toBe('{"data":{"long_number":[{"id":9007199254740995}]}}');
  await api.close();
  await database.query("drop table long_number");
});

test("G-ENM-1 G-ENM-5 enum tables are read from the database and again on a reload, and invalid ones are ordinary tables", async () => {
  const noteLog = collectWarnings();
  const { api } = await start(
    buildMetadataDocument([
      table("genre", { is_enum: true }),
      table("record", {
        select_permissions: permissions({
          reader: { columns: "*", filter: { genre: { _in: ["rock", "X-Session-Genre"] } } },
        }),
        insert_permissions: permissions({
          reader: { check: {}, columns: ["title"], set: { genre: "X-Session-Genre" } },
        }),
      }),
      table("blank_enum", { is_enum: true }),
      table("spaced_enum", { is_enum: true }),
      table("team", { is_enum: true }),
    ]),
    noteLog,
    { dbTxEnd: "rollback" },
  );
  expect(noteLog.all()).toEqual([
    "table blank_enum: it cannot be an enum table: it has no rows",
    'table spaced_enum: it cannot be an enum table: "two words" is not a valid GraphQL enum value',
    "table team: it cannot be an enum table: its primary key is not of type text",
  ]);
  const schema = await fetchSchema(api);
  expect(schema.values("genre_enum")).toEqual(["folk", "jazz", "rock"]);
  expect(schema.description("genre_enum", "jazz")).toBe("swinging");
  expect(schema.members("record")).toMatchObject({ genre: "genre_enum!" });
  expect(schema.members("spaced_enum")).toEqual({ value: "String!" });
  await database.query("insert into genre values ('polka', 'from Bohemia')");
  await api.reload();
  expect((await fetchSchema(api)).values("genre_enum")).toEqual(["folk", "jazz", "polka", "rock"]);
  await database.query("delete from genre where value = 'polka'");
  await api.close();
});

test("G-ENM-6 only the database checks session variables and presets of enum columns", async () => {
  const { api } = await start(
    buildMetadataDocument([
      table("genre", { is_enum: true }),
      table("record", {
        select_permissions: permissions({
          reader: { columns: "*", filter: { genre: { _in: ["rock", "X-Session-Genre"] } } },
        }),
        insert_permissions: permissions({
          reader: { check: {}, columns: ["title"], set: { genre: "X-Session-Genre" } },
        }),
      }),
    ]),
    collectWarnings(),
    { dbTxEnd: "rollback" },
  );
  expect(await api.gql("{ record(order_by: {id: asc}) { genre } }", {}, asAdmin("reader", { genre: "polka" }))).toEqual(
    { data: { record: [{ genre: "rock" }] } },
  );
  const insert = (genre: string) =>
    api.gql('mutation { insert_record_one(object: {title: "x"}) { title } }', {}, asAdmin("reader", { genre }));
  expect(await insert("jazz")).toEqual({ data: { insert_record_one: { title: "x" } } });
  expect((await insert("polka")).errors[0].extensions.code).toBe("constraint-violation");
  await api.close();
});
