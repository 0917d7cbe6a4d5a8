import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const pageCase = (rule: string, args: string, ...list: number[]) => ({
  title: `${rule} the argument ${args} selects its rows`,
  query: `{ album(order_by: {id: asc}, ${args}) { id } }`,
  data: { album: list.map((id) => ({ id })) },
});
const rejectionCase = (rule: string, args: string, message: string, code = "validation-failed") => ({
  title: `${rule} the argument ${args} is rejected`,
  query: `{ album(${args}) { id } }`,
  error: { message, path: `$.selectionSet.album.args.${args.split(":")[0]}`, code },
});
const variable = (rule: string, name: string, value: unknown, message: string, code = "validation-failed") => ({
  title: `${rule} the variable ${JSON.stringify(value)} is rejected for ${name}`,
  query: `query ($n: Int) { album(${name}: $n) { id } }`,
  variables: { n: value },
  error: { message, path: `$.selectionSet.album.args.${name}`, code },
});
const buildLimitMessage = (actual: string) =>
  `expected a non-negative 32-bit integer for type 'Int', but found ${actual}`;
const buildOffsetMessage = (actual: string) =>
  `expected a 32-bit integer, or a 64-bit integer represented as a string for type 'Int', but found ${actual}`;
const outsideBounds = (value: string) =>
  `The value ${value} lies outside the bounds or is not an integer. Maybe it is a float, or is there integer overflow?`;

gqlCases(api, [
  pageCase("G-PAG-1", "limit: 2", 1, 2),
  pageCase("G-PAG-1", "limit: 0"),
  pageCase("G-PAG-1", "limit: null", 1, 2, 3, 4, 5),
  rejectionCase("G-PAG-1", "limit: -1", buildLimitMessage("an integer")),
  rejectionCase("G-PAG-1", "limit: 1.5", buildLimitMessage("a float")),
  rejectionCase("G-PAG-1", 'limit: "3"', buildLimitMessage("a string")),
  rejectionCase("G-PAG-1", "limit: true", buildLimitMessage("a boolean")),
  rejectionCase("G-PAG-1", "limit: [1]", buildLimitMessage("a list")),
  rejectionCase("G-PAG-1", "limit: 5000000000", outsideBounds("5.0e9"), "parse-failed"),
  variable("G-PAG-1", "limit", -1, buildLimitMessage("a number")),
  variable("G-PAG-1", "limit", "3", buildLimitMessage("a string")),
  variable("G-PAG-1", "limit", 2.5, outsideBounds("2.5"), "parse-failed"),
  variable("G-PAG-1", "limit", 5000000000, outsideBounds("5.0e9"), "parse-failed"),
  {
    title: "G-PAG-1 an integral number from JSON is accepted as an integer",
    query: "query ($n: Int) { album(limit: $n, order_by: {id: asc}) { id } }",
    variables: { n: 1.0 },
    data: { album: [{ id: 1 }] },
  },
  {
    title: "G-PAG-1 a null variable sets no limit",
    query: "query ($n: Int) { album_aggregate(limit: $n) { aggregate { count } } }",
    variables: { n: null },
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
  pageCase("G-PAG-2", "offset: 3", 4, 5),
  pageCase("G-PAG-2", 'offset: "3"', 4, 5),
  pageCase("G-PAG-2", "offset: 5000000000"),
  pageCase("G-PAG-2", "offset: null, limit: 1", 1),
  rejectionCase("G-PAG-2", "offset: 1.5", buildOffsetMessage("a float")),
  rejectionCase("G-PAG-2", 'offset: "x"', buildOffsetMessage("a string")),
  rejectionCase("G-PAG-2", "offset: {}", buildOffsetMessage("an object")),
  variable("G-PAG-2", "offset", true, buildOffsetMessage("a boolean")),
  {
    title: "G-PAG-2 the database rejects a negative offset",
    query: "{ album(offset: -1) { id } }",
    error: { message: "OFFSET must not be negative", code: "data-exception", path: "$" },
  },
]);

const cappedApi = await gqlApi({ dbMaxRows: 2 });

gqlCases(cappedApi, [
  {
    title: "G-PAG-3 DB_MAX_ROWS limits lists",
    query: "{ album(order_by: {id: asc}) { id } }",
    data: { album: [{ id: 1 }, { id: 2 }] },
  },
  {
    title: "G-PAG-3 the smaller of DB_MAX_ROWS and limit applies",
    query: "{ a: album(order_by: {id: asc}, limit: 1) { id } b: album(order_by: {id: asc}, limit: 4) { id } }",
    data: { a: [{ id: 1 }], b: [{ id: 1 }, { id: 2 }] },
  },
  {
    title: "G-PAG-3 DB_MAX_ROWS limits nodes and not aggregates",
    query: "{ album_aggregate(order_by: {id: asc}) { aggregate { count } nodes { id } } }",
    data: { album_aggregate: { aggregate: { count: 5 }, nodes: [{ id: 1 }, { id: 2 }] } },
  },
  {
    title: "G-PAG-3 the limit of the request applies to aggregates too",
    query: "{ album_aggregate(order_by: {id: asc}, limit: 4) { aggregate { count } nodes { id } } }",
    data: { album_aggregate: { aggregate: { count: 4 }, nodes: [{ id: 1 }, { id: 2 }] } },
  },
  {
    title: "G-PAG-3 DB_MAX_ROWS limits relationships",
    query: "{ artist_by_pk(id: 1) { albums(order_by: {id: asc}) { id } } }",
    data: { artist_by_pk: { albums: [{ id: 1 }, { id: 2 }] } },
  },
]);
