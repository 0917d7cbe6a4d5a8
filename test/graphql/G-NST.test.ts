import { expect, test } from "vitest";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { array, buildMetadataDocument, table } from "../support/metadata-document.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const artist = (objects: string, selection = "affected_rows", conflict = "") =>
  `mutation { insert_artist(objects: ${objects}${conflict}) { ${selection} } }`;
const album = (objects: string, selection = "affected_rows") =>
  `mutation { insert_album(objects: ${objects}) { ${selection} } }`;
const at = (path: string) => `$.selectionSet.insert_artist.args${path}`;
const validationFailed = "validation-failed";

gqlCases(api, [
  {
    title: "G-NST-1 an insert writes rows along an array relationship",
    query: artist(
      '[{name: "A", albums: {data: [{title: "x"}, {title: "y", price: 1.50}]}}]',
      "affected_rows returning { name albums(order_by: {id: asc}) { title price } }",
    ),
    bytes:
      '{"data":{"insert_artist":{"affected_rows":3,"returning":[{"name":"A","albums":[{"title":"x","price":null},{"title":"y","price":1.50}]}]}}}',
  },
  {
    title: "G-NST-1 an insert writes a row along an object relationship",
    query: album('[{title: "t", artist: {data: {name: "B"}}}]', "affected_rows returning { title artist { name } }"),
    data: { insert_album: { affected_rows: 2, returning: [{ title: "t", artist: { name: "B" } }] } },
  },
  {
    title: "G-NST-1 nested inserts may have any depth",
    query:
      'mutation { insert_playlist_one(object: {name: "P", playlist_songs: {data: [{position: 1, song: {data: {title: "S", seconds: 3}}}, {position: 2, song: {data: {title: "T"}}}]}}) { name playlist_songs(order_by: {position: asc}) { position song { title seconds } } } }',
    data: {
      insert_playlist_one: {
        name: "P",
        playlist_songs: [
          { position: 1, song: { title: "S", seconds: 3 } },
          { position: 2, song: { title: "T", seconds: null } },
        ],
      },
    },
  },
  {
    title: "G-NST-1 on_conflict applies at its own level",
    query: album(
      '[{title: "t", artist: {data: {name: "Abba", country: "XX"}, on_conflict: {constraint: artist_name_key, update_columns: [country]}}}]',
      "affected_rows returning { artist { id country } }",
    ),
    data: { insert_album: { affected_rows: 2, returning: [{ artist: { id: 1, country: "XX" } }] } },
  },
  {
    title: "G-NST-1 a single object is accepted as the data of an array relationship",
    query: artist('{name: "A", albums: {data: {title: "x"}}}', "affected_rows returning { albums { title } }"),
    data: { insert_artist: { affected_rows: 2, returning: [{ albums: [{ title: "x" }] }] } },
  },
  {
    title: "G-NST-2 G-NST-2b objects with and without nested data are inserted in list order",
    query: artist('[{name: "Z"}, {name: "A", albums: {data: [{title: "x"}]}}, {name: "M"}]', "returning { name }"),
    data: { insert_artist: { returning: [{ name: "Z" }, { name: "A" }, { name: "M" }] } },
  },
  {
    title: "G-NST-2 an object relationship with its columns on the other side is inserted after the row",
    query:
      'mutation { insert_person_one(object: {name: "Pia", passport: {data: {number: "N9"}}, sheep: {data: [{name: "Polly"}]}}) { name passport { number } sheep { name } } }',
    data: { insert_person_one: { name: "Pia", passport: { number: "N9" }, sheep: [{ name: "Polly" }] } },
  },
  {
    title: "G-NST-3 keys of two columns are passed on",
    query:
      'mutation { insert_concert_one(object: {id: 9, title: "C", hall: {data: {city: "Bergen", number: 3, name: "H"}}}) { hall_city hall_number hall { name } } }',
    data: { insert_concert_one: { hall_city: "Bergen", hall_number: 3, hall: { name: "H" } } },
  },
  {
    title: "G-NST-4 a column that the parent determines is rejected",
    query: artist('[{name: "A", albums: {data: [{title: "x", artist_id: 1}]}}]'),
    error: {
      message: 'cannot insert "artist_id" columns as their values are already being determined by parent insert',
      path: at(".objects[0].albums.data[0]"),
      code: validationFailed,
    },
  },
  {
    title: "G-NST-4 G-NST-5a two columns that the parent determines are rejected",
    query:
      'mutation { insert_hall(objects: [{city: "X", number: 1, concerts: {data: [{id: 1, title: "a"}, {id: 9, title: "t", hall_city: "X", hall_number: 1}]}}]) { affected_rows } }',
    error: {
      message:
        'cannot insert "hall_city", "hall_number" columns as their values are already being determined by parent insert',
      path: "$.selectionSet.insert_hall.args.objects[0].concerts.data[1]",
      code: validationFailed,
    },
  },
  {
    title: "G-NST-5 an object relationship and its own column are rejected",
    query: album('[{title: "t", artist_id: 1, artist: {data: {name: "B"}}}]'),
    error: {
      message: 'cannot insert object relationship "artist" as "artist_id" column values are already determined',
      path: "$.selectionSet.insert_album.args.objects[0].artist",
      code: validationFailed,
    },
  },
  {
    title: "G-NST-5 an object relationship along a column that the parent determines is rejected",
    query: artist('[{name: "A", albums: {data: [{title: "x", artist: {data: {name: "B"}}}]}}]'),
    error: {
      message: 'cannot insert object relationship "artist" as "artist_id" column values are already determined',
      path: at(".objects[0].albums.data[0].artist"),
      code: validationFailed,
    },
  },
  {
    title: "G-NST-6 array data of a row that was not written is rejected",
    query: artist(
      '[{name: "Abba", albums: {data: [{title: "x"}]}}]',
      "affected_rows",
      ", on_conflict: {constraint: artist_name_key}",
    ),
    error: {
      message: 'cannot proceed to insert array relations since insert to table "artist" affects zero rows',
      path: at(".objects[0]"),
      code: "not-supported",
    },
  },
  {
    title: "G-NST-6 array data is rejected after an upsert whose condition is false",
    query: artist(
      '[{name: "N"}, {name: "Abba", albums: {data: [{title: "x"}]}}]',
      "affected_rows",
      ', on_conflict: {constraint: artist_name_key, update_columns: [country], where: {country: {_eq: "XX"}}}',
    ),
    error: {
      message: 'cannot proceed to insert array relations since insert to table "artist" affects zero rows',
      path: at(".objects[1]"),
      code: "not-supported",
    },
  },
  {
    title: "G-NST-6 an object relationship's row that was not written is rejected",
    query: album('[{title: "t", artist: {data: {name: "Abba"}, on_conflict: {constraint: artist_name_key}}}]'),
    error: {
      message: 'cannot proceed to insert object relation "artist" since insert to table "artist" affects zero rows',
      path: "$.selectionSet.insert_album.args.objects[0].artist",
      code: "not-supported",
    },
  },
  {
    title: "G-NST-6 the error of an object relationship after the row has the first text",
    query:
      'mutation { insert_person(objects: [{id: 1, name: "x", passport: {data: {number: "N9"}}}], on_conflict: {constraint: person_pkey}) { affected_rows } }',
    error: {
      message: 'cannot proceed to insert array relations since insert to table "person" affects zero rows',
      path: "$.selectionSet.insert_person.args.objects[0]",
      code: "not-supported",
    },
  },
  {
    title: "G-NST-7 null and empty nested data insert nothing",
    query:
      'mutation ($none: album_arr_rel_insert_input) { a: insert_artist_one(object: {name: "A", albums: null}) { name albums { id } } b: insert_artist_one(object: {name: "B", albums: {data: []}}) { name } c: insert_artist_one(object: {name: "C", albums: $none}) { name } d: insert_album_one(object: {title: "t", artist_id: 1, artist: null}) { artist { name } } }',
    data: { a: { name: "A", albums: [] }, b: { name: "B" }, c: { name: "C" }, d: { artist: { name: "Abba" } } },
  },
  {
    title: "G-NST-8 nested rows need the insert permission of the role",
    query: artist('[{name: "A", albums: {data: [{title: "x"}]}}]'),
    role: "music_writer",
    error: {
      message: "field 'albums' not found in type: 'artist_insert_input'",
      path: at(".objects[0].albums"),
      code: validationFailed,
    },
  },
  {
    title: "G-NST-8 row policies of the nested table apply",
    query: artist('[{name: "A", albums: {data: [{title: "x", price: -1}]}}]'),
    role: "music_editor",
    error: {
      message: 'new row violates row-level security policy for table "album"',
      path: at(".objects[0].albums.data"),
      code: "permission-error",
    },
  },
  // These are the paths of database errors.
  {
    title: "G-NST-10 an error in a list without nested data has the path of the list",
    query: artist('[{name: "New"}, {name: "Abba"}]'),
    error: {
      message: expect.stringContaining("Uniqueness violation."),
      path: at(".objects"),
      code: "constraint-violation",
    },
  },
  {
    title: "G-NST-10 an error in a list with nested data has its path",
    query: artist('[{name: "New", albums: {data: [{title: "x"}]}}, {name: "Abba"}]'),
    error: { message: expect.stringContaining("Uniqueness violation."), path: at(".objects[1]") },
  },
  {
    title: "G-NST-10 an error in nested rows has its path",
    query: artist('[{name: "New"}, {name: "N2", albums: {data: [{title: "x", id: 1}]}}]'),
    error: { message: expect.stringContaining("album_pkey"), path: at(".objects[1].albums.data") },
  },
  {
    title: "G-NST-10 an error two levels below the list has its path",
    query:
      'mutation { insert_playlist(objects: [{name: "P", playlist_songs: {data: [{position: 1, song: {data: {title: "S"}}}, {position: 1, song: {data: {id: 1, title: "T"}}}]}}]) { affected_rows } }',
    error: {
      message: expect.stringContaining("song_pkey"),
      path: "$.selectionSet.insert_playlist.args.objects[0].playlist_songs.data[1].song.data",
    },
  },
  {
    title: "G-NST-10 an error in a nested row with nested data has its path",
    query:
      'mutation { insert_team(objects: [{name: "T", matches: {data: [{goals: 1, away_team_id: 999}, {teamByAwayTeamId: {data: {name: "U"}}}]}}]) { affected_rows } }',
    error: {
      message: expect.stringContaining("Foreign key violation."),
      path: "$.selectionSet.insert_team.args.objects[0].matches.data[0]",
    },
  },
  {
    title: "G-NST-10 an error in a related row that is inserted before the row has its path",
    query: album('[{title: "t", artist: {data: {name: "Abba"}}}]'),
    error: {
      message: expect.stringContaining("artist_name_key"),
      path: "$.selectionSet.insert_album.args.objects[0].artist.data",
    },
  },
  {
    title: "G-NST-10 an error in a related row that is inserted after the row has its path",
    query:
      'mutation { insert_person(objects: [{name: "P", passport: {data: {id: 1, number: "x"}}}]) { affected_rows } }',
    error: {
      message: expect.stringContaining("passport_pkey"),
      path: "$.selectionSet.insert_person.args.objects[0].passport.data",
    },
  },
  {
    title: "G-NST-10 an error in insert_T_one has its path",
    query: 'mutation { insert_artist_one(object: {name: "Abba"}) { id } }',
    error: { message: expect.stringContaining("Uniqueness"), path: "$.selectionSet.insert_artist_one.args.object" },
  },
  {
    title: "G-NST-10 an error in the row of insert_T_one with nested data has its path",
    query: 'mutation { insert_artist_one(object: {name: "Abba", albums: {data: [{title: "x"}]}}) { id } }',
    error: { message: expect.stringContaining("Uniqueness"), path: "$.selectionSet.insert_artist_one.args.object[0]" },
  },
  {
    title: "G-NST-10 an error in nested rows of insert_T_one has its path",
    query: 'mutation { insert_artist_one(object: {name: "N", albums: {data: [{id: 1, title: "x"}]}}) { id } }',
    error: {
      message: expect.stringContaining("album_pkey"),
      path: "$.selectionSet.insert_artist_one.args.object[0].albums.data",
    },
  },
  {
    title: "G-NST-10 an error of coercion has the path of the value",
    query: artist('[{name: "N", albums: {data: [{title: 3}]}}]'),
    error: {
      message: "parsing Text failed, expected String, but encountered Number",
      path: at(".objects[0].albums.data[0].title"),
      code: "parse-failed",
    },
  },
]);

