/** Orderings of plugins: the example of docs/guides/write-an-ordering.md, and cases that the guide does not show. */
import { describe, expect, test } from "vitest";
import { compose, definePlugin, relApi, sql, type OrderingSpec } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, gqlCases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";
import { distance } from "./distance.ts";

/** An ordering with two operands: the distance of a number from another one, and which of them is greater. */
const near = definePlugin({
  name: "near",
  orderings: [
    {
      name: "near",
      types: ["int4"],
      operands: [{ name: "to" }, { name: "factor", type: "float8" }],
      compile: (column, [to, factor]) => sql`(abs(${column} - ${to!}) * ${factor!})`,
    },
  ],
});

describe("over REST", async () => {
  const api = await startApi({ parts: [distance, near] });
  await api.sql(`
    create table sea.spot (id int primary key, at point, "odd name" point, depth int, port_id int references sea.ports);
    insert into sea.spot values (1, '(0,0)', '(9,9)', 10, 1), (2, '(5,5)', '(0,0)', 20, 1), (3, null, null, 30, 2), (4, '(1,1)', '(5,5)', 25, 2);
    create table sea.stop (id int primary key, spot_id int references sea.spot);
    insert into sea.stop values (1, 2), (2, 4), (3, 3), (4, 1);
    grant select on sea.spot, sea.stop to sea_anon;
    grant select (id) on sea.spot to sea_columns`);
  await api.reload();
  const ids = (...list: readonly number[]) => list.map((id) => ({ id }));
  cases(api, [
    {
      title: "X-ORD-2 an ordering of a plugin sorts rows",
      request: 'GET /spot?select=id&order=at.distance("(0,0)")',
      answer: ids(1, 4, 2, 3),
    },
    {
      title: "X-ORD-2 an ordering accepts a direction and the position of nulls",
      request: 'GET /spot?select=id&order=at.distance("(0,0)").desc.nullslast',
      answer: ids(2, 4, 1, 3),
    },
    {
      title: "X-ORD-2 an ordering works beside other terms and on quoted names",
      request: 'GET /spot?select=id&order=port_id.desc,"odd name".distance("(5,5)").nullsfirst',
      answer: ids(3, 4, 1, 2),
    },
    {
      title: "X-ORD-2 an ordering accepts several operands without quotes",
      request: "GET /spot?select=id&order=depth.near(22,1.5).asc,id",
      answer: ids(2, 4, 3, 1),
    },
    {
      title: "X-ORD-2 an ordering sorts rows in embeds",
      request: 'GET /ports?select=id,spot(id)&spot.order=at.distance("(1,1)").desc.nullslast&order=id&id=lte.2',
      answer: [
        { id: 1, spot: ids(2, 1) },
        { id: 2, spot: ids(4, 3) },
      ],
    },
    {
      title: "X-ORD-2 R-ORD-3 an ordering of related rows sorts their parents",
      request: 'GET /stop?select=id,spot()&order=spot(at.distance("(4,4)")).nullsfirst,id',
      answer: ids(3, 1, 2, 4),
    },
    {
      title: "X-ORD-2 R-ORD-4 an ordering of related rows uses the key of a renamed column",
      request: 'GET /stop?select=id,here:spot(place:at)&order=here(place.distance("(0,0)")).desc.nullslast',
      answer: [
        { id: 1, here: { place: "(5,5)" } },
        { id: 2, here: { place: "(1,1)" } },
        { id: 4, here: { place: "(0,0)" } },
        { id: 3, here: { place: null } },
      ],
    },
    {
      title: "X-ORD-2 R-SPR-1 an ordering of related rows works in a spread whose key the parent has too",
      request: "GET /stop?select=id,...spot(id,depth)&order=spot(depth.near(22,1.5)),spot(id.near(9,1))",
      answer: [
        { id: 2, depth: 20 },
        { id: 4, depth: 25 },
        { id: 3, depth: 30 },
        { id: 1, depth: 10 },
      ],
    },
    {
      title: "X-ORD-2 R-SPR-3 an ordering of related rows works in a nested spread with the same key",
      request: "GET /ports?select=...spot(depth,id,...ports(id))&spot.order=ports(id.near(0,1)),depth&id=eq.2",
      answer: [{ depth: [25, 30], id: [2, 2] }],
    },
    {
      title: "X-ORD-2 an ordering of related rows works in an embed",
      request: "GET /ports?select=id,spot(id,ports(id))&spot.order=ports(id.near(2,1)),id&order=id&id=eq.2",
      answer: [
        {
          id: 2,
          spot: [
            { id: 3, ports: { id: 2 } },
            { id: 4, ports: { id: 2 } },
          ],
        },
      ],
    },
    {
      title: "R-ORD-4 X-ORD-2 an ordering of related rows needs the column in the embed",
      request: 'GET /stop?select=id,spot(depth)&order=spot(at.distance("(0,0)"))',
      status: 400,
      answer: expect.objectContaining({ code: "42703" }),
    },
    {
      title: "R-ORD-3 an unknown ordering in an order by related rows gets the usual error",
      request: "GET /stop?select=id,spot()&order=spot(at.farness(1))",
      status: 400,
      answer: expect.objectContaining({ code: "PGRST100" }),
    },
    {
      title: "R-ORD-1 an unknown ordering gets the usual error",
      request: "GET /spot?select=id&order=at.farness(1)",
      status: 400,
      answer: expect.objectContaining({
        code: "PGRST100",
        message: expect.stringContaining('"failed to parse order (at.farness(1))'),
      }),
    },
    {
      title: "X-ORD-2 an ordering with too few operands is rejected",
      request: "GET /spot?select=id&order=depth.near(22)",
      status: 400,
      answer: expect.objectContaining({ code: "PGRST100" }),
    },
    {
      title: "X-ORD-2 operands are bound, and the database rejects an invalid one",
      request: `GET /spot?select=id&order=at.distance("')%3B drop table x")`,
      status: 400,
      answer: expect.objectContaining({ code: "22P02" }),
    },
  ]);

  test("X-ORD-1 an ordering needs the right to read its column", async () => {
    const answer = await api.get('/spot?select=id&order=at.distance("(0,0)")', {
      headers: bearer({ role: "sea_columns" }),
    });
    expect(answer.json().code).toBe("42501");
  });
});

