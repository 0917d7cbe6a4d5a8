import { expect, test } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { singer, singerMetadata } from "./singer.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

gqlCases(api, [
  {
    title: "G-INS-1 an absent column takes its default, and null is stored as NULL",
    query: `mutation { insert_invoice(objects: [{net: 1}, {net: 2, note: null}, {net: 3, note: "own", ref: 77}]) { affected_rows returning { net note gross } } }`,
    data: {
      insert_invoice: {
        affected_rows: 3,
        returning: [
          { net: 1, note: "none", gross: 1.25 },
          { net: 2, note: null, gross: 2.5 },
          { net: 3, note: "own", gross: 3.75 },
        ],
      },
    },
  },
  {
    title: "G-INS-1 null at a NOT NULL column is rejected",
    query: "mutation { insert_artist(objects: [{name: null}]) { affected_rows } }",
    error: {
      message: "unexpected null value for type 'String'",
      path: "$.selectionSet.insert_artist.args.objects[0].name",
      code: "validation-failed",
    },
  },
  {
    title: "G-INS-1 a row of only defaults is inserted",
    query:
      "mutation { insert_play_log(objects: [{}, {}]) { affected_rows returning { note } } insert_play_log_one(object: {}) { note } }",
    data: {
      insert_play_log: { affected_rows: 2, returning: [{ note: null }, { note: null }] },
      insert_play_log_one: { note: null },
    },
  },
  {
    title: "G-INS-2 a single object is accepted as a list of one",
    query: 'mutation { insert_team(objects: {name: "One"}) { affected_rows returning { name } } }',
    data: { insert_team: { affected_rows: 1, returning: [{ name: "One" }] } },
  },
  {
    title: "G-INS-2 an empty list writes nothing",
    query: "mutation { insert_team(objects: []) { __typename n: affected_rows returning { name } } }",
    bytes: '{"data":{"insert_team":{"__typename":"team_mutation_response","n":0,"returning":[]}}}',
  },
  {
    title: "G-INS-2 an empty list in a variable may be followed by a longer one",
    query: "mutation ($o: [team_insert_input!]!) { insert_team(objects: $o) { affected_rows } }",
    variables: { o: [] },
    data: { insert_team: { affected_rows: 0 } },
  },
  {
    title: "G-INS-3 G-CON-9 returning has the order of the objects",
    query: "mutation ($o: [team_insert_input!]!) { insert_team(objects: $o) { returning { name } } }",
    variables: { o: Array.from({ length: 200 }, (_, i) => ({ name: `t${(i * 37) % 200}` })) },
    data: { insert_team: { returning: Array.from({ length: 200 }, (_, i) => ({ name: `t${(i * 37) % 200}` })) } },
  },
  {
    title: "G-INS-4 affected_rows excludes rows that on_conflict skips and rows of triggers",
    query: `mutation { insert_artist(objects: [{name: "Abba"}, {name: "New"}], on_conflict: {constraint: artist_name_key}) { affected_rows returning { name } } insert_badge(objects: [{label: "x"}]) { affected_rows } }`,
    data: { insert_artist: { affected_rows: 1, returning: [{ name: "New" }] }, insert_badge: { affected_rows: 1 } },
  },
  {
    title: "G-INS-4 affected_rows includes nested rows",
    query:
      'mutation { insert_artist(objects: [{name: "N", albums: {data: [{title: "a"}, {title: "b"}]}}]) { affected_rows } }',
    data: { insert_artist: { affected_rows: 3 } },
  },
  {
    title: "G-INS-5 the response is the stored row after BEFORE triggers",
    query: 'mutation { insert_badge_one(object: {label: "chief"}) { label wearer } }',
    data: { insert_badge_one: { label: "CHIEF", wearer: null } },
  },
  {
    title: "G-INS-5 relationships, aggregates and computed fields are read after the write",
    query: `mutation { insert_album_one(object: {title: "Late", artist_id: 1}) { title artist { name albums_aggregate { aggregate { count } } } }
      insert_person_one(object: {name: "Pia"}) { person_title person_peers(order_by: {id: asc}, limit: 1) { name person_peers(order_by: {id: desc}, limit: 1) { name } } } }`,
    data: {
      insert_album_one: { title: "Late", artist: { name: "Abba", albums_aggregate: { aggregate: { count: 3 } } } },
      insert_person_one: { person_title: "Dear Pia", person_peers: [{ name: "Ann", person_peers: [{ name: "Pia" }] }] },
    },
  },
  {
    title: "G-INS-5 returning reads relationships and aggregates after the write",
    query:
      'mutation { insert_album(objects: [{title: "L1", artist_id: 4}, {title: "L2", artist_id: 4}]) { affected_rows returning { title artist { albums(order_by: {id: asc}) { title } } } } }',
    data: {
      insert_album: {
        affected_rows: 2,
        returning: ["L1", "L2"].map((title) => ({ title, artist: { albums: [{ title: "L1" }, { title: "L2" }] } })),
      },
    },
  },
  {
    title: "G-INS-6 insert_one returns null if nothing was written",
    query: 'mutation { insert_artist_one(object: {name: "Abba"}, on_conflict: {constraint: artist_name_key}) { id } }',
    data: { insert_artist_one: null },
  },
  {
    title: "G-INS-6 insert_one returns null with a relationship in the selection",
    query:
      'mutation { insert_artist_one(object: {name: "Abba"}, on_conflict: {constraint: artist_name_key}) { id albums { id } } }',
    data: { insert_artist_one: null },
  },
  {
    title: "G-INS-8 a view accepts inserts",
    query: `mutation { insert_album_title(objects: [{title: "via", artist_id: 2}]) { affected_rows returning { title artist_id loud_title } } insert_team_card_one(object: {name: "Card"}) { name home_matches } }`,
    data: {
      insert_album_title: { affected_rows: 1, returning: [{ title: "via", artist_id: 2, loud_title: "VIA" }] },
      insert_team_card_one: { name: "Card", home_matches: 0 },
    },
  },
  {
    title: "G-INS-1 objects may contain variables",
    query:
      'mutation ($n: String!, $c: String, $j: jsonb) { insert_artist(objects: [{name: $n, country: $c, stats: $j}, {name: "B", stats: {a: $j, b: [1, $n]}}]) { returning { name country stats } } }',
    variables: { n: "V", j: { k: [1.5, null] } },
    data: {
      insert_artist: {
        returning: [
          { name: "V", country: null, stats: { k: [1.5, null] } },
          { name: "B", country: null, stats: { a: { k: [1.5, null] }, b: [1, "V"] } },
        ],
      },
    },
  },
  {
    title: "G-INS-1 a row in a variable may be beside a literal row",
    query:
      'mutation ($o: artist_insert_input!) { insert_artist(objects: [$o, {name: "B"}]) { returning { name country } } }',
    variables: { o: { name: "V", country: "NO" } },
    data: {
      insert_artist: {
        returning: [
          { name: "V", country: "NO" },
          { name: "B", country: null },
        ],
      },
    },
  },
]);

