/** Root fields of plugins: the example of docs/guides/write-a-root-field.md, and cases that the guide does not show. */
import { GraphQLBoolean, GraphQLInt, GraphQLList, GraphQLNonNull, GraphQLString } from "graphql";
import { describe, expect, test } from "vitest";
import { definePlugin, sql, type Plugin } from "../../core/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { gqlCases } from "../support/cases.ts";
import { openSocket } from "../support/socket.ts";
import { adminSecret } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { rootFields } from "./root-fields.ts";
import type { GqlField, GqlFieldContext, GqlFields, GqlMetadata, GqlScope } from "../../plugins/graphql/api.ts";

/** A plugin that adds these fields to a scope. */
const adding = (
  name: string,
  scope: GqlScope,
  fields: (context: GqlFieldContext) => Readonly<Record<string, GqlField>>,
  overrides: Partial<Plugin> = {},
): Plugin =>
  definePlugin({
    name,
    requires: ["graphql-queries"],
    ...overrides,
    apply: (hooks) =>
      hooks.buildGqlField.tap(name, (givenFields: GqlFields, context: GqlFieldContext) =>
        context.scope === scope ? { ...givenFields, ...fields(context) } : givenFields,
      ),
  });

const RATES: Readonly<Record<string, number>> = { EUR: 1, SEK: 11.5 };
let requests: string[] = [];
const rates = async (currency: string): Promise<number | undefined> => {
  requests.push(currency);
  if (currency === "BAD") throw new Error("secret of the server");
  return RATES[currency];
};

describe("the example", async () => {
  const api = await startApi(forGraphql({ parts: [rootFields(rates)] }));

  gqlCases(api, [
    {
      title: "X-GQL-2 a plan reads the selected fields with related rows, and its argument is bound",
      query: "query ($n: Int) { charts(top: $n) { title artist { name } } one: charts(top: 1) { __typename sold } }",
      variables: { n: 2 },
      data: {
        charts: [
          { title: "Waterloo", artist: { name: "Abba" } },
          { title: "Tago Mago", artist: { name: "Can" } },
        ],
        one: [{ __typename: "album", sold: expect.anything() }],
      },
    },
    {
      title: "X-GQL-2 the same operation uses another value of its variable",
      query: "query ($n: Int) { charts(top: $n) { title artist { name } } one: charts(top: 1) { __typename sold } }",
      variables: { n: 1 },
      data: {
        charts: [{ title: "Waterloo", artist: { name: "Abba" } }],
        one: [{ __typename: "album", sold: expect.anything() }],
      },
    },
    {
      title: "X-GQL-1 a default is used for an argument that is not given",
      query: "{ charts { id } }",
      data: { charts: [{ id: expect.anything() }, { id: expect.anything() }] },
    },
    {
      title: "X-GQL-1 values of variables are checked each time",
      query: "query ($n: Int) { charts(top: $n) { title artist { name } } one: charts(top: 1) { __typename sold } }",
      variables: { n: "2" },
      error: {
        message: "expected a 32-bit integer for type 'Int', but found a string",
        path: "$.selectionSet.charts.args.top",
      },
    },
    {
      title: "X-GQL-3 a statement returns its value, with its argument bound",
      query: 'query ($c: String) { sales(country: $c) other: sales(country: "no\'where") }',
      variables: { c: "SE" },
      data: { sales: { albums: 2, sold: expect.anything() }, other: { albums: 0, sold: null } },
    },
    {
      title: "X-GQL-3 an absent argument of a statement is null",
      query: "{ sales }",
      data: { sales: { albums: 0, sold: null } },
    },
    {
      title: "X-GQL-4 results of functions are answered in the order of selection",
      query:
        '{ artist_by_pk(id: 1) { name } b: exchange_rate(currency: "EUR") { r: rate __typename currency } charts(top: 1) { title } a: exchange_rate(currency: "SEK") { rate } }',
      bytes:
        '{"data":{"artist_by_pk":{"name":"Abba"},"b":{"r":1,"__typename":"exchange_rate","currency":"EUR"},"charts":[{"title":"Waterloo"}],"a":{"rate":11.5}}}',
    },
    {
      title: "X-GQL-4 an error that the function throws on purpose is reported at the field",
      query: '{ artist { id } exchange_rate(currency: "CHF") { rate } }',
      error: {
        message: 'no currency "CHF"',
        path: "$.selectionSet.exchange_rate",
        code: "no-such-currency",
      },
    },
    {
      title: "X-GQL-4 other errors of the function do not show their message",
      query: '{ exchange_rate(currency: "BAD") { rate } }',
      error: { message: "internal error", path: "$.selectionSet.exchange_rate", code: "unexpected" },
    },
    {
      title: "G-DOC-6 the selection of the field is checked",
      query: '{ exchange_rate(currency: "EUR") { nope } }',
      error: {
        message: "field 'nope' not found in type: 'exchange_rate'",
        path: "$.selectionSet.exchange_rate.selectionSet.nope",
      },
    },
    {
      title: "G-GEN-1 a role sees only the fields that it may use",
      query: "{ sales }",
      role: "music_reader",
      error: { message: "field 'sales' not found in type: 'query_root'" },
    },
  ]);

  test("X-GQL-4 a function is called once per selected field, with the values of each request", async () => {
    requests = [];
    const query = "query ($c: String!) { exchange_rate(currency: $c) { rate } }";
    expect(await api.gql(query, { c: "EUR" })).toEqual({ data: { exchange_rate: { rate: 1 } } });
    expect(await api.gql(query, { c: "SEK" })).toEqual({ data: { exchange_rate: { rate: 11.5 } } });
    expect(requests).toEqual(["EUR", "SEK"]);
  });

  test("X-GQL-4 each request of a batch calls the function", async () => {
    const query = "query ($c: String!) { exchange_rate(currency: $c) { rate } }";
    const answer = await api.post("/v1/graphql", {
      headers: { "x-session-admin-secret": adminSecret },
      body: ["EUR", "CHF", "SEK"].map((c) => ({ query, variables: { c } })),
    });
    expect(answer.json()).toEqual([
      { data: { exchange_rate: { rate: 1 } } },
      { errors: [expect.objectContaining({ message: 'no currency "CHF"' })] },
      { data: { exchange_rate: { rate: 11.5 } } },
    ]);
  });

  test("X-GQL-4 a query over WebSocket calls the function", async () => {
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
    await socket.next();
    socket.send({
      id: "1",
      type: "subscribe",
      payload: { query: '{ exchange_rate(currency: "EUR") { rate } charts(top: 1) { title } }' },
    });
    expect(await socket.next()).toEqual({
      id: "1",
      type: "next",
      payload: { data: { exchange_rate: { rate: 1 }, charts: [{ title: "Waterloo" }] } },
    });
    await socket.close();
  });

  test("X-GQL-1 introspection lists the fields", async () => {
    const { data } = await api.gql('{ __type(name: "query_root") { fields { name args { name defaultValue } } } }');
    expect(data.__type.fields).toContainEqual({ name: "charts", args: [{ name: "top", defaultValue: "2" }] });
  });
});

