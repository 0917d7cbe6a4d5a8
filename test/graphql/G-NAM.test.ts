import { expect, test } from "vitest";
import { forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { fetchSchema } from "../support/schema.ts";
import { entry, withMetadata } from "./with-metadata.ts";
import { collectMessages } from "../support/logger.ts";
import { buildMetadataDocument } from "../support/metadata-document.ts";

const { logger, lines } = collectMessages("warn");

const api = await startApi(forGraphql({ dbSchemas: ["public", "shop"], logger }));
const admin = await fetchSchema(api);
const roots = Object.keys(admin.members("query_root"));

test("G-NAM-1 names are SQL names with the schema as a prefix outside of public", () => {
  expect(roots).toEqual(
    expect.arrayContaining(["album", "Track", "Track_by_pk", "shop_order", "shop_order_aggregate"]),
  );
  expect(admin.has("shop_order_bool_exp")).toBe(true);
});

test("G-NAM-2 column names keep their case", () => {
  expect(Object.keys(admin.members("Track"))).toEqual(["Name", "id"]);
  expect(Object.keys(admin.members("odd_names"))).toContain("Kept");
});

test("G-NAM-3 an object without a legal name is left out, and logged once", () => {
  expect(roots.filter((name) => /bad.table|2tracks/.test(name))).toEqual([]);
  expect(Object.keys(admin.members("odd_names"))).toEqual(["Kept", "id", "ok"]);
  expect(admin.has("odd_names_constraint")).toBe(false);
  for (const name of ["bad-table", "2tracks", "odd_names.bad-column"])
    expect(lines.filter((line) => line.includes(name))).toHaveLength(1);
});

test("G-NAM-3 G-NAM-3c a generated type gives way to a table of its name", () => {
  expect(Object.keys(admin.members("badge_updates"))).toEqual(["id", "note"]);
  expect(
    Object.keys(admin.members("mutation_root")).filter((name) => /^update_badge(_many|_by_pk)?$/.test(name)),
  ).toEqual(["update_badge", "update_badge_by_pk"]);
});

test("G-NAM-3 G-NAM-3c of two objects with one name, the first by schema and name stays", () => {
  expect(Object.keys(admin.members("shop_item"))).toEqual(["id"]);
  expect(lines.filter((line) => line.includes("shop.item"))).not.toEqual([]);
});

test("G-NAM-3 G-NAM-3c a generated type gives way to a required type of another table", async () => {
  await api.sql("create table song_max (id int primary key, song_id int references song)");
  try {
    await api.reload();
    const schema = await fetchSchema(api);
    expect(schema.members("song_max_order_by")).toMatchObject({ id: "order_by", song: "song_order_by" });
    expect(Object.keys(schema.args("query_root", "song_max"))).toContain("order_by");
    await api.sql("alter table song add column max_id int references song_max");
    await api.reload();
    const bothSchema = await fetchSchema(api);
    expect(bothSchema.members("song_max_order_by")).toHaveProperty("song_id");
    expect(Object.keys(bothSchema.members("song_aggregate_order_by"))).not.toContain("max");
    expect(Object.keys(bothSchema.members("song_aggregate_order_by"))).toContain("min");
  } finally {
    await api.sql("alter table song drop column if exists max_id; drop table song_max");
    await api.reload();
  }
});

test("G-NAM-4 names beginning with two underscores are left out", () => {
  expect(admin.has("__hidden")).toBe(false);
  expect(Object.keys(admin.members("odd_names"))).not.toContain("__reserved");
});

const customApi = await startApi(
  forGraphql({
    parts: [
      withMetadata((model) => ({
        tables: [
          entry(model, "artist", {}, { records: "album" }),
          entry(
            model,
            "album",
            {
              customName: "record",
              comment: "Published albums",
              rootFields: {
                select: { name: "records", comment: "all of them" },
                insert_one: { name: "addRecord" },
                select_by_pk: { comment: null },
              },
              columns: { artist_id: { customName: "artistId", comment: "Who made it" } },
            },
            { artist: "artist" },
          ),
        ],
      })),
    ],
  }),
);
const customSchema = await fetchSchema(customApi);

test("G-NAM-5 a custom table name is used in every position", () => {
  expect(Object.keys(customSchema.members("query_root"))).toEqual([
    "artist",
    "artist_aggregate",
    "artist_by_pk",
    "record_aggregate",
    "record_by_pk",
    "records",
  ]);
  expect(customSchema.names.filter((name) => name.startsWith("album"))).toEqual([]);
  expect(Object.keys(customSchema.members("mutation_root"))).toEqual(
    expect.arrayContaining(["insert_record", "addRecord", "update_record_many", "delete_record_by_pk"]),
  );
  expect(customSchema.members("query_root")["records"]).toBe("[record!]!");
});

test("G-NAM-5 G-NAM-5a a custom column name is used in every position", () => {
  for (const type of [
    "record",
    "record_bool_exp",
    "record_order_by",
    "record_insert_input",
    "record_set_input",
    "record_max_fields",
  ])
    expect(Object.keys(customSchema.members(type))).toContain("artistId");
  for (const type of ["record_select_column", "record_update_column"])
    expect(customSchema.values(type)).toContain("artistId");
});

test("G-NAM-5 G-GEN-10b comments of the metadata are descriptions", () => {
  expect(customSchema.description("record")).toBe("Published albums");
  expect(customSchema.description("record", "artistId")).toBe("Who made it");
  expect(customSchema.description("query_root", "records")).toBe("all of them");
  expect(customSchema.description("query_root", "record_by_pk")).toBeNull();
  expect(customSchema.description("query_root", "record_aggregate")).toBe(
    'fetch aggregated fields from the table: "album"',
  );
});

gqlCases(customApi, [
  {
    title: "G-NAM-5 G-NAM-5a renamed fields read and filter their columns",
    query:
      "{ records(where: {artistId: {_eq: 1}}, order_by: {artistId: asc, id: desc}) { artistId title artist { name } } }",
    data: {
      records: [
        { artistId: 1, title: "Waterloo", artist: { name: "Abba" } },
        { artistId: 1, title: "Arrival", artist: { name: "Abba" } },
      ],
    },
  },
  {
    title: "G-NAM-5 G-NAM-5a the old names are unknown",
    query: "{ album { id } }",
    error: { message: "field 'album' not found in type: 'query_root'" },
  },
]);

const customizedApi = await startApi(
  forGraphql({
    parts: [
      withMetadata((model) => ({
        customization: {
          namespace: "music",
          rootPrefix: "the_",
          rootSuffix: "_field",
          typePrefix: "T_",
          typeSuffix: "_type",
        },
        tables: [entry(model, "album"), entry(model, "artist", {}, { albums: "album" })],
      })),
    ],
  }),
);
const customizedSchema = await fetchSchema(customizedApi);

test("G-NAM-6 G-NAM-6a all root fields are under the namespace, with prefix and suffix", () => {
  expect(customizedSchema.members("query_root")).toEqual({ music: "T_music_query_type" });
  expect(customizedSchema.members("mutation_root")).toEqual({ music: "T_music_mutation_frontend_type" });
  expect(customizedSchema.members("subscription_root")).toEqual({ music: "T_music_subscription_type" });
  expect(Object.keys(customizedSchema.members("T_music_query_type"))).toEqual([
    "the_album_aggregate_field",
    "the_album_by_pk_field",
    "the_album_field",
    "the_artist_aggregate_field",
    "the_artist_by_pk_field",
    "the_artist_field",
  ]);
  expect(Object.keys(customizedSchema.members("T_music_mutation_frontend_type"))).toContain(
    "the_insert_album_one_field",
  );
});

test("G-NAM-6 types of tables have prefix and suffix, and scalars and comparisons do not", () => {
  expect(customizedSchema.members("T_album_bool_exp_type")).toMatchObject({
    id: "Int_comparison_exp",
    _not: "T_album_bool_exp_type",
  });
  expect(customizedSchema.members("T_album_type")).toMatchObject({ price: "numeric" });
  expect(customizedSchema.has("order_by")).toBe(true);
});

test("G-NAM-6 types of conditions on aggregates have no prefix, and the enums of their columns have one", () => {
  expect(customizedSchema.members("T_artist_bool_exp_type")).toMatchObject({
    albums_aggregate: "album_aggregate_bool_exp",
  });
  expect(customizedSchema.members("album_aggregate_bool_exp")).toMatchObject({
    bool_and: "album_aggregate_bool_exp_bool_and",
    count: "album_aggregate_bool_exp_count",
  });
  expect(customizedSchema.members("album_aggregate_bool_exp_bool_and")).toMatchObject({
    arguments: "T_album_select_column_album_aggregate_bool_exp_bool_and_arguments_columns_type!",
    filter: "T_album_bool_exp_type",
  });
});

gqlCases(customizedApi, [
  {
    title: "G-NAM-6 G-NAM-6a a query may be under a namespace",
    query: "{ music { the_album_by_pk_field(id: 1) { title __typename } } }",
    data: { music: { the_album_by_pk_field: { title: "Arrival", __typename: "T_album_type" } } },
  },
  {
    title: "G-NAM-6 G-NAM-6a a mutation may be under a namespace",
    query: "mutation { music { the_update_album_field(where: {id: {_eq: 1}}, _set: {sold: 3}) { affected_rows } } }",
    data: { music: { the_update_album_field: { affected_rows: 1 } } },
  },
]);

const conventionApi = await startApi(
  forGraphql({
    parts: [
      withMetadata((model) => ({
        customization: { namingConvention: "graphql-default", rootPrefix: "test", rootSuffix: "query" },
        tables: [
          entry(model, "artist", {}, { albums: "album" }),
          entry(
            model,
            "album",
            { customName: "albumRow", columns: { sold: { customName: "copies_sold" } } },
            { the_artist: "artist" },
          ),
          entry(model, "playlist_song", { rootFields: { select: { name: "song_list" } } }),
          entry(model, "genre", {
            enumValues: [
              { key: "jazz", comment: null },
              { key: "rock", comment: null },
              { key: "folk", comment: null },
            ],
          }),
          entry(model, "record"),
          entry(model, "specimen"),
          entry(model, "studio", {}, { takes: "take" }),
          entry(model, "take"),
        ],
      })),
    ],
  }),
);
const camel = await fetchSchema(conventionApi);

test("G-NAM-7 the convention hasura-default keeps names", () => {
  expect(roots).toEqual(expect.arrayContaining(["album_by_pk", "playlist_song_aggregate"]));
  expect(admin.has("playlist_song_bool_exp")).toBe(true);
});

test("G-NAM-8 root fields are in camelCase, and the prefix keeps its first letter", () => {
  const fields = Object.keys(camel.members("query_root"));
  expect(fields).toEqual(
    expect.arrayContaining(["testAlbumRowQuery", "testAlbumRowByPkQuery", "testPlaylistSongAggregateQuery"]),
  );
  expect(Object.keys(camel.members("mutation_root"))).toEqual(
    expect.arrayContaining(["testInsertAlbumRowOneQuery", "testUpdatePlaylistSongManyQuery"]),
  );
});

test("G-NAM-8 columns, arguments and operators are in camelCase", () => {
  expect(Object.keys(camel.members("PlaylistSong"))).toEqual(["playlistId", "position", "songId"]);
  expect(Object.keys(camel.args("query_root", "testAlbumRowQuery"))).toEqual([
    "distinctOn",
    "limit",
    "offset",
    "orderBy",
    "where",
  ]);
  expect(Object.keys(camel.members("IntComparisonExp"))).toEqual([
    "_eq",
    "_gt",
    "_gte",
    "_in",
    "_isNull",
    "_lt",
    "_lte",
    "_neq",
    "_nin",
  ]);
  expect(Object.keys(camel.args("mutation_root", "testUpdateArtistByPkQuery"))).toEqual([
    "_append",
    "_deleteAtPath",
    "_deleteElem",
    "_deleteKey",
    "_inc",
    "_prepend",
    "_set",
    "pkColumns",
  ]);
  expect(Object.keys(camel.args("mutation_root", "testInsertArtistQuery"))).toEqual(["objects", "onConflict"]);
  expect(Object.keys(camel.members("ArtistAggregateFields"))).toEqual(
    expect.arrayContaining(["stddevPop", "varSamp", "count"]),
  );
});

test("G-NAM-8 types are in PascalCase, and those of a custom name begin with it", () => {
  for (const name of [
    "albumRow",
    "albumRowBoolExp",
    "PlaylistSongSelectColumn",
    "OrderBy",
    "IntComparisonExp",
    "StringArrayComparisonExp",
    "UuidComparisonExp",
    "JsonbCastExp",
  ])
    expect(camel.has(name), name).toBe(true);
});

test("G-NAM-8 scalars have the names of their PostgreSQL types", () => {
  expect(camel.members("Specimen")).toMatchObject({
    cUuid: "uuid",
    cTimestamptz: "timestamptz",
    cNumeric: "numeric",
    cJsonb: "jsonb",
    cMood: "mood",
    cAddr: "addr_scalar",
    cInt4: "Int",
    cInt8: "bigint",
  });
  expect(camel.members("UuidComparisonExp")).toMatchObject({ _eq: "uuid", _isNull: "Boolean" });
});

test("G-NAM-8 conditions on aggregates are in camelCase", () => {
  expect(camel.members("albumRowAggregateBoolExp")).toEqual({
    bool_and: "albumRowAggregateBoolExpBool_and",
    bool_or: "albumRowAggregateBoolExpBool_or",
    count: "albumRowAggregateBoolExpCount",
  });
  expect(camel.members("albumRowAggregateBoolExpBool_and").arguments).toBe(
    "albumRowSelectColumnAlbumRowAggregateBoolExpBool_andArgumentsColumns!",
  );
  expect(camel.members("TakeAggregateBoolExp")).toMatchObject({
    covar_samp: "takeAggregateBoolExpCovar_samp",
    stddev_samp: "takeAggregateBoolExpStddev_samp",
  });
  expect(camel.members("takeAggregateBoolExpCorr").arguments).toBe("takeAggregateBoolExpCorrArguments!");
  expect(camel.members("takeAggregateBoolExpCorrArguments")).toMatchObject({
    X: "TakeSelectColumnTakeAggregateBoolExpCorrArgumentsColumns!",
  });
  expect(camel.description("TakeSelectColumnTakeAggregateBoolExpBool_andArgumentsColumns")).toBe(
    'select "takeAggregateBoolExpBool_andArgumentsColumns" columns of table "take"',
  );
});

test("G-NAM-8 descriptions name the functions by their fields", () => {
  expect(camel.description("TakeVarPopFields")).toBe("aggregate varPop on columns");
  expect(camel.description("TakeStddevPopOrderBy")).toBe('order by stddevPop() on columns of table "take"');
});

test("G-NAM-8 values of orderings and enum tables are in upper case, and column values are field names", () => {
  expect(camel.values("OrderBy")).toEqual([
    "ASC",
    "ASC_NULLS_FIRST",
    "ASC_NULLS_LAST",
    "DESC",
    "DESC_NULLS_FIRST",
    "DESC_NULLS_LAST",
  ]);
  expect(camel.values("GenreEnum")).toEqual(["FOLK", "JAZZ", "ROCK"]);
  expect(camel.values("PlaylistSongSelectColumn")).toEqual(["playlistId", "position", "songId"]);
  expect(camel.values("PlaylistSongConstraint")).toEqual(["playlist_song_pkey"]);
});

test("G-NAM-8 custom names, relationships and members of responses are unchanged", () => {
  expect(Object.keys(camel.members("query_root"))).toContain("song_list");
  expect(Object.keys(camel.members("albumRow"))).toEqual(expect.arrayContaining(["copies_sold", "the_artist"]));
  expect(Object.keys(camel.members("albumRowMutationResponse"))).toEqual(["affectedRows", "returning"]);
  expect(Object.keys(camel.members("albumRowAggregate"))).toEqual(["aggregate", "nodes"]);
});

gqlCases(conventionApi, [
  {
    title: "G-NAM-8 a query in camelCase is answered",
    query:
      "{ testAlbumRowQuery(where: {artistId: {_isNull: false}}, orderBy: {id: DESC}, limit: 1, distinctOn: [id]) { id copies_sold } }",
    data: { testAlbumRowQuery: [{ id: 5, copies_sold: 7 }] },
  },
  {
    title: "G-NAM-8 enum values are in upper case in responses and accepted in inputs",
    query: "{ testRecordQuery(where: {genre: {_eq: JAZZ}}) { genre secondGenre } }",
    data: { testRecordQuery: [{ genre: "JAZZ", secondGenre: "FOLK" }] },
  },
  {
    title: "G-NAM-8 mutation responses and conditions on aggregates are in camelCase",
    query:
      'mutation { testUpdateArtistQuery(where: {albumsAggregate: {bool_and: {arguments: live, predicate: {_eq: true}}}}, _set: {country: "SE"}) { affectedRows } }',
    data: { testUpdateArtistQuery: { affectedRows: 2 } },
  },
]);

const defaultApi = await startApi(forGraphql({ defaultNamingConvention: "graphql-default", dbTxEnd: "rollback" }));

gqlCases(defaultApi, [
  {
    title: "G-NAM-7 the convention of the options applies without metadata",
    query: "{ playlistSong(limit: 1, orderBy: {songId: ASC}) { songId __typename } }",
    data: { playlistSong: [{ songId: expect.any(Number), __typename: "PlaylistSong" }] },
  },
]);

test("G-NAM-8 computed fields keep their names in types, conditions, orders and aggregates", async () => {
  const functions = { is_adult: "person_adult", the_score: "person_score", AllPeers: "person_peers" };
  const api = await startApi(
    forGraphql({
      metadata: buildMetadataDocument(
        [
          {
            table: "person",
            computed_fields: Object.entries(functions).map(([name, functionName]) => ({
              name,
              definition: { function: functionName },
            })),
          },
        ],
        {},
        { customization: { naming_convention: "graphql-default" } },
      ),
    }),
  );
  try {
    const schema = await fetchSchema(api);
    const scalars = ["is_adult", "the_score"];
    expect(Object.keys(schema.members("Person"))).toEqual(expect.arrayContaining([...scalars, "AllPeers"]));
    expect(Object.keys(schema.members("PersonBoolExp"))).toEqual(expect.arrayContaining([...scalars, "AllPeers"]));
    expect(Object.keys(schema.members("PersonOrderBy"))).toEqual(
      expect.arrayContaining([...scalars, "AllPeersAggregate"]),
    );
    expect(Object.keys(schema.members("PersonMaxFields"))).toContain("the_score");
    expect(
      await api.gql(`{
        person(where: {AllPeers: {is_adult: {_isNull: false}}}, limit: 1,
          orderBy: [{AllPeersAggregate: {count: ASC}}, {the_score: ASC}]) { id the_score AllPeers(limit: 1) { is_adult } }
        personAggregate { aggregate { max { the_score } } } }`),
    ).toMatchObject({
      data: {
        person: [{ the_score: expect.any(Number), AllPeers: [{ is_adult: expect.any(Boolean) }] }],
        personAggregate: { aggregate: { max: { the_score: expect.any(Number) } } },
      },
    });
  } finally {
    await api.close();
  }
});

test("G-NAM-8 the aggregate of a relationship has a name in camelCase", async () => {
  const api = await startApi(
    forGraphql({
      metadata: buildMetadataDocument(
        [
          { table: "album" },
          {
            table: "artist",
            array_relationships: ["all_albums", "OwnAlbums", "albums", "_more_albums"].map((name) => ({
              name,
              using: { foreign_key_constraint_on: { table: "album", column: "artist_id" } },
            })),
          },
        ],
        {},
        { customization: { naming_convention: "graphql-default" } },
      ),
    }),
  );
  const schema = await fetchSchema(api);
  const listAggregateNames = (type: string): readonly string[] =>
    Object.keys(schema.members(type)).filter((name) => name.endsWith("Aggregate"));
  expect(listAggregateNames("Artist")).toEqual([
    "_moreAlbumsAggregate",
    "albumsAggregate",
    "allAlbumsAggregate",
    "ownAlbumsAggregate",
  ]);
  const fieldNames = ["OwnAlbumsAggregate", "_more_albumsAggregate", "albumsAggregate", "all_albumsAggregate"];
  expect(listAggregateNames("ArtistOrderBy")).toEqual(fieldNames);
  expect(listAggregateNames("ArtistBoolExp")).toEqual(fieldNames);
  expect(
    await api.gql(`{ artist(limit: 1, orderBy: [{all_albumsAggregate: {count: DESC}}], where: {all_albumsAggregate: {count: {predicate: {_gt: 0}}}}) {
      all_albums { id } allAlbumsAggregate { aggregate { count } } } }`),
  ).toMatchObject({ data: { artist: [{ allAlbumsAggregate: { aggregate: { count: expect.any(Number) } } }] } });
  await api.close();
});

test("G-NAM-7 the convention of the metadata overrides that of the options", async () => {
  const api = await startApi(
    forGraphql({
      defaultNamingConvention: "graphql-default",
      metadata: buildMetadataDocument(
        [{ table: "playlist_song" }],
        {},
        { customization: { naming_convention: "hasura-default" } },
      ),
    }),
  );
  try {
    expect(await api.gql("{ playlist_song(limit: 1) { __typename } }")).toEqual({
      data: { playlist_song: [{ __typename: "playlist_song" }] },
    });
  } finally {
    await api.close();
  }
});
