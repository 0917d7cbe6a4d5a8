/** Native queries and logical models of the metadata: the access of roles, and the safety of arguments. */
import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import {
  collectWarnings,
  buildMetadataDocument,
  permissions,
  table,
  type Entry,
} from "../support/metadata-document.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { fetchSchema } from "../support/schema.ts";
import { bearer } from "../support/tokens.ts";
import { temporaryFile } from "../support/temporary-files.ts";

const database = await testDatabase();

const MODEL = {
  name: "sale",
  description: "What was sold.",
  fields: [
    { name: "id", nullable: false, type: "integer" },
    { name: "title", nullable: false, type: { scalar: "text", nullable: false } },
    { name: "price", nullable: true, type: "numeric" },
    { name: "tags", nullable: true, type: "text[]" },
  ],
  select_permissions: permissions({
    buyer: { columns: ["id", "title"], filter: { id: { _lte: "X-Hasura-Upto" } } },
    picky: { columns: "*", filter: { _or: [{ id: { _in: [1, 2] } }, { _not: { price: { _is_null: true } } }] } },
  }),
};

const QUERY = {
  root_field_name: "sales_from",
  arguments: {
    least: { type: "integer", nullable: false },
    word: { type: "text", nullable: true, description: "Part of the title." },
  },
  code: "select id, title, price, tags from public.album where id >= {{least}} and ({{ word }} is null or title ilike '%' || {{word}} || '%'); ",
  returns: "sale",
};

const source = (overrides: Entry = {}): Entry => ({
  native_queries: [QUERY, { root_field_name: "all_sales", code: "select * from public.album -- all", returns: "sale" }],
  logical_models: [MODEL],
  ...overrides,
});

const start = (metadata: Entry, overrides: StartOptions = {}): Promise<TestApi> =>
  startApi(forGraphql({ preset: plus, metadata, ...overrides }));

const METADATA = buildMetadataDocument([table("album")], {}, source());
const api = await start(METADATA);

const ids = ({ data, errors }: any): readonly number[] => {
  expect(errors).toBeUndefined();
  return (Object.values(data)[0] as readonly { readonly id: number }[]).map(({ id }) => id);
};

test("P-NAT-7 a null in a non-null field of the model is an error that names the field", async () => {
  const model = (name: string, fields: readonly Entry[]): Entry => ({ name, fields });
  const query = (name: string, code: string, returns: string): Entry => ({ root_field_name: name, code, returns });
  const oddApi = await start(
    buildMetadataDocument(
      [table("album")],
      {},
      {
        native_queries: [
          query("no_number", "select null::int as number", "numbered"),
          query("no_list", "select null::int[] as list", "listed"),
          query("gap", "select array[1, null] as list", "listed"),
          query("none", "select null::int as number where false", "numbered"),
        ],
        logical_models: [
          model("numbered", [{ name: "number", type: "integer", nullable: false }]),
          model("listed", [{ name: "list", type: { array: { scalar: "int" } } }]),
        ],
      },
    ),
  );
  const buildFieldErrorBody = (name: string, message: string) => ({
    errors: [{ message, extensions: { path: `$.selectionSet.${name}`, code: "postgres-error" } }],
  });
  expect(await oddApi.gql("{ no_number { n: number } }")).toEqual(
    buildFieldErrorBody(
      "no_number",
      'the native query "no_number" gives null for the field "number" of the logical model "numbered", which is not nullable',
    ),
  );
  expect(await oddApi.gql("{ no_list { list } }")).toEqual(
    buildFieldErrorBody(
      "no_list",
      'the native query "no_list" gives null for the field "list" of the logical model "listed", which is not nullable',
    ),
  );
  expect(await oddApi.gql("{ gap { list } }")).toEqual(
    buildFieldErrorBody(
      "gap",
      'the native query "gap" gives a list with null in it for the field "list" of the logical model "listed", which is not nullable',
    ),
  );
  expect(await oddApi.gql("{ none { number } no_number { __typename } }")).toEqual({
    data: { none: [], no_number: [{ __typename: "numbered" }] },
  });
  await oddApi.close();
});

