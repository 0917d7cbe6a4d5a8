import { expect, test } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const validationFailed = "validation-failed";
const profile = (id: number, operators: string) =>
  `mutation { update_profile_by_pk(pk_columns: {id: ${id}}, ${operators}) { doc settings } }`;
const profileData = (doc: unknown, settings: unknown) => ({ update_profile_by_pk: { doc, settings } });
const at = (path: string) => `$.selectionSet.update_album.args${path}`;
const album = (operators: string) =>
  `mutation { update_album(where: {id: {_eq: 1}}, ${operators}) { affected_rows returning { id title sold price live } } }`;

gqlCases(api, [
  {
    title: "G-UPD-1a _set changes columns",
    query: album('_set: {title: "T", price: 1.50, live: null}'),
    bytes:
      '{"data":{"update_album":{"affected_rows":1,"returning":[{"id":1,"title":"T","sold":3,"price":1.50,"live":null}]}}}',
  },
  {
    title: "G-UPD-1b _inc adds to numeric columns",
    query: album("_inc: {sold: 4, price: -0.5}"),
    data: {
      update_album: { affected_rows: 1, returning: [{ id: 1, title: "Arrival", sold: 7, price: 12, live: true }] },
    },
  },
  {
    title: "G-UPD-1c _append appends to a jsonb column",
    query: profile(1, "_append: {doc: {b: [1]}}"),
    data: profileData({ a: 1, tags: ["x", "y"], deep: { n: { m: 5 } }, b: [1] }, { theme: "dark" }),
  },
  {
    title: "G-UPD-1c _append appends to a jsonb array",
    query: profile(2, '_append: {doc: "four"}'),
    data: profileData(["one", "two", "three", "four"], null),
  },
  {
    title: "G-UPD-1d _prepend prepends to a jsonb column",
    query: profile(2, '_prepend: {doc: ["zero"]}'),
    data: profileData(["zero", "one", "two", "three"], null),
  },
  {
    title: "G-UPD-1e _delete_key removes a key of a jsonb column",
    query: profile(1, '_delete_key: {doc: "tags"}'),
    data: profileData({ a: 1, deep: { n: { m: 5 } } }, { theme: "dark" }),
  },
  {
    title: "G-UPD-1f _delete_elem removes an element of a jsonb array",
    query: profile(2, "_delete_elem: {doc: -1}"),
    data: profileData(["one", "two"], null),
  },
  {
    title: "G-UPD-1g _delete_at_path removes a value at a path",
    query: profile(1, '_delete_at_path: {doc: ["deep", "n", "m"]}'),
    data: profileData({ a: 1, tags: ["x", "y"], deep: { n: {} } }, { theme: "dark" }),
  },
  {
    title: "G-UPD-1g _delete_at_path accepts a single key",
    query: profile(1, '_delete_at_path: {doc: "deep"}'),
    data: profileData({ a: 1, tags: ["x", "y"] }, { theme: "dark" }),
  },
  {
    title: "G-UPD-2 G-CON-7 an update without an operator is accepted",
    query: "mutation { update_album(where: {}) { affected_rows } }",
    data: { update_album: { affected_rows: 0 } },
  },
  {
    title: "G-UPD-3 G-CON-7 an update without columns changes no row",
    query:
      "mutation { update_album(where: {}, _set: {}, _inc: {}) { affected_rows returning { id artist { name } } } update_album_by_pk(pk_columns: {id: 1}, _set: {}) { id } update_album_many(updates: [{where: {}, _set: {}}, {where: {id: {_eq: 1}}, _set: {sold: 9}}]) { affected_rows returning { sold } } }",
    data: {
      update_album: { affected_rows: 0, returning: [] },
      update_album_by_pk: null,
      update_album_many: [
        { affected_rows: 0, returning: [] },
        { affected_rows: 1, returning: [{ sold: 9 }] },
      ],
    },
  },
  {
    title: "G-UPD-4 G-CON-5 a column in two operators is rejected",
    query: album("_inc: {sold: 1, id: 1, artist_id: 1}, _set: {artist_id: 2, id: 3}"),
    error: {
      message: "Column found in multiple operators: ['id', 'artist_id'].",
      path: at(""),
      code: validationFailed,
    },
  },
  {
    title: "G-UPD-4 a column in two operators of an element of _many is rejected",
    query:
      "mutation { update_album_many(updates: [{where: {}, _set: {sold: 1}}, {where: {}, _set: {sold: 1}, _inc: {sold: 1}}]) { affected_rows } }",
    error: {
      message: "Column found in multiple operators: ['sold'].",
      path: "$.selectionSet.update_album_many.args.updates[1]",
      code: validationFailed,
    },
  },
  {
    title: "G-UPD-5 _set: null at a NOT NULL column is rejected",
    query: album("_set: {title: null}"),
    error: { message: "unexpected null value for type 'String'", path: at("._set.title"), code: validationFailed },
  },
  {
    title: "G-UPD-5 G-UPD-5a _inc leaves NULL unchanged, and by null gives NULL",
    query:
      "mutation { a: update_album_by_pk(pk_columns: {id: 3}, _inc: {sold: 1}) { sold } b: update_album_by_pk(pk_columns: {id: 1}, _inc: {sold: null}) { sold } }",
    data: { a: { sold: null }, b: { sold: null } },
  },
  {
    title: "G-UPD-5 _append to NULL gives NULL",
    query: profile(2, "_append: {settings: {a: 1}}"),
    data: profileData(["one", "two", "three"], null),
  },
  {
    title: "G-UPD-5 G-UPD-5a _append, _prepend and _delete_key by null give NULL",
    query:
      "mutation { a: update_profile_by_pk(pk_columns: {id: 1}, _append: {settings: null}) { settings } b: update_profile_by_pk(pk_columns: {id: 3}, _prepend: {settings: null}) { settings } c: update_profile_by_pk(pk_columns: {id: 3}, _delete_key: {settings: null}) { settings } }",
    data: { a: { settings: null }, b: { settings: null }, c: { settings: null } },
  },
  {
    title: "G-UPD-5 G-UPD-5a _delete_elem: null is rejected",
    query: profile(1, "_delete_elem: {settings: null}"),
    error: {
      message: "unexpected null value for type 'Int'",
      path: "$.selectionSet.update_profile_by_pk.args._delete_elem.settings",
      code: validationFailed,
    },
  },
  {
    title: "G-UPD-5 G-UPD-5a _delete_at_path: null is rejected",
    query: profile(1, "_delete_at_path: {settings: null}"),
    error: {
      message: "expected a list, but found null",
      path: "$.selectionSet.update_profile_by_pk.args._delete_at_path.settings",
      code: validationFailed,
    },
  },
  {
    title: "G-UPD-5 null for an operator is rejected",
    query: album("_set: null"),
    error: {
      message: "expected an object for type 'album_set_input', but found null",
      path: at("._set"),
      code: validationFailed,
    },
  },
  {
    title: "G-UPD-6 an update without a matching row has 0 affected_rows",
    query:
      "mutation { update_album(where: {id: {_eq: 999}}, _set: {sold: 1}) { affected_rows returning { id } } update_album_by_pk(pk_columns: {id: 999}, _set: {sold: 1}) { id } }",
    data: { update_album: { affected_rows: 0, returning: [] }, update_album_by_pk: null },
  },
  {
    title: "G-UPD-7 returning has new values, and relationships are read after the write",
    query:
      "mutation { update_album(where: {id: {_in: [1, 2]}}, _set: {artist_id: 4}) { affected_rows returning { artist { name albums_aggregate { aggregate { count } } } } } update_album_by_pk(pk_columns: {id: 1}, _set: {artist_id: 2}) { artist { name albums(order_by: {id: asc}) { id } } } }",
    data: {
      update_album: {
        affected_rows: 2,
        returning: [1, 2].map(() => ({ artist: { name: "Dusk", albums_aggregate: { aggregate: { count: 2 } } } })),
      },
      update_album_by_pk: { artist: { name: "Bjork", albums: [{ id: 1 }, { id: 3 }] } },
    },
  },
  {
    title: "G-UPD-8 update_many runs its elements in order, and each sees the earlier ones",
    query:
      'mutation { update_album_many(updates: [{where: {id: {_eq: 1}}, _inc: {sold: 1}}, {where: {sold: {_eq: 4}}, _set: {title: "four"}}, {where: {id: {_eq: 999}}, _set: {sold: 1}}]) { affected_rows returning { title sold } } }',
    data: {
      update_album_many: [
        { affected_rows: 1, returning: [{ title: "Arrival", sold: 4 }] },
        { affected_rows: 1, returning: [{ title: "four", sold: 4 }] },
        { affected_rows: 0, returning: [] },
      ],
    },
  },
  {
    title: "G-UPD-8 update_many returns relationships",
    query:
      "mutation { update_album_many(updates: {where: {id: {_eq: 1}}, _set: {artist_id: 2}}) { returning { artist { name } } } }",
    data: { update_album_many: [{ returning: [{ artist: { name: "Bjork" } }] }] },
  },
  {
    title: "G-UPD-8 update_many without elements returns an empty list",
    query: "mutation { update_album_many(updates: []) { affected_rows } }",
    data: { update_album_many: [] },
  },
  {
    title: "G-UPD-8 a failing element of update_many returns no data",
    query:
      'mutation { update_artist_many(updates: [{where: {id: {_eq: 4}}, _set: {country: "NO"}}, {where: {id: {_eq: 4}}, _set: {name: "Abba"}}]) { affected_rows } }',
    error: { message: expect.stringContaining("Uniqueness violation."), path: "$", code: "constraint-violation" },
  },
  {
    title: "G-UPD-9 rows that the role cannot see are not updated",
    query: 'mutation { update_diary(where: {}, _set: {body: "mine"}) { affected_rows returning { id body } } }',
    role: "music_artist",
    session: { "artist-id": "2" },
    data: { update_diary: { affected_rows: 1, returning: [{ id: 3, body: "mine" }] } },
  },
  {
    title: "G-UPD-1a _set accepts enum types and arrays",
    query:
      'mutation { update_specimen_by_pk(pk_columns: {id: 2}, _set: {c_mood: sad, c_mood_list: [happy, "ok"], c_int_list: [1, null], c_jsonb_list: [{a: 1}, [2], "x"]}) { c_mood c_mood_list c_int_list c_jsonb_list } }',
    data: {
      update_specimen_by_pk: {
        c_mood: "sad",
        c_mood_list: ["happy", "ok"],
        c_int_list: [1, null],
        c_jsonb_list: [{ a: 1 }, [2], "x"],
      },
    },
  },
]);

test("G-UPD-1a inputs in variables may change their shape", async () => {
  const query =
    "mutation ($set: album_set_input, $where: album_bool_exp!) { update_album(where: $where, _set: $set) { returning { title sold } } }";
  const update = async (set: unknown, where: unknown) =>
    (await api.gql(query, { set, where })).data.update_album.returning;
  expect(await update({ title: "A" }, { id: { _eq: 1 } })).toEqual([{ title: "A", sold: 3 }]);
  expect(await update({ title: "B" }, { id: { _eq: 2 } })).toEqual([{ title: "B", sold: 10 }]);
  expect(await update({ title: "C", sold: 0 }, { id: { _eq: 2 } })).toEqual([{ title: "C", sold: 0 }]);
  expect(await update({ sold: null }, { id: { _eq: 2 } })).toEqual([{ title: "Waterloo", sold: null }]);
  expect((await api.gql(query, { where: {} })).errors[0].message).toBe(
    "expected an object for type 'album_set_input', but found null",
  );
});
