/** Pages by cursor at /v1/graphql: connections beside the lists. */
import { buildClientSchema, getIntrospectionQuery, validateSchema, type IntrospectionQuery } from "graphql";
import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { buildMetadataDocument, object, permissions, table } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { createOrdered, ORDERED_ROWS } from "./ordered-types.ts";

const database = await testDatabase();
await database.query(`
  create schema mart;
  create table mart.seller (id int primary key, name text not null);
  create table mart.item (id int primary key, seller_id int not null references mart.seller, kind text, price numeric);
  create table mart.line (note text);
  insert into mart.seller values (1, 'Ann'), (2, 'Ben');
  insert into mart.item select n, n % 2 + 1, (array['a', 'b', null])[n % 3 + 1], n / 4 from generate_series(1, 11) n;
  create schema odd;
  create table odd."PageInfo" (id int primary key);
  create table odd.item (id int primary key);
  insert into odd.item values (1);
  create schema taken;
  create table taken.item (id int primary key);
  create table taken.item_connection (id int primary key);
  insert into taken.item_connection values (5);
`);
const types = await createOrdered(database.query, "mart");
const settings = { preset: plus };
const api = await startApi(forGraphql({ ...settings, dbSchemas: ["mart"] }));

const PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly id: number } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly startCursor: string;
    readonly endCursor: string;
  };
}

/** The ids of all pages, one list per page. */
const walk = async (
  argumentText: string,
  direction: "after" | "before" = "after",
  table = "mart_item",
): Promise<readonly (readonly number[])[]> => {
  const pages: number[][] = [];
  const size = direction === "after" ? "first" : "last";
  for (let cursor: string | null = null, isMore = true; isMore;) {
    const answer = await api.gql(
      `query ($c: String) { ${table}_connection(${argumentText} ${size}: 4, ${direction}: $c) { edges { cursor node { id } } ${PAGE} } }`,
      { c: cursor },
    );
    expect(answer.errors).toBeUndefined();
    const { edges, pageInfo }: Connection = answer.data[`${table}_connection`];
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges[edges.length - 1]?.cursor]);
    pages.push(edges.map(({ node }) => node.id));
    isMore = direction === "after" ? pageInfo.hasNextPage : pageInfo.hasPreviousPage;
    cursor = direction === "after" ? pageInfo.endCursor : pageInfo.startCursor;
  }
  return direction === "after" ? pages : pages.reverse();
};

const fetchIds = async (argumentText: string, table = "mart_item"): Promise<readonly number[]> => {
  const { data } = await api.gql(`{ ${table}(${argumentText}) { id } }`);
  return data[table].map(({ id }: { readonly id: number }) => id);
};

