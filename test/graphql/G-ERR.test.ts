import { expect, test } from "vitest";
import { asAdmin } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { adminSecret } from "../support/tokens.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const text = async (query: string, headers = asAdmin(), variables?: unknown) =>
  (await api.post("/v1/graphql", { headers, body: { query, variables } })).text;

test("G-ERR-1 an error is one element with the message first, the path before the code, and without data", async () => {
  expect(await text("{ nope albums { id } }")).toBe(
    `{"errors":[{"message":"field 'nope' not found in type: 'query_root'","extensions":{"path":"$.selectionSet.nope","code":"validation-failed"}}]}`,
  );
});

gqlCases(api, [
  {
    title: "G-ERR-2 the path has field names, never aliases",
    query: "{ a: album { b: artist { c: nope } } }",
    error: {
      message: "field 'nope' not found in type: 'artist'",
      path: "$.selectionSet.album.selectionSet.artist.selectionSet.nope",
    },
  },
  {
    title: "G-ERR-2 the path has arguments, keys and indexes",
    query: '{ album(where: {_or: [{}, {artist: {_and: [{name: {_in: ["a", 1]}}]}}]}) { id } }',
    error: {
      message: "parsing Text failed, expected String, but encountered Number",
      path: "$.selectionSet.album.args.where._or[1].artist._and[0].name._in[1]",
      code: "parse-failed",
    },
  },
  {
    title: "G-ERR-3 the path quotes keys that are not plain words",
    query: "query ($w: album_bool_exp) { album(where: $w) { id } }",
    variables: { w: { _and: [{ "": 1 }] } },
    error: {
      message: 'variable value contains object with key "", which is not a legal GraphQL name',
      path: "$.selectionSet.album.args.where._and[0]",
    },
  },
  {
    title: "G-ERR-4 a spread adds nothing to the path",
    query: "{ ...q } fragment q on query_root { album { ...a } } fragment a on album { ... on album { nope } }",
    error: { message: "field 'nope' not found in type: 'album'", path: "$.selectionSet.album.selectionSet.nope" },
  },
  {
    title: "G-ERR-5 an error in a variable has the path of the argument",
    query: "query ($w: album_bool_exp) { album(where: $w) { id } }",
    variables: { w: { artist: { id: { _eq: true } } } },
    error: { message: expect.any(String), path: "$.selectionSet.album.args.where.artist.id._eq" },
  },
  {
    title: "G-ERR-5 an error in a list of a variable has the path of the argument",
    query: "mutation ($o: [artist_insert_input!]!) { insert_artist(objects: $o) { affected_rows } }",
    variables: { o: [{ name: "a" }, { name: "b", albums: { data: [{ title: "x", nope: 1 }] } }] },
    error: {
      message: "field 'nope' not found in type: 'album_insert_input'",
      path: "$.selectionSet.insert_artist.args.objects[1].albums.data[0].nope",
    },
  },
  {
    title: "G-ERR-6 the path of a value that is coerced to a list has its index",
    query: "mutation { insert_album(objects: {price: true}) { affected_rows } }",
    error: { message: expect.any(String), path: "$.selectionSet.insert_album.args.objects[0].price" },
  },
  {
    title: "G-ERR-6 the path of a coerced value in a variable has its index",
    query: "mutation ($o: [album_insert_input!]!) { insert_album(objects: $o) { affected_rows } }",
    variables: { o: { price: true } },
    error: { message: expect.any(String), path: "$.selectionSet.insert_album.args.objects[0].price" },
  },
  {
    title: "G-ERR-6 the path of a coerced value of a comparison has its index",
    query: "{ album(where: {id: {_in: true}}) { id } }",
    error: { message: expect.any(String), path: "$.selectionSet.album.args.where.id._in[0]" },
  },
  {
    title: "G-ERR-6 in execution the path ends at the argument",
    query: 'mutation { insert_artist(objects: {name: "Abba"}) { affected_rows } }',
    error: { message: expect.any(String), path: "$.selectionSet.insert_artist.args.objects" },
  },
]);

test("G-ERR-7 only administrators receive messages of the database", async () => {
  const query = 'mutation { insert_artist_one(object: {name: "Abba"}) { id } }';
  const admin = JSON.parse(await text(query));
  expect(admin.errors[0].extensions.internal).toEqual({
    error: {
      message: 'duplicate key value violates unique constraint "artist_name_key"',
      description: "Key (name)=(Abba) already exists.",
      hint: null,
      status_code: "23505",
      exec_status: "FatalError",
    },
  });
  const editor = JSON.parse(await text(query, asAdmin("music_editor")));
  expect(editor.errors[0].extensions).toEqual({
    path: "$.selectionSet.insert_artist_one.args.object",
    code: "constraint-violation",
  });
});

test("G-ERR-8 no message contains a secret or SQL", async () => {
  const queries = [
    "{ profile(where: {raw: {_eq: {a: 1}}}) { id } }",
    '{ specimen(where: {c_uuid: {_eq: "x"}}) { id } }',
    'mutation { raise_state(args: {state: "P0001", message: "boom"}) { id } }',
    "{ nope }",
    "query ($a: Int!) { album(limit: $a) { id } }",
  ];
  for (const query of queries) {
    const answer = await text(query, asAdmin("music_editor"));
    expect(answer).not.toContain(adminSecret);
    expect(answer.toLowerCase()).not.toMatch(/\bselect\b .*\bfrom\b/);
    expect(answer).not.toContain("postgres://");
  }
});
