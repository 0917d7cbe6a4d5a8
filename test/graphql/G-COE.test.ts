import { expect, test } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const validationFailed = "validation-failed";
const parse = "parse-failed";

/** Compares a column of `specimen` with a literal. */
const literal = (rule: string, column: string, value: string, message: string, code = parse, suffix = "") => ({
  title: `${rule} the literal ${value} is rejected for ${column}`,
  query: `{ specimen(where: {${column}: {_eq: ${value}}}) { id } }`,
  error: { message, path: `$.selectionSet.specimen.args.where.${column}._eq${suffix}`, code },
});
/** The same comparison with a variable of the type. */
const variable = (rule: string, column: string, type: string, value: unknown, message: string, code = parse) => ({
  title: `${rule} the variable ${JSON.stringify(value)} is rejected for ${column}`,
  query: `query ($v: ${type}) { specimen(where: {${column}: {_eq: $v}}) { id } }`,
  variables: { v: value },
  error: { message, path: `$.selectionSet.specimen.args.where.${column}._eq`, code },
});

const outsideBounds = (value: string) =>
  `The value ${value} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`;
const overflow = (value: string) => `The value ${value} lies outside the bounds. Is it overflowing the float bounds?`;
const integer = (type: string, actual: string) =>
  `parsing Integer expected for input type: ${type} failed, expected Number, but encountered ${actual}`;
const float = (type: string, actual: string) =>
  `parsing Float expected for input type: ${type} failed, expected Number, but encountered ${actual}`;
const string = (type: string, actual: string) => `parsing ${type} failed, expected String, but encountered ${actual}`;