describe("root fields", () => {
  test.each([
    ["", "order_by: {id: asc}"],
    ["order_by: {kind: asc}", "order_by: [{kind: asc}, {id: asc}]"],
    [
      "order_by: [{kind: desc}, {price: asc_nulls_first}, {id: desc}]",
      "order_by: [{kind: desc}, {price: asc_nulls_first}, {id: desc}]",
    ],
    [
      "where: {price: {_gt: 0}} order_by: {seller: {name: desc}}",
      "where: {price: {_gt: 0}} order_by: [{seller: {name: desc}}, {id: asc}]",
    ],
  ])("P-CUR-7 the pages in both directions contain every row: %s", async (argumentText, list) => {
    const all = await fetchIds(list);
    const forward = await walk(argumentText);
    expect(forward.map(({ length }) => length).slice(0, -1)).toEqual(forward.slice(1).map(() => 4));
    expect(forward.flat()).toEqual(all);
    expect((await walk(argumentText, "before")).flat()).toEqual(all);
  });

  test.each(types)("P-CUR-7 the pages ordered by %s contain every row in both directions", async (type) => {
    const column = `c${types.indexOf(type)}`;
    for (const order of ["asc", "desc", "asc_nulls_first", "desc_nulls_last"]) {
      const expected = await fetchIds(`order_by: [{${column}: ${order}}, {id: asc}]`, "mart_typed");
      expect(expected).toHaveLength(ORDERED_ROWS);
      for (const direction of ["after", "before"] as const)
        expect((await walk(`order_by: {${column}: ${order}}`, direction, "mart_typed")).flat(), order).toEqual(
          expected,
        );
    }
  });

  test("P-CUR-7 totalCount counts the rows of all pages, at the root and in related rows", async () => {
    const all = "order_by: {id: asc} where: {price: {_gte: 1}}";
    const countAnswer = await api.gql(`{ of: mart_item_aggregate(where: {price: {_gte: 1}}) { aggregate { count } } }`);
    const { count } = countAnswer.data.of.aggregate;
    expect(count).toBeGreaterThan(2);
    const query = `query ($c: String) {
      first: mart_item_connection(first: 2, ${all}) { totalCount edges { node { id } } pageInfo { endCursor } }
      after: mart_item_connection(first: 1, after: $c, ${all}) { n: totalCount edges { node { id } } }
      before: mart_item_connection(before: $c, ${all}) { totalCount edges { node { id } } }
      none: mart_item_connection(first: 0) { totalCount }
      kinds: mart_item_connection(first: 1, distinct_on: kind) { totalCount }
      mart_seller(order_by: {id: asc}) {
        items_connection(last: 1, ${all}) { totalCount pageInfo { hasPreviousPage } }
        items_aggregate(where: {price: {_gte: 1}}) { aggregate { count } }
      }
    }`;
    const { data: start } = await api.gql(query);
    const { data } = await api.gql(query, { c: start.first.pageInfo.endCursor });
    const { data: every } = await api.gql("{ rows: mart_item { kind } }");
    expect([data.first.totalCount, data.after.n, data.before.totalCount]).toEqual([count, count, count]);
    expect([data.first.edges.length, data.after.edges.length, data.before.edges.length]).toEqual([2, 1, 1]);
    expect(data.none.totalCount).toBe(every.rows.length);
    expect(data.kinds.totalCount).toBe(new Set(every.rows.map(({ kind }: any) => kind)).size);
    for (const { items_connection, items_aggregate } of data.mart_seller)
      expect(items_connection.totalCount).toBe(items_aggregate.aggregate.count);
  });

  test("P-CUR-7 a live query is updated if rows of other pages change totalCount", async () => {
    const socket = await openSocket(api, { headers: { "x-hasura-admin-secret": adminSecret } });
    await socket.init({});
    const { data } = await api.gql("{ mart_item_connection(first: 1) { totalCount pageInfo { endCursor } } }");
    const { totalCount, pageInfo } = data.mart_item_connection;
    const query = `subscription ($c: String) { mart_item_connection(first: 1, after: $c) { totalCount } }`;
    socket.send({ id: "1", type: "subscribe", payload: { query, variables: { c: pageInfo.endCursor } } });
    expect(await socket.next()).toMatchObject({ payload: { data: { mart_item_connection: { totalCount } } } });
    await api.sql("insert into mart.item values (-7, 1, 'a', 1)");
    expect(await socket.next()).toMatchObject({
      payload: { data: { mart_item_connection: { totalCount: totalCount + 1 } } },
    });
    await api.sql("delete from mart.item where id = -7");
    await socket.close();
  });

  test("P-CUR-7 inserted and deleted rows of other pages do not shift a page", async () => {
    const page = "edges { node { id } } pageInfo { endCursor }";
    const { data } = await api.gql(`{ mart_item_connection(first: 3) { ${page} } }`);
    await api.sql("delete from mart.item where id = 3; insert into mart.item values (0, 1, 'a', 1)");
    const next = await api.gql(`query ($c: String) { mart_item_connection(first: 2, after: $c) { ${page} } }`, {
      c: data.mart_item_connection.pageInfo.endCursor,
    });
    expect(next.data.mart_item_connection.edges.map(({ node }: any) => node.id)).toEqual([4, 5]);
    await api.sql("delete from mart.item where id = 0; insert into mart.item values (3, 2, 'a', 0)");
  });

  test("P-CUR-7 an order may have MAX_ORDER_TERMS terms", async () => {
    const order = Array.from({ length: 199 }, (_, i) => (i % 2 === 0 ? "{kind: asc}" : "{id: asc}")).join(" ");
    expect((await walk(`order_by: [${order}]`)).flat()).toHaveLength(11);
  });

  test("P-CUR-8 distinct_on returns the first row of each value, and the next page continues after it", async () => {
    for (const argumentText of [
      "distinct_on: [kind]",
      "distinct_on: [kind] order_by: [{kind: desc}, {price: desc}, {id: asc}]",
    ]) {
      const list = argumentText.includes("order_by")
        ? argumentText
        : `${argumentText} order_by: [{kind: asc}, {id: asc}]`;
      const all = await fetchIds(list);
      expect(all).toHaveLength(3);
      const ids: number[] = [];
      for (let cursor: string | null = null, isMore = true; isMore;) {
        const { data, errors }: any = await api.gql(
          `query ($c: String) { mart_item_connection(${argumentText} first: 1, after: $c) { edges { node { id } } ${PAGE} } }`,
          { c: cursor },
        );
        expect(errors).toBeUndefined();
        const { edges, pageInfo }: Connection = data.mart_item_connection;
        ids.push(...edges.map(({ node }) => node.id));
        isMore = pageInfo.hasNextPage;
        cursor = pageInfo.endCursor;
      }
      expect(ids).toEqual(all);
    }
  });

  test.each([
    ["first and last", "first: 1, last: 1", '"first" and "last" are not allowed at once'],
    ["first and before", 'first: 1, before: "W10="', '"first" and "before" are not allowed at once'],
    ["a negative size", "last: -1", '"last" cannot be negative'],
    ["a cursor of nothing", 'after: "nonsense"', "the cursor is invalid, or of another order"],
    ["distinct_on backwards", "last: 2, distinct_on: [kind]", '"distinct_on" goes with "first" and "after" only'],
    [
      "distinct_on of another order",
      "distinct_on: [kind], order_by: {price: asc}",
      '"distinct_on" columns must match initial "order_by" columns',
    ],
  ])("P-CUR-7 P-CUR-8 an invalid connection is rejected: %s", async (_, argumentText, message) => {
    const { errors } = await api.gql(`{ mart_item_connection(${argumentText}) { edges { cursor } } }`);
    expect(errors).toEqual([
      {
        message,
        extensions: { path: expect.stringContaining("$.selectionSet.mart_item_connection"), code: "validation-failed" },
      },
    ]);
  });

  test("P-CUR-8 a cursor of another table, order or distinct_on is rejected", async () => {
    const { data } = await api.gql(
      "{ mart_item_connection(first: 1, order_by: {kind: asc}) { pageInfo { endCursor } } }",
    );
    const c = data.mart_item_connection.pageInfo.endCursor;
    for (const field of [
      "mart_item_connection(after: $c)",
      "mart_seller_connection(after: $c)",
      "mart_item_connection(after: $c, order_by: {kind: asc}, distinct_on: [kind])",
    ])
      expect((await api.gql(`query ($c: String) { ${field} { edges { cursor } } }`, { c })).errors[0].message).toBe(
        "the cursor is invalid, or of another order",
      );
  });
});

