/** Native queries that refer to each other through fields of logical models. */
import { readFile } from "node:fs/promises";
import { buildClientSchema, getIntrospectionQuery, validateSchema, type IntrospectionQuery } from "graphql";
import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import {
  collectWarnings,
  buildMetadataDocument,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { temporaryFile } from "../support/temporary-files.ts";

const database = await testDatabase();
await database.query(`
  create table writer (id int primary key, name text, rank int);
  create table article (id int primary key, writer_id int, title text, content text, tags text[]);
  insert into writer values (1, 'Ann', 1), (2, 'Ben', 2), (3, 'Cy', 3);
  insert into article values (1, 1, 'One', 'first words', '{a,b}'), (2, 1, 'Two', 'second words', null),
    (3, 2, 'Three', 'third words', '{}'), (4, null, 'Four', 'nobody''s "words"', null);
`);

const scalar = (name: string, type: string, nullable = true): Entry => ({ name, type: { scalar: type, nullable } });

const ARTICLE = {
  name: "an_article",
  fields: [
    scalar("id", "integer", false),
    scalar("title", "text"),
    scalar("excerpt", "text"),
    scalar("writer_id", "integer"),
    { name: "tags", type: { array: { scalar: "text" }, nullable: true } },
    { name: "writer", type: { logical_model: "a_writer", nullable: true }, description: "Who wrote it." },
  ],
  select_permissions: permissions({
    reader: { columns: ["id", "title", "writer"], filter: { title: { _neq: "Two" } } },
    blind: { columns: "*", filter: {} },
  }),
};
const WRITER = {
  name: "a_writer",
  fields: [
    scalar("id", "integer", false),
    scalar("name", "text"),
    scalar("rank", "integer"),
    { name: "articles", type: { array: { logical_model: "an_article" } } },
  ],
  select_permissions: permissions({
    reader: { columns: ["name", "articles"], filter: { rank: { _lte: "X-Hasura-Rank" } } },
  }),
};
const relationship = (name: string, target: string, mapping: Entry): Entry => ({
  name,
  using: { column_mapping: mapping, remote_native_query: target },
});
const ARTICLES = {
  root_field_name: "get_articles",
  arguments: { length: { type: "integer", nullable: false } },
  code: "select id, title, left(content, {{length}}) as excerpt, writer_id, tags from article",
  returns: "an_article",
  object_relationships: [relationship("writer", "get_writers", { writer_id: "id" })],
};
const WRITERS = {
  root_field_name: "get_writers",
  code: "select * from writer",
  returns: "a_writer",
  array_relationships: [relationship("articles", "get_articles", { id: "writer_id" })],
};

const source = (overrides: Entry = {}): Entry => ({
  native_queries: [ARTICLES, WRITERS],
  logical_models: [ARTICLE, WRITER],
  ...overrides,
});
const start = (ofSource: Entry, overrides: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ preset: plus, metadata: buildMetadataDocument([], {}, ofSource), ...overrides }));
const api = await start(source());

describe("P-NAT-4 nested fields", () => {
  test("P-NAT-4a nested fields return one row or several, each with its own arguments", async () => {
    const text = `query ($short: Int!, $where: an_article_bool_exp) {
      get_writers(order_by: {id: asc}) {
        name __typename
        short: articles(args: {length: $short}, order_by: {id: desc}) { __typename title excerpt }
        title: articles(args: {length: 100}, where: $where, limit: 1) { excerpt tags writer { name } }
      }
    }`;
    const article = (title: string, excerpt: string) => ({ __typename: "an_article", title, excerpt });
    expect(await api.gql(text, { short: 3, where: { title: { _in: ["Two", "Three"] } } })).toEqual({
      data: {
        get_writers: [
          {
            name: "Ann",
            __typename: "a_writer",
            short: [article("Two", "sec"), article("One", "fir")],
            title: [{ excerpt: "second words", tags: null, writer: { name: "Ann" } }],
          },
          {
            name: "Ben",
            __typename: "a_writer",
            short: [article("Three", "thi")],
            title: [{ excerpt: "third words", tags: [], writer: { name: "Ben" } }],
          },
          { name: "Cy", __typename: "a_writer", short: [], title: [] },
        ],
      },
    });
    const secondAnswer = await api.gql(text, { short: 1, where: null });
    expect(secondAnswer.data.get_writers[0].short.map(({ excerpt }: any) => excerpt)).toEqual(["s", "f"]);
  });

  test("P-NAT-4a a missing row is null, and limits, orders and distinct_on apply per row", async () => {
    expect(
      (await api.gql("{ get_articles(args: {length: 1}, order_by: {id: desc}, limit: 1) { title writer { name } } }"))
        .data.get_articles,
    ).toEqual([{ title: "Four", writer: null }]);
    const { data } = await api.gql(
      "{ get_writers(order_by: {id: asc}) { articles(args: {length: 2}, distinct_on: [writer_id], order_by: [{writer_id: asc}, {id: desc}], offset: 0) { id } } }",
    );
    expect(data.get_writers.map(({ articles }: any) => articles)).toEqual([[{ id: 2 }], [{ id: 3 }], []]);
  });

  test("P-NAT-4b graphql-js accepts the schema, and nested fields are not columns", async () => {
    const { data } = await api.gql(getIntrospectionQuery());
    const schema = buildClientSchema(data as IntrospectionQuery);
    expect(validateSchema(schema)).toEqual([]);
    for (const query of [
      '{ get_articles(args: {length: 1}, where: {writer: {name: {_eq: "x"}}}) { id } }',
      "{ get_writers(order_by: {articles: asc}) { name } }",
      "{ get_writers { articles { id } } }", // the required arguments are missing
      "{ get_writers { articles(args: {length: 1}) } }",
      '{ get_writers { articles(args: {length: "x"}) { id } } }',
      "{ get_articles(args: {length: 1}) { writer(limit: 1) { name } } }",
    ])
      expect((await api.gql(query)).errors[0].extensions.code, query).toBe("validation-failed");
  });

  test.each(["'; drop table writer; --", "{{length}}", "$1", '"', "\\"])(
    "P-NAT-3 the value %j is bound in nested conditions",
    async (word) => {
      const text =
        "query ($w: String) { get_writers { articles(args: {length: 1}, where: {title: {_eq: $w}}) { id } } }";
      expect((await api.gql(text, { w: word })).data.get_writers).toEqual([
        { articles: [] },
        { articles: [] },
        { articles: [] },
      ]);
    },
  );
});