describe("over GraphQL", async () => {
  const api = await startApi(forGraphql({ parts: [distance, near] }));
  await api.sql(`
    create table camp (id int primary key, at point, height int);
    create table tent (id int primary key, camp_id int references camp);
    insert into camp values (1, '(0,0)', 5), (2, '(5,5)', 9), (3, null, 7);
    insert into tent values (1, 1), (2, 2), (3, 3);
    grant select (id, height) on camp to music_reader`);
  await api.reload();
  const camps = (...list: readonly number[]) => ({ camp: list.map((id) => ({ id })) });
  gqlCases(api, [
    {
      title: "X-ORD-3 an ordering sorts rows with nulls last",
      query: '{ camp(order_by: {at_distance: {from: "(4,4)"}}) { id } }',
      data: camps(2, 1, 3),
    },
    {
      title: "X-ORD-3 an ordering accepts a direction, also as one variable",
      query: "query ($o: [camp_order_by!]) { camp(order_by: $o) { id } }",
      variables: { o: [{ at_distance: { from: "(4,4)", order: "desc" } }] },
      data: camps(3, 1, 2),
    },
    {
      title: "X-ORD-3 an operand may be a variable",
      query:
        "query ($p: point!) { camp(order_by: [{at_distance: {from: $p, order: desc_nulls_last}}, {id: asc}]) { id } }",
      variables: { p: "(4,4)" },
      data: camps(1, 2, 3),
    },
    {
      title: "X-ORD-3 an ordering sorts along a relationship",
      query: '{ tent(order_by: {camp: {at_distance: {from: "(4,4)"}}}) { id } }',
      data: { tent: [{ id: 2 }, { id: 1 }, { id: 3 }] },
    },
    {
      title: "X-ORD-3 an ordering accepts several operands, and the column may follow",
      query: "{ camp(order_by: {height_near: {to: 8, factor: 2}, height: desc}) { id } }",
      data: camps(2, 3, 1),
    },
    {
      title: "X-ORD-3 the column itself accepts a direction, also in a variable",
      query:
        "query ($d: order_by!, $o: [camp_order_by!]) { a: camp(order_by: {height: $d}) { id } b: camp(order_by: $o) { id } }",
      variables: { d: "desc", o: { height: "asc" } },
      data: { a: camps(2, 3, 1).camp, b: camps(1, 3, 2).camp },
    },
    {
      title: "X-ORD-3 an unknown ordering is rejected",
      query: '{ camp(order_by: {at_farness: {from: "(4,4)"}}) { id } }',
      error: { message: "field 'at_farness' not found in type: 'camp_order_by'" },
    },
    {
      title: "X-ORD-3 an ordering without its operands is rejected",
      query: "{ camp(order_by: {height_near: {to: 8}}) { id } }",
      error: { message: "missing required field 'factor'" },
    },
    {
      title: "X-ORD-1 a role that may not read the column does not have the ordering",
      query: '{ camp(order_by: {at_distance: {from: "(4,4)"}}) { id } }',
      role: "music_reader",
      error: { message: "field 'at_distance' not found in type: 'camp_order_by'" },
    },
  ]);

  test("X-ORD-3 an object of the database keeps its name beside an ordering", async () => {
    await api.sql(`
      create table height_near (id int primary key);
      create table peak (id int primary key, at point, at_distance text, height int, near_id int references height_near);
      insert into height_near values (1), (2);
      insert into peak (id, at_distance, near_id) values (1, 'b', 1), (2, 'a', 2)`);
    await api.reload();
    const { data, errors } = await api.gql(
      "{ a: peak(order_by: {at_distance: asc}) { id } b: peak(order_by: {height_near: {id: desc}}) { id } }",
    );
    expect(errors).toBeUndefined();
    expect(data).toEqual({ a: [{ id: 2 }, { id: 1 }], b: [{ id: 2 }, { id: 1 }] });
  });

  test("X-ORD-3 introspection lists the ordering", async () => {
    const { data } = await api.gql(
      '{ __type(name: "camp_order_by") { inputFields { name type { name } } } o: __type(name: "point_distance_ordering") { inputFields { name type { kind } } } }',
      {},
      asAdmin(),
    );
    expect(data).toEqual({
      __type: {
        inputFields: [
          ["at", "order_by"],
          ["at_distance", "point_distance_ordering"],
          ["height", "order_by"],
          ["height_near", "int4_near_ordering"],
          ["id", "order_by"],
          ["id_near", "int4_near_ordering"],
          ["tents_aggregate", "tent_aggregate_order_by"],
        ].map(([name, type]) => ({ name, type: { name: type } })),
      },
      o: {
        inputFields: [
          { name: "from", type: { kind: "NON_NULL" } },
          { name: "order", type: { kind: "ENUM" } },
        ],
      },
    });
  });
});