test("P-CUR-7 lists, aggregates and keys stay, and graphql-js accepts the schema", async () => {
  const { data } = await api.gql(getIntrospectionQuery());
  const schema = buildClientSchema(data as IntrospectionQuery);
  expect(validateSchema(schema)).toEqual([]);
  const query = schema.getQueryType()?.getFields() ?? {};
  expect(Object.keys(query)).toEqual(
    expect.arrayContaining(["mart_item", "mart_item_aggregate", "mart_item_by_pk", "mart_item_connection"]),
  );
  expect(query["mart_line_connection"]).toBeUndefined(); // the table has no key
  expect(query["node"]).toBeUndefined();
  expect(query["mart_item_connection"]?.args.map(({ name }) => name).sort()).toEqual(
    ["after", "before", "distinct_on", "first", "last", "order_by", "where"].sort(),
  );
  expect(String(schema.getSubscriptionType()?.getFields()["mart_item_connection"]?.type)).toBe("mart_itemConnection!");
});

const metadata = buildMetadataDocument([
  table("mart.seller", {
    array_relationships: [
      {
        name: "items",
        using: { foreign_key_constraint_on: { table: { schema: "mart", name: "item" }, column: "seller_id" } },
      },
    ],
    select_permissions: permissions({ clerk: { columns: "*", filter: {} } }),
  }),
  table("mart.item", {
    object_relationships: [object("seller", "seller_id")],
    select_permissions: permissions({
      clerk: { columns: ["id", "kind"], filter: { id: { _gt: "X-Hasura-Least" } }, limit: 2 },
      blind: { columns: ["kind"], filter: {} },
      counter: { columns: ["id"], filter: { id: { _gt: 4 } }, limit: 2, allow_aggregations: true },
    }),
  }),
]);
const permissionsApi = await startApi(forGraphql({ ...settings, dbSchemas: ["mart"], metadata }));