describe("P-NAT-1 fields of the query root", () => {
  test("P-NAT-1 a native query accepts arguments, conditions, order, limit and offset", async () => {
    const all = ids(await api.gql("{ all_sales(order_by: {id: asc}) { id } }"));
    expect(all.length).toBeGreaterThan(3);
    expect(
      ids(await api.gql("{ sales_from(args: {least: 3}, order_by: [{id: desc}], limit: 2, offset: 1) { id } }")),
    ).toEqual(
      all
        .filter((id) => id >= 3)
        .reverse()
        .slice(1, 3),
    );
    expect(await api.gql('{ sales_from(args: {least: 1, word: "DEBUT"}) { __typename title tags } }')).toMatchObject({
      data: { sales_from: [{ __typename: "sale", title: "Debut" }] },
    });
    const where =
      '{ _and: [{id: {_gt: 1}}, {_or: [{title: {_eq: "Debut"}}, {id: {_in: [2]}}]}], _not: {id: {_eq: 2}} }';
    expect(ids(await api.gql(`{ all_sales(where: ${where}) { id } }`))).toEqual([3]);
    const [, distinctAnswer] = [
      0,
      await api.gql(
        "query ($l: Int!) { sales_from(args: {least: $l}, distinct_on: [id], order_by: {id: asc}, limit: 1) { id price } }",
        { l: 2 },
      ),
    ];
    expect(ids(distinctAnswer)).toEqual([2]);
  });

  test("P-NAT-1 the schema has the types of the logical model", async () => {
    const schema = await fetchSchema(api);
    expect(Object.keys(schema.members("sale"))).toEqual(["id", "title", "price", "tags"]);
    expect(Object.keys(schema.members("query_root"))).toEqual(expect.arrayContaining(["sales_from", "all_sales"]));
    expect((await api.gql("{ sales_from { id } }")).errors[0].extensions.code).toBe("validation-failed");
  });

  test.each([
    [
      "a model that is not there",
      { native_queries: [{ ...QUERY, returns: "none" }] },
      'there is no logical model "none"',
    ],
    ["an argument that is not there", { native_queries: [{ ...QUERY, arguments: {} }] }, 'names an argument "least"'],
    ["no code", { native_queries: [{ ...QUERY, code: " " }] }, "it has no code"],
    [
      "a type that is not there",
      { logical_models: [{ ...MODEL, fields: [{ name: "a", type: "nothing" }] }] },
      'type "nothing" does not exist',
    ],
    [
      "a field without a type",
      { logical_models: [{ ...MODEL, fields: [{ name: "a", type: { array: {} } }] }] },
      "it has no scalar type",
    ],
    [
      "a permission without a filter",
      { logical_models: [{ ...MODEL, select_permissions: permissions({ r: { columns: "*" } }) }] },
      "it has no filter",
    ],
    [
      "a permission for a column that is not there",
      { logical_models: [{ ...MODEL, select_permissions: permissions({ r: { columns: ["x"], filter: {} } }) }] },
      'column "x" does not exist',
    ],
    [
      "code that names a column that does not exist",
      { native_queries: [{ ...QUERY, code: "select nope from public.album" }] },
      'column "nope" does not exist',
    ],
    [
      "code without a column of its model",
      { native_queries: [{ ...QUERY, code: "select id, title from public.album" }] },
      "column _q.price does not exist",
    ],
    [
      "code that writes",
      { native_queries: [{ ...QUERY, code: "delete from public.album returning id, title, price, tags" }] },
      "syntax error",
    ],
    [
      "code that writes in a common table expression",
      {
        native_queries: [
          { ...QUERY, code: "with d as (delete from public.album returning id, title, price, tags) select * from d" },
        ],
      },
      "must be at the top level",
    ],
    [
      "the name of a table's root field",
      { native_queries: [{ ...QUERY, root_field_name: "album_by_pk" }] },
      "a table or function has that name",
    ],
    [
      "the name of a table's type",
      { logical_models: [{ ...MODEL, name: "album" }], native_queries: [{ ...QUERY, returns: "album" }] },
      "a table or function has that name",
    ],
    [
      "a name that GraphQL cannot read",
      { native_queries: [{ ...QUERY, root_field_name: "a-b" }] },
      "not a valid GraphQL name",
    ],
  ])("P-NAT-1b %s is noted, and left out", async (_, overrides, message) => {
    const noteLog = collectWarnings();
    const oddApi = await start(buildMetadataDocument([table("album")], {}, source(overrides)), {
      logger: noteLog.logger,
    });
    expect(noteLog.all().join("\n")).toContain(message);
    expect((await oddApi.gql("{ album(limit: 1) { id } }")).data.album).toHaveLength(1);
    expect((await oddApi.gql("{ sales_from(args: {least: 1}) { id } }")).errors[0].extensions.code).toBe(
      "validation-failed",
    );
    await oddApi.close();
  });
});