const committingApi = await startApi(forGraphql({ dbTxEnd: "commit" }));

test("G-NST-3 a nested insert is one transaction", async () => {
  const query =
    'mutation { insert_artist(objects: [{name: "Lost", albums: {data: [{title: "ok"}, {title: "twice", id: 1}]}}]) { affected_rows } }';
  expect((await committingApi.gql(query)).errors[0].extensions.code).toBe("constraint-violation");
  expect(await committingApi.sql("select from artist where name = 'Lost'")).toEqual([]);
  const zero =
    'mutation { insert_song_one(object: {title: "Lost"}) { id } insert_artist(objects: [{name: "Abba", albums: {data: [{title: "x"}]}}], on_conflict: {constraint: artist_name_key}) { affected_rows } }';
  expect((await committingApi.gql(zero)).errors[0].extensions.code).toBe("not-supported");
  expect(await committingApi.sql("select from song where title = 'Lost'")).toEqual([]);
});

test("G-NST-2 G-NST-2a siblings of one kind run in the name order of their fields", async () => {
  await committingApi.sql(`
    create table trail (id serial primary key, word text);
    create function note_trail() returns trigger language plpgsql as $$ begin insert into trail (word) values (tg_table_name || ':' || coalesce(new.name, '-')); return new; end $$;
    create trigger note after insert on team for each row execute function note_trail();
    create trigger note after insert on person for each row execute function note_trail();
    create trigger note after insert on sheep for each row execute function note_trail()`);
  const query =
    'mutation { insert_match_one(object: {teamByAwayTeamId: {data: {name: "away"}}, team: {data: {name: "home"}}}) { team { name } } insert_sheep_one(object: {name: "kid", person: {data: {name: "owner"}}}) { id } }';
  const answer = await committingApi.post("/v1/graphql", { headers: asAdmin(), body: { query } });
  expect(answer.json().errors).toBeUndefined();
  expect((await committingApi.sql("select word from trail order by id")).map((row) => row["word"])).toEqual([
    "team:home",
    "team:away",
    "person:owner",
    "sheep:kid",
  ]);
});