describe("in other places", async () => {
  const order: string[] = [];
  const note = (name: string) => async () => {
    order.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    order.push(`${name} ends`);
    return true;
  };
  let abortion: Promise<void> | undefined;
  const waits: GqlField = {
    config: { type: GraphQLBoolean },
    toPlan: {
      kind: "custom",
      run: ({ signal }) => {
        let resolveResult: (value: null) => void;
        const result = new Promise<null>((resolve) => (resolveResult = resolve));
        abortion = new Promise((resolve) =>
          signal.addEventListener("abort", () => {
            resolveResult(null);
            resolve();
          }),
        );
        return result;
      },
    },
  };
  const api = await startApi(
    forGraphql({
      dbTxEnd: "rollback-allow-override",
      parts: [
        adding(
          "writes",
          "mutation_root",
          ({ build }) => {
            const artist = build.table({ schema: "public", name: "artist" })!;
            const name = { type: new GraphQLNonNull(GraphQLString) };
            const where = (id: { readonly param: number }) =>
              ({
                kind: "compare",
                left: { kind: "column", name: "id" },
                operator: "eq",
                operand: { ...id, type: "integer" },
              }) as const;
            return {
              rename_artist: {
                config: { type: build.mutationResponse(artist)!, args: { id: { type: GraphQLInt }, name } },
                toPlan: {
                  kind: "custom",
                  plan: ({ arguments: { id } }, { argument, bind }) => ({
                    kind: "update",
                    relation: { schema: "public", name: "artist" },
                    where: where(bind(String(id))),
                    assignments: [{ column: "name", operator: "set", operand: argument("name", "text")! }],
                  }),
                },
              },
              drop_artist: {
                config: { type: build.rowType(artist)!, args: { id: { type: GraphQLInt } } },
                toPlan: {
                  kind: "custom",
                  plan: (_, { argument }) => ({
                    kind: "delete",
                    from: { schema: "public", name: "artist" },
                    where: where(argument("id") as { param: number }),
                  }),
                },
              },
              number: { config: { type: GraphQLInt }, toPlan: { kind: "custom", statement: "number" } },
              first: { config: { type: GraphQLBoolean }, toPlan: { kind: "custom", run: note("first") } },
              second: { config: { type: GraphQLBoolean }, toPlan: { kind: "custom", run: note("second") } },
              fails: {
                config: { type: GraphQLBoolean },
                toPlan: { kind: "custom", run: () => Promise.reject(new Error("no")) },
              },
            };
          },
          { statements: [{ name: "number", compile: () => sql`select 7` }] },
        ),
        adding("lists", "query_root", () => ({
          echo: {
            config: {
              type: new GraphQLNonNull(new GraphQLList(GraphQLString)),
              args: { words: { type: new GraphQLList(new GraphQLNonNull(GraphQLString)) } },
            },
            toPlan: { kind: "custom", run: ({ arguments: { words } }) => words ?? null },
          },
          who: { config: { type: GraphQLString }, toPlan: { kind: "custom", run: ({ session }) => session.role } },
          waits,
        })),
      ],
    }),
  );

  gqlCases(api, [
    {
      title: "X-GQL-2 a plan that writes returns its rows",
      query:
        'mutation { rename_artist(id: 1, name: "ABBA") { affected_rows returning { name albums(limit: 1, order_by: {id: asc}) { title } } } drop_artist(id: 4) { name } number }',
      data: {
        rename_artist: { affected_rows: 1, returning: [{ name: "ABBA", albums: [{ title: "Arrival" }] }] },
        drop_artist: { name: "Dusk" },
        number: 7,
      },
    },
    {
      title: "X-GQL-1 a single value is coerced to a list",
      query: 'query ($w: String!) { a: echo(words: "x") b: echo(words: ["x", $w]) }',
      variables: { w: "y" },
      data: { a: ["x"], b: ["x", "y"] },
    },
    {
      title: "X-GQL-1 the items of lists are checked",
      query: "{ echo(words: [1]) }",
      error: {
        message: "expected a string for type 'String', but found a number",
        path: "$.selectionSet.echo.args.words[0]",
      },
    },
    {
      title: "X-GQL-4 a result that does not fit the schema is an error of the server",
      query: "{ echo }",
      error: { message: "internal error", path: "$.selectionSet.echo" },
    },
    {
      title: "X-GQL-4 the function receives the session",
      query: "{ who }",
      role: "music_reader",
      data: { who: "music_reader" },
    },
  ]);

  test("X-GQL-2 the writes of the field need the rights of the role", async () => {
    const { errors } = await api.gql(
      'mutation { rename_artist(id: 1, name: "x") { affected_rows } }',
      {},
      asAdmin("music_reader"),
    );
    expect(errors[0].extensions.code).not.toBe("unexpected");
  });

  test("X-GQL-4 functions of a mutation run one after another", async () => {
    order.length = 0;
    expect(await api.gql("mutation { second first }")).toEqual({ data: { second: true, first: true } });
    expect(order).toEqual(["second begins", "second ends", "first begins", "first ends"]);
  });

  test("X-GQL-4b X-GQL-12b after a function that fails no field of a mutation runs, and earlier writes stay", async () => {
    const headers = { "x-session-admin-secret": adminSecret, prefer: "tx=commit" };
    const insert = (name: string) => `insert_artist_one(object: {name: "${name}"}) { id }`;
    await api.post("/v1/graphql", {
      headers,
      body: { query: `mutation { a: ${insert("Earlier")} fails b: ${insert("Later")} }` },
    });
    const deletedRows = await api.sql("delete from artist where name in ('Earlier', 'Later') returning name");
    expect(deletedRows).toEqual([{ name: "Earlier" }]);
  });

  test("X-GQL-4 the signal of the function is aborted when the client disconnects", async () => {
    const socket = await openSocket(api);
    socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
    await socket.next();
    socket.send({ id: "1", type: "subscribe", payload: { query: "{ waits }" } });
    await until(() => abortion !== undefined, "the field is being answered");
    await socket.close();
    await abortion;
  });
});

