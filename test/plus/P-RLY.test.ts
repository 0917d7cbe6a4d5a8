/** The Relay specification at /v1beta1/relay: docs/guides/relay.md. */
import { buildClientSchema, getIntrospectionQuery, validateSchema, type IntrospectionQuery } from "graphql";
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type HeaderValues, type TestApi } from "../support/api.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { lastStatement } from "./last-statement.ts";

const recorder = lastStatement();
const api = await startApi({ ...forGraphql(), preset: plus, parts: [recorder.plugin] });
await api.sql(`
  create table log_entry (
    id bigint primary key, place text collate "C", depth float8, kind text not null collate "C", artist_id int references artist);
  insert into log_entry
    select 9007199254740993 + n, case when n % 5 = 0 then null else (array['a "b"', 'c,d', 'ünï'])[n % 3 + 1] end,
           case n % 7 when 0 then null when 1 then 'NaN' else n / 3.0 end, (array['k', 'l'])[n % 2 + 1],
           (select artist.id from artist order by artist.id limit 1)
      from generate_series(1, 23) as n;
  create table pair (a int, "b c" text, note text, primary key (a, "b c"));
  insert into pair values (1, 'x', 'one'), (1, 'y "z"', 'two'), (2, 'x', 'three');
  create table bare (note text);
  create table guarded (id int primary key, owner text not null);
  insert into guarded select n, (array['ann', 'bob'])[n % 2 + 1] from generate_series(1, 8) as n;
  alter table guarded enable row level security;
  create policy own on guarded using (owner = current_setting('session.user_id', true));
  create type hue as enum ('red', 'blue');
  create domain small as int check (value < 100);
  create table typed (u uuid, d date, b boolean, primary key (u, d, b));
  insert into typed values ('b0c8f9f6-6a3e-4d5c-9d6e-0f4a1c2b3d4e', '2024-02-29', true), ('00000000-0000-0000-0000-000000000000', '0044-03-15 BC', false), ('00000000-0000-0000-0000-000000000001', 'infinity', false);
  create table times (t timestamptz, s timestamp, n numeric, f float8, h hue, m small, primary key (t, s, n, f, h, m));
  insert into times values ('2024-01-01 10:00:00.5+02', '12024-12-31 23:59:59.999999', -1.50, 1e300, 'red', 7), ('-infinity', '0001-01-01 00:00:00', 'NaN', '-Infinity', 'blue', -7), ('1900-01-01 00:00:00+00', 'infinity', 12345678901234567890, 0.1, 'red', 0);
  grant select on log_entry, pair, bare, guarded to music_reader, music_artist`);
await api.reload();

type Headers = HeaderValues;

const buildHeaders = (user: string) => asAdmin("music_reader", { "user-id": user });

const createAsk =
  (target: TestApi) =>
  async (
    query: string,
    variables: Readonly<Record<string, unknown>> = {},
    headers: Headers = asAdmin(),
  ): Promise<any> =>
    (await target.post("/v1beta1/relay", { headers, body: { query, variables } })).json();
const ask = createAsk(api);

const decode = (text: string): unknown => JSON.parse(Buffer.from(text, "base64").toString());

const PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

describe("the schema", () => {
  test("P-RLY-1 P-RLY-2 graphql-js accepts the Relay schema, which has nodes and connections instead of lists", async () => {
    const { data } = await ask(getIntrospectionQuery());
    const schema = buildClientSchema(data as IntrospectionQuery);
    expect(validateSchema(schema)).toEqual([]);
    const query = schema.getQueryType()?.getFields() ?? {};
    expect(String(query["node"]?.type)).toBe("Node");
    expect(String(query["pair_connection"]?.type)).toBe("pairConnection!");
    expect(query["pair"]).toBeUndefined();
    expect(query["bare_connection"]).toBeUndefined();
    expect(String(schema.getType("log_entry")?.toConfig().name)).toBe("log_entry");
    const possible = schema.getPossibleTypes(schema.getType("Node") as never).map(({ name }) => name);
    expect(possible).toEqual(expect.arrayContaining(["album", "artist", "log_entry", "pair"]));
    expect(possible).not.toContain("bare");
  });

  test("P-RLY-1 the schema of /v1/graphql is unchanged", async () => {
    const { data } = await api.gql("{ pair(limit: 1) { a } }");
    expect(data).toEqual({ pair: [{ a: 1 }] });
    expect((await api.gql('{ node(id: "x") { id } }')).errors[0].message).toMatch(
      /'node' not found in type: 'query_root'/,
    );
  });
});

