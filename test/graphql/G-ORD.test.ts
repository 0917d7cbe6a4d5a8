import { expect } from "vitest";
import { gqlCases } from "../support/cases.ts";
import { gqlApi } from "./start.ts";

const api = await gqlApi();

const orderCase = (rule: string, order: string, ...list: number[]) => ({
  title: `${rule} order_by: ${order} sorts the rows`,
  query: `{ album(order_by: ${order}) { id } }`,
  data: { album: list.map((id) => ({ id })) },
});
const at = (path: string) => `$.selectionSet.album.args.order_by${path}`;

gqlCases(api, [
  orderCase("G-ORD-1", "[{artist_id: desc}, {id: desc}]", 5, 4, 3, 2, 1),
  orderCase("G-ORD-1", "[{sold: desc}, {id: asc}]", 3, 2, 4, 5, 1),
  orderCase("G-ORD-1", "{id: desc}", 5, 4, 3, 2, 1),
  orderCase("G-ORD-2", "{sold: asc, id: desc}", 1, 5, 4, 2, 3),
  {
    title: "G-ORD-2 the order of keys in a variable is the order of sorting",
    query: "query ($o: [album_order_by!]) { album(order_by: $o) { id } }",
    variables: { o: { sold: "asc", id: "desc" } },
    data: { album: [1, 5, 4, 2, 3].map((id) => ({ id })) },
  },
  orderCase("G-ORD-3", "[{price: asc}, {id: asc}]", 3, 1, 2, 4, 5),
  orderCase("G-ORD-3", "[{price: desc}]", 5, 4, 2, 1, 3),
  orderCase("G-ORD-3", "[{price: asc_nulls_first}]", 5, 3, 1, 2, 4),
  orderCase("G-ORD-3", "[{price: asc_nulls_last}]", 3, 1, 2, 4, 5),
  orderCase("G-ORD-3", "[{price: desc_nulls_first}]", 5, 4, 2, 1, 3),
  orderCase("G-ORD-3", "[{price: desc_nulls_last}]", 4, 2, 1, 3, 5),
  orderCase("G-ORD-4", "[{price: null}, {}, {artist: null}, {id: desc}]", 5, 4, 3, 2, 1),
  {
    title: "G-ORD-4 null, [] and [{}] mean unordered",
    query:
      "{ a: album_aggregate(order_by: null) { aggregate { count } } b: album_aggregate(order_by: []) { aggregate { count } } c: album_aggregate(order_by: [{}]) { aggregate { count } } }",
    data: { a: { aggregate: { count: 5 } }, b: { aggregate: { count: 5 } }, c: { aggregate: { count: 5 } } },
  },
  {
    title: "G-ORD-4 an absent variable means unordered",
    query: "query ($o: [album_order_by!]) { album_aggregate(order_by: $o) { aggregate { count } } }",
    data: { album_aggregate: { aggregate: { count: 5 } } },
  },
  {
    title: "G-ORD-4 a null aggregate and a null count are ignored",
    query: "{ artist(order_by: [{albums_aggregate: null}, {albums_aggregate: {count: null}}, {id: desc}]) { id } }",
    data: { artist: [4, 3, 2, 1].map((id) => ({ id })) },
  },
  {
    title: "G-ORD-4 null for a function inside an aggregate is rejected",
    query: "{ artist(order_by: {albums_aggregate: {max: null}}) { id } }",
    error: {
      message: "expected an object for type 'album_max_order_by', but found null",
      path: "$.selectionSet.artist.args.order_by[0].albums_aggregate.max",
      code: "validation-failed",
    },
  },
  orderCase("G-ORD-5", "[{artist: {name: desc}}, {id: asc}]", 4, 5, 3, 1, 2),
  {
    title: "G-ORD-5 an order along relationships may have any depth, and missing rows count as null",
    query:
      "{ employee(order_by: [{employee: {employee: {name: asc_nulls_first}}}, {employee: {name: asc_nulls_first}}]) { name } }",
    data: { employee: [{ name: "Boss" }, { name: "Mid" }, { name: "Low" }] },
  },
  {
    title: "G-ORD-6 rows are ordered by the count of related rows",
    query: "{ artist(order_by: [{albums_aggregate: {count: desc}}, {name: asc}]) { name } }",
    data: { artist: [{ name: "Abba" }, { name: "Can" }, { name: "Bjork" }, { name: "Dusk" }] },
  },
  {
    title: "G-ORD-6 an aggregate without related rows is null",
    query: "{ artist(order_by: [{albums_aggregate: {max: {price: desc_nulls_last}}}]) { name } }",
    data: { artist: [{ name: "Can" }, { name: "Abba" }, { name: "Bjork" }, { name: "Dusk" }] },
  },
  {
    title: "G-ORD-6 only visible rows are aggregated",
    query: "{ artist(order_by: [{albums_aggregate: {count: desc}}, {id: asc}]) { id } }",
    role: "music_artist",
    session: { "artist-id": "3" },
    data: { artist: [{ id: 3 }, { id: 1 }, { id: 2 }, { id: 4 }] },
  },
  {
    title: "G-ORD-7 rows are ordered by a computed field",
    query: "{ person(order_by: {person_score: desc}) { id } }",
    data: { person: [{ id: 3 }, { id: 2 }, { id: 1 }] },
  },
  {
    title: "G-ORD-7 rows are ordered by an aggregate of a table computed field",
    query: "{ person(order_by: [{person_peers_aggregate: {max: {id: desc}}}, {id: asc}]) { id } }",
    data: { person: [{ id: 1 }, { id: 2 }, { id: 3 }] },
  },
  {
    title: "G-ORD-7 an order by a computed field with arguments is rejected",
    query: "{ person(order_by: {person_label: desc}) { id } }",
    error: {
      message: "field 'person_label' not found in type: 'person_order_by'",
      path: "$.selectionSet.person.args.order_by[0].person_label",
    },
  },
  {
    title: "G-ORD-8 without order_by all rows are returned in any order",
    query: "{ album_aggregate { nodes { id } aggregate { count } } }",
    data: {
      album_aggregate: {
        nodes: expect.arrayContaining([1, 2, 3, 4, 5].map((id) => ({ id }))),
        aggregate: { count: 5 },
      },
    },
  },
  {
    title: "G-ORD-3 an unknown direction is rejected",
    query: "{ album(order_by: {id: up}) { id } }",
    error: {
      message:
        "expected one of the values ['asc', 'asc_nulls_first', 'asc_nulls_last', 'desc', 'desc_nulls_first', 'desc_nulls_last'] for type 'order_by', but found 'up'",
      path: at("[0].id"),
      code: "validation-failed",
    },
  },
]);
