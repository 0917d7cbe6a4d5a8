import { expect } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { singer, singerMetadata } from "./singer.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();
// The role may insert but not update.
await api.sql("revoke update on song from music_editor");
await api.reload();

const conflict = (text: string) =>
  `mutation { insert_artist(objects: [{id: 1, name: "ABBA", country: "NO"}], on_conflict: ${text}) { affected_rows returning { id name country } } }`;
const rejectionCase = (rule: string, text: string, message: string, path = "") => ({
  title: `${rule} on_conflict: ${text} is rejected`,
  query: conflict(text),
  error: { message, path: `$.selectionSet.insert_artist.args.on_conflict${path}`, code: "validation-failed" },
});

gqlCases(api, [
  {
    title: "G-UPS-1 on_conflict updates the listed columns",
    query: conflict("{constraint: artist_pkey, update_columns: [country]}"),
    data: { insert_artist: { affected_rows: 1, returning: [{ id: 1, name: "Abba", country: "NO" }] } },
  },
  {
    title: "G-UPS-1 on_conflict inserts a new row",
    query:
      'mutation { insert_artist_one(object: {name: "Fresh"}, on_conflict: {constraint: artist_name_key, update_columns: [name]}) { name } }',
    data: { insert_artist_one: { name: "Fresh" } },
  },
  {
    title: "G-UPS-1 on_conflict accepts a constraint over two columns",
    query:
      'mutation { insert_seat_one(object: {row: 1, number: 2, holder: "bea"}, on_conflict: {constraint: seat_row_number_key, update_columns: [holder]}) { id holder } }',
    data: { insert_seat_one: { id: 2, holder: "bea" } },
  },
  {
    title: "G-UPS-2 update_columns: [] skips existing rows",
    query: conflict("{constraint: artist_pkey, update_columns: []}"),
    data: { insert_artist: { affected_rows: 0, returning: [] } },
  },
  {
    title: "G-UPS-2 update_columns is empty by default",
    query: conflict("{constraint: artist_pkey}"),
    data: { insert_artist: { affected_rows: 0, returning: [] } },
  },
  {
    title: "G-UPS-3 where restricts the update of an existing row",
    query: conflict('{constraint: artist_pkey, update_columns: [country], where: {country: {_eq: "SE"}}}'),
    data: { insert_artist: { affected_rows: 1, returning: [{ id: 1, name: "Abba", country: "NO" }] } },
  },
  {
    title: "G-UPS-3 an existing row that does not match where is skipped",
    query: conflict('{constraint: artist_pkey, update_columns: [country], where: {country: {_eq: "XX"}}}'),
    data: { insert_artist: { affected_rows: 0, returning: [] } },
  },
  {
    title: "G-UPS-3 where may use relationships",
    query: conflict("{constraint: artist_pkey, update_columns: [country], where: {albums: {price: {_gt: 19}}}}"),
    data: { insert_artist: { affected_rows: 1, returning: [{ id: 1, name: "Abba", country: "NO" }] } },
  },
  {
    title: "G-UPS-3 on_conflict may be a variable",
    query:
      'mutation ($c: artist_on_conflict) { insert_artist(objects: [{id: 1, name: "ABBA", country: "NO"}], on_conflict: $c) { affected_rows } }',
    variables: { c: { constraint: "artist_pkey", update_columns: ["country"], where: { country: { _eq: "SE" } } } },
    data: { insert_artist: { affected_rows: 1 } },
  },
  {
    title: "G-UPS-5 _PLACEHOLDER as an update column changes nothing",
    query:
      'mutation { insert_song(objects: [{title: "x"}], on_conflict: {constraint: song_pkey, update_columns: [_PLACEHOLDER]}) { affected_rows } }',
    role: "music_editor",
    error: {
      message: "erroneous column name",
      path: "$.selectionSet.insert_song.args.on_conflict",
      code: "validation-failed",
    },
  },
  {
    title: "G-UPS-6 two rows that conflict with the same row are rejected",
    query:
      'mutation { insert_artist(objects: [{name: "Abba", country: "1"}, {name: "Abba", country: "2"}], on_conflict: {constraint: artist_name_key, update_columns: [country]}) { affected_rows } }',
    error: {
      message: "database query error",
      code: "unexpected",
      path: "$.selectionSet.insert_artist.args.objects",
      internal: expect.objectContaining({ error: expect.objectContaining({ status_code: "21000" }) }),
    },
  },
  {
    title: "G-UPS-7 a role without an update permission may skip existing rows",
    query:
      'mutation { insert_song(objects: [{id: 1, title: "x"}, {title: "y"}], on_conflict: {constraint: song_pkey, update_columns: []}) { affected_rows } }',
    role: "music_editor",
    data: { insert_song: { affected_rows: 1 } },
  },
  rejectionCase("G-UPS-7", "null", "expected an object for type 'artist_on_conflict', but found null"),
  rejectionCase("G-UPS-7", "{update_columns: [name]}", "missing required field 'constraint'", ".constraint"),
  rejectionCase(
    "G-UPS-7",
    "{constraint: artist_pkey, where: null}",
    "expected an object for type 'artist_bool_exp', but found null",
    ".where",
  ),
  rejectionCase(
    "G-UPS-7",
    "{constraint: artist_pkey, update_columns: null}",
    "expected a list, but found null",
    ".update_columns",
  ),
  rejectionCase(
    "G-UPS-7",
    "{constraint: artist_pkey, action: ignore}",
    "field 'action' not found in type: 'artist_on_conflict'",
    ".action",
  ),
  rejectionCase(
    "G-UPS-7",
    "{constraint: album_pkey}",
    "expected one of the values ['artist_name_key', 'artist_pkey'] for type 'artist_constraint', but found 'album_pkey'",
    ".constraint",
  ),
  rejectionCase(
    "G-UPS-7",
    "{constraint: artist_pkey, update_columns: [age]}",
    "expected one of the values ['born', 'country', 'id', 'name', 'stats'] for type 'artist_update_column', but found 'age'",
    ".update_columns[0]",
  ),
]);

const governedApi = await gqlApi({ metadata: singerMetadata });

const checkError = {
  message: "check constraint of an insert/update permission has failed",
  code: "permission-error",
  path: "$.selectionSet.insert_song.args.objects",
};
const upsert = (objects: string, conflict = "{constraint: song_pkey, update_columns: [title]}") =>
  `mutation { insert_song(objects: ${objects}, on_conflict: ${conflict}) { affected_rows returning { id title seconds } } }`;

gqlCases(governedApi, [
  {
    title: "G-UPS-3 the update filter restricts an upsert, and update presets are set",
    query: upsert('[{id: 1, title: "new"}, {id: 3, title: "outside"}]'),
    ...singer,
    data: { insert_song: { affected_rows: 1, returning: [{ id: 1, title: "new", seconds: 7 }] } },
  },
  {
    title: "G-UPS-4 the insert check applies to inserted rows",
    query: upsert('[{title: "x"}]'),
    role: "singer",
    session: { seconds: "5000" },
    error: checkError,
  },
  {
    title: "G-UPS-4 the update check applies to updated rows",
    query: upsert('[{id: 1, title: "forbidden"}]'),
    ...singer,
    error: checkError,
  },
  {
    title: "G-UPS-4 each check applies to its own rows",
    query: upsert('[{title: "forbidden"}, {id: 2, title: "fine"}]'),
    ...singer,
    data: {
      insert_song: {
        affected_rows: 2,
        returning: [
          { id: expect.any(Number), title: "forbidden", seconds: 42 },
          { id: 2, title: "fine", seconds: 7 },
        ],
      },
    },
  },
]);
