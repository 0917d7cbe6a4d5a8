import { expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();
await api.sql(
  "alter table match add column referee int references person on delete restrict; update match set referee = 2 where id = 1",
);
await api.reload();

const raise = (rule: string, state: string, code: string, message: string) => ({
  title: `${rule} the SQLSTATE ${state} has the code ${code}`,
  query: `mutation { raise_state(args: {state: "${state}", message: "what it says"}) { id } }`,
  error: { message, code, path: "$" },
});
const insertBooking = (values: string) => `mutation { insert_booking_one(object: {room_id: 1, ${values}}) { id } }`;

gqlCases(api, [
  {
    title: "G-DBE-1 a unique violation is reported with its constraint",
    query: 'mutation { insert_artist_one(object: {name: "Abba"}) { id } }',
    error: {
      message: 'Uniqueness violation. duplicate key value violates unique constraint "artist_name_key"',
      code: "constraint-violation",
      path: "$.selectionSet.insert_artist_one.args.object",
    },
  },
  {
    title: "G-DBE-2 a foreign key violation is reported with its constraint",
    query: 'mutation { insert_album_one(object: {title: "x", artist_id: 999}) { id } }',
    error: {
      message:
        'Foreign key violation. insert or update on table "album" violates foreign key constraint "album_artist_id_fkey"',
      code: "constraint-violation",
      path: "$.selectionSet.insert_album_one.args.object",
    },
  },
  {
    title: "G-DBE-3 a not-null violation is reported with its column",
    query: 'mutation { insert_album(objects: [{title: "x"}]) { affected_rows } }',
    error: {
      message: 'Not-NULL violation. null value in column "artist_id" of relation "album" violates not-null constraint',
      code: "constraint-violation",
      path: "$.selectionSet.insert_album.args.objects",
    },
  },
  {
    title: "G-DBE-4 a restrict violation is reported as a constraint violation",
    query: "mutation { delete_room_by_pk(id: 1) { id } }",
    error: {
      message: expect.stringMatching(
        /^(Can not delete or update due to data being referred|Foreign key violation)\. update or delete on table "room" violates/,
      ),
      code: "constraint-violation",
      path: "$",
    },
  },
  raise(
    "G-DBE-4",
    "23001",
    "constraint-violation",
    "Can not delete or update due to data being referred. what it says",
  ),
  {
    title: "G-DBE-5 an exclusion violation is reported with its constraint",
    query: insertBooking('period: "[2,3)", seats: 2'),
    error: {
      message: 'Exclusion violation. conflicting key value violates exclusion constraint "booking_period_excl"',
      code: "constraint-violation",
    },
  },
  {
    title: "G-DBE-6 a check violation is reported with its constraint",
    query: insertBooking('period: "[20,30)", seats: 200'),
    error: {
      message:
        'Check constraint violation. new row for relation "booking" violates check constraint "booking_seats_check"',
      code: "permission-error",
    },
  },
  {
    title: "G-DBE-6 a check violation of a domain is reported",
    query: insertBooking('period: "[20,30)", seats: 2, guest: "nobody"'),
    error: {
      message: 'Check constraint violation. value for domain email violates check constraint "email_check"',
      code: "permission-error",
    },
  },
  raise("G-DBE-7", "23000", "constraint-violation", "what it says"),
  {
    title: "G-DBE-8 an error of class 22 is a data exception",
    query: '{ specimen(where: {c_uuid: {_eq: "x"}}) { id } }',
    error: { message: 'invalid input syntax for type uuid: "x"', code: "data-exception", path: "$" },
  },
  {
    title: "G-DBE-8 an error of class 22 in an insert is a data exception",
    query: 'mutation { insert_artist(objects: [{name: "x", born: "yesteryear"}]) { affected_rows } }',
    error: {
      message: 'invalid input syntax for type date: "yesteryear"',
      code: "data-exception",
      path: "$.selectionSet.insert_artist.args.objects",
    },
  },
  {
    title: "G-DBE-8 an error of class 22 in an update is a data exception",
    query: 'mutation { update_artist(where: {}, _set: {born: "yesteryear"}) { affected_rows } }',
    error: { message: 'invalid input syntax for type date: "yesteryear"', code: "data-exception", path: "$" },
  },
  raise("G-DBE-8", "22025", "bad-request", "what it says"),
  raise("G-DBE-9", "42704", "constraint-error", "what it says"),
  raise("G-DBE-10", "42P10", "constraint-error", "there is no unique or exclusion constraint on target column(s)"),
  raise("G-DBE-11", "42501", "permission-error", "what it says"),
  ...["P0001", "21000", "40001", "40P01", "42883", "57014"].map((state) =>
    raise("G-DBE-12", state, "unexpected", "database query error"),
  ),
  raise("G-DBE-15", "22012", "data-exception", "what it says"),
  raise("G-DBE-15", "23505", "constraint-violation", "Uniqueness violation. what it says"),
]);

test("G-DBE-12 an error of the database has status 500 at v1alpha1 and 200 elsewhere", async () => {
  const body = { query: 'mutation { raise_state(args: {state: "P0001", message: "m"}) { id } }' };
  expect((await api.post("/v1alpha1/graphql", { headers: asAdmin(), body })).status).toBe(500);
  expect((await api.post("/v1/graphql", { headers: asAdmin(), body })).status).toBe(200);
  expect(
    (
      await api.post("/v1alpha1/graphql", {
        headers: asAdmin(),
        body: { query: 'mutation { insert_artist_one(object: {name: "Abba"}) { id } }' },
      })
    ).status,
  ).toBe(400);
});

test("G-DBE-12 more values than a statement can bind are rejected, and the connection stays usable", async () => {
  const singlePoolApi = await gqlApi({ dbPool: 1, maxFilters: 200_000 });
  const where = { _or: Array.from({ length: 65_536 }, (_, id) => ({ id: { _eq: id } })) };
  expect(
    await singlePoolApi.gql(
      "query ($where: album_bool_exp) { album(where: $where) { id } }",
      { where },
      asAdmin("music_reader"),
    ),
  ).toEqual({
    errors: [{ message: "database query error", extensions: { path: "$", code: "unexpected" } }],
  });
  expect(await singlePoolApi.gql("{ album_by_pk(id: 1) { id } }")).toEqual({ data: { album_by_pk: { id: 1 } } });
  await singlePoolApi.close();
});