describe("nodes", () => {
  test("P-RLY-3 each row has a global id that leads back to it", async () => {
    const { data } = await ask("{ pair_connection { edges { node { id a note } } } }");
    const nodes = data.pair_connection.edges.map(({ node }: any) => node);
    expect(nodes.map(({ id }: any) => decode(id))).toEqual([
      [1, "public", "pair", 1, "x"],
      [1, "public", "pair", 1, 'y "z"'],
      [1, "public", "pair", 2, "x"],
    ]);
    for (const { id, note } of nodes)
      expect(
        (
          await ask(
            "query ($id: ID!) { node(id: $id) { id __typename ... on pair { note } ... on album { title } } }",
            { id },
          )
        ).data,
      ).toEqual({ node: { id, __typename: "pair", note } });
  });

  test("P-RLY-3 keys keep all their digits", async () => {
    const { data } = await ask("{ log_entry_connection(first: 1) { edges { node { id kind } } } }");
    const [{ node }] = data.log_entry_connection.edges;
    expect(Buffer.from(node.id, "base64").toString()).toContain("9007199254740994");
    const nodeAnswer = await ask(
      "query ($id: ID!) { node(id: $id) { ... on Node { id } ...f } } fragment f on log_entry { kind }",
      { id: node.id },
    );
    expect(nodeAnswer.data).toEqual({ node });
  });

  test.each([
    ["no base64", "%%%"],
    ["no list", Buffer.from('{"a":1}').toString("base64")],
    ["another version", Buffer.from('[2,"public","pair",1,"x"]').toString("base64")],
    ["no such table", Buffer.from('[1,"public","nothing",1]').toString("base64")],
    ["a hidden schema", Buffer.from('[1,"pg_catalog","pg_authid",1]').toString("base64")],
    ["a table without a key", Buffer.from('[1,"public","bare",1]').toString("base64")],
    ["too short a key", Buffer.from('[1,"public","pair",1]').toString("base64")],
    ["too long a key", Buffer.from('[1,"public","pair",1,"x",2]').toString("base64")],
    ["an object in it", Buffer.from('[1,"public","pair",1,{"a":1}]').toString("base64")],
    ["a NUL", Buffer.from('[1,"public","pair",1,"\\u0000"]').toString("base64")],
    ["nothing", ""],
  ])("P-RLY-3 an invalid global id is rejected: %s", async (_what, id) => {
    expect((await ask("query ($id: ID!) { node(id: $id) { id } }", { id })).errors).toEqual([
      {
        message: "the global id is invalid",
        extensions: { path: "$.selectionSet.node.args.id", code: "validation-failed" },
      },
    ]);
  });

  test.each([
    ["guarded", '"x"'],
    ["guarded", "99999999999"],
    ["guarded", "1.5"],
    ["log_entry", "9223372036854775808"],
    ["typed", '"zz"', '"2024-01-01"', "true"],
    ["typed", '"b0c8f9f6-6a3e-4d5c-9d6e-0f4a1c2b3d4e"', '"2023-02-29"', "true"],
    ["typed", '"b0c8f9f6-6a3e-4d5c-9d6e-0f4a1c2b3d4e"', '"2024-01-01"', "1"],
  ])("P-RLY-3 a global id with a key of another type in %s is rejected", async (name, ...key) => {
    const id = Buffer.from(`[1,"public","${name}",${key.join()}]`).toString("base64");
    expect((await ask("query ($id: ID!) { node(id: $id) { id } }", { id })).errors).toEqual([
      {
        message: "the global id is invalid",
        extensions: { path: "$.selectionSet.node.args.id", code: "validation-failed" },
      },
    ]);
  });

  test("P-RLY-3 global ids of every key type lead to their rows", async () => {
    const { data } = await ask("{ typed_connection { nodes { id } } times_connection { nodes { id } } }");
    const ids = [...data.typed_connection.nodes, ...data.times_connection.nodes].map(({ id }: any) => id);
    expect(ids).toHaveLength(6);
    for (const id of ids)
      expect((await ask("query ($id: ID!) { node(id: $id) { id } }", { id })).data).toEqual({ node: { id } });
  });

  test("P-RLY-7 a global id leads to no row that the caller may not see", async () => {
    const id = Buffer.from('[1, "public", "guarded", 1]').toString("base64");
    expect((await ask("query ($id: ID!) { node(id: $id) { id } }", { id }, buildHeaders("bob"))).data).toEqual({
      node: { id },
    });
    expect((await ask("query ($id: ID!) { node(id: $id) { id } }", { id }, buildHeaders("ann"))).data).toEqual({
      node: null,
    });
    const secret = Buffer.from('[1,"public","diary",1]').toString("base64");
    expect(
      (await ask("query ($id: ID!) { node(id: $id) { id } }", { id: secret }, buildHeaders("ann"))).errors[0].message,
    ).toBe("the global id is invalid");
  });
});