test("P-NAT-6a names of tables follow the convention of the settings, and custom names are kept", async () => {
  const noteLog = collectWarnings();
  const names = ["albumByPk", "album_by_pk", "my_artist", "myArtist"];
  const namedApi = await start(
    buildMetadataDocument(
      [table("album"), table("artist", { configuration: { custom_name: "my_artist" } })],
      {},
      source({ native_queries: names.map((name) => ({ ...QUERY, root_field_name: name })) }),
    ),
    { logger: noteLog.logger, defaultNamingConvention: "graphql-default" },
  );
  const rejections = noteLog.all().filter((line) => line.includes("a table or function has that name"));
  expect(names.filter((name) => rejections.some((line) => line.includes(`query ${name}:`)))).toEqual([
    "albumByPk",
    "my_artist",
  ]);
  for (const name of ["album_by_pk", "myArtist"])
    expect((await namedApi.gql(`{ ${name}(args: {least: 1}) { id } }`)).errors).toBeUndefined();
  await namedApi.close();
});

describe("P-NAT-2 permissions on native queries", () => {
  test("P-NAT-2 a role gets the columns and rows of its permission, and nothing without one", async () => {
    const buyer = asAdmin("buyer", { upto: "2" });
    expect(ids(await api.gql("{ all_sales(order_by: {id: asc}) { id title } }", {}, buyer))).toEqual([1, 2]);
    expect(ids(await api.gql("{ all_sales(where: {_or: [{id: {_gt: 0}}]}) { id } }", {}, buyer))).toHaveLength(2);
    for (const query of [
      "{ all_sales { price } }",
      "{ all_sales(where: {price: {_gt: 1}}) { id } }",
      "{ all_sales(order_by: {price: asc}) { id } }",
      "{ all_sales(distinct_on: [price]) { id } }",
    ])
      expect((await api.gql(query, {}, buyer)).errors[0].extensions.code).toBe("validation-failed");
    const missingVariable = await api.gql("{ all_sales { id } }", {}, asAdmin("buyer"));
    expect(missingVariable.errors[0].message).toContain("missing session variable");
    expect((await api.gql("{ all_sales { id } }", {}, asAdmin("stranger"))).errors[0].message).toContain("all_sales");
    expect(ids(await api.gql("{ all_sales { id price } }", {}, asAdmin("picky"))).length).toBeGreaterThan(1);
  });

  test("G-AUTH-19b a role named admin gets only the columns of its permission", async () => {
    const admin = { columns: ["id"], filter: {} };
    const model = { ...MODEL, select_permissions: permissions({ admin }) };
    const otherApi = await start(buildMetadataDocument([table("album")], {}, source({ logical_models: [model] })));
    const claims = { "x-session-default-role": "admin", "x-session-allowed-roles": ["admin"] };
    const headers = { "x-session-admin-secret": undefined, ...bearer(claims) };
    expect(ids(await otherApi.gql("{ all_sales(limit: 1) { id } }", {}, headers))).toHaveLength(1);
    expect((await otherApi.gql("{ all_sales { price } }", {}, headers)).errors[0].extensions.code).toBe(
      "validation-failed",
    );
    await otherApi.close();
  });

  test("P-NAT-2 a value of a request is never read as a session variable", async () => {
    const filteredAnswer = await api.gql(
      '{ all_sales(where: {title: {_eq: "X-Hasura-Upto"}}) { id } }',
      {},
      asAdmin("buyer", { upto: "2" }),
    );
    expect(filteredAnswer).toEqual({ data: { all_sales: [] } });
  });
});

