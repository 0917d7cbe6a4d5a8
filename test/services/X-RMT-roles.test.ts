/** The parts of remote schemas that roles may use, and the names that remote schemas get. */
import { printSchema } from "graphql";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { asAdmin, type StartOptions, type TestApi } from "../support/api.ts";
import { introspect } from "../support/graphql-data.ts";
import { bearer } from "../support/tokens.ts";
import {
  buildMetadataDocument,
  collectWarnings,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { SDL, startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const remote = await startRemote();

beforeEach(() => {
  remote.requests.length = 0;
  remote.words.length = 0;
});

const start = (remotes: readonly Entry[], extraOptions: StartOptions = {}, ofDocument: Entry = {}): Promise<TestApi> =>
  startWithWebhooks({
    metadata: buildMetadataDocument(
      [table("album", { select_permissions: permissions({ reader: { columns: ["id"], filter: {} } }) })],
      { remote_schemas: remotes, ...ofDocument },
    ),
    ...extraOptions,
  });

const entry = (extraKeys: Entry = {}, customization: Entry = {}): Entry => ({
  name: "shop",
  definition: { url: remote.url, customization },
  ...extraKeys,
});
const allow = (...pairs: readonly (readonly [role: string, schema: string])[]): Entry => ({
  permissions: pairs.map(([role, schema]) => ({ role, definition: { schema } })),
});

const READER = `
  schema { query: Query mutation: Mutation }
  type Query {
    countries(continent: Continent @preset(value: EU)): [Country!]!
    mine(owner: String! @preset(value: "x-hasura-user-id"), filter: MineFilter): String
  }
  type Mutation { add(word: String! @preset(value: "x-hasura-word", static: true)): [String!]! }
  enum Continent { EU }
  input MineFilter { tenant: String! @preset(value: "x-hasura-tenant"), words: [String!] }
  type Country { code: ID! name: String! }
`;

const api = await start(
  [entry(allow(["reader", READER], ["buyer", "type Query { secret: String }"], ["twin", READER]))],
  {},
  {
    inherited_roles: [
      { role_name: "both", role_set: ["reader", "twin"] },
      { role_name: "mixed", role_set: ["reader", "buyer"] },
    ],
  },
);
const asReader = asAdmin("reader", { "user-id": "7", tenant: "acme" });

describe("permissions", () => {
  test("X-RMT-9 a role sees the part of its SDL, without presets", async () => {
    const sdl = printSchema(await introspect(api, "reader"));
    expect(sdl).toContain("countries: [Country!]!");
    expect(sdl).toContain("mine(filter: MineFilter): String");
    expect(sdl).toContain("add: [String!]!");
    expect(sdl).toContain("type Country {\n  code: ID!\n  name: String!\n}");
    expect(sdl).not.toMatch(/secret|Continent|tenant|City/);
    expect(await api.gql("{ countries { code } album(limit: 1) { id } }", {}, asReader)).toEqual({
      data: { countries: [{ code: "SE" }, { code: "ES" }], album: [{ id: expect.any(Number) }] },
    });
  });

  test.each([
    ["{ secret }", "field 'secret' not found in type: 'query_root'"],
    ["{ countries { continent } }", 'Cannot query field "continent" on type "Country".'],
    ["{ countries(continent: AS) { code } }", 'Unknown argument "continent" on field "Query.countries".'],
    ['{ mine(filter: {tenant: "other"}) }', 'Field "tenant" is not defined by type "MineFilter".'],
  ])("X-RMT-9 the role cannot use %s", async (query, message) => {
    const { errors } = await api.gql(query, {}, asReader);
    expect(errors[0].message).toBe(message);
    expect(remote.requests).toEqual([]);
  });

  test("X-RMT-9 roles without a permission see no field of the remote", async () => {
    const { errors } = await api.gql("{ countries { code } }", {}, asAdmin("nobody"));
    expect(errors[0].message).toBe("field 'countries' not found in type: 'query_root'");
    expect(await api.gql("{ secret }", {}, asAdmin("buyer"))).toEqual({ data: { secret: "treasure" } });
  });

  test("X-RMT-9 G-AUTH-19b a role named admin sees no field without a permission", async () => {
    const otherApi = await start([entry(allow(["reader", READER], ["admin", "type Query { secret: String }"]))]);
    const claims = { "x-session-default-role": "admin", "x-session-allowed-roles": ["admin"] };
    const headers = { "x-session-admin-secret": undefined, ...bearer(claims) };
    expect(await otherApi.gql("{ secret }", {}, headers)).toEqual({ data: { secret: "treasure" } });
    expect((await otherApi.gql("{ countries { code } }", {}, headers)).errors[0].message).toBe(
      "field 'countries' not found in type: 'query_root'",
    );
  });

  test("X-RMT-9 without permissions every role sees everything", async () => {
    const open = await start([entry(allow(["reader", READER]))], { enableRemoteSchemaPermissions: false });
    expect(await open.gql("{ secret }", {}, asReader)).toEqual({ data: { secret: "treasure" } });
  });

  test("X-RMT-9a an inherited role has the permission that its parents agree on", async () => {
    expect((await api.gql("{ countries { code } }", {}, asAdmin("both"))).errors).toBeUndefined();
    expect((await api.gql("{ countries { code } }", {}, asAdmin("mixed"))).errors[0].message).toBe(
      "field 'countries' not found in type: 'query_root'",
    );
  });

  test("X-RMT-10 presets of arguments and input fields have session variables and fixed values", async () => {
    const query = `query ($words: [String!], $filter: MineFilter) {
      literal: mine(filter: {words: $words}) variable: mine(filter: $filter) none: mine
    }`;
    const { data } = await api.gql(query, { words: ["a"], filter: { words: ["b"] } }, asReader);
    expect(JSON.parse(data.literal)).toEqual({ owner: "7", filter: { words: ["a"], tenant: "acme" } });
    expect(JSON.parse(data.variable)).toEqual({ owner: "7", filter: { words: ["b"], tenant: "acme" } });
    expect(JSON.parse(data.none)).toEqual({ owner: "7", filter: null });
    expect(await api.gql("mutation { add }", {}, asReader)).toEqual({ data: { add: ["x-hasura-word"] } });
  });

  test("X-RMT-10 values of two callers do not mix, and a missing variable is an error", async () => {
    const owners = await Promise.all(
      ["1", "2", "3"].map(async (id) => {
        const { data } = await api.gql("{ mine }", {}, asAdmin("reader", { "user-id": id, tenant: "t" }));
        return JSON.parse(data.mine).owner;
      }),
    );
    expect(owners).toEqual(["1", "2", "3"]);
    expect((await api.gql("{ mine }", {}, asAdmin("reader"))).errors).toEqual([
      {
        message: 'missing session variable: "x-hasura-user-id"',
        extensions: { path: "$.selectionSet.mine", code: "not-found" },
      },
    ]);
  });

  test("X-RMT-10 a preset is a value of the argument's type", async () => {
    const typedApi = await start([
      entry(
        allow([
          "reader",
          'scalar Big type Query { echo(value: Big, float: Float @preset(value: "x-hasura-ratio")): Big }',
        ]),
      ),
    ]);
    const ask = (ratio: string) => typedApi.gql("{ echo }", {}, asAdmin("reader", { ratio }));
    expect(await ask("2.5")).toEqual({ data: { echo: 2.5 } });
    expect((await ask("2.5; drop")).errors[0].message).toBe(
      'the session variable "x-hasura-ratio" is not a value of the type Float',
    );
  });

  test.each([
    ["type Query { nothing: String }", 'the type "Query" has no field "nothing" in the remote schema'],
    ["type Query { secret: Int }", 'the field "Query.secret" has the type String in the remote schema'],
    ["type Query { country: Country } type Country { code: ID! }", 'the field "Query.country" needs "code"'],
    ["type Query { secret(a: Int): String }", 'the field "Query.secret" has no "a" in the remote schema'],
    ["type Query { secret: Other }", 'Unknown type: "Other".'],
    ["type Other { a: Int }", "it has no query root"],
    ["type Query {", "Syntax Error: Expected Name, found <EOF>."],
    ["type Query { countries(continent: Continent @preset): [Country!]! }", '@preset of "continent" has no value'],
    [
      "type Query { country(code: ID! @preset(value: {a: 1})): Country } type Country { code: ID! }",
      '@preset of "code" of the field "Query.country": ID cannot represent value: { a: 1 }',
    ],
    [
      "type Query { countries(continent: Continent @preset(value: XX)): [Country!]! } enum Continent { EU } type Country { code: ID! }",
      '@preset of "continent" of the field "Query.countries": Value "XX" does not exist in "Continent" enum.',
    ],
    [
      "type Query { search(text: String!): [Found!]! } union Found = Country | Query type Country { code: ID! }",
      'the union "Found" has no "Query"',
    ],
  ])("X-RMT-9b the permission %s is inconsistent", async (schema, reason) => {
    const warnings = collectWarnings();
    const lame = await start([entry(allow(["reader", schema]))], { logger: warnings.logger });
    expect(warnings.all()).toEqual([`remote schema shop: permission for role reader: ${reason}; ignored`]);
    expect(await lame.gql("{ secret }")).toEqual({ data: { secret: "treasure" } });
    expect((await lame.gql("{ secret }", {}, asAdmin("reader"))).errors[0].message).toBe(
      "field 'secret' not found in type: 'query_root'",
    );
  });
});

describe("names", () => {
  test("X-RMT-5 types and fields get other names, for the schema, documents and __typename", async () => {
    const renamedApi = await start([
      entry(allow(["reader", READER]), {
        type_names: { prefix: "Shop", suffix: "T", mapping: { City: "Town" } },
        field_names: [
          { parent_type: "Query", prefix: "shop_", mapping: { node: "thing" } },
          { parent_type: "Country", suffix: "_of" },
          { parent_type: "Node", mapping: { id: "id_of" } },
          { parent_type: "City", mapping: { id: "id_of" } },
        ],
      }),
    ]);
    const query = `query ($in: ShopContinentT, $f: ShopCountryFilterT) {
      shop_search(text: "S") { __typename ... on ShopCountryT { code_of } ... on Town { title } }
      thing(id: "t1") { id_of __typename }
      x: shop_countries(continent: $in, named: $f) { name_of ...more }
    } fragment more on ShopCountryT { continent_of }`;
    expect(await renamedApi.gql(query, { in: "EU", f: { starts: "Sp" } })).toEqual({
      data: {
        shop_search: [
          { __typename: "ShopCountryT", code_of: "SE" },
          { __typename: "ShopCountryT", code_of: "ES" },
          { __typename: "Town", title: "Stockholm" },
        ],
        thing: { id_of: "t1", __typename: "Town" },
        x: [{ name_of: "Spain", continent_of: "EU" }],
      },
    });
    const { errors } = await renamedApi.gql("{ list: shop_countries { broken_of } }");
    expect(errors[0]).toMatchObject({ message: "no data for SE", path: ["list", 0, "broken_of"] });
    expect((await renamedApi.gql("{ shop_mine(filter: {}) }", {}, asReader)).data).toEqual({
      shop_mine: '{"owner":"7","filter":{"tenant":"acme"}}',
    });
  });

  test.each([
    ["exchanged", { mapping: { City: "Country", Country: "City" } }, { City: "Country", Country: "City" }],
    [
      "passed on",
      { mapping: { City: "Country", Country: "Node", Node: "Thing" } },
      { City: "Country", Country: "Node" },
    ],
    [
      "moved by a prefix",
      { prefix: "A", mapping: { City: "ANode", Node: "Node" } },
      { City: "ANode", Country: "ACountry" },
    ],
  ])("X-RMT-5 names of types are %s, and nothing is written to the console", async (_, names, expected) => {
    const consoleWarn = vi.spyOn(console, "warn");
    const renamedApi = await start([
      entry(
        {},
        { type_names: names, field_names: [{ parent_type: "Country", mapping: { code: "name", name: "code" } }] },
      ),
    ]);
    const { City: city, Country: country } = expected;
    const query = `query { search(text: "S") { __typename ... on ${country} { code name } ... on ${city} { title } } }`;
    expect(await renamedApi.gql(query)).toEqual({
      data: {
        search: [
          { __typename: country, code: "Sweden", name: "SE" },
          { __typename: country, code: "Spain", name: "ES" },
          { __typename: city, title: "Stockholm" },
        ],
      },
    });
    expect(consoleWarn).not.toHaveBeenCalled();
    consoleWarn.mockRestore();
  });

  test("X-RMT-5 a type of a namespace may take the name of the root type", async () => {
    const renamedApi = await start([
      entry({}, { root_fields_namespace: "shop", type_names: { mapping: { Query: "Country", Country: "Query" } } }),
    ]);
    expect(await renamedApi.gql('{ shop { __typename country(code: "SE") { __typename name } } }')).toEqual({
      data: { shop: { __typename: "Country", country: { __typename: "Query", name: "Sweden" } } },
    });
  });

  test("X-RMT-5 a namespace has the root fields in one field of each root", async () => {
    const namespacedApi = await start([
      entry({}, { root_fields_namespace: "shop", type_names: { prefix: "Shop" } }),
      {
        name: "other",
        definition: {
          url: remote.url,
          customization: { root_fields_namespace: "other", type_names: { prefix: "Other" } },
        },
      },
    ]);
    expect(
      await namespacedApi.gql(
        '{ s: shop { __typename secret c: country(code: "SE") { name } } other { secret } album(limit: 1) { id } }',
      ),
    ).toEqual({
      data: {
        s: { __typename: "ShopQuery", secret: "treasure", c: { name: "Sweden" } },
        other: { secret: "treasure" },
        album: [{ id: expect.any(Number) }],
      },
    });
    expect(await namespacedApi.gql('mutation { shop { a: add(word: "1") b: add(word: "2") } }')).toEqual({
      data: { shop: { a: ["1"], b: ["1", "2"] } },
    });
    expect((await namespacedApi.gql("{ shop { failing } }")).errors).toEqual([
      { message: "out of order", path: ["shop", "failing"], extensions: { code: "BROKEN", detail: 7 } },
    ]);
    expect((await namespacedApi.gql("{ shop }")).errors[0].message).toBe("missing selection set for 'shop'");
    expect((await namespacedApi.gql("{ shop { __schema { types { name } } } }")).errors[0].message).toBe(
      "field '__schema' not found in type: 'ShopQuery'",
    );
  });

  test("X-RMT-5a names that are taken make a remote schema inconsistent", async () => {
    const startSmallRemote = async (sdl: string) => (await startRemote(sdl)).url;
    const warnings = collectWarnings();
    const shop = [
      entry(),
      { name: "field", definition: { url: await startSmallRemote("type Query { secret: String }") } },
      {
        name: "type",
        definition: { url: await startSmallRemote("type Query { a: Country } type Country { code: ID! }") },
      },
      {
        name: "same",
        definition: {
          url: await startSmallRemote(
            "type Query { b: City } interface Node { id: ID! } type City implements Node { id: ID! title: String! }",
          ),
        },
      },
      { name: "table", definition: { url: await startSmallRemote("type Query { c: album } type album { id: ID! }") } },
      {
        name: "input",
        definition: {
          url: await startSmallRemote("type Query { d(a: album_bool_exp): Int } input album_bool_exp { id: ID }"),
        },
      },
      {
        name: "scalar",
        definition: {
          url: await startSmallRemote(
            "type Query { e(a: Int_comparison_exp): Int } input Int_comparison_exp { id: ID }",
          ),
        },
      },
      { name: "root", definition: { url: await startSmallRemote("type Query { album_by_pk: Int }") } },
      { name: "shop", definition: { url: remote.url } },
    ];
    const lame = await start(shop, { logger: warnings.logger });
    expect(warnings.all()).toEqual([
      "remote schema shop: another remote schema has that name; ignored",
      'remote schema field: the remote schema shop has the root field "secret" too; ignored',
      'remote schema type: the remote schema shop has another type "Country"; ignored',
      'remote schema table: a type of a table has the name "album" too; ignored',
      'remote schema input: a type of a table has the name "album_bool_exp" too; ignored',
      'remote schema scalar: a type of a table has the name "Int_comparison_exp" too; ignored',
      'remote schema root: a table or function has the root field "album_by_pk" too; ignored',
    ]);
    expect(await lame.gql("{ secret }")).toEqual({ data: { secret: "treasure" } });
  });

  test("X-RMT-5a a type may begin with the name of a table", async () => {
    const warnings = collectWarnings();
    const { url } = await startRemote(
      "type Query { b(a: albumCreateInput, c: album_filter_fields, d: S_Int_comparison_exp): Albums } type Albums { id: ID } input albumCreateInput { id: ID } input album_filter_fields { id: ID } input S_Int_comparison_exp { id: ID }",
    );
    await start([{ name: "b", definition: { url } }], { logger: warnings.logger });
    expect(warnings.all()).toEqual([]);
  });

  test.each([
    [{ root_fields_namespace: "a b" }, "root_fields_namespace is not a GraphQL name"],
    [{ type_names: { prefix: "-" } }, "prefix is not a part of a GraphQL name"],
    [
      { type_names: { mapping: { City: "Country" } } },
      'the types "Country" and "City" would both have the name "Country"',
    ],
    [{ type_names: { mapping: { City: "Int" } } }, 'the type "City" would have the name "Int", which GraphQL reserves'],
    [
      { type_names: { prefix: "__", mapping: {} } },
      'the type "Continent" would have the name "__Continent", which GraphQL reserves',
    ],
    [{ field_names: [{ prefix: "a" }] }, "field_names has an entry without parent_type"],
    [
      { field_names: [{ parent_type: "City", mapping: { id: "title" } }] },
      'two fields of the type "City" would have the same name',
    ],
  ])("X-RMT-5b the customization %j is inconsistent", async (customization, reason) => {
    const warnings = collectWarnings();
    await start([entry({}, customization)], { logger: warnings.logger });
    expect(warnings.all()).toEqual([`remote schema shop: ${reason}; ignored`]);
  });

  test("X-RMT-9 the whole SDL of a remote is a permission", async () => {
    const fullApi = await start([entry(allow(["reader", SDL]))]);
    expect((await fullApi.gql('{ search(text: "S") { __typename } ratio }', {}, asReader)).data.ratio).toBe(1.5);
  });
});