describe("P-NAT-5 roles", () => {
  const reader = asAdmin("reader", { rank: "1" });

  test("P-NAT-5 a role sees the related rows that the permission of their logical model allows", async () => {
    const text = "{ get_articles(args: {length: 1}, order_by: {id: asc}) { id writer { name } } }";
    expect((await api.gql(text, {}, reader)).data.get_articles).toEqual([
      { id: 1, writer: { name: "Ann" } },
      { id: 3, writer: null },
      { id: 4, writer: null },
    ]);
    const { data } = await api.gql("{ get_writers { articles(args: {length: 1}) { title } } }", {}, reader);
    expect(data.get_writers).toEqual([{ articles: [{ title: "One" }] }]);
  });

  test("P-NAT-5 a role has a nested field if both permissions allow it", async () => {
    for (const query of [
      "{ get_articles(args: {length: 1}) { writer { rank } } }",
      "{ get_writers { articles(args: {length: 1}) { excerpt } } }",
    ])
      expect((await api.gql(query, {}, reader)).errors[0].message).toContain("not found in type");
    const blind = asAdmin("blind");
    expect(
      (await api.gql("{ get_articles(args: {length: 1}) { writer { name } } }", {}, blind)).errors[0].message,
    ).toBe("field 'writer' not found in type: 'an_article'");
    expect((await api.gql("{ get_articles(args: {length: 1}, limit: 1) { tags } }", {}, blind)).data).toBeDefined();
    const missingVariable = await api.gql(
      "{ get_articles(args: {length: 1}) { writer { name } } }",
      {},
      asAdmin("reader"),
    );
    expect(missingVariable.errors[0].message).toContain("missing session variable");
  });
});

const BAD: readonly (readonly [what: string, more: Entry, said: string])[] = [
  ["no relationship", { native_queries: [{ ...ARTICLES, object_relationships: [] }, WRITERS] }, "has no relationship"],
  [
    "a query that is not there",
    { native_queries: [ARTICLES] },
    'relationship writer: there is no native query "get_writers"',
  ],
  [
    "the wrong kind",
    {
      native_queries: [
        { ...ARTICLES, object_relationships: [], array_relationships: ARTICLES.object_relationships },
        WRITERS,
      ],
    },
    "relationship writer: the field is one object",
  ],
  [
    "a column that is not there",
    {
      native_queries: [
        { ...ARTICLES, object_relationships: [relationship("writer", "get_writers", { nothing: "id" })] },
        WRITERS,
      ],
    },
    'relationship writer: "nothing" is not a column of "an_article"',
  ],
  [
    "a nested field as a column",
    {
      native_queries: [
        { ...ARTICLES, object_relationships: [relationship("writer", "get_writers", { writer_id: "articles" })] },
        WRITERS,
      ],
    },
    '"articles" is not a column of "a_writer"',
  ],
  [
    "no columns",
    { native_queries: [{ ...ARTICLES, object_relationships: [relationship("writer", "get_writers", {})] }, WRITERS] },
    "it has no column_mapping",
  ],
  [
    "another model",
    {
      native_queries: [
        { ...ARTICLES, object_relationships: [relationship("writer", "get_articles", { writer_id: "id" })] },
        WRITERS,
      ],
    },
    '"get_articles" does not return the logical model "a_writer"',
  ],
  [
    "a field that the model lacks",
    {
      native_queries: [
        { ...ARTICLES, array_relationships: [relationship("more", "get_writers", { id: "id" })] },
        WRITERS,
      ],
    },
    'relationship more: the logical model "an_article" has no such field',
  ],
  [
    "a table",
    {
      native_queries: [
        {
          ...ARTICLES,
          object_relationships: [
            {
              name: "writer",
              using: { column_mapping: { writer_id: "id" }, remote_table: { schema: "public", name: "writer" } },
            },
          ],
        },
        WRITERS,
      ],
    },
    "relationship writer: it leads to no native query",
  ],
  ["a model that is not there", { logical_models: [ARTICLE] }, 'writer: there is no logical model "a_writer"'],
];