const manual = (insertionOrder?: string) => ({
  name: "song",
  using: {
    manual_configuration: {
      remote_table: { schema: "public", name: "song" },
      column_mapping: { position: "id" },
      ...(insertionOrder === undefined ? {} : { insertion_order: insertionOrder }),
    },
  },
});
const withOrder = (insertionOrder?: string) =>
  gqlApi({
    metadata: buildMetadataDocument([
      table("song"),
      table("playlist_song", { object_relationships: [manual(insertionOrder)] }),
    ]),
  });
const insertSong = (position: string, data: string) =>
  `mutation { insert_playlist_song_one(object: {playlist_id: 2, song_id: 3${position}, song: {data: ${data}}}) { position song { id title } } }`;

gqlCases(await withOrder(), [
  {
    title: "G-NST-9 a manual relationship is inserted before the row",
    query: insertSong("", '{id: 77, title: "first"}'),
    data: { insert_playlist_song_one: { position: 77, song: { id: 77, title: "first" } } },
  },
]);

gqlCases(await withOrder("after_parent"), [
  {
    title: "G-NST-9 a manual relationship is inserted after the row if metadata says so",
    query: insertSong(", position: 88", '{title: "second"}'),
    data: { insert_playlist_song_one: { position: 88, song: { id: 88, title: "second" } } },
  },
]);