const ORDERS = [
  "[]",
  "{ id: desc }",
  "{ kind: asc }",
  "[{ kind: desc }, { id: desc }]",
  "{ place: asc }",
  "{ place: desc }",
  "{ place: asc_nulls_first }",
  "[{ depth: asc_nulls_first }, { place: desc_nulls_last }]",
  "{ depth: desc }",
  "[{ artist: { name: asc } }, { place: asc }]",
];

describe("connections", () => {
  test.each(ORDERS)("P-RLY-4 the pages in both directions along %s contain every row once", async (order) => {
    const terms = order.replace(/^\[|\]$/g, "");
    const query = `{ log_entry(order_by: [${[terms, "{ id: asc }"].filter((term) => term !== "").join()}]) { id } }`;
    const plain = await api.post("/v1/graphql", { headers: asAdmin(), body: { query } });
    const expected = plain.text.match(/\d{16}/g); // the number has more digits than JavaScript keeps
    expect(expected).toHaveLength(23);
    const readKey = ({ node }: any): string =>
      Buffer.from(node.id, "base64")
        .toString()
        .match(/\d{16}/)?.[0] ?? "";
    const pages = async (size: "first" | "last", place: "after" | "before", flag: string, end: string) => {
      const pageKeys: string[][] = [];
      let cursor: string | null = null;
      for (let hasMore = true; hasMore;) {
        const { data, errors } = await ask(
          `query ($n: Int, $c: String) { log_entry_connection(order_by: ${order}, ${size}: $n, ${place}: $c) { edges { cursor node { id } } ${PAGE} } }`,
          { n: 5, c: cursor },
        );
        expect(errors).toBeUndefined();
        const { edges, pageInfo } = data.log_entry_connection;
        expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0].cursor, edges[edges.length - 1].cursor]);
        expect(pageInfo[flag === "hasNextPage" ? "hasPreviousPage" : "hasNextPage"]).toBe(cursor !== null);
        pageKeys.push(edges.map(readKey));
        hasMore = pageInfo[flag];
        cursor = pageInfo[end];
      }
      return pageKeys;
    };
    const forward = await pages("first", "after", "hasNextPage", "endCursor");
    expect(forward.map(({ length }) => length)).toEqual([5, 5, 5, 5, 3]);
    expect(forward.flat()).toEqual(expected);
    const backward = await pages("last", "before", "hasPreviousPage", "startCursor");
    expect(backward.reverse().flat()).toEqual(expected);
  });

  test("P-RLY-2 connections work in related rows, with filters, aliases and __typename at every level", async () => {
    const { data, errors } = await ask(`{
      some: artist_connection(where: { albums: {} }, order_by: { name: asc }, first: 2) {
        __typename pageInfo { __typename on: hasNextPage }
        rows: edges { __typename c: cursor node { name albums_connection(first: 1, order_by: { title: desc }) {
          edges { node { title artist { name } } } pageInfo { hasNextPage } } } } } }`);
    expect(errors).toBeUndefined();
    const plain = await api.gql(
      "{ artist(where: { albums: {} }, order_by: { name: asc }, limit: 2) { name albums(order_by: { title: desc }) { title } } }",
    );
    expect(data.some.__typename).toBe("artistConnection");
    expect(data.some.pageInfo).toEqual({ __typename: "PageInfo", on: true });
    expect(data.some.rows.map(({ __typename, node }: any) => [__typename, node.name, node.albums_connection])).toEqual(
      plain.data.artist.map(({ name, albums }: any) => [
        "artistEdge",
        name,
        {
          edges: albums.slice(0, 1).map(({ title }: any) => ({ node: { title, artist: { name } } })),
          pageInfo: { hasNextPage: albums.length > 1 },
        },
      ]),
    );
  });

  test("P-RLY-4 a page without rows has no edges and no cursors", async () => {
    const { data } = await ask(`{ pair_connection(where: { a: { _eq: -1 } }, first: 2) { edges { cursor } ${PAGE} } }`);
    expect(data.pair_connection).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: "", endCursor: "" },
    });
  });

  test.each(["first: 0", "last: 0"])("P-RLY-4 a page of no rows by %s has no cursors", async (size) => {
    const { data } = await ask(`{ pair_connection(${size}) { edges { cursor } nodes { a } ${PAGE} } }`);
    const isForward = size === "first: 0";
    expect(data.pair_connection).toEqual({
      edges: [],
      nodes: [],
      pageInfo: { hasNextPage: isForward, hasPreviousPage: !isForward, startCursor: "", endCursor: "" },
    });
  });

  test("P-RLY-4 an empty cursor is the start or the end", async () => {
    const { data, errors } = await ask(`{
      a: pair_connection(first: 2, after: "") { nodes { a note } pageInfo { hasPreviousPage } }
      b: pair_connection(last: 1, before: "") { nodes { a note } pageInfo { hasNextPage } } }`);
    expect(errors).toBeUndefined();
    expect(data).toEqual({
      a: {
        nodes: [
          { a: 1, note: "one" },
          { a: 1, note: "two" },
        ],
        pageInfo: { hasPreviousPage: false },
      },
      b: { nodes: [{ a: 2, note: "three" }], pageInfo: { hasNextPage: false } },
    });
  });

  test("P-RLY-2 nodes are the rows of the edges in both directions, also in related rows", async () => {
    for (const window of ["first: 4", "last: 4"]) {
      const { data } = await ask(
        `{ log_entry_connection(${window}, order_by: {kind: asc}) { edges { node { id } } nodes { id } more: nodes { kind } } artist_connection(first: 2) { nodes { name albums_connection(first: 1) { nodes { title } edges { node { title } } } } } }`,
      );
      const { edges, nodes, more: extraNodes } = data.log_entry_connection;
      expect(nodes).toEqual(edges.map(({ node }: any) => node));
      expect(extraNodes).toHaveLength(4);
      for (const { albums_connection: page } of data.artist_connection.nodes)
        expect(page.nodes).toEqual(page.edges.map(({ node }: any) => node));
    }
  });

  test("P-RLY-4 a page is found by an index", async () => {
    await api.sql(
      "create table long_log (id int primary key, at int not null); insert into long_log select n, n / 3 from generate_series(1, 30000) as n; create index on long_log (at, id); analyze long_log",
    );
    await api.reload();
    const page =
      "query ($c: String) { long_log_connection(order_by: { at: asc }, first: 2, after: $c) { pageInfo { endCursor } edges { node { at } } } }";
    const first = await ask(
      "{ long_log_connection(order_by: { at: asc }, where: { id: { _eq: 27000 } }) { pageInfo { endCursor } } }",
    );
    const { data } = await ask(page, { c: first.data.long_log_connection.pageInfo.endCursor });
    expect(data.long_log_connection.edges).toEqual([{ node: { at: 9000 } }, { node: { at: 9000 } }]);
    const lines = (await api.sql(`explain (analyze, timing off) ${recorder.text()}`)) as readonly Readonly<
      Record<string, unknown>
    >[];
    const plan = lines.map((line) => line["QUERY PLAN"]).join("\n");
    expect(plan).toMatch(/Index (?:Only )?Scan using long_log_at_id_idx[^]*Index Cond: \(ROW\(at, id\) > ROW\(9000, /);
    expect(plan).not.toContain("Rows Removed");
  });

  test("P-RLY-6 row limits of the server shorten a page and lose no row", async () => {
    const cappedApi = await startApi({ ...forGraphql({ dbMaxRows: 4 }), preset: plus });
    const { data } = await createAsk(cappedApi)(`{ log_entry_connection(first: 30) { edges { cursor } ${PAGE} } }`);
    expect(data.log_entry_connection.edges).toHaveLength(4);
    expect(data.log_entry_connection.pageInfo).toMatchObject({
      hasNextPage: true,
      endCursor: data.log_entry_connection.edges[3].cursor,
    });
  });

  test("P-RLY-6 the limit of a permission shortens a page, and pageInfo reports it", async () => {
    const metadata = buildMetadataDocument([
      table("log_entry", {
        select_permissions: permissions({ music_reader: { columns: ["id", "kind"], filter: {}, limit: 3 } }),
      }),
    ]);
    const askWithLimit = createAsk(await startApi({ ...forGraphql(), preset: plus, metadata }));
    const reader = asAdmin("music_reader");
    const query = `query ($c: String) { log_entry_connection(first: 30, after: $c) { edges { cursor node { id } } ${PAGE} } }`;
    const foundIds: string[] = [];
    for (let cursor: string | null = null, hasMore = true; hasMore;) {
      const { data }: any = await askWithLimit(query, { c: cursor }, reader);
      const page = data.log_entry_connection;
      foundIds.push(...page.edges.map(({ node }: any) => node.id));
      cursor = page.pageInfo.endCursor;
      expect(cursor).toBe(page.edges[page.edges.length - 1].cursor);
      hasMore = page.pageInfo.hasNextPage;
    }
    expect([foundIds.length, new Set(foundIds).size]).toEqual([23, 23]);
  });

  test.each([
    ["first and last", "first: 1, last: 1", '"first" and "last" are not allowed at once', "last"],
    ["after and before", 'after: "W10=", before: "W10="', '"after" and "before" are not allowed at once', "before"],
    ["first and before", 'first: 1, before: "W10="', '"first" and "before" are not allowed at once', "before"],
    ["last and after", 'last: 1, after: "W10="', '"last" and "after" are not allowed at once', "after"],
    ["a negative size", "first: -1", '"first" cannot be negative', "first"],
    ["a cursor of nothing", 'first: 1, after: "nonsense"', "the cursor is invalid, or of another order", "after"],
    ["one of nothing before", 'last: 1, before: "nonsense"', "the cursor is invalid, or of another order", "before"],
    [
      "a cursor with numbers",
      `first: 1, after: "${Buffer.from("[1,2]").toString("base64")}"`,
      "the cursor is invalid, or of another order",
      "after",
    ],
    [
      "an order by aggregates",
      "order_by: { albums_aggregate: { count: asc } }",
      "a connection cannot be ordered by aggregates or distances",
      "order_by",
    ],
    [
      "distinct_on with last",
      "distinct_on: [name], last: 1",
      '"distinct_on" goes with "first" and "after" only',
      "distinct_on",
    ],
  ])("P-RLY-5 an invalid argument is rejected with its path: %s", async (_what, argumentText, message, argument) => {
    const buildGqlErrors = (field: string) => [
      { message, extensions: { path: `$.selectionSet.${field}.args.${argument}`, code: "validation-failed" } },
    ];
    expect((await ask(`{ x: artist_connection(${argumentText}) { edges { cursor } } }`)).errors).toEqual(
      buildGqlErrors("artist_connection"),
    );
    if (argument === "order_by" || argument === "distinct_on") return;
    const inRows = `{ artist_connection { edges { node { albums_connection(${argumentText}) { edges { cursor } } } } } }`;
    expect((await ask(inRows)).errors).toEqual(
      buildGqlErrors("artist_connection.selectionSet.edges.selectionSet.node.selectionSet.albums_connection"),
    );
  });

  test("P-RLY-5 a cursor of another order or table is rejected", async () => {
    const { data } = await ask("{ artist_connection(first: 1, order_by: { name: asc }) { pageInfo { endCursor } } }");
    const c = data.artist_connection.pageInfo.endCursor;
    for (const query of [
      "artist_connection(first: 1, after: $c)",
      "album_connection(first: 1, order_by: { title: asc }, after: $c)",
    ])
      expect((await ask(`query ($c: String) { ${query} { edges { cursor } } }`, { c })).errors[0].message).toBe(
        "the cursor is invalid, or of another order",
      );
  });

  test("P-RLY-4 P-RLY-6 DB_MAX_ROWS shortens the page and not totalCount", async () => {
    const cappedApi = await startApi({ ...forGraphql({ dbMaxRows: 4 }), preset: plus });
    const { data } = await createAsk(cappedApi)("{ log_entry_connection { totalCount edges { cursor } } }");
    expect(data.log_entry_connection.edges).toHaveLength(4);
    expect(data.log_entry_connection.totalCount).toBe(23);
  });

  test("P-RLY-7 row policies apply to the cursor of any caller", async () => {
    const query =
      "query ($c: String) { guarded_connection(first: 2, after: $c) { edges { node { owner } } pageInfo { endCursor } } }";
    const bob = await ask(query, {}, buildHeaders("bob"));
    const ann = await ask(query, { c: bob.data.guarded_connection.pageInfo.endCursor }, buildHeaders("ann"));
    expect(ann.data.guarded_connection.edges).toEqual([{ node: { owner: "ann" } }, { node: { owner: "ann" } }]);
  });

  test("P-RLY-4 totalCount counts the rows that a row policy shows, on every page", async () => {
    const query =
      "query ($c: String) { guarded_connection(first: 1, after: $c) { totalCount pageInfo { endCursor } } }";
    const first = await ask(query, {}, buildHeaders("bob"));
    expect(first.data.guarded_connection.totalCount).toBe(4);
    const next = await ask(query, { c: first.data.guarded_connection.pageInfo.endCursor }, buildHeaders("bob"));
    expect(next.data.guarded_connection.totalCount).toBe(4);
  });
});