describe("P-NAT-4 invalid relationships", () => {
  test.each(BAD)(
    "P-NAT-1b an invalid relationship is logged and left out with its dependents: %s",
    async (_, overrides, message) => {
      const noteLog = collectWarnings();
      const oddApi = await start(source(overrides), { logger: noteLog.logger });
      expect(noteLog.all().join("\n")).toContain(message);
      expect((await oddApi.gql("{ get_articles(args: {length: 1}) { id } }")).errors[0].extensions.code).toBe(
        "validation-failed",
      );
      await oddApi.close();
    },
  );

  test("P-NAT-4 two native queries of one model have the same relationships", async () => {
    const noteLog = collectWarnings();
    const otherQuery = {
      ...ARTICLES,
      root_field_name: "other_articles",
      object_relationships: [relationship("writer", "other_writers", { writer_id: "id" })],
    };
    const overrides = {
      native_queries: [ARTICLES, WRITERS, otherQuery, { ...WRITERS, root_field_name: "other_writers" }],
    };
    const oddApi = await start(source(overrides), { logger: noteLog.logger });
    expect(noteLog.all().join("\n")).toContain(
      'native query other_articles: relationship writer: another native query of "an_article" leads elsewhere',
    );
    expect(
      (await oddApi.gql("{ get_articles(args: {length: 1}, limit: 1) { writer { name } } }")).errors,
    ).toBeUndefined();
    await oddApi.close();
  });
});

test("P-NAT-4 P-HAS-4 the metadata API tracks relationships together and rejects each invalid one", async () => {
  const path = temporaryFile("metadata.json", JSON.stringify(buildMetadataDocument([table("writer")])));
  const metadataApi = await startApi(forGraphql({ preset: plus, metadata: path }));
  const run = async (type: string, args: unknown) => {
    const answer = await metadataApi.post("/v1/metadata", { body: { type, args }, headers: asAdmin() });
    return { status: answer.status, ...answer.json() };
  };
  const models = [ARTICLE, WRITER].map(({ name, fields }) => ({
    type: "pg_track_logical_model",
    args: { name, fields },
  }));
  expect(await run("pg_track_logical_model", models[0]?.args)).toMatchObject({
    status: 400,
    code: "invalid-configuration",
    error: 'Inconsistent object: logical model an_article: writer: there is no logical model "a_writer"',
    internal: [{ type: "logical_model", name: "logical_model an_article" }],
  });
  expect((await run("bulk_atomic", models)).status).toBe(200);
  expect(await run("pg_track_native_query", ARTICLES)).toMatchObject({
    status: 400,
    code: "invalid-configuration",
    internal: [
      {
        type: "native_query",
        name: "native_query get_articles",
        reason: expect.stringContaining('there is no native query "get_writers"'),
      },
    ],
  });
  const queries = [ARTICLES, WRITERS].map((args) => ({ type: "pg_track_native_query", args }));
  expect((await run("bulk_atomic", queries)).status).toBe(200);
  expect(
    (await metadataApi.gql("{ get_writers(limit: 1) { articles(args: {length: 1}, limit: 1) { id } } }")).data,
  ).toEqual({
    get_writers: [{ articles: [{ id: 1 }] }],
  });
  expect((await run("pg_untrack_native_query", { root_field_name: "get_writers" })).code).toBe("dependency-error");
  const { native_queries: nativeQueries } = JSON.parse(await readFile(path, "utf8")).sources[0];
  expect(
    nativeQueries.map(
      (nativeQuery: Entry) => nativeQuery["object_relationships"] ?? nativeQuery["array_relationships"],
    ),
  ).toEqual([ARTICLES.object_relationships, WRITERS.array_relationships]);
  await metadataApi.close();
});