test("X-GQL-3 a live query with a statement is answered again after a change", async () => {
  const api = await startApi(
    forGraphql({
      parts: [
        adding(
          "live-count",
          "subscription_root",
          () => ({ things: { config: { type: GraphQLInt }, toPlan: { kind: "custom", statement: "things" } } }),
          { statements: [{ name: "things", compile: () => sql`select count(*) from public.thing` }] },
        ),
      ],
    }),
  );
  await api.sql("create table thing (id int primary key)");
  await api.reload();
  const socket = await openSocket(api);
  socket.send({ type: "connection_init", payload: { headers: { "x-session-admin-secret": adminSecret } } });
  await socket.next();
  socket.send({ id: "1", type: "subscribe", payload: { query: "subscription { things }" } });
  expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { things: 0 } } });
  await api.sql("insert into thing values (1)");
  expect(await socket.next()).toEqual({ id: "1", type: "next", payload: { data: { things: 1 } } });
  await socket.close();
});

describe("fields under a namespace", async () => {
  const namespace = definePlugin({
    name: "namespace",
    requires: ["relationships"],
    apply: (hooks) =>
      hooks.introspect.tap("namespace", (model) => {
        const metadata: GqlMetadata = { findAccess: () => undefined, customization: { namespace: "music" } };
        return { ...model, pluginFacts: { ...model.pluginFacts, metadata } };
      }),
  });
  const api = await startApi(forGraphql({ parts: [namespace, rootFields(rates)] }));
  test("X-GQL-4 fields of plugins are answered among the other fields of the namespace", async () => {
    const answer = await api.post("/v1/graphql", {
      headers: { "x-session-admin-secret": adminSecret },
      body: {
        query:
          '{ music { artist_by_pk(id: 1) { id } exchange_rate(currency: "EUR") { rate } __typename charts(top: 1) { title } } }',
      },
    });
    expect(answer.text).toBe(
      '{"data":{"music":{"artist_by_pk":{"id":1},"exchange_rate":{"rate":1},"__typename":"music_query","charts":[{"title":"Waterloo"}]}}}',
    );
  });
});

