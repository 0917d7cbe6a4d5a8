/** Relationships from types of remote schemas to tables and to other remote schemas. */
import { buildSchema, printType } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { asAdmin, type StartOptions, type TestApi } from "../support/api.ts";
import { watchExecutions } from "../support/context.ts";
import { testDatabase } from "../support/database.ts";
import { introspect, loadData } from "../support/graphql-data.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { openSocket } from "../support/socket.ts";
import { temporaryFile } from "../support/temporary-files.ts";
import { SDL, startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const shop = buildSchema(`${SDL}
  extend type Query { oddities: [Odd!]! deep: Deep }
  extend type Mutation { found: Country }
  type Odd { code: ID number: Big numbers: [Int!] sized(size: Int): Int }
  type Deep { countries: [Country!]! here: Deep }
`);
const COUNTRY = { __typename: "Country", id: "c1", code: "SE", name: "Sweden" };
const setResolver = (
  schema: typeof shop,
  root: "Query" | "Mutation",
  name: string,
  resolve: (args: any) => unknown,
) => {
  const type = schema.getType(root) as ReturnType<typeof shop.getQueryType>;
  type!.getFields()[name]!.resolve = (_root, args) => resolve(args);
};
setResolver(shop, "Query", "oddities", () => [
  { code: "IS", number: 1, numbers: [1] },
  { code: null, number: null },
]);
setResolver(shop, "Query", "deep", () => ({ countries: [COUNTRY], here: { countries: [COUNTRY] } }));
setResolver(shop, "Mutation", "found", () => COUNTRY);
const remote = await startRemote(shop);

const weatherSchema = buildSchema(`
  type Query { weather(place: ID!, unit: Unit = C): Weather secretWeather(place: ID!): String }
  enum Unit { C F }
  type Weather { place: ID! degrees: Float! }
`);
setResolver(weatherSchema, "Query", "weather", ({ place, unit }) =>
  place === "JP" ? null : { place, degrees: unit === "F" ? 50 : 10 },
);
setResolver(weatherSchema, "Query", "secretWeather", ({ place }) => `storm in ${place}`);
const weather = await startRemote(weatherSchema);
const database = await testDatabase();
await database.query(`create table reading (id bigint primary key);
  insert into reading values (9007199254740992), (9007199254740993)`);

let statements: string[] = [];
const statementRecorder = watchExecutions(({ programs }) => {
  for (const { program } of programs) for (const { text } of program.statements) statements.push(text);
});
beforeEach(() => {
  remote.requests.length = 0;
  weather.requests.length = 0;
  remote.answer = undefined;
  weather.answer = undefined;
  statements = [];
});

const toSource = (name: string, kind: string, mapping: Entry, tableName: unknown = "artist"): Entry => ({
  name,
  definition: {
    to_source: { relationship_type: kind, source: "default", table: tableName, field_mapping: mapping },
  },
});
const toRemote = (name: string, field: Entry, fields: readonly string[], remoteName = "weather"): Entry => ({
  name,
  definition: { to_remote_schema: { remote_schema: remoteName, lhs_fields: fields, remote_field: field } },
});
const ofType = (typeName: string, ...relationships: readonly Entry[]): Entry => ({
  type_name: typeName,
  relationships,
});

const WEATHER = toRemote("weather", { weather: { arguments: { place: "$code" } } }, ["code"]);
const OF_COUNTRY = ofType(
  "Country",
  toSource("artists", "array", { code: "country" }),
  toSource("first_artist", "object", { code: "country" }, { schema: "public", name: "artist" }),
  WEATHER,
  toRemote("storm", { secretWeather: { arguments: { place: "$code" } } }, ["code"]),
);
const OF_ODD = ofType(
  "Odd",
  toSource("artists", "array", { code: "country" }),
  toSource("wide", "array", { number: "id" }, "reading"),
);
const OF_WEATHER = ofType("Weather", toSource("artists", "array", { place: "country" }));

const READER = `
  type Query { countries(continent: Continent): [Country!]! node(id: ID!): Node }
  enum Continent { EU AS }
  interface Node { id: ID! }
  type Country implements Node { id: ID! code: ID! name: String! }
`;
const GUEST = "type Query { countries: [Country!]! } type Country { name: String! }";
const READER_WEATHER = "type Query { weather(place: ID!): Weather } type Weather { degrees: Float! }";
const allow = (schemas: Readonly<Record<string, string>>): readonly Entry[] =>
  Object.entries(schemas).map(([role, schema]) => ({ role, definition: { schema } }));

interface Parts {
  readonly ofShop?: Entry;
  readonly ofWeather?: Entry;
  readonly ofArtist?: Entry;
}
const documentWith = ({ ofShop = {}, ofWeather = {}, ofArtist = {} }: Parts = {}): Entry =>
  buildMetadataDocument(
    [
      table("artist", {
        array_relationships: [array("albums", "album", "artist_id")],
        select_permissions: permissions({
          reader: { columns: ["id", "name"], filter: { name: { _neq: "X-Hasura-Hidden" } }, limit: 1 },
        }),
        remote_relationships: [
          toRemote("homeland", { country: { arguments: { code: "$country" } } }, ["country"], "shop"),
        ],
        ...ofArtist,
      }),
      table("album", {}),
      table("reading", {}),
    ],
    {
      remote_schemas: [
        {
          name: "shop",
          definition: { url: remote.url },
          remote_relationships: [OF_COUNTRY, OF_ODD],
          permissions: allow({ reader: READER, guest: GUEST, stranger: READER }),
          ...ofShop,
        },
        {
          name: "weather",
          definition: { url: weather.url },
          remote_relationships: [OF_WEATHER],
          permissions: allow({ reader: READER_WEATHER }),
          ...ofWeather,
        },
      ],
    },
  );

const start = (metadata: Entry, extraOptions: StartOptions = {}): Promise<TestApi> =>
  startWithWebhooks({ parts: [statementRecorder], metadata, ...extraOptions });
const api = await start(documentWith());
await api.sql("insert into artist (id, name, country) values (91, 'Yuki', 'JP'), (92, 'Zara', 'SE')");

const ask = (query: string, variables: Entry = {}, headers = asAdmin()): Promise<any> =>
  loadData(api, query, variables, headers);
const rejection = async (query: string, variables: Entry = {}, headers = asAdmin()): Promise<any> =>
  (await api.gql(query, variables, headers)).errors;

describe("rows of tables", () => {
  test("X-RMT-14 X-RMT-14b one statement reads the rows of a relationship for all objects", async () => {
    expect(
      await ask("{ countries { name artists(order_by: {id: asc}) { name } first_artist { __typename } } }"),
    ).toEqual({
      countries: [
        { name: "Sweden", artists: [{ name: "Abba" }, { name: "Zara" }], first_artist: { __typename: "artist" } },
        { name: "Japan", artists: [{ name: "Yuki" }], first_artist: { __typename: "artist" } },
        { name: "Spain", artists: [], first_artist: null },
      ],
    });
    expect(statements).toHaveLength(2);
    expect(remote.requests).toHaveLength(1);
    expect(remote.requests[0]?.body.query).not.toContain("artist");
  });

  test("X-RMT-14a arguments are those of relationships of tables, with variables that the remote does not get", async () => {
    const query = `query ($name: String, $count: Int, $continent: Continent) {
      countries(continent: $continent) {
        code
        artists(where: {name: {_neq: $name}}, order_by: {id: desc}, limit: $count) { name albums(limit: 1) { id } }
      }
    }`;
    expect(await ask(query, { name: "Zara", count: 1, continent: "EU" })).toEqual({
      countries: [
        { code: "SE", artists: [{ name: "Abba", albums: [{ id: expect.any(Number) }] }] },
        { code: "ES", artists: [] },
      ],
    });
    expect(remote.requests[0]?.body.query).not.toContain("$name");
    expect(JSON.stringify(remote.requests[0]?.body.variables)).not.toContain("Zara");
    expect(await ask(query, { name: "Abba", count: 1 })).toMatchObject({
      countries: [{ artists: [{ name: "Zara" }] }, {}, {}],
    });
    const [error] = await rejection("{ countries { artists(where: {nothing: {}}) { id } } }");
    expect(error.extensions.path).toBe("$.selectionSet.countries.selectionSet.artists.args.where.nothing");
  });

  test("X-RMT-14b a member without a value selects no rows, and numbers keep their digits", async () => {
    expect(await ask("{ oddities { number artists { name } wide { id } } }")).toEqual({
      oddities: [
        { number: 1, artists: [{ name: "Bjork" }], wide: [] },
        { number: null, artists: [], wide: [] },
      ],
    });
    remote.answer = () => ({
      status: 200,
      text: '{"data":{"oddities":[{"number":9007199254740993,"link_0_0":9007199254740993}]}}',
    });
    const body = { query: "{ oddities { number wide { id } } }" };
    const { text } = await api.post("/v1/graphql", { body, headers: asAdmin() });
    expect(text).toContain('"wide":[{"id":9007199254740993}]');
    expect(text).toContain('{"number":9007199254740993,');
  });

  test("X-RMT-14b a relationship has one response name per selection, and equal selections are merged", async () => {
    const query = `query ($yes: Boolean!) {
      countries(continent: EU) { ...names them: artists(limit: 1, order_by: {id: asc}) { id } artists(order_by: {id: asc}) { id @include(if: $yes) } }
    }
    fragment names on Country { artists(order_by: {id: asc}) { ...name } weather @skip(if: $yes) { degrees } }
    fragment name on artist { name }`;
    const { countries } = await ask(query, { yes: true });
    expect(countries[0]).toEqual({
      artists: [
        { name: "Abba", id: 1 },
        { name: "Zara", id: 92 },
      ],
      them: [{ id: 1 }],
    });
    expect(weather.requests).toEqual([]);
    expect((await ask(query, { yes: false })).countries[0]).toEqual({
      artists: [{ name: "Abba" }, { name: "Zara" }],
      weather: { degrees: 10 },
      them: [{ id: 1 }],
    });
  });

  test("X-RMT-14b objects behind interfaces, unions and other objects have their relationships", async () => {
    const query = `{
      node(id: "c1") { __typename ... on Country { artists(limit: 1, order_by: {id: asc}) { name } } id ...more }
      other: node(id: "t1") { ...more id }
      search(text: "S") { ... on City { title } ... on Node { id } ... on Country { first: artists(limit: 1, order_by: {id: asc}) { id } } }
      deep { here { countries { artists(limit: 1, order_by: {id: asc}) { id } } } countries { name } }
    }
    fragment more on Node { ... on Country { weather { degrees } artists(limit: 1, order_by: {id: asc}) { id } } }`;
    expect(await ask(query)).toEqual({
      node: { __typename: "Country", artists: [{ name: "Abba", id: 1 }], id: "c1", weather: { degrees: 10 } },
      other: { id: "t1" },
      search: [
        { id: "c1", first: [{ id: 1 }] },
        { id: "c3", first: [] },
        { title: "Stockholm", id: "t1" },
      ],
      deep: { here: { countries: [{ artists: [{ id: 1 }] }] }, countries: [{ name: "Sweden" }] },
    });
    const { text } = await api.post("/v1/graphql", { body: { query }, headers: asAdmin() });
    expect(text).toContain('"node":{"__typename":"Country","artists":');
  });

  test("X-RMT-14b the object that a mutation returns has the relationship", async () => {
    expect(await ask("mutation { found { artists(order_by: {id: asc}, limit: 1) { name } } }")).toEqual({
      found: { artists: [{ name: "Abba" }] },
    });
  });

  test("X-RMT-14 names of the definition are those of the remote, and the surface has those of the customization", async () => {
    const customization = {
      root_fields_namespace: "shop",
      type_names: { prefix: "Shop" },
      field_names: [{ parent_type: "Country", prefix: "the_" }],
    };
    const renamedApi = await start(documentWith({ ofShop: { definition: { url: remote.url, customization } } }));
    expect(
      await renamedApi.gql(
        "{ shop { countries(continent: EU) { the_name artists(limit: 1, order_by: {id: asc}) { id } weather { degrees } } } }",
      ),
    ).toEqual({
      data: {
        shop: {
          countries: [
            { the_name: "Sweden", artists: [{ id: 1 }], weather: { degrees: 10 } },
            { the_name: "Spain", artists: [], weather: { degrees: 10 } },
          ],
        },
      },
    });
  });
});

describe("other remote schemas", () => {
  test("X-RMT-14 X-RMT-14b one request asks the other remote for all objects", async () => {
    expect(
      await ask("query ($unit: Unit) { countries { weather(unit: $unit) { degrees } storm } }", { unit: "F" }),
    ).toEqual({
      countries: [
        { weather: { degrees: 50 }, storm: "storm in SE" },
        { weather: null, storm: "storm in JP" },
        { weather: { degrees: 50 }, storm: "storm in ES" },
      ],
    });
    expect(weather.requests).toHaveLength(2);
    expect(remote.requests).toHaveLength(1);
    expect(Object.keys(remote.requests[0]?.body.variables ?? {})).toEqual([]);
  });

  test("X-RMT-14b relationships follow each other from tables to remotes and back, also in live queries", async () => {
    const selection =
      "artist(where: {id: {_eq: 1}}) { homeland { name weather { artists(order_by: {id: asc}) { name homeland { code } } } } }";
    const artists = [
      { name: "Abba", homeland: { code: "SE" } },
      { name: "Zara", homeland: { code: "SE" } },
    ];
    const data = { artist: [{ homeland: { name: "Sweden", weather: { artists } } }] };
    expect(await ask(`{ ${selection} }`)).toEqual(data);
    expect(weather.requests).toHaveLength(1);
    const socket = await openSocket(api);
    await socket.init();
    socket.send({ id: "1", type: "subscribe", payload: { query: `subscription { ${selection} }` } });
    expect((await socket.next()).payload).toEqual({ data });
    await socket.close();
  });

  test("X-RMT-14c errors of the other remote are answered, and none of its data", async () => {
    weather.answer = () => ({ status: 503, text: "" });
    expect(await rejection("{ countries { name weather { degrees } } }")).toEqual([
      {
        message: "the remote schema weather failed: its answer with status 503 is not a GraphQL result",
        extensions: { path: "$.selectionSet.countries.selectionSet.weather", code: "remote-schema-error" },
      },
    ]);
  });

  test("X-RMT-14c an error of the database has the path of the relationship", async () => {
    await api.sql(
      "create or replace function fail_artist(artist) returns int language plpgsql stable as 'begin raise exception ''no''; end'",
    );
    const failing = await start(
      documentWith({
        ofArtist: { computed_fields: [{ name: "failing", definition: { function: "fail_artist" } }] },
      }),
    );
    const { errors } = await failing.gql("{ countries { artists { failing } } }");
    expect(errors).toHaveLength(1);
    expect(errors?.[0]?.extensions.path).toContain("$.selectionSet.countries");
    expect(errors?.[0]?.extensions.code).not.toBe("internal");
    await failing.sql("drop function fail_artist");
  });
});

describe("roles", () => {
  const reader = asAdmin("reader", { hidden: "Abba" });

  test("X-RMT-14c the rows are those that the permission of the role allows", async () => {
    expect(await ask("{ countries(continent: EU) { artists { name } } }", {}, reader)).toEqual({
      countries: [{ artists: [{ name: "Zara" }] }, { artists: [] }],
    });
    const [error] = await rejection("{ countries { artists { country } } }", {}, reader);
    expect(error.message).toBe("field 'country' not found in type: 'artist'");
  });

  test("X-RMT-14c a role without the table, the field or the other remote neither sees nor can use the relationship", async () => {
    const see = async (role: string): Promise<string> => {
      const schema = await introspect(api, role);
      expect(schema.getType("artist") === undefined).toBe(role !== "reader");
      return printType(schema.getType("Country") as never);
    };
    expect(await see("reader")).toContain("weather: Weather\n");
    expect(await see("reader")).toContain("first_artist: artist\n");
    expect(await see("reader")).toMatch(/artists\([\s\S]*\): \[artist!\]!\n/);
    expect(await see("reader")).not.toContain("storm");
    for (const role of ["guest", "stranger"]) expect(await see(role)).not.toMatch(/artist|weather|storm/);
    for (const [role, field] of [
      ["guest", "artists { name }"],
      ["guest", "weather { degrees }"],
      ["stranger", "artists { name }"],
      ["stranger", "first_artist { name }"],
      ["stranger", "weather { degrees }"],
      ["reader", "storm"],
    ] as const) {
      const errors = await rejection(`{ countries { name ${field} } }`, {}, asAdmin(role));
      expect(errors[0].message).toContain("Cannot query field");
      expect(errors[0].extensions.code).toBe("validation-failed");
    }
    expect(remote.requests).toEqual([]);
    expect(weather.requests).toEqual([]);
  });

  test("X-GQL-15 X-RMT-14c a client cannot replace the members that select the rows", async () => {
    const query =
      "{ countries(continent: AS) { link_0_0: name relapi: code artists(order_by: {id: asc}) { name } link__0_0: name } }";
    expect(await ask(query)).toEqual({
      countries: [{ link_0_0: "Japan", relapi: "JP", artists: [{ name: "Yuki" }], link__0_0: "Japan" }],
    });
  });
});

describe("the selection", () => {
  test.each([
    ["{ countries { artists } }", "missing selection set for 'artist'"],
    ["{ countries { weather } }", "missing selection set for 'Weather'"],
    ["{ countries { storm { x } } }", "must not have a selection"],
    ["{ countries { artists { name } nothing } }", 'Cannot query field "nothing" on type "Country"'],
    ["{ countries { artists(limit: 1) { name } artists { id } } }", "inconsistent arguments"],
    ["{ countries { weather(place: 1) { degrees } } }", "the relationship sets the argument 'place' itself"],
    ["{ countries { first_artist(limit: 1) { id } } }", "'first_artist' has no argument named 'limit'"],
  ])("X-RMT-14a the selection %s is rejected, and no service is called", async (query, message) => {
    const [error] = await rejection(query);
    expect(error.message).toContain(message);
    expect(error.extensions.code).toBe("validation-failed");
    expect([...remote.requests, ...weather.requests]).toEqual([]);
  });
});

test("X-RMT-14d relationships that do not fit are inconsistent, and the others stay", async () => {
  const good = toSource("artists", "array", { code: "country" });
  const cases: readonly (readonly [type: string, entry: Entry, reason: string])[] = [
    ["None", toSource("a", "array", { code: "country" }), 'the remote schema has no type "None"'],
    ["Node", toSource("a", "array", { id: "country" }), 'the type "Node" is not an object type'],
    ["Query", toSource("a", "array", { secret: "country" }), 'the type "Query" is a root type'],
    ["Country", { ...good, name: "__bad" }, "its name is not a valid GraphQL name"],
    ["Country", { ...good, name: "name" }, "a field of the type has that name"],
    ["Country", { ...good, name: "artists" }, "the name is taken"],
    ["Country", { name: "b1", definition: {} }, "the definition has either to_source or to_remote_schema"],
    ["Country", { name: "b2", definition: { to_source: [] } }, "to_source is not an object"],
    ["Country", toSource("b3", "many", { code: "country" }), "to_source.relationship_type is neither object nor array"],
    ["Country", toSource("b4", "array", {}), "to_source.field_mapping has no field"],
    ["Country", toSource("b5", "array", { code: 1 }), "to_source.field_mapping.code is not the name of a column"],
    ["Country", toSource("b6", "array", { code: "country" }, 7), "to_source.table is not the name of a table"],
    ["Country", toSource("b7", "array", { code: "country" }, "none"), 'table "none" does not exist in source: default'],
    ["Country", toSource("b8", "array", { code: "none" }), 'column "none" does not exist in table "artist"'],
    [
      "Country",
      toSource("b9", "array", { none: "country" }),
      'the type "Country" has no field "none" in the remote schema',
    ],
    ["Odd", toSource("b10", "array", { sized: "id" }), 'the field "Odd.sized" has arguments'],
    ["Odd", toSource("b11", "array", { numbers: "id" }), 'the field "Odd.numbers" is not a scalar'],
    [
      "Country",
      { name: "b12", definition: { to_source: { ...(good["definition"] as any).to_source, source: "other" } } },
      'source not found: "other"',
    ],
    [
      "Country",
      toRemote("b13", { weather: { arguments: {} } }, ["none"]),
      'the type "Country" has no field "none" in the remote schema',
    ],
    [
      "Country",
      toRemote("b14", { weather: { arguments: {} } }, ["code"], "none"),
      'remote schema with name "none" does not exist, or cannot be served',
    ],
    [
      "Country",
      toRemote("b15", { weather: { arguments: { none: "$code" } } }, ["code"]),
      'the field "Query.weather" has no argument "none"',
    ],
    [
      "Country",
      toRemote("b16", { weather: { arguments: { place: "$name" } } }, ["code"]),
      '"$name" is not one of the columns of the relationship',
    ],
  ];
  const warnings = collectWarnings();
  const lame = await start(
    documentWith({
      ofShop: { remote_relationships: [ofType("Country", good), ...cases.map(([type, entry]) => ofType(type, entry))] },
    }),
    { logger: warnings.logger },
  );
  expect(warnings.all()).toEqual(
    cases.map(
      ([type, entry, reason]) =>
        `remote schema shop: type ${type}: remote relationship ${String(entry["name"])}: ${reason}; ignored`,
    ),
  );
  expect(await lame.gql("{ countries(continent: AS) { artists { name } } }")).toEqual({
    data: { countries: [{ artists: [{ name: "Yuki" }] }] },
  });
});

test("X-RMT-14e the commands create, change and delete relationships, and list the inconsistent ones", async () => {
  const empty = { remote_relationships: [] };
  const file = temporaryFile("metadata.json", JSON.stringify(documentWith({ ofShop: empty, ofWeather: empty })));
  const ownApi = await start(documentWith(), { metadata: file });
  const run = (type: string, args: unknown): Promise<any> => runCommand(ownApi, type, args);
  const command = (kind: string, relationship: Entry, extraKeys: Entry = {}): Promise<any> =>
    run(`${kind}_remote_schema_remote_relationship`, {
      remote_schema: "shop",
      type_name: "Country",
      ...relationship,
      ...extraKeys,
    });
  const SUCCESS = { message: "success" };
  const artists = toSource("artists", "array", { code: "country" });
  expect(await command("create", artists)).toEqual(SUCCESS);
  expect(await command("create", WEATHER)).toEqual(SUCCESS);
  const query = "{ countries(continent: AS) { artists { name } weather { degrees } } }";
  expect(await ownApi.gql(query)).toEqual({ data: { countries: [{ artists: [{ name: "Yuki" }], weather: null }] } });
  const toOne = toSource("artists", "object", { code: "country" });
  expect(await command("update", toOne)).toEqual(SUCCESS);
  expect(await ownApi.gql(query)).toEqual({ data: { countries: [{ artists: { name: "Yuki" }, weather: null }] } });
  const exportRelationships = async () => (await run("export_metadata", {})).remote_schemas[0].remote_relationships;
  expect(await exportRelationships()).toEqual([ofType("Country", toOne, WEATHER)]);
  expect(await command("update", { ...toOne, name: "none" })).toEqual({
    path: "$.args",
    error: 'no relationship defined on remote schema "shop" with name "none"',
    code: "not-exists",
  });
  expect(await command("create", artists, { remote_schema: "none" })).toMatchObject({ code: "not-exists" });
  expect(await command("create", artists, { type_name: undefined })).toMatchObject({
    error: expect.stringContaining('key "type_name" not found'),
  });
  const bad = toSource("bad", "array", { code: "none" });
  expect(await command("create", bad)).toMatchObject({
    code: "invalid-configuration",
    error: expect.stringContaining('column "none" does not exist in table "artist"'),
  });
  expect(await run("remove_remote_schema", { name: "weather" })).toMatchObject({
    code: "dependency-error",
    error: expect.stringContaining("remote relationship shop.Country.weather"),
  });
  expect(await command("delete", { name: "weather" })).toEqual(SUCCESS);
  expect(await command("delete", { name: "weather" })).toMatchObject({ code: "not-exists" });
  expect(await exportRelationships()).toEqual([ofType("Country", toOne)]);
  expect(await command("delete", { name: "artists" })).toEqual(SUCCESS);
  expect(await exportRelationships()).toBeUndefined();

  const metadata = documentWith({ ofShop: { remote_relationships: [ofType("Country", artists, bad)] } });
  expect(await run("replace_metadata", { allow_inconsistent_metadata: true, metadata })).toEqual(SUCCESS);
  expect((await run("get_inconsistent_metadata", {})).inconsistent_objects).toEqual([
    {
      definition: { ...bad, remote_schema: "shop", type_name: "Country" },
      name: "remote_schema_remote_relationship remote_relationship bad on type Country in remote schema shop",
      reason:
        'Inconsistent object: in remote relationship bad on type Country in remote schema shop: column "none" does not exist in table "artist"',
      type: "remote_schema_remote_relationship",
    },
  ]);
  expect(await run("drop_inconsistent_metadata", {})).toEqual(SUCCESS);
  expect(await exportRelationships()).toEqual([ofType("Country", artists)]);
});