const overlappingApi = await startApi(forGraphql());
await overlappingApi.sql(`
  create table site (city text, number int, primary key (city, number));
  create table guild (city text, title text, primary key (city, title));
  create table stand (id int primary key, city text not null, site_number int, guild_title text, foreign key (city, site_number) references site, foreign key (city, guild_title) references guild)`);
await overlappingApi.reload();

const stand = (fields: string) =>
  `mutation { insert_stand(objects: [{id: 1, ${fields}}]) { affected_rows returning { city site { number } guild { title } } } }`;

test("G-NST-12 two object relationships may share a column", async () => {
  expect(
    await overlappingApi.gql(
      stand('site: {data: {city: "Bergen", number: 4}}, guild: {data: {city: "Bergen", title: "Smiths"}}'),
    ),
  ).toEqual({
    data: {
      insert_stand: {
        affected_rows: 3,
        returning: [{ city: "Bergen", site: { number: 4 }, guild: { title: "Smiths" } }],
      },
    },
  });
  expect(
    (
      await overlappingApi.gql(
        stand('site: {data: {city: "Oslo", number: 4}}, guild: {data: {city: "Moss", title: "Smiths"}}').replace(
          "id: 1",
          "id: 2",
        ),
      )
    ).errors[0],
  ).toMatchObject({
    message: expect.stringContaining('"stand_city_guild_title_fkey"'),
    extensions: { path: "$.selectionSet.insert_stand.args.objects[0]", code: "constraint-violation" },
  });
  expect(
    await overlappingApi.sql(
      "select (select count(*)::int from stand) as stands, (select count(*)::int from site) as sites, (select count(*)::int from guild) as guilds",
    ),
  ).toEqual([{ stands: 1, sites: 1, guilds: 1 }]);
});

