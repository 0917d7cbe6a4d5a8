import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

gqlCases(api, [
  {
    title: "G-DEL-1 a delete removes the matching rows and returns them as they were",
    query: 'mutation { delete_album(where: {artist: {name: {_eq: "Abba"}}}) { affected_rows returning { id title } } }',
    data: {
      delete_album: {
        affected_rows: 2,
        returning: [
          { id: 1, title: "Arrival" },
          { id: 2, title: "Waterloo" },
        ],
      },
    },
  },
  {
    title: "R-SQL-16 a delete that selects only affected_rows returns it, also with aliases and __typename",
    query: `mutation {
      del: delete_album(where: {artist: {name: {_eq: "Abba"}}}) { n: affected_rows __typename again: affected_rows }
      none: delete_album(where: {id: {_eq: 0}}) { affected_rows }
      insert_artist(objects: [{name: "Abba"}, {name: "New One"}], on_conflict: {constraint: artist_name_key, update_columns: []}) { affected_rows type: __typename }
      update_artist(where: {id: {_gt: 1}, name: {_neq: "New One"}}, _set: {country: "XX"}) { __typename affected_rows }
    }`,
    bytes:
      '{"data":{"del":{"n":2,"__typename":"album_mutation_response","again":2},"none":{"affected_rows":0},"insert_artist":{"affected_rows":1,"type":"artist_mutation_response"},"update_artist":{"__typename":"artist_mutation_response","affected_rows":3}}}',
  },
  {
    title: "G-DEL-1 relationships are read after the delete",
    query: "mutation { delete_album(where: {id: {_eq: 1}}) { returning { title artist { albums { title } } } } }",
    data: { delete_album: { returning: [{ title: "Arrival", artist: { albums: [{ title: "Waterloo" }] } }] } },
  },
  {
    title: "G-DEL-1 a delete removes only rows that the role may see",
    query: "mutation { delete_diary(where: {}) { affected_rows } }",
    role: "music_artist",
    session: { "artist-id": "1" },
    data: { delete_diary: { affected_rows: 2 } },
  },
  {
    title: "G-DEL-2 delete_by_pk removes a row by its primary key",
    query:
      'mutation { a: delete_album_by_pk(id: 5) { title artist { name } } b: delete_album_by_pk(id: 5) { title } c: delete_hall_by_pk(city: "Oslo", number: 2) { name } }',
    data: { a: { title: "Future Days", artist: { name: "Can" } }, b: null, c: { name: "Small" } },
  },
  {
    title: "G-DEL-3 affected_rows does not count cascaded rows",
    query: "mutation { delete_studio(where: {id: {_eq: 1}}) { affected_rows } }",
    data: { delete_studio: { affected_rows: 1 } },
  },
  {
    title: "G-DEL-1 a delete of a referenced row is rejected",
    query: "mutation { delete_artist(where: {id: {_eq: 1}}) { affected_rows } }",
    error: {
      message:
        'Foreign key violation. update or delete on table "artist" violates foreign key constraint "album_artist_id_fkey" on table "album"',
      path: "$",
      code: "constraint-violation",
    },
  },
]);