gqlCases(api, [
  ...(
    [
      ["1", "an integer"],
      ["1.5", "a float"],
      ['"x"', "a string"],
      ["null", "null"],
      ["red", "an enum value"],
      ["[true]", "a list"],
      ["{a: 1}", "an object"],
    ] as const
  ).map(([value, actual]) => ({
    title: `G-COE-1 G-COE-2 _is_null accepts only booleans: ${value}`,
    query: `{ album(where: {id: {_is_null: ${value}}}) { id } }`,
    error: {
      message: `expected a boolean for type 'Boolean', but found ${actual}`,
      path: "$.selectionSet.album.args.where.id._is_null",
      code: validationFailed,
    },
  })),
  ...(
    [
      [1, "a number"],
      ["x", "a string"],
      [null, "null"],
      [[true], "a list"],
      [{ a: 1 }, "an object"],
    ] as const
  ).map(([value, actual]) => ({
    title: `G-COE-1 G-COE-2 _is_null in a variable accepts only booleans: ${JSON.stringify(value)}`,
    query: "query ($b: Boolean) { album(where: {id: {_is_null: $b}}) { id } }",
    variables: { b: value },
    error: {
      message: `expected a boolean for type 'Boolean', but found ${actual}`,
      path: "$.selectionSet.album.args.where.id._is_null",
      code: validationFailed,
    },
  })),
  {
    title: "G-COE-3 the argument ttl of @cached must be an integer",
    query: "query @cached(ttl: 1.5) { __typename }",
    error: {
      message: "expected a 32-bit integer for type 'Int', but found a float",
      path: "$.cached.args.ttl",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-3 ttl out of range is rejected",
    query: "query @cached(ttl: 3000000000) { __typename }",
    error: { message: outsideBounds("3.0e9"), path: "$.cached.args.ttl", code: parse },
  },
  {
    title: "G-COE-4 the argument path must be a string",
    query: "{ artist { stats(path: 3) } }",
    error: {
      message: "expected a string for type 'String', but found an integer",
      path: "$.selectionSet.artist.selectionSet.stats.args.path",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-4 the argument path in a variable must be a string",
    query: "query ($p: String) { artist { stats(path: $p) } }",
    variables: { p: 3 },
    error: {
      message: "expected a string for type 'String', but found a number",
      path: "$.selectionSet.artist.selectionSet.stats.args.path",
    },
  },
  {
    title: "G-COE-5 an object literal is coerced field by field",
    query: "{ album(where: 3) { id } }",
    error: {
      message: "expected an object for type 'album_bool_exp', but found an integer",
      path: "$.selectionSet.album.args.where",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-5 an object in a variable is coerced field by field",
    query: "query ($w: album_bool_exp) { album(where: $w) { id } }",
    variables: { w: [1] },
    error: {
      message: "expected an object for type 'album_bool_exp', but found a list",
      path: "$.selectionSet.album.args.where",
    },
  },
  {
    title: "G-COE-5 an invalid name of a key is rejected",
    query: "query ($w: album_bool_exp) { album(where: $w) { id } }",
    variables: { w: { id: { "odd key": 1 } } },
    error: {
      message: 'variable value contains object with key "odd key", which is not a legal GraphQL name',
      path: "$.selectionSet.album.args.where.id",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-5 keys of jsonb objects may be any string",
    query: "query ($j: jsonb) { specimen(where: {c_jsonb: {_contains: $j}}) { id } }",
    variables: { j: { 你好: true } },
    data: { specimen: [{ id: 1 }] },
  },
  {
    title: "G-COE-6 objects: null is rejected",
    query: "mutation { insert_artist(objects: null) { affected_rows } }",
    error: {
      message: "expected a list, but found null",
      path: "$.selectionSet.insert_artist.args.objects",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-7 a string literal is rejected at an enum",
    query: '{ album(order_by: {id: "asc"}) { id } }',
    error: {
      message: "expected an enum value for type 'order_by', but found a string",
      path: "$.selectionSet.album.args.order_by[0].id",
      code: validationFailed,
    },
  },
  {
    title: "G-COE-7 a string in a variable is accepted for an enum",
    query: "query ($d: order_by) { album(order_by: {id: $d}, limit: 1) { id } }",
    variables: { d: "desc" },
    data: { album: [{ id: 5 }] },
  },
  {
    title: "G-COE-7 a number in a variable is rejected at an enum",
    query: "query ($d: order_by) { album(order_by: {id: $d}, limit: 1) { id } }",
    variables: { d: 1 },
    error: {
      message: "expected an enum value for type 'order_by', but found a number",
      path: "$.selectionSet.album.args.order_by[0].id",
    },
  },
  {
    title: "G-COE-7 an unknown enum value is rejected",
    query: "{ team(distinct_on: [goals]) { id } }",
    error: {
      message: "expected one of the values ['id', 'name'] for type 'team_select_column', but found 'goals'",
      path: "$.selectionSet.team.args.distinct_on[0]",
      code: validationFailed,
    },
  },
  literal("G-COE-8", "c_int4", "null", "unexpected null value for type 'Int'", validationFailed),
  literal("G-COE-8", "c_timestamptz", "null", "unexpected null value for type 'timestamptz'", validationFailed),
  literal("G-COE-9", "c_int4", "true", integer("PGInteger", "Boolean")),
  literal("G-COE-9", "c_int4", "[1]", integer("PGInteger", "Array")),
  literal("G-COE-9", "c_int4", "{a: 1}", integer("PGInteger", "Object")),
  literal("G-COE-9", "c_int4", "5000000000", outsideBounds("5.0e9")),
  literal("G-COE-9", "c_int4", "2147483648", outsideBounds("2.147483648e9")),
  literal("G-COE-9", "c_int4", "-2147483649", outsideBounds("-2.147483649e9")),
  literal("G-COE-9", "c_int4", "1.5", outsideBounds("1.5")),
  variable("G-COE-9", "c_int4", "Int", true, integer("PGInteger", "Boolean")),
  variable("G-COE-9", "c_int4", "Int", 2.5, outsideBounds("2.5")),
  literal("G-COE-9", "c_int2", "true", integer("PGSmallInt", "Boolean")),
  literal("G-COE-9", "c_int2", "32768", outsideBounds("32768.0")),
  literal("G-COE-9", "c_int8", "{}", integer("PGBigInt", "Object")),
  literal("G-COE-9", "c_int8", "9223372036854775808", outsideBounds("9.223372036854775808e18")),
  literal("G-COE-9", "c_float4", "true", float("PGFloat", "Boolean")),
  literal("G-COE-9", "c_float4", "1e39", overflow("1.0e39")),
  literal("G-COE-9", "c_float8", "[]", float("PGDouble", "Array")),
  literal("G-COE-9", "c_float8", "1e400", overflow("1.0e400")),
  literal("G-COE-9", "c_numeric", "true", "parsing Scientific failed, expected Number, but encountered Boolean"),
  literal("G-COE-9", "c_money", "{}", "parsing Scientific failed, expected Number, but encountered Object"),
  literal("G-COE-9", "c_text", "3", string("Text", "Number")),
  literal("G-COE-9", "c_varchar", "true", string("Text", "Boolean")),
  literal("G-COE-9", "c_citext", "1", string("Text", "Number")),
  literal("G-COE-9", "c_bpchar", "1", string("Char", "Number")),
  literal("G-COE-9", "c_bool", "1", "expected Bool, but encountered Number"),
  literal("G-COE-9", "c_timestamptz", "1", string("UTCTime", "Number")),
  literal("G-COE-9", "c_timestamp", "1", string("LocalTime", "Number")),
  literal("G-COE-9", "c_date", "1", string("Day", "Number")),
  literal("G-COE-9", "c_uuid", "1", string("UUID", "Number")),
  literal("G-COE-9", "c_inet", "1", "A string is expected for type: inet"),
  literal("G-COE-9", "c_mood", "1", "A string is expected for type: mood"),
  literal("G-COE-9", "c_interval", "true", "A string is expected for type: interval"),
  literal("G-COE-9", "c_int_list", "[1, true]", integer("PGInteger", "Boolean")),
  literal("G-COE-9", "c_text_list", '["a", 1]', string("Text", "Number")),
  {
    title: "G-COE-9 the arguments of a primary key are coerced",
    query: "{ album_by_pk(id: true) { id } }",
    error: { message: integer("PGInteger", "Boolean"), path: "$.selectionSet.album_by_pk.args.id", code: parse },
  },
  literal("G-COE-10", "c_int4", "0.5", outsideBounds("0.5")),
  literal("G-COE-10", "c_int4", "0.001", outsideBounds("1.0e-3")),
  literal("G-COE-10", "c_int4", "1500.25", outsideBounds("1500.25")),
  literal("G-COE-10", "c_int4", "12345678.5", outsideBounds("1.23456785e7")),
  literal("G-COE-10", "c_int2", "9999999", outsideBounds("9999999.0")),
  literal("G-COE-10", "c_int4", "123456789012345678901234567890", outsideBounds("1.2345678901234567890123456789e29")),
  variable("G-COE-10", "c_int4", "Int", 1e21, outsideBounds("1.0e21")),
  ...["", "a b", ".", "a..b", "[x]", "['a", "1a", "a[-1]", "$$"].map((path) => ({
    title: `G-COE-11 the path ${JSON.stringify(path)} is rejected`,
    query: "query ($p: String) { artist { stats(path: $p) } }",
    variables: { p: path },
    error: {
      message: `parse json path error: ${path}. Accept letters, digits, underscore (_) or hyphen (-) only. Use quotes enclosed in bracket (["..."]) if there is any special character`,
      path: "$.selectionSet.artist.selectionSet.stats.args",
      code: validationFailed,
    },
  })),
  ...(
    [
      ["$", { name: "Polar", "odd key": [1, 2] }, "label"],
      ["label.name", "Polar"],
      ["$.label.name", "Polar"],
      ["label['odd key'][1]", 2],
      ['label["odd key"].[0]', 1],
      ["$.genres[1]", "disco"],
      ["genres.[0]", "pop"],
      [".members", 4],
      ["nothing.there", null],
    ] as const
  ).map(([path, answer, pathArgument]) => ({
    title: `G-COE-12 the path ${path} reads a value`,
    query: `{ artist_by_pk(id: 1) { stats(path: ${JSON.stringify(pathArgument ?? path)}) } }`,
    data: { artist_by_pk: { stats: answer } },
  })),
  {
    title: "G-COE-12 the path $ and null return the whole value",
    query: '{ artist_by_pk(id: 2) { a: stats(path: "$") b: stats(path: null) c: stats } }',
    data: {
      artist_by_pk: {
        a: { genres: ["art"], members: 1 },
        b: { genres: ["art"], members: 1 },
        c: { genres: ["art"], members: 1 },
      },
    },
  },
  {
    title: "G-COE-12 a path accepts letters of any script",
    query: '{ specimen_by_pk(id: 1) { c_jsonb(path: "你好") c_json(path: "b") } }',
    data: { specimen_by_pk: { c_jsonb: true, c_json: 1 } },
  },
  {
    title: "G-COE-12 computed fields accept a path",
    query: '{ person_by_pk(id: 1) { person_card(path: "list[0]") } }',
    data: { person_by_pk: { person_card: 1 } },
  },
]);

gqlCases(api, [
  {
    title: "G-COE-11 a quoted key in the path may contain escapes",
    query: `query ($p: String) { artist_by_pk(id: 1) { stats(path: $p) } }`,
    variables: { p: 'label["\\u006eame"]' },
    data: { artist_by_pk: { stats: "Polar" } },
  },
  {
    title: "G-COE-9 a string is accepted for any type",
    query:
      '{ specimen(where: {c_int4: {_eq: "2147483647"}, c_bool: {_eq: "t"}, c_numeric: {_eq: "12.34"}, c_float8: {_eq: "2.25"}}) { id } }',
    data: { specimen: [{ id: 1 }] },
  },
  {
    title: "G-COE-9 the database rejects an invalid string",
    query: '{ specimen(where: {c_int4: {_eq: "12x"}}) { id } }',
    error: {
      message: 'invalid input syntax for type integer: "12x"',
      code: "data-exception",
      path: "$",
      internal: expect.anything(),
    },
  },
]);

test("G-COE-11 G-DOC-14 an invalid path is rejected although no row is updated, after any earlier request", async () => {
  const query =
    "mutation ($p: String) { update_artist_many(updates: []) { affected_rows returning { stats(path: $p) } } }";
  for (let i = 0; i < 2; i++) {
    expect(await api.gql(query, { p: "label" })).toEqual({ data: { update_artist_many: [] } });
    expect((await api.gql(query, { p: "[" })).errors?.[0]?.extensions.code).toBe("validation-failed");
  }
});