test("G-NST-5 G-NST-12 a column that is given or determined by the parent is rejected", async () => {
  const answer = await overlappingApi.gql(
    stand(
      'city: "Bergen", site: {data: {city: "Bergen", number: 5}}, guild: {data: {city: "Bergen", title: "Coopers"}}',
    ),
  );
  expect(answer.errors[0]).toEqual({
    message: 'cannot insert object relationship "guild" as "city" column values are already determined',
    extensions: { path: "$.selectionSet.insert_stand.args.objects[0].guild", code: validationFailed },
  });
  const parent = await overlappingApi.gql(
    'mutation { insert_site(objects: [{city: "Moss", number: 1, stands: {data: [{id: 3, guild: {data: {city: "Moss", title: "Tanners"}}}]}}]) { affected_rows } }',
  );
  expect(parent.errors[0]).toEqual({
    message: 'cannot insert object relationship "guild" as "city" column values are already determined',
    extensions: { path: "$.selectionSet.insert_site.args.objects[0].stands.data[0].guild", code: validationFailed },
  });
  expect(await overlappingApi.sql("select 1 from site where city = 'Moss'")).toEqual([]);
});

const contradiction = '{name: "C", albums: {data: [{title: "x", artist_id: 1}]}}';
const determinedMessage =
  'cannot insert "artist_id" columns as their values are already being determined by parent insert';
const duplicate = '{name: "Abba", albums: {data: [{title: "x"}]}}';

gqlCases(api, [
  {
    title: "G-NST-11 G-NST-11a an error of the database precedes a contradiction in a later row",
    query: artist(`[${duplicate}, ${contradiction}]`),
    error: { message: expect.stringContaining("artist_name_key"), path: at(".objects[0]") },
  },
  {
    title: "G-NST-11 a contradiction precedes an error of the database in a later row",
    query: artist(`[${contradiction}, ${duplicate}]`),
    error: { message: determinedMessage, path: at(".objects[0].albums.data[0]"), code: validationFailed },
  },
  {
    title: "G-NST-11 the error of a row precedes a contradiction in its nested rows",
    query: artist('[{name: "Abba", albums: {data: [{title: "x", artist_id: 1}]}}]'),
    error: { message: expect.stringContaining("artist_name_key"), path: at(".objects[0]") },
  },
  {
    title: "G-NST-11 the error of an unwritten row precedes a contradiction in its nested rows",
    query: artist(
      '[{name: "Abba", albums: {data: [{title: "x", artist_id: 1}]}}]',
      "affected_rows",
      ", on_conflict: {constraint: artist_name_key}",
    ),
    error: {
      message: 'cannot proceed to insert array relations since insert to table "artist" affects zero rows',
      path: at(".objects[0]"),
      code: "not-supported",
    },
  },
  {
    title: "G-NST-11 the error of an unwritten row precedes errors in its nested rows",
    query:
      'mutation { insert_playlist(objects: [{id: 1, name: "P", playlist_songs: {data: [{position: 9, song: {data: {id: 1, title: "S"}}}]}}], on_conflict: {constraint: playlist_pkey}) { affected_rows } }',
    error: {
      message: 'cannot proceed to insert array relations since insert to table "playlist" affects zero rows',
      path: "$.selectionSet.insert_playlist.args.objects[0]",
      code: "not-supported",
    },
  },
  {
    title: "G-NST-11 the error of an unwritten row precedes a contradiction of a nested object relationship",
    query:
      'mutation { insert_playlist(objects: [{id: 1, name: "P", playlist_songs: {data: [{position: 9, song_id: 1, song: {data: {title: "S"}}}]}}], on_conflict: {constraint: playlist_pkey}) { affected_rows } }',
    error: {
      message: 'cannot proceed to insert array relations since insert to table "playlist" affects zero rows',
      path: "$.selectionSet.insert_playlist.args.objects[0]",
    },
  },
  {
    title: "G-NST-11 the error of an object relationship precedes the error of the row",
    query: album('[{id: 1, title: "t", artist: {data: {name: "Abba"}}}]'),
    error: {
      message: expect.stringContaining("artist_name_key"),
      path: "$.selectionSet.insert_album.args.objects[0].artist.data",
    },
  },
  {
    title: "G-NST-11 the error of an unwritten object relationship precedes the error of the next one",
    query:
      'mutation { insert_match(objects: [{id: 900, team: {data: {id: 1, name: "T"}, on_conflict: {constraint: team_pkey}}, teamByAwayTeamId: {data: {id: 2, name: "U"}}}]) { affected_rows } }',
    error: {
      message: 'cannot proceed to insert object relation "team" since insert to table "team" affects zero rows',
      path: "$.selectionSet.insert_match.args.objects[0].team",
    },
  },
  {
    title: "G-NST-11 a contradiction of a level precedes the inserts of its object relationships",
    query:
      'mutation { insert_match(objects: [{id: 900, away_team_id: 1, team: {data: {id: 1, name: "T"}}, teamByAwayTeamId: {data: {name: "U"}}}]) { affected_rows } }',
    error: {
      message:
        'cannot insert object relationship "teamByAwayTeamId" as "away_team_id" column values are already determined',
      path: "$.selectionSet.insert_match.args.objects[0].teamByAwayTeamId",
    },
  },
  {
    title: "G-NST-11 the error of an earlier field precedes the error of a later one",
    query: `mutation { a: insert_album(objects: [{id: 1, title: "t", artist_id: 1}]) { affected_rows } insert_artist(objects: [${contradiction}]) { affected_rows } }`,
    error: { message: expect.stringContaining("album_pkey"), path: "$.selectionSet.insert_album.args.objects" },
  },
  {
    title: "G-NST-11 G-NST-11a errors of parsing a later field precede errors of writes",
    query: `mutation { insert_artist(objects: [${contradiction}]) { affected_rows } insert_album(objects: [{nothing: 1}]) { affected_rows } }`,
    error: {
      message: "field 'nothing' not found in type: 'album_insert_input'",
      path: "$.selectionSet.insert_album.args.objects[0].nothing",
    },
  },
]);

