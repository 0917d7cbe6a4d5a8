/** Relationships from tables to fields of remote schemas. */
import { buildSchema, GraphQLEnumType, GraphQLObjectType, GraphQLSchema, GraphQLString, printType } from "graphql";
import { beforeEach, describe, expect, test } from "vitest";
import { remoteSchemas } from "../../plugins/services/index.ts";
import { asAdmin, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { introspect, loadData } from "../support/graphql-data.ts";
import {
  array,
  collectWarnings,
  buildMetadataDocument,
  object,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { SDL, startRemote } from "./remote-server.ts";
import { startWithWebhooks } from "./start.ts";

const remoteSchema = buildSchema(`${SDL}
  extend type Query { shelf(artist: ID!): Shelf }
  type Shelf { books(genre: String!, first: Int = 2, sorted: Boolean!): [Book!]! }
  type Book { title: String! }
`);
const { shelf } = remoteSchema.getQueryType()?.getFields() ?? {};
if (shelf)
  shelf.resolve = (_root, { artist }) =>
    artist === "3"
      ? null
      : { books: ({ genre, first }: any) => [1, 2, 3].slice(0, first).map((n) => ({ title: `${genre} ${n}` })) };

const remote = await startRemote(remoteSchema);
const database = await testDatabase();
await database.query(`create table reading (id bigint primary key, wide numeric, word text, note jsonb);
  insert into reading values (9007199254740993, 12345678901234567890.5, 'seven', '{"tenant": "acme", "words": ["a"]}')`);

beforeEach(() => {
  remote.requests.length = 0;
  remote.answer = undefined;
});

const relationship = (name: string, field: Entry, columns: readonly string[], remoteName = "shop"): Entry => ({
  name,
  definition: { to_remote_schema: { remote_schema: remoteName, lhs_fields: columns, remote_field: field } },
});
const homeland = relationship("homeland", { country: { arguments: { code: "$country" } } }, ["country"]);
const ARTIST = [
  homeland,
  relationship("nearby", { countries: { arguments: { named: { starts: "S" } } } }, []),
  relationship(
    "books",
    { shelf: { arguments: { artist: "$id" }, field: { books: { arguments: { genre: "pop" } } } } },
    ["id"],
  ),
  relationship(
    "owned",
    { mine: { arguments: { owner: "$name", filter: { tenant: "$country", words: ["$name", "x"] } } } },
    ["name", "country"],
  ),
  relationship("lost", { failing: { arguments: {} } }, ["id"]),
];
const READING = [
  relationship("exact", { echo: { arguments: { value: "$wide" } } }, ["wide"]),
  relationship("text", { mine: { arguments: { owner: "$id", filter: "$note" } } }, ["id", "note"]),
  relationship("ratio", { echo: { arguments: { float: "$word" } } }, ["word"]),
];

const documentWith = (
  ofArtist: readonly Entry[],
  extraKeys: Entry = {},
  ofRemote: Entry = {},
  ofTable: Entry = {},
): Entry =>
  buildMetadataDocument(
    [
      table("artist", {
        array_relationships: [array("albums", "album", "artist_id")],
        select_permissions: permissions({
          reader: { columns: ["id", "name", "country"], filter: {}, allow_aggregations: true },
          guest: { columns: ["id", "name"], filter: {} },
        }),
        remote_relationships: ofArtist,
        ...ofTable,
      }),
      table("album", { object_relationships: [object("artist", "artist_id")] }),
      table("reading", { remote_relationships: READING }),
    ],
    { remote_schemas: [{ name: "shop", definition: { url: remote.url }, ...ofRemote }], ...extraKeys },
  );

const start = (metadata: Entry, extraOptions: StartOptions = {}): Promise<TestApi> =>
  startWithWebhooks({ metadata, dbTxEnd: "rollback", ...extraOptions });

const READER =
  "type Query { country(code: ID!): Country countries(codes: [ID!]): [Country!]! } type Country { name: String! }";
const GUEST = `
  type Query { countries(named: CountryFilter, continent: Continent @preset(value: AS)): [Country!]! }
  input CountryFilter { starts: String @preset(value: "x-hasura-starts"), continent: Continent }
  enum Continent { AS }
  type Country { name: String! }
`;
const api = await start(
  documentWith(
    ARTIST,
    {},
    {
      permissions: [
        { role: "reader", definition: { schema: READER } },
        { role: "guest", definition: { schema: GUEST } },
      ],
    },
  ),
);

const ask = (query: string, variables: Entry = {}, headers = asAdmin()): Promise<any> =>
  loadData(api, query, variables, headers);
const SWEDEN = { homeland: { name: "Sweden" } };
const rejection = async (query: string, variables: Entry = {}, headers = asAdmin()): Promise<any> =>
  (await api.gql(query, variables, headers)).errors;

describe("values", () => {
  test("X-RMT-13 X-RMT-13b the rows of a field are one request, and columns that are null cause no request", async () => {
    expect(await ask("{ artist(order_by: {id: asc}) { name homeland { name } } }")).toEqual({
      artist: [
        { name: "Abba", ...SWEDEN },
        { name: "Bjork", homeland: null },
        { name: "Can", homeland: null },
        { name: "Dusk", homeland: null },
      ],
    });
    expect(remote.requests).toHaveLength(1);
    expect(Object.values(remote.requests[0]?.body.variables).sort()).toEqual(["DE", "IS", "SE"]);
    await ask("{ artist(where: {country: {_is_null: true}}) { homeland { name } } }");
    expect(remote.requests).toHaveLength(1);
  });

  test("X-RMT-13b equal arguments are requested once, at any depth, in fragments and under other names", async () => {
    const query = `query ($yes: Boolean!) {
      album(order_by: {id: asc}) { artist { from: homeland { ...one } } }
      artist_aggregate(where: {id: {_eq: 1}}) { nodes { homeland { ...one @include(if: $yes) code @skip(if: $yes) } } }
    }
    fragment one on Country { ...join_ }
    fragment join_ on Country { name }`;
    const { album, artist_aggregate: aggregate } = await ask(query, { yes: true });
    expect(album.length).toBeGreaterThan(3);
    expect(album[0]).toEqual({ artist: { from: { name: "Sweden" } } });
    expect(aggregate).toEqual({ nodes: [SWEDEN] });
    expect(remote.requests).toHaveLength(2);
    for (const { body } of remote.requests) expect(body.query.match(/row_\d+:/g).length).toBeLessThan(4);
  });

  test("X-RMT-13b rows that a mutation returns have the field", async () => {
    const mutation = `mutation {
      insert_artist_one(object: {name: "New", country: "JP"}) { homeland { name } }
      update_artist(where: {id: {_eq: 1}}, _set: {country: "ES"}) { returning { homeland { name } albums(limit: 1) { artist { id } } } }
    }`;
    expect(await ask(mutation)).toEqual({
      insert_artist_one: { homeland: { name: "Japan" } },
      update_artist: { returning: [{ homeland: { name: "Spain" }, albums: [{ artist: { id: 1 } }] }] },
    });
  });

  test("X-RMT-13a the client gives the arguments that the definition does not set, also below the root", async () => {
    const data = await ask(
      `query ($first: Int) { artist(order_by: {id: asc}, limit: 3) { books(first: $first, sorted: true) { title } nearby(codes: ["ES"]) { code } } }`,
      { first: 1 },
    );
    expect(data.artist[0]).toEqual({ books: [{ title: "pop 1" }], nearby: [{ code: "ES" }] });
    expect(data.artist[2]).toEqual({ books: null, nearby: [{ code: "ES" }] });
    const sdl = printType((await introspect(api)).getType("artist") as never);
    expect(sdl).toContain("books(first: Int = 2, sorted: Boolean!): [Book!]\n");
    expect(sdl).toMatch(/homeland: Country\n/);
    expect(sdl).toContain("nearby(codes: [ID!], continent: Continent): [Country!]\n");
  });

  test("X-RMT-13 X-RMT-13c columns are parts of objects and lists, and texts and numbers become each other", async () => {
    const { artist } = await ask("{ artist(where: {id: {_eq: 1}}) { owned } }");
    expect(JSON.parse(artist[0].owned)).toEqual({ owner: "Abba", filter: { tenant: "SE", words: ["Abba", "x"] } });
    const { reading } = await ask("{ reading { text } }");
    expect(JSON.parse(reading[0].text)).toEqual({
      owner: "9007199254740993",
      filter: { tenant: "acme", words: ["a"] },
    });
  });

  test("X-RMT-13c numbers keep their digits, and a value of another type is an error", async () => {
    remote.answer = (body) => ({ status: 200, text: `{"data":{"row_0":${/"join_0_0_0":([^}]*)/.exec(body)?.[1]}}}` });
    const { text } = await api.post("/v1/graphql", { body: { query: "{ reading { exact } }" }, headers: asAdmin() });
    expect(text).toContain('"exact":12345678901234567890.5');
    expect(await rejection("{ reading { ratio } }")).toEqual([
      {
        message: expect.stringContaining('the row has no value for the argument "float" of the remote field: '),
        extensions: { path: "$.selectionSet.reading.selectionSet.ratio", code: "data-exception" },
      },
    ]);
  });

  test("X-RMT-13f live queries call the remote for each new result", async () => {
    const live = await start(documentWith(ARTIST), { dbTxEnd: "commit" });
    const socket = await openSocket(live);
    await socket.init();
    const query = "subscription { artist(where: {id: {_eq: 2}}) { homeland { name } } }";
    socket.send({ id: "1", type: "subscribe", payload: { query } });
    expect((await socket.next()).payload).toEqual({ data: { artist: [{ homeland: null }] } });
    await live.sql("update artist set country = 'JP' where id = 2");
    expect((await socket.next()).payload).toEqual({ data: { artist: [{ homeland: { name: "Japan" } }] } });
    remote.answer = () => ({ status: 503, text: "" });
    await live.sql("update artist set country = 'ES' where id = 2");
    const failure = await socket.next();
    expect(failure.payload.errors[0].extensions.code).toBe("remote-schema-error");
    await socket.close();
    await live.sql("update artist set country = 'IS' where id = 2");
  });
});

describe("roles and errors", () => {
  test("X-RMT-13d a role has the field if it sees the columns, the remote field and the arguments", async () => {
    const reader = asAdmin("reader");
    expect(await ask("{ artist(where: {id: {_eq: 1}}) { homeland { name } } }", {}, reader)).toEqual({
      artist: [SWEDEN],
    });
    const unknown = (name: string) => [
      expect.objectContaining({ message: `field '${name}' not found in type: 'artist'` }),
    ];
    expect(await rejection("{ artist { nearby { name } } }", {}, reader)).toEqual(unknown("nearby"));
    expect(await rejection("{ artist { homeland { name } } }", {}, asAdmin("guest"))).toEqual(unknown("homeland"));
    expect((await rejection("{ artist { homeland { code } } }", {}, reader))[0]).toEqual({
      message: 'Cannot query field "code" on type "Country".',
      extensions: { path: "$.selectionSet.artist.selectionSet.homeland", code: "validation-failed" },
    });
  });

  test("X-RMT-13d presets of the role are sent, and a preset takes precedence over the definition", async () => {
    const guest = asAdmin("guest", { starts: "J" });
    expect(await ask("{ artist(limit: 1) { nearby { name } } }", {}, guest)).toEqual({
      artist: [{ nearby: [{ name: "Japan" }] }],
    });
  });

  test.each([
    ["{ artist { homeland { nothing } } }", 'Cannot query field "nothing" on type "Country".'],
    ["{ artist { homeland } }", "missing selection set for 'Country'"],
    ['{ artist { homeland(code: "SE") { name } } }', "the relationship sets the argument 'code' itself"],
    ["{ artist { books { title } } }", 'argument "sorted" of type "Boolean!" is required'],
    ["{ artist { nearby(in: 1) { name } } }", 'Unknown argument "in"'],
    ['query ($v: [ID!] = ["SE"], $x: Int) { artist { nearby(codes: $x) { name } } }', 'Variable "$x" of type "Int"'],
  ])("X-RMT-13a the selection %s is rejected, and the remote is not called", async (query, message) => {
    const [error] = await rejection(query);
    expect(error.message).toContain(message);
    expect(error.extensions.code).toBe("validation-failed");
    expect(remote.requests).toEqual([]);
  });

  test("X-RMT-13a the field is not part of conditions and orders", async () => {
    expect((await rejection("{ artist(where: {homeland: {name: {_eq: 1}}}) { id } }"))[0].extensions.code).toBe(
      "validation-failed",
    );
    expect((await rejection("{ artist(order_by: {homeland: {name: asc}}) { id } }"))[0].extensions.code).toBe(
      "validation-failed",
    );
  });

  test("X-RMT-13e errors of the remote are answered once, with a path from the field on", async () => {
    expect(await rejection('{ artist { from: nearby(codes: ["ES"]) { name broken } } }')).toEqual([
      { message: "no data for ES", path: ["from", 0, "broken"], extensions: { code: "BROKEN" } },
    ]);
    expect(await rejection("{ artist { lost } }")).toEqual([
      { message: "out of order", path: ["lost"], extensions: { code: "BROKEN", detail: 7 } },
    ]);
    remote.answer = () => ({ status: 200, text: '{"data":{"row_0":{"name":"x"}},"errors":[{"message":"m"}]}' });
    expect(await rejection("{ artist { homeland { name } } }")).toEqual([{ message: "m", path: ["homeland"] }]);
    remote.answer = () => ({ status: 503, text: "" });
    expect(await rejection("{ artist { homeland { name } } }")).toEqual([
      {
        message: "the remote schema shop failed: its answer with status 503 is not a GraphQL result",
        extensions: { path: "$.selectionSet.artist.selectionSet.homeland", code: "remote-schema-error" },
      },
    ]);
  });
});

describe("definitions", () => {
  test("X-RMT-13 the older form has its parts beside the name or in the definition", async () => {
    const parts = {
      remote_schema: "shop",
      hasura_fields: ["country"],
      remote_field: { country: { arguments: { code: "$country" } } },
    };
    const otherApi = await start(
      documentWith([
        { name: "a", ...parts },
        { name: "b", definition: parts },
      ]),
    );
    const { data } = await otherApi.gql("{ artist(where: {id: {_eq: 1}}) { a { name } b { name } } }");
    expect(data).toEqual({ artist: [{ a: { name: "Sweden" }, b: { name: "Sweden" } }] });
  });

  test("X-RMT-13 definitions have the remote's own names, and results those of the surface", async () => {
    const customization = {
      root_fields_namespace: "shop",
      type_names: { prefix: "Shop" },
      field_names: [
        { parent_type: "Query", prefix: "shop_" },
        { parent_type: "Country", mapping: { name: "title" } },
      ],
    };
    const renamedApi = await start(documentWith(ARTIST, {}, { definition: { url: remote.url, customization } }));
    const query = `{ artist(where: {id: {_eq: 1}}) { homeland { title kind: __typename __typename ...more } nearby { title } } }
      fragment more on ShopCountry { label: title ... on ShopNode { id } }`;
    expect(await renamedApi.gql(query)).toEqual({
      data: {
        artist: [
          {
            homeland: { title: "Sweden", kind: "ShopCountry", __typename: "ShopCountry", label: "Sweden", id: "c1" },
            nearby: [{ title: "Sweden" }, { title: "Spain" }],
          },
        ],
      },
    });
  });

  test("X-RMT-13 a schema of code may be the remote", async () => {
    const volume = new GraphQLEnumType({ name: "Volume", values: { LOW: { value: 1 }, HIGH: { value: 10 } } });
    const greet = {
      type: GraphQLString,
      args: { name: { type: GraphQLString }, volume: { type: volume } },
      resolve: (_root: unknown, args: any, { session }: any) => `${args.name} ${args.volume} ${session.role}`,
    };
    const schema = new GraphQLSchema({ query: new GraphQLObjectType({ name: "Query", fields: { greet } }) });
    const greeting = relationship("greeting", { greet: { arguments: { name: "$name" } } }, ["name"], "code");
    const localApi = await start(documentWith([greeting]), { parts: [remoteSchemas({ code: { schema } })] });
    const query = `query ($volume: Volume, $other: Volume = LOW) {
      artist(where: {id: {_eq: 1}}) { greeting(volume: $volume) other: greeting(volume: $other) }
    }`;
    expect(await localApi.gql(query, { volume: "HIGH" })).toEqual({
      data: { artist: [{ greeting: "Abba 10 admin", other: "Abba 1 admin" }] },
    });
    expect((await localApi.gql(query, { volume: "NONE" })).errors).toEqual([
      {
        message: expect.stringContaining('Value "NONE" does not exist in "Volume" enum.'),
        extensions: { path: "$.variables", code: "validation-failed" },
      },
    ]);
  });

  const bad = (field: Entry, columns: readonly string[] = ["id"], remoteName?: string): Entry =>
    relationship("bad", field, columns, remoteName);
  test("X-RMT-13g relationships that do not fit are inconsistent, and the table stays", async () => {
    const cases: readonly (readonly [entry: Entry, reason: string])[] = [
      [{ name: "__bad" }, "its name is not a valid GraphQL name"],
      [{ ...homeland, name: "born" }, "a column has that name"],
      [{ ...homeland, name: "albums" }, "the name is taken"],
      [{ ...homeland, name: "label" }, "the name is taken"],
      [{ name: "bad", definition: {} }, "the definition names no remote schema"],
      [{ name: "bad", definition: { to_source: {} } }, "to_source is not supported"],
      [bad({}, ["id"], "none"), "to_remote_schema.remote_field is not an object with one field"],
      [
        bad({ country: { arguments: {} } }, ["id"], "none"),
        'remote schema with name "none" does not exist, or cannot be served',
      ],
      [bad({ country: { arguments: {} } }, ["nothing"]), 'column "nothing" does not exist'],
      [bad({ nothing: { arguments: {} } }), 'the type "Query" has no field "nothing" in the remote schema'],
      [bad({ country: { arguments: { key: 1 } } }), 'the field "Query.country" has no argument "key"'],
      [bad({ country: { arguments: { code: "$name" } } }), '"$name" is not one of the columns of the relationship'],
      [
        bad({ countries: { arguments: { continent: "AF" } } }),
        'the argument "continent": Value "AF" does not exist in "Continent" enum. Did you mean the enum value "AS"?',
      ],
      [
        bad({ mine: { arguments: { filter: { owner: "$id" } } } }),
        'the argument "filter": the type "MineFilter" has no field "owner"',
      ],
      [
        bad({ countries: { arguments: {}, field: { name: { arguments: {} } } } }),
        'the field "Query.countries" is a list, and only the last field may be one',
      ],
      [
        bad({ country: { arguments: {}, field: { name: { arguments: {} } } } }),
        'the field "Query.country" needs the argument "code"',
      ],
      [
        bad({ secret: { arguments: {}, field: { name: { arguments: {} } } } }),
        'the remote schema has no field "name" there',
      ],
      [bad({ country: { arguments: [] } }), "to_remote_schema.remote_field.country has no object of arguments"],
    ];
    const entries = cases.map(([entry], i): Entry => ({
      ...entry,
      name: entry["name"] === "bad" ? `bad_${i}` : entry["name"],
    }));
    const warnings = collectWarnings();
    const configuration = { column_config: { stats: { custom_name: "label" } } };
    const lame = await start(documentWith([...entries, homeland, homeland], {}, {}, { configuration }), {
      logger: warnings.logger,
    });
    expect(warnings.all()).toEqual(
      [...cases.map(([, reason], i) => [entries[i]?.["name"], reason]), ["homeland", "the name is taken"]].map(
        ([name, reason]) => `table artist: remote relationship ${String(name)}: ${String(reason)}; ignored`,
      ),
    );
    expect(await lame.gql("{ artist(where: {id: {_eq: 1}}) { id homeland { name } } }")).toEqual({
      data: { artist: [{ id: 1, ...SWEDEN }] },
    });
  });
});