describe("the endpoint of Relay", () => {
  test("P-RLY-1 mutations return nodes", async () => {
    const { data, errors } = await ask('mutation { insert_pair_one(object: { a: 7, b_c: "n" }) { id } }');
    if (errors === undefined) expect(decode(data.insert_pair_one.id)).toEqual([1, "public", "pair", 7, "n"]);
    const mutation = await ask(
      'mutation { insert_guarded_one(object: { id: 99, owner: "x" }) { id owner } delete_guarded_by_pk(id: 99) { id } }',
    );
    expect(decode(mutation.data.insert_guarded_one.id)).toEqual([1, "public", "guarded", 99]);
    expect(decode(mutation.data.delete_guarded_by_pk.id)).toEqual([1, "public", "guarded", 99]);
  });

  test("P-RLY-1 the endpoint accepts only POST and valid bodies", async () => {
    expect((await api.get("/v1beta1/relay")).status).toBe(405);
    expect((await api.options("/v1beta1/relay")).headers["allow"]).toBe("OPTIONS, POST");
    const bad = await api.post("/v1beta1/relay", { body: "{" });
    expect(bad.status).toBe(200);
    expect(bad.json().errors[0]).toMatchObject({ extensions: { code: "invalid-json", path: "$" } });
    const latin1 = await api.post("/v1beta1/relay", { body: Buffer.from('{"query":"{ caf\xe9 }"}', "latin1") });
    expect([latin1.status, latin1.json().errors[0].message]).toEqual([200, "Error in $: the body is not UTF-8"]);
    expect((await ask("subscription { x }")).errors[0].message).toBe("no subscriptions exist");
    expect((await ask("{ nothing }")).errors[0].message).toBe("field 'nothing' not found in type: 'query_root'");
    const rejection = await api.post("/v1beta1/relay", {
      headers: { "x-session-admin-secret": "wrong" },
      body: { query: '{ node(id: "") { id } }' },
    });
    expect(rejection.json().errors[0].extensions.code).toBe("access-denied");
  });

  test("P-RLY-1 variables that the document does not declare are ignored", async () => {
    const pairPage = await ask("query ($n: Int) { pair_connection(first: $n) { nodes { a } } }", {
      n: 1,
      connections: ["x"],
    });
    expect(pairPage).toEqual({ data: { pair_connection: { nodes: [{ a: 1 }] } } });
    const mutation = await ask(
      'mutation ($id: Int!) { insert_guarded_one(object: { id: $id, owner: "x" }) { owner } delete_guarded_by_pk(id: $id) { owner } }',
      { id: 98, connections: ["client:root:__guarded_connection"] },
    );
    expect(mutation).toEqual({ data: { insert_guarded_one: { owner: "x" }, delete_guarded_by_pk: { owner: "x" } } });
    expect(
      (await ask("query ($n: Int!) { pair_connection(first: $n) { nodes { a } } }", { connections: [] })).errors[0]
        .message,
    ).toBe('expecting a value for non-nullable variable: "n"');
    const plain = await api.gql("query ($n: Int) { pair(limit: $n) { a } }", { n: 1, connections: [] });
    expect(plain.errors[0].message).toBe("unexpected variables in variableValues: connections");
  });

  test("P-RLY-1 without the plugin the path is unknown", async () => {
    const plainApi = await startApi({ ...forGraphql(), preset: plus, parts: [without("relay")] });
    const answer = await plainApi.post("/v1beta1/relay", { headers: asAdmin(), body: { query: "{ __typename }" } });
    expect([answer.status, answer.json().code]).toEqual([404, "not-found"]);
  });

  test("P-RLY-1 G-TX-6 a request may choose how its transaction ends, if the setting allows it", async () => {
    const freeApi = await startApi({
      ...forGraphql(),
      preset: plus,
      dbTxEnd: "commit-allow-override",
    });
    await api.sql("insert into bare values ('kept')");
    const query = 'mutation { update_bare(where: {note: {_eq: "kept"}}, _set: {note: "changed"}) { affected_rows } }';
    const headers = { ...asAdmin(), prefer: "tx=rollback" };
    const answer = await freeApi.post("/v1beta1/relay", { headers, body: { query } });
    expect(answer.json()).toEqual({ data: { update_bare: { affected_rows: 1 } } });
    expect(await api.sql("select note from bare where note in ('kept', 'changed')")).toEqual([{ note: "kept" }]);
  });
});