describe("connections in related rows, by role", () => {
  const clerk = asAdmin("clerk", { least: "4" });

  test("P-CUR-7 permissions and their limits apply to connections of array relationships", async () => {
    const text = `query ($c: String) { mart_seller(order_by: {id: asc}) { name
      items_connection(first: 5, after: $c, order_by: {id: asc}) { edges { node { id } } pageInfo { hasNextPage endCursor } } } }`;
    const { data } = await permissionsApi.gql(text, {}, clerk);
    const pages = data.mart_seller.map(({ items_connection: { edges, pageInfo } }: any) => [
      edges.map(({ node }: any) => node.id),
      pageInfo.hasNextPage,
    ]);
    expect(pages).toEqual([
      [[6, 8], true],
      [[5, 7], true],
    ]);
    const next = await permissionsApi.gql(text, { c: data.mart_seller[0].items_connection.pageInfo.endCursor }, clerk);
    expect(next.data.mart_seller[0].items_connection.edges).toEqual([{ node: { id: 10 } }]);
  });

  test("P-CUR-7 totalCount applies filters of permissions and not their limits, if the role may aggregate", async () => {
    const query =
      "{ mart_item_connection { totalCount edges { cursor } } mart_item_aggregate { aggregate { count } } }";
    const { data } = await permissionsApi.gql(query, {}, asAdmin("counter"));
    expect(data.mart_item_connection.totalCount).toBe(data.mart_item_aggregate.aggregate.count);
    expect(data.mart_item_connection.totalCount).toBeGreaterThan(2);
    expect(data.mart_item_connection.edges).toHaveLength(2);
    const { errors } = await permissionsApi.gql("{ mart_item_connection { totalCount } }", {}, clerk);
    expect(errors[0].message).toBe("field 'totalCount' not found in type: 'mart_itemConnection'");
  });

  test("P-CUR-7 a role that may not read the key has no connections", async () => {
    const { errors } = await permissionsApi.gql("{ mart_item_connection { edges { cursor } } }", {}, asAdmin("blind"));
    expect(errors[0].message).toBe("field 'mart_item_connection' not found in type: 'query_root'");
    expect(
      (await permissionsApi.gql("{ mart_item(limit: 1) { kind } }", {}, asAdmin("blind"))).data.mart_item,
    ).toHaveLength(1);
  });

  test("P-CUR-7 live queries and mutations have connections in related rows", async () => {
    const socket = await openSocket(permissionsApi, { headers: { "x-hasura-admin-secret": adminSecret } });
    await socket.init({});
    const query =
      "subscription { mart_seller(where: {id: {_eq: 1}}) { items_connection(last: 1) { edges { node { id } } } } }";
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    expect(await socket.next()).toMatchObject({
      payload: { data: { mart_seller: [{ items_connection: { edges: [{ node: { id: 10 } }] } }] } },
    });
    await socket.close();
    const mutation = await permissionsApi.gql(
      'mutation { update_mart_seller_by_pk(pk_columns: {id: 2}, _set: {name: "Ben"}) { items_connection(first: 1) { edges { node { id } } } } }',
    );
    expect(mutation.data.update_mart_seller_by_pk.items_connection.edges).toEqual([{ node: { id: 1 } }]);
  });
});

describe("names", () => {
  test("P-CUR-9 connections keep the names of tables", async () => {
    const oddApi = await startApi(forGraphql({ ...settings, dbSchemas: ["odd"] }));
    expect((await oddApi.gql("{ odd_item { id } }")).data).toEqual({ odd_item: [{ id: 1 }] });
    expect(
      (await oddApi.gql("{ odd_item_connection { edges { cursor } } }")).data.odd_item_connection.edges,
    ).toHaveLength(1);
    await oddApi.close();
    const plainApi = await startApi(
      forGraphql({
        ...settings,
        dbSchemas: ["odd"],
        metadata: buildMetadataDocument([
          { table: { schema: "odd", name: "PageInfo" }, configuration: { custom_name: "PageInfo" } },
          { table: { schema: "odd", name: "item" }, configuration: { custom_name: "item" } },
        ]),
      }),
    );
    expect((await plainApi.gql("{ PageInfo { id } item { id } }")).data).toEqual({ PageInfo: [], item: [{ id: 1 }] });
    expect((await plainApi.gql("{ item_connection { edges { cursor } } }")).errors[0].message).toContain("not found");
    await plainApi.close();
    const custom = (name: string) => ({ table: { schema: "taken", name }, configuration: { custom_name: name } });
    const takenNamesApi = await startApi(
      forGraphql({
        ...settings,
        dbSchemas: ["taken"],
        metadata: buildMetadataDocument([custom("item"), custom("item_connection")]),
      }),
    );
    expect((await takenNamesApi.gql("{ item_connection { id } }")).data).toEqual({ item_connection: [{ id: 5 }] });
    await takenNamesApi.close();
  });

  test.each([
    ["graphql-connections", "mart_item_connection", 200],
    ["relay", "mart_item_by_connection", 404],
  ])("P-GEN-2 without %s the connections are unknown", async (name, field, status) => {
    const bareApi = await startApi(
      forGraphql({ ...settings, dbSchemas: ["mart"], preset: (options) => compose(plus(options), without(name)) }),
    );
    expect((await bareApi.gql(`{ ${field} { edges { cursor } } }`)).errors).toEqual([
      {
        message: `field '${field}' not found in type: 'query_root'`,
        extensions: { path: `$.selectionSet.${field}`, code: "validation-failed" },
      },
    ]);
    const path = "/v1beta1/relay";
    const body = { query: "{ mart_item_connection(first: 1) { edges { node { id } } } }" };
    expect((await bareApi.post(path, { headers: asAdmin(), body })).status).toBe(status);
    await bareApi.close();
  });
});