describe("rejections", () => {
  const readStartError = async (...parts: readonly Plugin[]): Promise<string> => {
    const lines: string[] = [];
    const write = process.stderr.write;
    process.stderr.write = ((line: string) => lines.push(line) > 0) as typeof write;
    try {
      const api = await startApi(forGraphql({ parts, logLevel: "error" }));
      const { errors } = await api.gql("{ artist { id albums_aggregate { aggregate { count } } } }");
      expect(errors[0].message).toBe("internal error");
      await api.close();
    } finally {
      process.stderr.write = write;
    }
    return lines.join("");
  };
  const field = (toPlan: object): GqlField =>
    ({ config: { type: GraphQLString }, toPlan: { kind: "custom", ...toPlan } }) as GqlField;
  const run = field({ run: () => null });

  test.each<[title: string, scope: GqlScope, field: GqlField, message: string]>([
    ["a function in rows", "row", run, "it is served by run, and in row only output or load or delegate can be"],
    [
      "anything in an aggregate",
      "aggregate_fields",
      run,
      "no field of a plugin's own can be served in aggregate_fields",
    ],
    [
      "a part of a row in the root",
      "query_root",
      field({ output: () => ({}) }),
      "it is served by output, and in query_root only",
    ],
    ["an undeclared statement", "query_root", field({ statement: "none" }), 'no plugin declares the statement "none"'],
  ])("X-GQL-1 %s is rejected, and the plugin named", async (_, scope, rootField, message) => {
    expect(await readStartError(adding("careless", scope, () => ({ mine: rootField })))).toContain(
      `plugin \\"careless\\" adds the field \\"mine\\" of type \\"${scope === "row" ? "artist" : scope === "query_root" ? scope : "album_aggregate_fields"}\\": ${message.replaceAll('"', '\\"')}`,
    );
  });

  const listedField: GqlField = { config: { type: GraphQLString }, toPlan: { kind: "constant", text: "1" } };
  const yielding = definePlugin({
    name: "yields",
    requires: ["graphql-queries"],
    apply: (hooks) =>
      hooks.buildGqlField.tap("yields", (givenFields: GqlFields, { scope }: GqlFieldContext) =>
        scope === "query_root" ? { mine: run, ...givenFields } : givenFields,
      ),
  });

  test.each([
    ["overwrites it", adding("second", "query_root", () => ({ mine: run })), "second"],
    ["would yield", yielding, "yields"],
    ["gives a part of the surface", adding("lists", "query_root", () => ({ mine: listedField })), "lists"],
  ])("X-GQL-5 one field given by two plugins is rejected, also where the other %s", async (_, otherPlugin, name) => {
    expect(
      await readStartError(
        adding("first", "query_root", () => ({ mine: run })),
        otherPlugin,
      ),
    ).toContain(
      `field \\"mine\\" of type \\"query_root\\" is given by \\"first\\" and by \\"${name}\\": rename one or drop one of the plugins`,
    );
  });

  test("X-GQL-5 fields of the database keep their names", async () => {
    const api = await startApi(forGraphql({ parts: [adding("shadow", "query_root", () => ({ artist: run }))] }));
    expect(await api.gql("{ artist(limit: 1, order_by: {id: asc}) { id } }")).toEqual({
      data: { artist: [{ id: 1 }] },
    });
  });
});
