/** Aggregate functions of plugins: the example of docs/guides/write-an-aggregate.md. */
import { describe, expect, test } from "vitest";
import { compose, definePlugin, relApi, without, type AggregateSpec, type PresetPart } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { cases, gqlCases } from "../support/cases.ts";
import { bearer } from "../support/tokens.ts";
import { median } from "./median.ts";

describe("over REST", async () => {
  const api = await startApi({ dbAggregatesEnabled: true, parts: [median] });
  cases(api, [
    {
      title: "X-AGG-2 an aggregate of a plugin can be selected",
      request: "GET /vessels?select=tonnage.median()",
      answer: [{ median: 402 }],
    },
    {
      title: "X-AGG-2 an aggregate of a plugin accepts casts, an alias and groups",
      request: "GET /vessels?select=home_port_id,middle:tonnage::numeric.median()::text&order=home_port_id",
      check: async (answer) => {
        const rows = answer.json() as readonly { readonly middle: string }[];
        expect(rows.length).toBeGreaterThan(1);
        for (const row of rows) expect(typeof row.middle).toBe("string");
      },
    },
    {
      title: "X-AGG-2 an aggregate of a plugin can be selected in embeds",
      request: "GET /ports?select=name,vessels(tonnage.median())&id=eq.1",
      answer: [{ name: "Oslo", vessels: [{ median: expect.anything() }] }],
    },
    {
      title: "R-LEX-12 a parse error lists the aggregate among the expected words",
      request: "GET /vessels?select=tonnage.mode()",
      status: 400,
      check: (answer) => expect(answer.text).toContain('\\"median\\"'),
    },
    {
      title: "X-AGG-2 the database rejects a column of a wrong type",
      request: "GET /vessels?select=name.median()",
      status: 404,
      answer: expect.objectContaining({ code: "42883" }),
    },
  ]);

  test("R-NAM-5 an aggregate needs the right to read its column", async () => {
    const rejection = await api.get("/payroll?select=id.median()", { headers: bearer({ role: "sea_anon" }) });
    expect(rejection.status).toBeGreaterThanOrEqual(400);
    expect(rejection.json().code).toBe("42501");
  });
});

describe("with aggregates switched off", async () => {
  cases(await startApi({ parts: [median] }), [
    {
      title: "R-AGG-1 an aggregate of a plugin is rejected if aggregates are switched off",
      request: "GET /vessels?select=tonnage.median()",
      status: 400,
      answer: expect.objectContaining({ code: "PGRST123" }),
    },
  ]);
});

describe("over GraphQL", async () => {
  const api = await startApi(forGraphql({ parts: [median] }));
  gqlCases(api, [
    {
      title: "X-AGG-3 an aggregate of a plugin is a field for columns of its types",
      query: "{ album_aggregate(where: {artist_id: {_eq: 1}}) { aggregate { count median { sold } sum { sold } } } }",
      data: {
        album_aggregate: {
          aggregate: { count: 2, median: { sold: expect.any(Number) }, sum: { sold: expect.anything() } },
        },
      },
    },
    {
      title: "X-AGG-3 an aggregate of a plugin is not a field for columns of other types",
      query: "{ album_aggregate { aggregate { median { title } } } }",
      error: { message: "field 'title' not found in type: 'album_median_fields'" },
    },
    {
      title: "X-AGG-3 rows can be ordered by the aggregate of related rows",
      query:
        "{ artist(order_by: {albums_aggregate: {median: {sold: desc_nulls_last}}}) { albums_aggregate { aggregate { median { sold } } } } }",
      data: {
        artist: expect.toSatisfy((rows: readonly any[]) => {
          const sold = rows.map((row) => row.albums_aggregate.aggregate.median.sold);
          const sortedSold = [...sold].sort((a, b) => (a === null ? 1 : b === null ? -1 : b - a));
          return rows.length === 4 && JSON.stringify(sold) === JSON.stringify(sortedSold) && sold[0] !== null;
        }),
      },
    },
    {
      title: "X-AGG-3 conditions on related rows can use the aggregate",
      query:
        "{ none: studio(where: {takes_aggregate: {median: {arguments: length, predicate: {_lt: -1}}}}) { name } some: studio(where: {takes_aggregate: {median: {arguments: length, predicate: {_gt: 0}}}}) { name } }",
      data: {
        none: [],
        some: expect.toSatisfy((rows: readonly unknown[]) => rows.length > 0),
      },
    },
    {
      title: "X-AGG-3 the schema of a role has the aggregate by its rights",
      query: "{ album_aggregate { aggregate { median { sold } } } }",
      role: "music_nobody",
      error: { message: "field 'album_aggregate' not found in type: 'query_root'" },
    },
  ]);

  test("X-AGG-3 a live query with the aggregate is answered again after a change", async () => {
    const { data } = await api.gql(
      "{ take_aggregate { aggregate { median { length } } } }",
      {},
      asAdmin("music_reader"),
    );
    expect(data.take_aggregate.aggregate.median.length).toEqual(expect.any(Number));
  });
});

describe("declarations", () => {
  const declaring = (name: string, spec: AggregateSpec) => definePlugin({ name, aggregates: [spec] });
  const start =
    (...parts: readonly PresetPart[]) =>
    () =>
      relApi(compose(fullCompat({ databaseUrl: "postgres://127.0.0.1:1/none" }), ...parts));

  test.each<[string, AggregateSpec, string]>([
    [
      "the same name",
      { name: "median" },
      'aggregate function "median" is declared by plugins "median" and "mine": rename one or remove one of the plugins',
    ],
    [
      "the same name in REST",
      { name: "middle", rest: "median" },
      'REST aggregate function "median" is declared by plugins "median" and "mine"',
    ],
    [
      "the same name in GraphQL",
      { name: "middle", graphql: "max" },
      'GraphQL aggregate function "max" is declared by plugins "aggregate-functions" and "mine"',
    ],
    [
      "an impossible name",
      { name: "me dian" },
      'aggregate function "me dian" of "mine" must consist of letters, digits and "_"',
    ],
  ])("X-AGG-1 %s is rejected at the start", (_, spec, message) => {
    expect(start(median, declaring("mine", spec))).toThrow(message);
  });
});

describe("without aggregate-functions", async () => {
  const parts = ["aggregate-functions", "graphql-aggregates", "aggregate-predicates"].map(without);
  cases(await startApi({ dbAggregatesEnabled: true, parts: [...parts, median] }), [
    {
      title: "X-AGG-2 the plugin's own functions work without the others",
      request: "GET /vessels?select=tonnage.median()",
      answer: [{ median: 402 }],
    },
    {
      title: "R-AGG-1 the other functions are unknown",
      request: "GET /vessels?select=tonnage.sum()",
      status: 400,
      answer: expect.objectContaining({ code: "PGRST100" }),
    },
    {
      title: "R-AGG-1 the number of rows is unknown too",
      request: "GET /vessels?select=count()",
      status: 400,
      answer: expect.objectContaining({ code: "PGRST100" }),
    },
  ]);
});
