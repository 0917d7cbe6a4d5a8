import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const mismatch = {
  message: '"distinct_on" columns must match initial "order_by" columns',
  code: "validation-failed",
  path: "$.selectionSet.album.args",
};

gqlCases(api, [
  {
    title: "G-DIS-1 distinct_on returns the first row of each value in the order",
    query: "{ album(distinct_on: artist_id, order_by: [{artist_id: asc}, {id: desc}]) { id } }",
    data: { album: [{ id: 2 }, { id: 3 }, { id: 5 }] },
  },
  {
    title: "G-DIS-1 several columns of distinct_on may have any order",
    query: "{ album(distinct_on: [artist_id, sold], order_by: [{sold: asc}, {artist_id: asc}, {id: desc}]) { id } }",
    data: { album: [{ id: 1 }, { id: 5 }, { id: 2 }, { id: 3 }] },
  },
  {
    title: "G-DIS-1 an order_by that begins with another column is rejected",
    query: "{ album(distinct_on: artist_id, order_by: [{id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 an order_by with fewer columns than distinct_on is rejected",
    query: "{ album(distinct_on: [artist_id, sold], order_by: [{artist_id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 an order_by a related row does not satisfy distinct_on",
    query: "{ album(distinct_on: artist_id, order_by: [{artist: {name: asc}}, {artist_id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 an error inside a relationship has the path of that field",
    query: "{ artist { albums(distinct_on: [sold], order_by: {id: asc}) { id } } }",
    error: { ...mismatch, path: "$.selectionSet.artist.selectionSet.albums.args" },
  },
  {
    title: "G-DIS-2 distinct_on needs no order_by",
    query: "{ album_aggregate(distinct_on: artist_id) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 3 } } },
  },
  {
    title: "G-DIS-2 an empty distinct_on has no effect",
    query: "{ album_aggregate(distinct_on: []) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
  {
    title: "G-DIS-2 a null distinct_on has no effect",
    query: "{ album_aggregate(distinct_on: null) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
]);