describe("declarations", () => {
  const start =
    (...specs: readonly OrderingSpec[]) =>
    () =>
      relApi(
        compose(
          fullCompat({ databaseUrl: "postgres://127.0.0.1:1/none" }),
          distance,
          definePlugin({ name: "mine", orderings: specs }),
        ),
      );
  const spec = (overrides: Partial<OrderingSpec>): OrderingSpec => ({
    name: "mine",
    types: ["point"],
    operands: [],
    compile: (column) => column,
    ...overrides,
  });
  test.each<[string, OrderingSpec, string]>([
    [
      "the same name",
      spec({ name: "distance" }),
      'ordering "distance" on point is declared by plugins "distance" and "mine"',
    ],
    [
      "the same name in REST",
      spec({ rest: "distance", types: ["any"] }),
      'REST ordering "distance" on point is declared by plugins "distance" and "mine"',
    ],
    [
      "the same name in GraphQL",
      spec({ graphql: "distance" }),
      'GraphQL ordering "distance" on point is declared by plugins "distance" and "mine"',
    ],
    ["an impossible name", spec({ name: "a.b" }), 'ordering "a.b" of "mine" must consist of letters, digits and "_"'],
    [
      "an operand called like the direction",
      spec({ operands: [{ name: "order" }] }),
      'is named "order", as its direction is',
    ],
  ])("X-ORD-1 %s is rejected at the start", (_, declaration, message) => {
    expect(start(declaration)).toThrow(message);
  });
});
