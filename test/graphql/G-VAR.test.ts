import { expect, test } from "vitest";
import { asAdmin, type TestApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const validationFailed = "validation-failed";
const byId = (id: number) => ({ album_by_pk: { id } });

const send = async (body: object) => (await api.post("/v1/graphql", { headers: asAdmin(), body })).json();

gqlCases(api, [
  {
    title: "G-VAR-1 a variable that is used but not declared is rejected",
    query: "query ($b: Int) { album(limit: $a, offset: $b) { id } }",
    error: { message: 'unbound variable "a"', path: "$", code: validationFailed },
  },
  {
    title: "G-VAR-1 an undeclared variable in a fragment is rejected",
    query: "{ ...f } fragment f on query_root { album(limit: $a) { id } }",
    error: { message: 'unbound variable "a"', path: "$" },
  },
  {
    title: "G-VAR-2 a variable declared twice is rejected",
    query: "query ($a: Int, $a: Int) { album(limit: $a) { id } }",
    error: { message: 'multiple definitions for variable "a"', path: "$", code: "parse-failed" },
  },
  {
    title: "G-VAR-3 a variable that is given but not used is rejected",
    query: "query ($a: Int) { album(limit: $a) { id } }",
    variables: { c: 1, a: 1, b: 2 },
    error: { message: "unexpected variables in variableValues: b, c", path: "$", code: validationFailed },
  },
  {
    title: "G-VAR-3 a variable that is declared and given, but not used, is rejected",
    query: "query ($a: Int) { album { id } }",
    variables: { a: 1 },
    error: { message: "unexpected variables in variableValues: a", path: "$" },
  },
  {
    title: "G-VAR-4 a non-null variable without a value is rejected",
    query: "query ($a: Int!) { album(limit: $a) { id } }",
    error: { message: 'expecting a value for non-nullable variable: "a"', path: "$", code: validationFailed },
  },
  {
    title: "G-VAR-4 a default is the value of an absent variable",
    query: "query ($a: Int! = 1) { album(limit: $a, order_by: {id: asc}) { id } }",
    data: { album: [{ id: 1 }] },
  },
  {
    title: "G-VAR-5 null for a non-null variable is rejected",
    query: "query ($a: Int!) { album(limit: $a) { id } }",
    variables: { a: null },
    error: { message: 'null value found for non-nullable type: "Int!"', path: "$", code: validationFailed },
  },
  {
    title: "G-VAR-5 null for a non-null variable with a default is rejected",
    query: "query ($a: [Int!]! = [1]) { album(where: {id: {_in: $a}}) { id } }",
    variables: { a: null },
    error: { message: 'null value found for non-nullable type: "[Int!]!"', path: "$" },
  },
  {
    title: "G-VAR-6 a variable of another type is rejected",
    query: "query ($a: Int!) { album(where: {title: {_eq: $a}}) { id } }",
    variables: { a: 1 },
    error: {
      message: "variable 'a' is declared as 'Int!', but used where 'String' is expected",
      path: "$.selectionSet.album.args.where.title._eq",
      code: validationFailed,
    },
  },
  {
    title: "G-VAR-6 a variable of another type is rejected at an argument",
    query: "query ($w: artist_bool_exp) { album(where: $w) { id } }",
    variables: { w: {} },
    error: {
      message: "variable 'w' is declared as 'artist_bool_exp', but used where 'album_bool_exp' is expected",
      path: "$.selectionSet.album.args.where",
    },
  },
  {
    title: "G-VAR-6 a variable of another type is rejected as an element of a list",
    query: "query ($a: String!) { album(where: {id: {_in: [1, $a]}}) { id } }",
    variables: { a: "1" },
    error: {
      message: "variable 'a' is declared as 'String!', but used where 'Int!' is expected",
      path: "$.selectionSet.album.args.where.id._in[1]",
    },
  },
  {
    title: "G-VAR-7 a declared variable that is neither used nor given is accepted",
    query: "query ($a: Int, $b: nothing, $c: Int!) { album_by_pk(id: 1) { id } }",
    data: byId(1),
  },
  {
    title: "G-VAR-8 a nullable variable is rejected at a non-null position",
    query: "query ($a: Int) { album_by_pk(id: $a) { id } }",
    variables: { a: 1 },
    error: {
      message: "variable 'a' is declared as 'Int', but used where 'Int!' is expected",
      path: "$.selectionSet.album_by_pk.args.id",
    },
  },
  {
    title: "G-VAR-8 a nullable variable with a default is accepted at a non-null position",
    query: "query ($a: Int = 2) { album_by_pk(id: $a) { id } }",
    data: byId(2),
  },
  {
    title: "G-VAR-8 a nullable variable with a null default is rejected at a non-null position",
    query: "query ($a: Int = null) { album_by_pk(id: $a) { id } }",
    variables: { a: 1 },
    error: { message: "variable 'a' is declared as 'Int', but used where 'Int!' is expected" },
  },
  {
    title: "G-VAR-8 a nullable variable is accepted at a non-null position with a default",
    query:
      "mutation ($c: [artist_update_column!]) { insert_artist(objects: [], on_conflict: {constraint: artist_pkey, update_columns: $c}) { affected_rows } }",
    variables: { c: ["name"] },
    data: { insert_artist: { affected_rows: 0 } },
  },
  {
    title: "G-VAR-8 the non-null marks inside lists are not compared",
    query: "query ($a: [Int]) { album(where: {id: {_in: $a}}) { id } }",
    variables: { a: [2] },
    data: { album: [{ id: 2 }] },
  },
  {
    title: "G-VAR-8 a null element of a variable is rejected like one of a literal",
    query: "query ($a: [Int]) { album(where: {id: {_in: $a}}) { id } }",
    variables: { a: [null] },
    error: { message: "unexpected null value for type 'Int'", path: "$.selectionSet.album.args.where.id._in[0]" },
  },
  {
    title: "G-VAR-8 G-VAR-8a an Int variable is rejected for bigint",
    query: "query ($a: Int) { specimen(where: {c_int8: {_eq: $a}}) { id } }",
    variables: { a: 1 },
    error: { message: "variable 'a' is declared as 'Int', but used where 'bigint' is expected" },
  },
  {
    title: "G-VAR-8 G-VAR-8a a String variable is rejected for a list",
    query: "query ($a: String) { profile(where: {doc: {_has_keys_any: $a}}) { id } }",
    variables: { a: "x" },
    error: { message: "variable 'a' is declared as 'String', but used where '[String!]' is expected" },
  },
  {
    title: "G-VAR-8 G-VAR-8a a variable of an unknown type is rejected where it is used",
    query: "query ($a: nothing) { album(limit: $a) { id } }",
    variables: { a: 1 },
    error: {
      message: "variable 'a' is declared as 'nothing', but used where 'Int' is expected",
      path: "$.selectionSet.album.args.limit",
    },
  },
  {
    title: "G-VAR-9 list arguments accept an absent variable as null",
    query: "query ($w: album_bool_exp, $l: Int) { album_aggregate(where: $w, limit: $l) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
  {
    title: "G-VAR-9 operators reject an absent variable as null",
    query: "query ($a: Int) { album(where: {id: {_eq: $a}}) { id } }",
    error: {
      message: "unexpected null value for type 'Int'",
      path: "$.selectionSet.album.args.where.id._eq",
      code: validationFailed,
    },
  },
  {
    title: "G-VAR-9 a nullable column accepts an absent variable as null",
    query: 'mutation ($c: String) { insert_artist_one(object: {name: "N", country: $c}) { name country } }',
    data: { insert_artist_one: { name: "N", country: null } },
  },
  {
    title: "G-VAR-9 a non-null column rejects an absent variable as null",
    query: "mutation ($n: String) { insert_artist_one(object: {name: $n}) { name } }",
    error: {
      message: "unexpected null value for type 'String'",
      path: "$.selectionSet.insert_artist_one.args.object.name",
    },
  },
]);

test("G-VAR-10 null variables are treated as absent, and other values than objects are rejected", async () => {
  const query = "query ($a: Int! = 1) { album_by_pk(id: $a) { id } }";
  expect(await send({ query, variables: null })).toEqual({ data: byId(1) });
  for (const variables of [[], "x", 3]) {
    const answer = await send({ query, variables });
    expect(answer.errors[0].extensions.code).toBe("parse-failed");
  }
});

test("G-VAR-10 G-LIM-2 a variable of 3000 levels is rejected", async () => {
  let w: object = {};
  for (let i = 0; i < 3000; i++) w = { _not: w };
  const answer = await send({ query: "query ($w: album_bool_exp) { album(where: $w) { id } }", variables: { w } });
  expect(answer).toEqual({
    errors: [
      { message: "the request is nested deeper than 500 levels", extensions: { path: "$", code: validationFailed } },
    ],
  });
});

test("G-VAR-6 another operation with the same variables is planned separately", async () => {
  const query =
    "query ($yes: Boolean!, $dir: order_by!) { album(order_by: {id: $dir}, limit: 1) { id title @include(if: $yes) } }";
  expect(await send({ query, variables: { yes: true, dir: "asc" } })).toEqual({
    data: { album: [{ id: 1, title: "Arrival" }] },
  });
  expect(await send({ query, variables: { yes: false, dir: "asc" } })).toEqual({ data: { album: [{ id: 1 }] } });
  expect(await send({ query, variables: { yes: false, dir: "desc" } })).toEqual({ data: { album: [{ id: 5 }] } });
  expect(await send({ query, variables: { yes: true, dir: "asc" } })).toEqual({
    data: { album: [{ id: 1, title: "Arrival" }] },
  });
});

test("G-VAR-9 whole inputs in variables may change their shape", async () => {
  const query = "query ($w: album_bool_exp) { album(where: $w, order_by: {id: asc}) { id } }";
  const ask = async (w: unknown) =>
    (await send({ query, variables: { w } })).data.album.map((row: { id: number }) => row.id);
  expect(await ask({ price: { _gt: 12 } })).toEqual([1, 2, 4]);
  expect(await ask({ price: { _gt: 20 } })).toEqual([4]);
  expect(await ask({ price: { _lt: 20 } })).toEqual([1, 3]);
  expect(await ask({ price: { _is_null: true } })).toEqual([5]);
  expect(await ask({ price: { _is_null: false } })).toEqual([1, 2, 3, 4]);
  expect(await ask({ _or: [{ id: { _eq: 1 } }, { id: { _in: [3, 4] } }] })).toEqual([1, 3, 4]);
  expect(await ask({ _or: [{ id: { _eq: 2 } }, { id: { _in: [] } }] })).toEqual([2]);
  expect(await ask({ _or: { id: { _eq: 2 } } })).toEqual([2]);
  expect(await ask({ _or: { id: { _eq: 5 } } })).toEqual([5]);
  expect(await ask(null)).toEqual([1, 2, 3, 4, 5]);
  expect((await send({ query, variables: { w: { price: { _gt: true } } } })).errors[0]).toEqual({
    message: "parsing Scientific failed, expected Number, but encountered Boolean",
    extensions: { path: "$.selectionSet.album.args.where.price._gt", code: "parse-failed" },
  });
  expect((await send({ query, variables: { w: { price: { _gt: null } } } })).errors[0].message).toBe(
    "unexpected null value for type 'numeric'",
  );
});

const noDefaultApi = await gqlApi({ noNullUnboundVariableDefault: true });

const ask = (target: TestApi, query: string, variables: Record<string, unknown> = {}) => target.gql(query, variables);

test("G-VAR-9 G-VAR-11 without the option an absent variable is null", async () => {
  expect((await ask(api, "query ($id: Int) { artist(where: {id: {_eq: $id}}) { id } }")).errors[0].message).toBe(
    "unexpected null value for type 'Int'",
  );
  expect(
    await ask(
      api,
      'mutation ($country: String) { update_artist_by_pk(pk_columns: {id: 1}, _set: {name: "A", country: $country}) { country } }',
    ),
  ).toEqual({ data: { update_artist_by_pk: { country: null } } });
});

test("G-VAR-11 G-VAR-11a an absent variable in an object is treated as not written", async () => {
  const where =
    "query ($id: Int, $name: String) { artist(where: {id: {_eq: $id}, name: {_eq: $name}}, order_by: {id: asc}) { id } }";
  expect(await ask(noDefaultApi, where)).toEqual({ data: { artist: [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }] } });
  expect(await ask(noDefaultApi, where, { id: 2 })).toEqual({ data: { artist: [{ id: 2 }] } });
  expect(await ask(noDefaultApi, where, { name: "Can" })).toEqual({ data: { artist: [{ id: 3 }] } });
  expect(await ask(noDefaultApi, where, { id: 2, name: "Can" })).toEqual({ data: { artist: [] } });
  expect(await ask(noDefaultApi, where)).toEqual({ data: { artist: [{ id: 1 }, { id: 2 }, { id: 3 }, { id: 4 }] } });
  expect((await ask(noDefaultApi, where, { id: null })).errors[0].message).toBe("unexpected null value for type 'Int'");
});

test("G-VAR-11 an absent variable as an argument is treated as not written", async () => {
  const list =
    "query ($where: artist_bool_exp, $limit: Int, $order: [artist_order_by!]) { artist(where: $where, limit: $limit, order_by: $order) { id } }";
  expect((await ask(noDefaultApi, list)).data.artist).toHaveLength(4);
  expect((await ask(noDefaultApi, list, { limit: 1, order: { id: "desc" } })).data.artist).toEqual([{ id: 4 }]);
  expect(
    (await ask(noDefaultApi, "query ($by: jsonb) { artist_by_pk(id: 1) { stats(path: $by) } }")).errors[0].message,
  ).toBe("variable 'by' is declared as 'jsonb', but used where 'String' is expected");
});

test("G-VAR-11 G-VAR-11a an absent variable takes the default in inserts and leaves columns unchanged in updates", async () => {
  const insert = "mutation ($note: String) { insert_invoice_one(object: {net: 1, note: $note}) { note } }";
  expect(await ask(noDefaultApi, insert)).toEqual({ data: { insert_invoice_one: { note: "none" } } });
  expect(await ask(noDefaultApi, insert, { note: null })).toEqual({ data: { insert_invoice_one: { note: null } } });
  expect(await ask(noDefaultApi, insert, { note: "n" })).toEqual({ data: { insert_invoice_one: { note: "n" } } });
  const insertMany =
    'mutation ($note: String) { insert_invoice(objects: [{net: 1, note: $note}, {net: 1, note: "b"}]) { returning { note } } }';
  expect(await ask(noDefaultApi, insertMany)).toEqual({
    data: { insert_invoice: { returning: [{ note: "none" }, { note: "b" }] } },
  });
  const update =
    "mutation ($name: String, $country: String) { update_artist_by_pk(pk_columns: {id: 1}, _set: {name: $name, country: $country}) { name country } }";
  expect(await ask(noDefaultApi, update, { country: "NO" })).toEqual({
    data: { update_artist_by_pk: { name: "Abba", country: "NO" } },
  });
  expect(await ask(noDefaultApi, update, { name: "B" })).toEqual({
    data: { update_artist_by_pk: { name: "B", country: "SE" } },
  });
  expect(await ask(noDefaultApi, update)).toEqual({ data: { update_artist_by_pk: null } });
});

test("G-VAR-11 G-VAR-11a the type of an absent variable is checked, and inside JSON it is null", async () => {
  expect(
    (await ask(noDefaultApi, "query ($a: Int) { artist(where: {id: {_in: [1, $a]}}) { id } }")).errors[0].message,
  ).toBe("variable 'a' is declared as 'Int', but used where 'Int!' is expected");
  expect(
    await ask(
      noDefaultApi,
      "mutation ($a: jsonb) { update_artist_by_pk(pk_columns: {id: 1}, _set: {stats: {a: $a}}) { stats } }",
    ),
  ).toEqual({ data: { update_artist_by_pk: { stats: { a: null } } } });
});