test("G-INS-3 lists of any length and of the same columns share one plan", async () => {
  const query =
    "mutation ($o: [artist_insert_input!]!) { insert_artist(objects: $o) { affected_rows returning { name country born } } }";
  const insert = async (o: unknown) => (await api.gql(query, { o })).data.insert_artist;
  expect(await insert([{ name: "A", country: "x" }])).toEqual({
    affected_rows: 1,
    returning: [{ name: "A", country: "x", born: null }],
  });
  expect(await insert([{ name: "B" }, { country: "y", name: "C" }])).toEqual({
    affected_rows: 2,
    returning: [
      { name: "B", country: null, born: null },
      { name: "C", country: "y", born: null },
    ],
  });
  expect(await insert([{ name: "D", born: "2000-01-01" }])).toEqual({
    affected_rows: 1,
    returning: [{ name: "D", country: null, born: "2000-01-01" }],
  });
  expect(await insert({ name: "E" })).toEqual({
    affected_rows: 1,
    returning: [{ name: "E", country: null, born: null }],
  });
  expect(await insert([])).toEqual({ affected_rows: 0, returning: [] });
  expect(await insert([{ name: "F", albums: { data: [{ title: "f" }] } }])).toEqual({
    affected_rows: 2,
    returning: [{ name: "F", country: null, born: null }],
  });
  expect(await insert([{ name: "G" }])).toEqual({
    affected_rows: 1,
    returning: [{ name: "G", country: null, born: null }],
  });
  expect((await api.gql(query, { o: [{ name: "H" }, { name: 3 }] })).errors[0]).toEqual({
    message: "parsing Text failed, expected String, but encountered Number",
    extensions: { path: "$.selectionSet.insert_artist.args.objects[1].name", code: "parse-failed" },
  });
});

const governedApi = await gqlApi({ metadata: singerMetadata });

gqlCases(governedApi, [
  {
    title: "G-INS-7 column presets are always applied",
    query:
      'mutation { insert_song(objects: [{title: "a"}, {title: "b"}]) { affected_rows returning { title seconds } } one: insert_song_one(object: {title: "c"}) { seconds } }',
    ...singer,
    data: {
      insert_song: {
        affected_rows: 2,
        returning: [
          { title: "a", seconds: 42 },
          { title: "b", seconds: 42 },
        ],
      },
      one: { seconds: 42 },
    },
  },
  {
    title: "G-INS-7 preset columns are not in the input",
    query: 'mutation { insert_song_one(object: {title: "a", seconds: 1}) { id } }',
    ...singer,
    error: {
      message: "field 'seconds' not found in type: 'song_insert_input'",
      path: "$.selectionSet.insert_song_one.args.object.seconds",
    },
  },
  {
    title: "G-INS-5 rows outside the select filter are returned too",
    query: 'mutation { insert_song_one(object: {title: "a"}) { title seconds } }',
    role: "singer",
    session: { seconds: "50" },
    data: { insert_song_one: { title: "a", seconds: 50 } },
  },
]);

test("G-INS-1 rows of one list may have different columns, through a view too", async () => {
  await api.sql(`
    create domain ticket_state as text default 'of the type';
    create table ticket (id int generated by default as identity (start 50) primary key, word text not null default 'of the table', state ticket_state default 'of the column', note text default 'of the table');
    create view ticket_view as select id as number, word, state, note, upper(word) as loud from ticket;
    alter view ticket_view alter note set default 'of the view'`);
  await api.reload();
  const insert = async (table: string, key: string) =>
    (
      await api.gql(
        `mutation { insert_${table}(objects: [{word: "a"}, {${key}: 7, note: null}, {state: "s", note: "n"}]) { returning { ${key} word state note } } }`,
      )
    ).data[`insert_${table}`].returning;
  const rows = (key: string, note: string) => [
    { [key]: expect.any(Number), word: "a", state: "of the column", note },
    { [key]: 7, word: "of the table", state: "of the column", note: null },
    { [key]: expect.any(Number), word: "of the table", state: "s", note: "n" },
  ];
  expect(await insert("ticket", "id")).toEqual(rows("id", "of the table"));
  expect(await insert("ticket_view", "number")).toEqual(rows("number", "of the view"));
  await api.sql("drop view ticket_view; drop table ticket; drop domain ticket_state");
  await api.reload();
});
