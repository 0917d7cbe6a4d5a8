import { expect } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

gqlCases(api, [
  {
    title: "G-AGG-1 aggregate and nodes are optional, with aliases at every level",
    query: `{ album_aggregate(order_by: {id: asc}) { aggregate { count sum { sold } n: count } other: aggregate { s: sum { of: sold price } } nodes { id } } b: album_aggregate { __typename aggregate { __typename max { title __typename } } } }`,
    data: {
      album_aggregate: {
        aggregate: { count: 5, sum: { sold: 27 }, n: 5 },
        other: { s: { of: 27, price: 67.49 } },
        nodes: [1, 2, 3, 4, 5].map((id) => ({ id })),
      },
      b: {
        __typename: "album_aggregate",
        aggregate: { __typename: "album_aggregate_fields", max: { title: "Waterloo", __typename: "album_max_fields" } },
      },
    },
  },
  {
    title: "G-AGG-1 the example of the reference returns its aggregates",
    query:
      "{ album_aggregate(where: {live: {_eq: true}}, order_by: {id: asc}) { aggregate { count n: count(columns: [price], distinct: true) sum { sold } avg { sold } max { title } } nodes { id } } }",
    bytes:
      '{"data":{"album_aggregate":{"aggregate":{"count":3,"n":3,"sum":{"sold":10},"avg":{"sold":5.0000000000000000},"max":{"title":"Tago Mago"}},"nodes":[{"id":1},{"id":3},{"id":4}]}}}',
  },
  {
    title: "G-AGG-2 aggregates apply after where, distinct_on, order_by, limit and offset",
    query: `{ a: album_aggregate(limit: 2) { aggregate { count } } b: album_aggregate(order_by: {id: desc}, limit: 2, offset: 1) { aggregate { count max { id } min { id } } nodes { id } }
      c: album_aggregate(distinct_on: artist_id, order_by: [{artist_id: asc}, {id: asc}]) { aggregate { count sum { id } } } }`,
    data: {
      a: { aggregate: { count: 2 } },
      b: { aggregate: { count: 2, max: { id: 4 }, min: { id: 3 } }, nodes: [{ id: 4 }, { id: 3 }] },
      c: { aggregate: { count: 3, sum: { id: 8 } } },
    },
  },
  {
    title: "G-OUT-8 sum, max and min of money are returned",
    query: "{ specimen_aggregate { aggregate { sum { c_money } max { c_money } min { c_money } } } }",
    data: {
      specimen_aggregate: {
        aggregate: {
          sum: { c_money: expect.any(String) },
          max: { c_money: expect.any(String) },
          min: { c_money: expect.any(String) },
        },
      },
    },
  },
  ...["avg", "stddev", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "variance"].map((fn) => ({
    title: `G-OUT-8 PostgreSQL has no ${fn} of money`,
    query: `{ specimen_aggregate { aggregate { ${fn} { c_money } } } }`,
    error: { message: "database query error", code: "unexpected" },
  })),
  {
    title: "G-AGG-3 count accepts columns",
    query: `{ album_aggregate { aggregate { all: count price: count(columns: [price]) row: count(columns: [price, sold]) kinds: count(columns: sold, distinct: true)
      pairs: count(columns: [artist_id, sold], distinct: true) rows: count(distinct: true) } } }`,
    data: { album_aggregate: { aggregate: { all: 5, price: 4, row: 5, kinds: 3, pairs: 4, rows: 5 } } },
  },
  {
    title: "G-AGG-3 count with columns: null is rejected",
    query: "{ album_aggregate { aggregate { count(columns: null) } } }",
    error: {
      message: "expected a list, but found null",
      path: "$.selectionSet.album_aggregate.selectionSet.aggregate.selectionSet.count.args.columns",
      code: "validation-failed",
    },
  },
  {
    title: "G-AGG-3 count with distinct: null is rejected",
    query: "{ album_aggregate { aggregate { count(distinct: null) } } }",
    error: {
      message: "expected a boolean for type 'Boolean', but found null",
      path: "$.selectionSet.album_aggregate.selectionSet.aggregate.selectionSet.count.args.distinct",
      code: "validation-failed",
    },
  },
  {
    title: "G-AGG-4 aggregates of no rows are null, counts are 0",
    query:
      "{ album_aggregate(where: {id: {_lt: 0}}) { aggregate { count sum { sold } avg { price } max { title } stddev { sold } variance { sold } } nodes { id } } }",
    data: {
      album_aggregate: {
        aggregate: {
          count: 0,
          sum: { sold: null },
          avg: { price: null },
          max: { title: null },
          stddev: { sold: null },
          variance: { sold: null },
        },
        nodes: [],
      },
    },
  },
  {
    title: "G-AGG-5 aggregate values are those of PostgreSQL",
    query:
      "{ specimen_aggregate { aggregate { sum { c_int4 c_int8 c_numeric } max { c_text c_date c_mood c_text_list } } } album_aggregate { aggregate { stddev_pop { sold } var_samp { sold } avg { price } } } }",
    bytes:
      '{"data":{"specimen_aggregate":{"aggregate":{"sum":{"c_int4":2147483647,"c_int8":9223372036854775807,"c_numeric":"NaN"},"max":{"c_text":"text","c_date":"2020-02-29","c_mood":"happy","c_text_list":["a","b c"]}}},' +
      '"album_aggregate":{"aggregate":{"stddev_pop":{"sold":2.4874685927665499},"var_samp":{"sold":8.2500000000000000},"avg":{"price":16.8725000000000000}}}}}',
  },
  {
    title: "G-AGG-6 aggregates of an array relationship are computed per parent row",
    query:
      "{ artist(order_by: {id: asc}) { name albums_aggregate(where: {price: {_gt: 10}}, order_by: {id: desc}) { aggregate { count max { price } } nodes { title } } } }",
    data: {
      artist: [
        {
          name: "Abba",
          albums_aggregate: {
            aggregate: { count: 2, max: { price: 20 } },
            nodes: [{ title: "Waterloo" }, { title: "Arrival" }],
          },
        },
        { name: "Bjork", albums_aggregate: { aggregate: { count: 0, max: { price: null } }, nodes: [] } },
        {
          name: "Can",
          albums_aggregate: { aggregate: { count: 1, max: { price: 25 } }, nodes: [{ title: "Tago Mago" }] },
        },
        { name: "Dusk", albums_aggregate: { aggregate: { count: 0, max: { price: null } }, nodes: [] } },
      ],
    },
  },
  {
    title: "G-AGG-7 a column that the role may not select has no aggregate",
    query: "{ artist_aggregate { aggregate { max { born } } } }",
    role: "music_reader",
    error: { message: "field 'born' not found in type: 'artist_max_fields'", code: "validation-failed" },
  },
  {
    title: "G-AGG-7 a column that the role may not select cannot be counted",
    query: "{ artist_aggregate { aggregate { count(columns: stats) } } }",
    role: "music_reader",
    error: {
      message:
        "expected one of the values ['country', 'id', 'name'] for type 'artist_select_column', but found 'stats'",
    },
  },
]);
