import { expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { buildGqlErrorBody, gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const validationFailed = "validation-failed";
const notAQuery = { message: "not a valid graphql query", path: "$.query", code: validationFailed };

const send = async (body: object) => (await api.post("/v1/graphql", { headers: asAdmin(), body })).json();

gqlCases(api, [
  { title: "G-DOC-1 a document that does not parse is rejected", query: "{ album { id }", error: notAQuery },
  { title: "G-DOC-1 an empty document is rejected", query: "", error: notAQuery },
  { title: "G-DOC-1 an empty selection set is rejected", query: "{ album { } }", error: notAQuery },
  { title: "G-DOC-1 an empty root selection set is rejected", query: "{}", error: notAQuery },
  { title: "G-DOC-1 a repeated argument is rejected", query: "{ album(limit: 1, limit: 2) { id } }", error: notAQuery },
  {
    title: "G-DOC-1 a repeated input field is rejected",
    query: "{ album(where: {id: {_eq: 1}, id: {_eq: 2}}) { id } }",
    error: notAQuery,
  },
  {
    title: "G-DOC-1 type definitions in a document are rejected",
    query: "{ album { id } } type a { b: Int }",
    error: notAQuery,
  },
  {
    title: "G-DOC-1 block strings and comments are accepted",
    query: '{ # all of it\n artist(where: {name: {_eq: """\n  Abba\n  """}}) { id } }',
    data: { artist: [{ id: 1 }] },
  },
  {
    title: "G-DOC-1 a document with 3000 levels is rejected",
    query: `{ album(where: ${"{_not: ".repeat(3000)}{}${"}".repeat(3000)}) { id } }`,
    error: notAQuery,
  },
  {
    title: "G-DOC-1 a document with 100000 levels is rejected",
    query: `{ album(where: ${"[".repeat(100000)}`,
    error: notAQuery,
  },
  {
    title: "G-DOC-8 G-LIM-3 fragments that multiply without limit are rejected",
    query: `{ album { ...f0 } } ${Array.from({ length: 40 }, (_, i) => `fragment f${i} on album { artist { a: albums { ...f${i + 1} } b: albums { ...f${i + 1} } } }`).join(" ")} fragment f40 on album { id }`,
    error: { message: "the operation selects fields nested deeper than 50 levels", path: "$", code: validationFailed },
  },
  {
    title: "G-DOC-4 an unknown root field is rejected",
    query: "{ albums { id } }",
    error: {
      message: "field 'albums' not found in type: 'query_root'",
      path: "$.selectionSet.albums",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-4 an unknown field is rejected",
    query: "{ album { id colour } }",
    error: {
      message: "field 'colour' not found in type: 'album'",
      path: "$.selectionSet.album.selectionSet.colour",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-4 an unknown field of an input object is rejected",
    query: 'mutation { insert_artist(objects: [{name: "A", age: 3}]) { affected_rows } }',
    error: {
      message: "field 'age' not found in type: 'artist_insert_input'",
      path: "$.selectionSet.insert_artist.args.objects[0].age",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-5 an unknown argument is rejected",
    query: "{ album(first: 3) { id } }",
    error: { message: "'album' has no argument named 'first'", path: "$.selectionSet.album", code: validationFailed },
  },
  {
    title: "G-DOC-5 an argument on a column is rejected",
    query: "{ album { id(x: 3) } }",
    error: {
      message: "'id' has no argument named 'x'",
      path: "$.selectionSet.album.selectionSet.id",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-6 a root field without a selection is rejected",
    query: "{ album }",
    error: {
      message: "missing selection set for 'album'",
      path: "$.selectionSet.album.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-6 a relationship without selection is rejected",
    query: "{ album { artist } }",
    error: {
      message: "missing selection set for 'artist'",
      path: "$.selectionSet.album.selectionSet.artist.selectionSet",
    },
  },
  {
    title: "G-DOC-6 a scalar with a selection is rejected",
    query: "{ album { id { x } } }",
    error: {
      message: "unexpected subselection set for non-object field",
      path: "$.selectionSet.album.selectionSet.id",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-7 a field without its required argument is rejected",
    query: "{ album_by_pk { id } }",
    error: {
      message: "missing required field 'id'",
      path: "$.selectionSet.album_by_pk.args.id",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-7 an input object without its required field is rejected",
    query: 'mutation { insert_artist(objects: [{name: "A", albums: {}}]) { affected_rows } }',
    error: {
      message: "missing required field 'data'",
      path: "$.selectionSet.insert_artist.args.objects[0].albums.data",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-8 an undefined fragment is rejected",
    query: "{ album { ...nope } }",
    error: {
      message: 'reference to undefined fragment "nope"',
      path: "$.selectionSet.album.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-8 G-DOC-8a the path of an error names the enclosing fragments",
    query: "{ album { ...albumParts } } fragment albumParts on album { artist { ...nope } }",
    error: {
      message: 'reference to undefined fragment "nope"',
      path: "$.selectionSet.album.selectionSet.albumParts.selectionSet.artist.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-8 fragments may spread each other in a long chain",
    query: `{ ...f0 } ${Array.from({ length: 2000 }, (_, i) => `fragment f${i} on query_root { ...f${i + 1} }`).join(" ")}
      fragment f2000 on query_root { album_by_pk(id: 1) { id } }`,
    data: { album_by_pk: { id: 1 } },
  },
  {
    title: "G-DOC-8 a cycle of two fragments is rejected",
    query: "{ album { ...a } } fragment a on album { artist { ...b } } fragment b on artist { albums { ...a } }",
    error: {
      message: "the fragment definition(s) a and b form a cycle",
      path: "$.selectionSet.album.selectionSet.a.selectionSet.artist.selectionSet.b.selectionSet.albums.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-8 a cycle of one fragment is rejected",
    query: "{ album { ...a } } fragment a on album { ...a }",
    error: {
      message: "the fragment definition(s) a form a cycle",
      path: "$.selectionSet.album.selectionSet.a.selectionSet",
    },
  },
  {
    title: "G-DOC-8 the error of a cycle of three fragments begins with the repeated one",
    query:
      "{ album { ...x } } fragment x on album { ...a } fragment a on album { ...b } fragment b on album { ...c } fragment c on album { ...a }",
    error: {
      message: "the fragment definition(s) a, b, and c form a cycle",
      path: "$.selectionSet.album.selectionSet.x.selectionSet.a.selectionSet.b.selectionSet.c.selectionSet",
    },
  },
  {
    title: "G-DOC-8 G-DOC-8b a repeated fragment name is rejected",
    query: "{ album { ...a } } fragment a on album { id } fragment a on album { id }",
    error: { message: 'multiple definitions for fragment "a"', path: "$", code: "parse-failed" },
  },
  {
    title: "G-DOC-8 G-DOC-8b a fragment on another type is skipped",
    query: "{ artist_by_pk(id: 1) { id ...a ... on album { nothing } } } fragment a on album { title nothing }",
    data: { artist_by_pk: { id: 1 } },
  },
  {
    title: "G-DOC-8 G-DOC-8b unused fragments are accepted",
    query: "{ artist_by_pk(id: 1) { id } } fragment a on album { ...nope }",
    data: { artist_by_pk: { id: 1 } },
  },
  {
    title: "G-DOC-9 two different fields of one response name are rejected",
    query: "{ album { x: id x: title } }",
    error: {
      message: "selection of both 'id' and 'title' specify the same response name, 'x'",
      path: "$.selectionSet.album.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-9 equal fields with different arguments are rejected",
    query: "{ album(limit: 1) { id } album(limit: 2) { id } }",
    error: {
      message: "inconsistent arguments between multiple selections of field 'album'",
      path: "$.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-9 equal objects are merged, with their fields in any order",
    query: `{ ...A ...B }
      fragment A on query_root { album(where: {artist_id: {_eq: 1}, id: {_gt: 0, _lt: 2}}) { id artist { albums(where: {id: {_eq: 1}, title: {}}) { id } } } }
      fragment B on query_root { album(where: {id: {_lt: 2, _gt: 0}, artist_id: {_eq: 1}}) { title artist { albums(where: {title: {}, id: {_eq: 1}}) { title } } } }`,
    data: { album: [{ id: 1, title: "Arrival", artist: { albums: [{ id: 1, title: "Arrival" }] } }] },
  },
  {
    title: "G-DOC-9 equal lists of objects are merged, with variables and JSON in them",
    query: `query ($a: Int!) {
      profile(where: {_or: [{doc: {_contains: {x: 1, y: {b: 2, a: 3}}}, id: {_eq: $a}}]}) { id }
      profile(where: {_or: [{id: {_eq: $a}, doc: {_contains: {y: {a: 3, b: 2}, x: 1}}}]}) { __typename }
    }`,
    variables: { a: -1 },
    data: { profile: [] },
  },
  {
    title: "G-DOC-9 lists with another order are different arguments",
    query: "{ album(where: {id: {_in: [1, 2]}}) { id } album(where: {id: {_in: [2, 1]}}) { id } }",
    error: { message: "inconsistent arguments between multiple selections of field 'album'" },
  },
  {
    title: "G-DOC-9 G-ORD-2 an order_by with another order is a different argument",
    query: "{ album(order_by: {id: asc, title: asc}) { id } album(order_by: {title: asc, id: asc}) { id } }",
    error: { message: "inconsistent arguments between multiple selections of field 'album'" },
  },
  {
    title: "G-DOC-9 equal fields are merged, with their arguments in any order",
    query:
      "{ album(limit: 1, order_by: {id: asc}) { id } album(order_by: {id: asc}, limit: 1) { title artist { id } } ...q } fragment q on query_root { album(limit: 1, order_by: {id: asc}) { artist { name } id } }",
    bytes: '{"data":{"album":[{"id":1,"title":"Arrival","artist":{"id":1,"name":"Abba"}}]}}',
  },
  {
    title: "G-DOC-10 __typename is accepted at every level",
    query:
      "{ __typename album_by_pk(id: 1) { __typename t: __typename artist { __typename } } album_aggregate { __typename aggregate { __typename } } }",
    data: {
      __typename: "query_root",
      album_by_pk: { __typename: "album", t: "album", artist: { __typename: "artist" } },
      album_aggregate: { __typename: "album_aggregate", aggregate: { __typename: "album_aggregate_fields" } },
    },
  },
  {
    title: "G-DOC-10 __typename is accepted in a mutation",
    query: "mutation { __typename delete_album(where: {id: {_eq: 5}}) { __typename returning { __typename id } } }",
    data: {
      __typename: "mutation_root",
      delete_album: { __typename: "album_mutation_response", returning: [{ __typename: "album", id: 5 }] },
    },
  },
  {
    title: "G-DOC-10 a query of only __typename needs no database",
    query: "{ __typename }",
    data: { __typename: "query_root" },
  },
  {
    title: "G-DOC-11 G-CON-10 keys have the order of the selection",
    query:
      "{ b: artist_by_pk(id: 1) { name ...f id } __typename a: album_by_pk(id: 1) { title id } } fragment f on artist { country name }",
    bytes:
      '{"data":{"b":{"name":"Abba","country":"SE","id":1},"__typename":"query_root","a":{"title":"Arrival","id":1}}}',
  },
  {
    title: "G-DOC-11 introspection fields keep their place in the selection",
    query:
      '{ a: artist_by_pk(id: 1) { id } __type(name: "album_mutation_response") { name } b: artist_by_pk(id: 2) { id } }',
    bytes: '{"data":{"a":{"id":1},"__type":{"name":"album_mutation_response"},"b":{"id":2}}}',
  },
  {
    title: "G-DOC-12 @include and @skip are applied",
    query: `query ($yes: Boolean!, $no: Boolean! = false) { artist_by_pk(id: 1) { id @include(if: $yes) name @skip(if: $yes) country @include(if: $no) born @include(if: true) @skip(if: false) ...f @skip(if: $no) ... on artist @include(if: $no) { stats } } }
      fragment f on artist { albums(limit: 1, order_by: {id: asc}) { id } }`,
    variables: { yes: true },
    data: { artist_by_pk: { id: 1, born: "1972-11-01", albums: [{ id: 1 }] } },
  },
  {
    title: "G-DOC-12 a selection set whose fields are all skipped is empty",
    query: "{ artist(limit: 1) { id @skip(if: true) } }",
    data: { artist: [{}] },
  },
  {
    title: "G-DOC-12 a document whose fields are all skipped is empty",
    query: "{ artist @skip(if: true) { id } }",
    data: {},
  },
  {
    title: "G-DOC-12 skipped fields are not checked",
    query: "{ __typename nope @skip(if: true) artist_by_pk(id: 1) { id } }",
    data: { __typename: "query_root", artist_by_pk: { id: 1 } },
  },
  {
    title: "G-DOC-12 G-DOC-12a @cached is accepted on queries",
    query: "query q @cached(ttl: 120, refresh: true) { artist_by_pk(id: 1) { id } }",
    data: { artist_by_pk: { id: 1 } },
  },
  {
    title: "G-DOC-12 an unknown directive is rejected",
    query: "{ artist { id @upper } }",
    error: {
      message: "directive 'upper' is not defined in the schema",
      path: "$.selectionSet.artist.selectionSet",
      code: validationFailed,
    },
  },
  {
    title: "G-DOC-12 an unknown directive of the operation is rejected",
    query: "query @live { artist { id } }",
    error: { message: "directive 'live' is not defined in the schema", path: "$" },
  },
  {
    title: "G-DOC-12 @cached on a field is rejected",
    query: "{ artist @cached { id } }",
    error: { message: "directive 'cached' is not allowed on a field", path: "$.selectionSet" },
  },
  {
    title: "G-DOC-12 @cached on a mutation is rejected",
    query: "mutation @cached { delete_artist(where: {}) { affected_rows } }",
    error: { message: "directive 'cached' is not allowed on a mutation", path: "$" },
  },
  {
    title: "G-DOC-12 @include on a query is rejected",
    query: "query @include(if: true) { artist { id } }",
    error: { message: "directive 'include' is not allowed on a query", path: "$" },
  },
  {
    title: "G-DOC-12 @cached on a spread is rejected",
    query: "{ artist { ...f @cached } } fragment f on artist { id }",
    error: {
      message: "directive 'cached' is not allowed on a fragment spread",
      path: "$.selectionSet.artist.selectionSet",
    },
  },
  {
    title: "G-DOC-12 @cached on an inline fragment is rejected",
    query: "{ artist { ... @cached { id } } }",
    error: {
      message: "directive 'cached' is not allowed on an inline fragment",
      path: "$.selectionSet.artist.selectionSet",
    },
  },
  {
    title: "G-DOC-12 a repeated directive is rejected",
    query: "{ artist { id @include(if: true) @include(if: true) } }",
    error: {
      message: "the following directives are used more than once: ['include']",
      path: "$.selectionSet.artist.selectionSet",
    },
  },
  {
    title: "G-DOC-12 a directive without its argument if is rejected",
    query: "{ artist { id @include } }",
    error: { message: "missing required field 'if'", path: "$.selectionSet.artist.selectionSet.include.args.if" },
  },
  {
    title: "G-DOC-12 the argument if must be a boolean",
    query: '{ artist { id @skip(if: "yes") } }',
    error: {
      message: "expected a boolean for type 'Boolean', but found a string",
      path: "$.selectionSet.artist.selectionSet.skip.args.if",
    },
  },
  {
    title: "G-DOC-13 a mutation is rejected for a role without mutations",
    query: "mutation { delete_artist(where: {}) { affected_rows } }",
    role: "music_nobody",
    error: { message: "no mutations exist", path: "$", code: validationFailed },
  },
  {
    title: "G-DOC-13 a subscription is rejected for a role without subscriptions",
    query: "subscription { artist { id } }",
    role: "music_nobody",
    error: { message: "no subscriptions exist", path: "$", code: validationFailed },
  },
  {
    title: "G-DOC-14 the document is checked before the operation, and the operation before fragments",
    query: "query a { album { ...nope } } query b { album { id } }",
    error: { message: "exactly one operation has to be present in the document when operationName is not specified" },
  },
  {
    title: "G-DOC-14 fragments are checked before the root",
    query: "mutation { x { ...nope } }",
    role: "music_nobody",
    error: { message: 'reference to undefined fragment "nope"' },
  },
  {
    title: "G-DOC-14 the root is checked before variables",
    query: "mutation ($a: Int!) { x(a: $a) { y } }",
    role: "music_nobody",
    error: { message: "no mutations exist" },
  },
  {
    title: "G-DOC-14 variables are checked before fields",
    query: "query ($a: Int!) { album(limit: $a) { nope } }",
    error: { message: 'expecting a value for non-nullable variable: "a"' },
  },
  {
    title: "G-DOC-14 fields are checked before directives of the operation",
    query: "query @live { nope }",
    error: { message: "field 'nope' not found in type: 'query_root'" },
  },
  {
    title: "G-DOC-14 G-DOC-14a fields are checked in document order",
    query: "{ album(limit: -1) { id } nope }",
    error: { path: "$.selectionSet.album.args.limit", message: expect.any(String) },
  },
  {
    title: "G-DOC-14 G-DOC-14a merged fields are checked before fields",
    query: "{ nope album { id } album(limit: 1) { id } }",
    error: { message: "inconsistent arguments between multiple selections of field 'album'" },
  },
  {
    title: "G-DOC-14 G-DOC-14a unknown arguments are checked before values",
    query: "{ album(limit: -1, zzz: 1) { id } }",
    error: { message: "'album' has no argument named 'zzz'" },
  },
  {
    title: "G-DOC-14 G-DOC-14a argument values are checked before the selection set",
    query: "{ album(limit: -1) { nope } }",
    error: { path: "$.selectionSet.album.args.limit", message: expect.any(String) },
  },
  {
    title: "G-DOC-14 G-DOC-14b the first of several invalid arguments by name is reported",
    query: "{ album(offset: true, limit: true) { id } }",
    error: { path: "$.selectionSet.album.args.limit", message: expect.any(String) },
  },
  {
    title: "G-DOC-14 G-DOC-14b unknown keys are checked before values",
    query: "{ album(where: {artist_id: {_eq: true}, zzz: {}}) { id } }",
    error: { message: "field 'zzz' not found in type: 'album_bool_exp'" },
  },
  {
    title: "G-DOC-14 G-DOC-14b the first of several invalid input fields by name is reported",
    query: "{ album(where: {title: {_eq: 1}, id: {_eq: true}}) { id } }",
    error: { path: "$.selectionSet.album.args.where.id._eq", message: expect.any(String) },
  },
]);

test("G-DOC-2 G-DOC-2a operationName chooses the operation", async () => {
  const twoOperations = "query a { artist_by_pk(id: 1) { id } } query b { artist_by_pk(id: 2) { id } }";
  expect(await send({ query: twoOperations, operationName: "b" })).toEqual({ data: { artist_by_pk: { id: 2 } } });
  expect(await send({ query: "query a { artist_by_pk(id: 1) { id } }", operationName: null })).toEqual({
    data: { artist_by_pk: { id: 1 } },
  });
  expect(await send({ query: twoOperations })).toEqual(
    buildGqlErrorBody(
      "exactly one operation has to be present in the document when operationName is not specified",
      validationFailed,
      "$",
    ),
  );
  expect(await send({ query: "fragment f on album { id }" })).toEqual(
    buildGqlErrorBody(
      "exactly one operation has to be present in the document when operationName is not specified",
      validationFailed,
      "$",
    ),
  );
  expect(await send({ query: twoOperations, operationName: "c" })).toEqual(
    buildGqlErrorBody('no such operation found in the document: "c"', validationFailed, "$"),
  );
  expect(await send({ query: "{ artist { id } } query a { album { id } }", operationName: "a" })).toEqual(
    buildGqlErrorBody(
      "operationName cannot be used when an anonymous operation exists in the document",
      validationFailed,
      "$",
    ),
  );
  expect(await send({ query: "query { artist { id } }", operationName: "a" })).toEqual(
    buildGqlErrorBody('no such operation found in the document: "a"', validationFailed, "$"),
  );
});

test("G-DOC-2 other operations are not validated", async () => {
  expect(await send({ query: "query a { artist_by_pk(id: 1) { id } } query b { nope }", operationName: "a" })).toEqual({
    data: { artist_by_pk: { id: 1 } },
  });
});

test("G-DOC-3 an invalid operation name is rejected", async () => {
  expect(await send({ query: "query a { artist { id } }", operationName: "a b" })).toEqual(
    buildGqlErrorBody("a b is not valid GraphQL name", "parse-failed", "$.operationName"),
  );
});

test("G-DOC-3 an empty operation name is rejected, also for a document that was sent before without one", async () => {
  const query = "{ artist_by_pk(id: 1) { id } }";
  expect(await send({ query })).toEqual({ data: { artist_by_pk: { id: 1 } } });
  expect(await send({ query, operationName: "" })).toEqual(
    buildGqlErrorBody(" is not valid GraphQL name", "parse-failed", "$.operationName"),
  );
});