describe("P-NAT-3 values are bound", () => {
  test.each(["'; drop table public.album; --", "{{least}}", "$1", "\\", "%' or true or '1' like '"])(
    "P-NAT-3 the argument %j is bound as text",
    async (word) => {
      const answer = await api.gql("query ($w: String) { sales_from(args: {least: 1, word: $w}) { id } }", { w: word });
      expect(answer).toEqual({ data: { sales_from: [] } });
      const where = await api.gql("query ($w: String!) { all_sales(where: {title: {_eq: $w}}) { id } }", { w: word });
      expect(where).toEqual({ data: { all_sales: [] } });
    },
  );

  test("P-NAT-3 P-NAT-3a native queries cannot write, and errors do not show their SQL", async () => {
    const overrides = {
      native_queries: [
        {
          root_field_name: "writing",
          code: "select 1 as id, set_config('a.b', nextval(pg_get_serial_sequence('album', 'id'))::text, true) as title, 1.0 as price, null::text[] as tags",
          returns: "sale",
        },
        {
          root_field_name: "odd",
          code: "select secret_column as id, ''::text as title, 1.0 as price, null::text[] as tags from public.odd_sales",
          returns: "sale",
        },
        {
          root_field_name: "by_zero",
          code: "select 1/({{a}} - 1) as id, ''::text as title, 1.0 as price, null::text[] as tags",
          arguments: { a: { type: "int" } },
          returns: "sale",
        },
      ],
    };
    await database.query("create table public.odd_sales (secret_column int)");
    const oddApi = await start(buildMetadataDocument([table("album")], {}, source(overrides)));
    await database.query("drop table public.odd_sales");
    expect((await oddApi.gql("{ writing { id title } }")).errors[0]).toMatchObject({
      message: "database query error",
      extensions: { code: "postgres-error" },
    });
    const failure = await oddApi.gql("{ odd { id } }");
    expect(failure.errors[0].message).toBe("database query error");
    expect((await oddApi.gql("{ by_zero(args: {a: 1}) { id } }")).errors[0]).toMatchObject({
      message: "division by zero",
      extensions: { code: "data-exception" },
    });
    await oddApi.close();
  });
});

test("P-NAT-1 P-HAS-1 the metadata API tracks and untracks native queries", async () => {
  const path = temporaryFile("metadata.json", JSON.stringify(buildMetadataDocument([table("album")])));
  const metadataApi = await startApi(forGraphql({ preset: plus, metadata: path }));
  const run = (type: string, args: unknown): Promise<any> => runCommand(metadataApi, type, args);
  const { select_permissions: _, ...model } = MODEL;
  const steps: readonly (readonly [string, unknown, string])[] = [
    ["pg_track_native_query", QUERY, "not-exists"],
    ["pg_track_logical_model", model, "success"],
    ["pg_track_native_query", QUERY, "success"],
    ["pg_track_native_query", QUERY, "already-tracked"],
    [
      "pg_create_logical_model_select_permission",
      { name: "sale", role: "buyer", permission: { columns: ["id"], filter: {} } },
      "success",
    ],
    ["pg_untrack_logical_model", { name: "sale" }, "dependency-error"],
  ];
  for (const [type, args, expected] of steps) {
    const { message, code } = await run(type, args);
    expect([type, message ?? code]).toEqual([type, expected]);
  }
  expect(
    ids(
      await metadataApi.gql(
        "{ sales_from(args: {least: 1}, limit: 1, order_by: {id: asc}) { id } }",
        {},
        asAdmin("buyer"),
      ),
    ),
  ).toEqual([1]);
  expect(await run("pg_drop_logical_model_select_permission", { name: "sale", role: "buyer" })).toEqual({
    message: "success",
  });
  expect(await run("pg_untrack_native_query", { root_field_name: "sales_from" })).toEqual({ message: "success" });
  expect(await run("pg_untrack_logical_model", { name: "sale" })).toEqual({ message: "success" });
  expect(JSON.parse(await readFile(path, "utf8")).sources[0]).toEqual({
    name: "default",
    kind: "postgres",
    tables: [table("album")],
  });
  await metadataApi.close();
});

test.each([
  ["fullCompat", fullCompat, []],
  ["plus without the plugin", plus, [without("native-queries")]],
])("P-GEN-2 %s ignores native queries with a line in the log", async (_, preset, parts) => {
  const noteLog = collectWarnings();
  const bareApi = await startApi(forGraphql({ preset, parts, metadata: METADATA, logger: noteLog.logger }));
  expect(noteLog.all().join("\n")).toContain("native_queries is not supported; ignored");
  expect((await bareApi.gql("{ all_sales { id } }")).errors[0].message).toContain("all_sales");
  await bareApi.close();
});