test("G-NST-11 writes before a contradiction are undone", async () => {
  const ownApi = await startApi(forGraphql());
  expect(
    (await ownApi.gql(artist(`[{name: "Undone", albums: {data: [{title: "x"}]}}, ${contradiction}]`))).errors[0]
      .message,
  ).toBe(determinedMessage);
  expect(await api.sql("select 1 from artist where name in ('Undone', 'C')")).toEqual([]);
  await ownApi.close();
});

test("G-NST-11 the check of a permission precedes an error of the database in a later row", async () => {
  const metadata = buildMetadataDocument([
    table("artist", {
      array_relationships: [array("albums", "album", "artist_id")],
      insert_permissions: [{ role: "writer", permission: { columns: "*", check: { country: { _eq: "SE" } } } }],
      select_permissions: [{ role: "writer", permission: { columns: "*", filter: {} } }],
    }),
    table("album", { insert_permissions: [{ role: "writer", permission: { columns: "*", check: {} } }] }),
  ]);
  const checkedApi = await startApi(forGraphql({ metadata, dbTxEnd: "rollback" }));
  const fetchError = async (objects: string) =>
    (await checkedApi.gql(artist(objects), {}, asAdmin("writer"))).errors[0];
  const rejection = {
    message: "check constraint of an insert/update permission has failed",
    extensions: { path: at(".objects[0]"), code: "permission-error" },
  };
  expect(await fetchError('[{name: "N", country: "NO", albums: {data: [{id: 1, title: "x"}]}}]')).toEqual(rejection);
  expect(await fetchError(`[{name: "N", country: "NO", albums: {data: [{id: 1, title: "x"}]}}, ${duplicate}]`)).toEqual(
    rejection,
  );
  expect(
    (
      await fetchError(
        '[{name: "N", country: "SE", albums: {data: [{id: 1, title: "x"}]}}, {name: "O", country: "NO"}]',
      )
    ).extensions.path,
  ).toBe(at(".objects[0].albums.data"));
  await checkedApi.close();
});
