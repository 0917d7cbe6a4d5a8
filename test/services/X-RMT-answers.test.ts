/** Answers of remote schemas: errors, data that does not fit the schema, and numbers. */
import { buildSchema } from "graphql";
import { beforeEach, expect, test } from "vitest";
import { remoteSchemas } from "../../plugins/services/index.ts";
import { asAdmin } from "../support/api.ts";
import { buildMetadataDocument, table } from "../support/metadata-document.ts";
import { startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const remote = await startRemote(`
  scalar Any
  interface Animal { name: String }
  type Dog implements Animal { name: String friend: Dog }
  enum Color { RED }
  type Query { color: Color words: [String] count: Int id: ID dog: Dog cat: Dog! animals: [Animal!]! grid: [[Int!]] any: Any echo(any: Any, input: Input, float: Float): String }
  input Input { any: Any, count: Int = 2 }
`);
const api = await startWithWebhooks({
  metadata: buildMetadataDocument([table("album")], {
    remote_schemas: [{ name: "zoo", definition: { url: remote.url } }],
  }),
});

beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = undefined;
});

const answerWith = (result: unknown): void => {
  remote.answer = () => ({ status: 200, text: typeof result === "string" ? result : JSON.stringify(result) });
};

test.each([
  ["without a path, beside data", { dog: { name: "a" } }, [{ message: "m" }], [{ message: "m", path: ["d"] }]],
  [
    "of another path, beside data",
    { dog: { name: "a" } },
    [{ message: "m", path: ["x"] }],
    [{ message: "m", path: ["d"] }],
  ],
  [
    "of a null in the data",
    { dog: { friend: null } },
    [{ message: "m", path: ["dog", "friend"], locations: [{ line: 1, column: 2 }], extensions: { code: "X" } }],
    [{ message: "m", path: ["d", "friend"], extensions: { code: "X" } }],
  ],
  [
    "of several kinds",
    null,
    [{ message: "m1", path: ["dog", "friend"], extensions: { a: 1 } }, { message: "m2" }],
    [
      { message: "m1", path: ["d", "friend"], extensions: { a: 1 } },
      { message: "m2", path: ["d"] },
    ],
  ],
  [
    "that are no GraphQL errors",
    null,
    [null, 3, { message: 5, path: "dog", extensions: "x" }, { message: "m", path: [{}] }],
    [
      ...Array.from({ length: 3 }, () => ({ message: "an error without a message", path: ["d"] })),
      { message: "m", path: ["d"] },
    ],
  ],
])("X-RMT-7 errors %s are answered one by one, and without data", async (_, data, errors, expected) => {
  answerWith({ data, errors });
  expect(await api.gql("{ d: dog { name friend { name } } album(limit: 1) { id } }")).toEqual({ errors: expected });
});

test("X-RMT-7 an error without a path is that of every field of the request", async () => {
  answerWith({ data: { _v0_dog: { name: "a" }, _v1_cat: { name: "b" } }, errors: [{ message: "m" }] });
  const { data, errors } = await api.gql("{ dog { name } cat { name } }");
  expect(data).toBeUndefined();
  expect([[{ message: "m", path: ["dog"] }], [{ message: "m", path: ["cat"] }]]).toContainEqual(errors);
});

test.each([
  ["{ cat { name } }", { cat: null }],
  ["{ animals { name } }", { animals: [{ __typename: "Bird", name: "a" }] }],
  ["{ animals { name } }", { animals: [{ name: "a" }] }],
  ["{ grid }", { grid: [1] }],
  ["{ color }", { color: "BLUE" }],
  ["{ count }", { count: 9_007_199_254 }],
  ["{ words }", { words: [["a"]] }],
  ["{ dog { name } }", { dog: { name: { first: "a" } } }],
  ["{ dog { name } cat { name } }", { dog: { name: "a" } }],
])("X-RMT-8 for %s, data that the schema does not allow is an error of the remote", async (query, result) => {
  answerWith({ data: result });
  const { data, errors } = await api.gql(query);
  expect(data).toBeUndefined();
  expect(errors).toEqual([
    {
      message: expect.stringMatching(/^the remote schema zoo failed: its answer does not fit its schema: /),
      extensions: { path: expect.stringMatching(/^\$\.selectionSet\./), code: "remote-schema-error" },
    },
  ]);
});

test("X-RMT-8 an answer that is nested too deep is an error of the remote", async () => {
  answerWith(`{"data":{"any":${"[".repeat(100_000)}${"]".repeat(100_000)}}}`);
  expect((await api.gql("{ any }")).errors[0].message).toBe(
    "the remote schema zoo failed: its answer is nested deeper than 500 levels",
  );
});

test("X-RMT-8 scalars that have another JSON type are converted, and null stays", async () => {
  answerWith({ data: { _v0_words: [1, null, "a"], _v1_count: "7", _v2_id: 5, _v3_color: null } });
  expect(await api.gql("{ words count id color }")).toEqual({
    data: { words: ["1", null, "a"], count: 7, id: "5", color: null },
  });
});

test("X-RMT-8 no data and no errors is not a GraphQL result", async () => {
  for (const result of [{ data: null }, { data: null, errors: [] }, { errors: [] }]) {
    answerWith(result);
    expect((await api.gql("{ any }")).errors[0].message).toBe(
      "the remote schema zoo failed: its answer with status 200 is not a GraphQL result",
    );
  }
});

const NUMBERS = '[1.50,12345678901234567890,{"a":-0.10}]';

test.each([
  ["a literal", "{ echo(any: [1.50, 12345678901234567890, {a: -0.10}]) }", "{}"],
  [
    "a literal around a variable",
    "query ($v: Any) { echo(any: [1.50, $v, {a: -0.10}]) }",
    '{"v":12345678901234567890}',
  ],
  ["a default", "query ($v: Any = [1.50, 12345678901234567890, {a: -0.10}]) { echo(any: $v) }", "{}"],
  ["an input object", "{ echo(input: {any: [1.50, 12345678901234567890, {a: -0.10}]}) }", "{}"],
])("X-RMT-6a the numbers of %s keep their digits in custom scalars", async (_, query, variables) => {
  let sentBody = "";
  remote.answer = (body) => {
    sentBody = body;
    return { status: 200, text: '{"data":{"echo":"heard"}}' };
  };
  const body = `{"query":${JSON.stringify(query)},"variables":${variables}}`;
  const answer = await api.post("/v1/graphql", {
    headers: { ...asAdmin(), "content-type": "application/json" },
    body,
  });
  expect(answer.text).toBe('{"data":{"echo":"heard"}}');
  expect(sentBody).toContain(NUMBERS);
});

test("X-RMT-6a a schema in the process receives numbers of JavaScript", async () => {
  const schema = buildSchema("scalar Any type Query { own(any: Any, list: [Any], float: Float): String }");
  const { own: ownField } = schema.getQueryType()?.getFields() ?? {};
  if (ownField) ownField.resolve = (_, args) => JSON.stringify(args);
  const localApi = await startWithWebhooks({ parts: [remoteSchemas({ own: { schema } })] });
  const query = "query ($any: Any, $float: Float) { own(any: $any, float: $float, list: [1.50]) }";
  const answer = await localApi.post("/v1/graphql", {
    headers: { ...asAdmin(), "content-type": "application/json" },
    body: `{"query":${JSON.stringify(query)},"variables":{"any":{"a":[2.50]},"float":3.50}}`,
  });
  expect(JSON.parse(answer.json().data.own)).toEqual({ any: { a: [2.5] }, float: 3.5, list: [1.5] });
});
