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
    title: "G-DIS-1 answers the first row of each by the order",
    query: "{ album(distinct_on: artist_id, order_by: [{artist_id: asc}, {id: desc}]) { id } }",
    data: { album: [{ id: 2 }, { id: 3 }, { id: 5 }] },
  },
  {
    title: "G-DIS-1 several columns may be in any order",
    query: "{ album(distinct_on: [artist_id, sold], order_by: [{sold: asc}, {artist_id: asc}, {id: desc}]) { id } }",
    data: { album: [{ id: 1 }, { id: 5 }, { id: 2 }, { id: 3 }] },
  },
  {
    title: "G-DIS-1 another first column is refused",
    query: "{ album(distinct_on: artist_id, order_by: [{id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 fewer order items than columns are refused",
    query: "{ album(distinct_on: [artist_id, sold], order_by: [{artist_id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 an order by a related row is not an order by a column",
    query: "{ album(distinct_on: artist_id, order_by: [{artist: {name: asc}}, {artist_id: asc}]) { id } }",
    error: mismatch,
  },
  {
    title: "G-DIS-1 inside a relationship the path is that field's",
    query: "{ artist { albums(distinct_on: [sold], order_by: {id: asc}) { id } } }",
    error: { ...mismatch, path: "$.selectionSet.artist.selectionSet.albums.args" },
  },
  {
    title: "G-DIS-2 order_by is not required",
    query: "{ album_aggregate(distinct_on: artist_id) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 3 } } },
  },
  {
    title: "G-DIS-2 an empty list means not given",
    query: "{ album_aggregate(distinct_on: []) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
  {
    title: "G-DIS-2 null means not given",
    query: "{ album_aggregate(distinct_on: null) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
]);
