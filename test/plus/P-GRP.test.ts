/** Groups of rows, on both surfaces. */
import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { fullCompat, plus } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { array, buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";

const metadata = buildMetadataDocument([
  table("album", {
    select_permissions: permissions({
      fans: { columns: ["artist_id", "sold", "live"], filter: { sold: { _gt: 3 } }, allow_aggregations: true },
      readers: { columns: "*", filter: {} },
    }),
  }),
]);
const api = await startApi({ preset: plus, dbAggregatesEnabled: true });
const graphqlApi = await startApi(
  forGraphql({ preset: plus, metadata, dbAggregatesEnabled: true, metadataPermissionsForRest: true }),
);
const stringifyingApi = await startApi(forGraphql({ preset: plus, stringifyNumericTypes: true }));
const relatedApi = await startApi(forGraphql({ preset: plus }));
const permissionsApi = await startApi(
  forGraphql({
    preset: plus,
    metadata: buildMetadataDocument([
      table("artist", {
        array_relationships: [array("albums", "album", "artist_id")],
        select_permissions: permissions({
          fans: { columns: ["id"], filter: {} },
          readers: { columns: ["id"], filter: {} },
        }),
      }),
      table("album", {
        select_permissions: permissions({
          fans: { columns: ["artist_id", "sold"], filter: { sold: { _gt: 3 } }, allow_aggregations: true },
          readers: { columns: "*", filter: {} },
        }),
      }),
    ]),
  }),
);
const disabledApi = await startApi({ preset: plus });
const plainApi = await startApi(
  forGraphql({ preset: (options) => compose(plus(options), without("graphql-group-by"), without("rest-having")) }),
);

const groups = async (query: string, variables = {}, headers = {}): Promise<any> => {
  const { data, errors } = await graphqlApi.gql(query, variables, headers);
  return errors ?? data.album_group_by;
};

describe("GraphQL", () => {
  test("P-GRP-1 a group has its keys and aggregates", async () => {
    expect(
      await groups(`{ album_group_by(by: [artist_id], order_by: {artist_id: asc}) {
        artist_id aggregate { count sum { sold } max { title } } __typename
      } }`),
    ).toEqual([
      {
        artist_id: 1,
        aggregate: { count: 2, sum: { sold: 13 }, max: { title: "Waterloo" } },
        __typename: "album_group",
      },
      {
        artist_id: 2,
        aggregate: { count: 1, sum: { sold: null }, max: { title: "Debut" } },
        __typename: "album_group",
      },
      {
        artist_id: 3,
        aggregate: { count: 2, sum: { sold: 14 }, max: { title: "Tago Mago" } },
        __typename: "album_group",
      },
    ]);
  });

  test("P-GRP-1 groups may have several keys, hidden keys and no aggregate", async () => {
    expect(
      await groups("{ album_group_by(by: [artist_id, sold], order_by: [{artist_id: asc}, {sold: asc}]) { s: sold } }"),
    ).toEqual([{ s: 3 }, { s: 10 }, { s: null }, { s: 7 }]);
    expect(
      await groups("{ album_group_by(by: [live], order_by: {live: asc}, limit: 1) { aggregate { __typename } } }"),
    ).toEqual([{ aggregate: { __typename: "album_aggregate_fields" } }]);
    expect(
      await groups("{ album_group_by(by: [artist_id], order_by: {count: desc}) { aggregate { count } } }"),
    ).toEqual([{ aggregate: { count: 2 } }, { aggregate: { count: 2 } }, { aggregate: { count: 1 } }]);
  });

  test("P-GRP-1 where filters rows, having filters groups, and groups are ordered and paged by aggregates", async () => {
    const text = `query($least: Int, $where: album_bool_exp, $limit: Int) {
      album_group_by(by: [artist_id], where: $where, having: {count: {_gte: $least}, sum: {sold: {_gt: 1}}},
        order_by: [{sum: {sold: desc_nulls_last}}, {artist_id: asc}], limit: $limit) { artist_id }
    }`;
    expect(await groups(text, { least: 2 })).toEqual([{ artist_id: 3 }, { artist_id: 1 }]);
    expect(await groups(text, { least: 2, limit: 1 })).toEqual([{ artist_id: 3 }]);
    expect(await groups(text, { least: 1, where: { live: { _eq: true } } })).toEqual([
      { artist_id: 3 },
      { artist_id: 1 },
    ]);
    expect(
      await groups(`{ album_group_by(by: artist_id, offset: 1, order_by: {artist_id: asc},
        having: {_or: [{max: {title: {_like: "D%"}}}, {_not: {count: {_lt: 2}}}]}) { artist_id } }`),
    ).toEqual([{ artist_id: 2 }, { artist_id: 3 }]);
  });

  test("P-GRP-1 numbers are strings if the setting says so, and are compared as numbers", async () => {
    const { data } =
      await stringifyingApi.gql(`{ album_group_by(by: [price], having: {max: {price: {_gt: "9.99"}}}, order_by: {max: {price: asc}}) {
      price aggregate { max { price } } } }`);
    expect(data.album_group_by).toEqual([
      { price: "12.50", aggregate: { max: { price: "12.50" } } },
      { price: "20.00", aggregate: { max: { price: "20.00" } } },
      { price: "25.00", aggregate: { max: { price: "25.00" } } },
    ]);
  });

  test("P-GRP-2 columns that are not keys, and groups without keys, are rejected with their position", async () => {
    const buildGqlErrors = (message: string, place: string) => [
      { message, extensions: { path: `$.selectionSet.album_group_by.${place}`, code: "validation-failed" } },
    ];
    expect(await groups("{ album_group_by(by: [artist_id]) { title } }")).toEqual(
      buildGqlErrors('the column "title" is not among those of "by"', "selectionSet.title"),
    );
    expect(await groups("{ album_group_by(by: [artist_id], order_by: {sold: asc}) { artist_id } }")).toEqual(
      buildGqlErrors('the column "sold" is not among those of "by"', "args.order_by"),
    );
    expect(await groups("{ x: album_group_by(by: []) { artist_id } }")).toEqual(
      buildGqlErrors('"by" names no column', "args.by"),
    );
    expect((await groups("{ album_group_by(by: [nothing]) { artist_id } }"))[0].extensions.code).toBe(
      "validation-failed",
    );
    expect((await groups("{ album_group_by { artist_id } }"))[0].message).toContain("by");
    expect(
      (await groups('{ album_group_by(by: [artist_id], having: {sum: {sold: {_gt: "x"}}}) { artist_id } }'))[0]
        .extensions.code,
    ).toBe("data-exception");
    expect(
      (await groups("{ album_group_by(by: [artist_id], having: {sum: {title: {_gt: 1}}}) { artist_id } }"))[0].message,
    ).toContain("title");
  });

  test("P-GRP-1 groups have the filter, columns and aggregation permission of aggregates", async () => {
    expect(
      await groups(
        "{ album_group_by(by: [artist_id], order_by: {artist_id: asc}) { artist_id aggregate { count } } }",
        {},
        asAdmin("fans"),
      ),
    ).toEqual([
      { artist_id: 1, aggregate: { count: 1 } },
      { artist_id: 3, aggregate: { count: 2 } },
    ]);
    expect(
      (await groups("{ album_group_by(by: [title]) { aggregate { count } } }", {}, asAdmin("fans")))[0].extensions.code,
    ).toBe("validation-failed");
    const unknown = { message: "field 'album_group_by' not found in type: 'query_root'" };
    expect((await groups("{ album_group_by(by: [title]) { title } }", {}, asAdmin("readers")))[0]).toMatchObject(
      unknown,
    );
  });

  test("P-GRP-5 related rows are grouped per parent", async () => {
    const text = `($sold: Int) { artist(order_by: {id: asc}) {
      id
      all: albums_group_by(by: [sold], order_by: {sold: asc_nulls_first}) { sold aggregate { count } }
      few: albums_group_by(by: [sold], where: {sold: {_gt: $sold}}, having: {count: {_eq: 1}}, order_by: {max: {sold: desc}}, limit: 1) {
        aggregate { max { sold } } __typename
      }
    } }`;
    const { data } = await relatedApi.gql(`query${text}`, { sold: 3 });
    const rows = await relatedApi.database.query<any>(`select artist.id,
        coalesce((select json_agg(json_build_object('sold', g.sold, 'aggregate', json_build_object('count', g.n)) order by g.sold nulls first)
          from (select sold, count(*) n from album where album.artist_id = artist.id group by sold) g), '[]') as "all",
        coalesce((select json_agg(json_build_object('aggregate', json_build_object('max', json_build_object('sold', g.sold)), '__typename', 'album_group'))
          from (select sold from album where album.artist_id = artist.id and sold > 3 group by sold having count(*) = 1 order by max(sold) desc limit 1) g), '[]') as few
      from artist order by id`);
    expect(data.artist).toEqual(rows);
    expect(rows.some(({ all }) => all.length > 1)).toBe(true);
    const wrong = await relatedApi.gql("{ artist { albums_group_by(by: []) { sold } } }");
    expect(wrong.errors[0].extensions).toEqual({
      path: "$.selectionSet.artist.selectionSet.albums_group_by.args.by",
      code: "validation-failed",
    });
    expect((await relatedApi.gql("{ album { artist_group_by(by: [name]) { name } } }")).errors[0].message).toBe(
      "field 'artist_group_by' not found in type: 'album'",
    );
  });

  test("P-GRP-6 times are grouped by period", async () => {
    const periodicApi = await startApi(forGraphql({ preset: plus, dbSchemas: ["periods"] }));
    await periodicApi.sql(`
      create schema periods;
      create table periods.sale (id int primary key generated always as identity, day date, at timestamp, tz timestamptz, price int);
      insert into periods.sale (day, at, tz, price)
        select d::date, d, d, extract(day from d) from generate_series(timestamp '2024-01-15 10:30', '2025-02-01', '37 hours') d
        union all select null, null, null, 5;
    `);
    await periodicApi.reload();
    for (const period of ["hour", "day", "week", "month", "quarter", "year"])
      for (const column of ["day", "at", "tz"]) {
        const { data } = await periodicApi.gql(
          `query { periods_sale_group_by(by: [${column}], period: ${period}, order_by: {${column}: asc}, where: {price: {_gt: 3}}) {
            ${column} aggregate { count max { ${column} } } } }`,
        );
        const expected = await periodicApi.database.query<any>(
          `select json_build_object('${column}', "${column}", 'aggregate', json_build_object('count', n, 'max', json_build_object('${column}', m))) g
           from (select date_trunc('${period}', ${column})${column === "day" ? "::date" : ""} as "${column}", count(*) n, max(${column}) m
             from periods.sale where price > 3 group by 1 order by 1) s`,
        );
        expect([period, column, data.periods_sale_group_by]).toEqual([period, column, expected.map(({ g }) => g)]);
      }
    const wrong = await periodicApi.gql("{ periods_sale_group_by(by: [day], period: decade) { day } }");
    expect(wrong.errors[0].extensions.code).toBe("validation-failed");
    const otherPrices = await periodicApi.gql(
      "{ periods_sale_group_by(by: [price], period: month, order_by: {price: asc}, limit: 1) { price } }",
    );
    expect(otherPrices.data.periods_sale_group_by).toEqual([{ price: 1 }]);
    const unselectedAnswer = await periodicApi.gql(
      "{ periods_sale_group_by(by: [day], period: year) { aggregate { count } } }",
    );
    expect(unselectedAnswer.data.periods_sale_group_by).toHaveLength(3);
  });

  test("P-GRP-5 permissions and row limits of the related table apply to groups", async () => {
    const text = "{ artist(order_by: {id: asc}) { id albums_group_by(by: [artist_id]) { aggregate { count } } } }";
    expect((await permissionsApi.gql(text, {}, asAdmin("fans"))).data.artist).toEqual([
      { id: 1, albums_group_by: [{ aggregate: { count: 1 } }] },
      { id: 2, albums_group_by: [] },
      { id: 3, albums_group_by: [{ aggregate: { count: 2 } }] },
      { id: 4, albums_group_by: [] },
    ]);
    expect((await permissionsApi.gql(text, {}, asAdmin("readers"))).errors[0].message).toBe(
      "field 'albums_group_by' not found in type: 'artist'",
    );
  });

  test("P-GEN-2 without the plugin the field is unknown", async () => {
    expect((await plainApi.gql("{ album_group_by(by: [title]) { title } }")).errors[0].message).toBe(
      "field 'album_group_by' not found in type: 'query_root'",
    );
  });

  test("P-GRP-1 introspection lists the types of groups", async () => {
    const { data } = await graphqlApi.gql(`{ __type(name: "album_group") { fields { name } }
      having: __type(name: "album_group_having_sum") { inputFields { name type { name } } } }`);
    expect(data.__type.fields.map(({ name }: { readonly name: string }) => name)).toContain("aggregate");
    expect(data.having.inputFields).toContainEqual({ name: "sold", type: { name: "Int_comparison_exp" } });
  });
});

const rows = async (path: string): Promise<any> => (await api.get(path)).json();

describe("REST", () => {
  test("P-GRP-3 having removes groups", async () => {
    expect(await rows("/voyages?select=vessel_id,fare.sum()&having=fare.sum().gt.100&order=vessel_id")).toEqual(
      (await rows("/voyages?select=vessel_id,fare.sum()&order=vessel_id")).filter(
        ({ sum }: { readonly sum: number }) => sum > 100,
      ),
    );
    expect(await rows("/vessels?select=home_port_id,id.count()&having=id.count().gte.2")).toEqual([
      { home_port_id: 1, count: 2 },
    ]);
    expect(await rows("/vessels?select=home_port_id&having=count().eq.1")).toEqual([{ home_port_id: null }]);
    expect(await rows("/vessels?select=home_port_id&having=(count().in.(1,2),tonnage.max().not.lt.100)")).toEqual([
      { home_port_id: 1 },
    ]);
    expect(await rows('/vessels?select=home_port_id&having="name".min().like.G*&having=count().gt.0')).toEqual([
      { home_port_id: null },
    ]);
    expect(await rows("/vessels?select=home_port_id&having=home_port_id.max().is.null")).toEqual([
      { home_port_id: null },
    ]);
  });

  test("P-GRP-3 having accepts nested conditions in or, and, not", async () => {
    const all = "/vessels?select=home_port_id&order=home_port_id&having=";
    const [first, rest] = [{ home_port_id: 1 }, { home_port_id: null }];
    expect(await rows(`${all}or(count().eq.1,tonnage.sum().gt.1000)`)).toEqual([first, rest]);
    expect(await rows(`${all}(or(count().eq.9,tonnage.sum().gt.1000),count().in.(1,2))`)).toEqual([first]);
    expect(await rows(`${all}not.or(count().eq.9,tonnage.sum().gt.1000)`)).toEqual([rest]);
    expect(await rows(`${all}not.and(count().eq.2,name.min().like.A*)`)).toEqual([rest]);
    expect(await rows(`${all}or(not.and(count().gt.0,and(count().gt.1)),"name".min().eq."a,)b")`)).toEqual([rest]);
    expect(await rows(`${all}count().not.gt.1`)).toEqual([rest]);
  });

  test("P-GRP-3 having applies to embeds and to rows of functions", async () => {
    expect(
      await rows("/ports?select=name,voyages!origin_id(vessel_id,n:count())&voyages.having=count().gt.1&order=name"),
    ).toEqual(
      (await rows("/ports?select=name,voyages!origin_id(vessel_id,n:count())&order=name")).map(
        ({ name, voyages }: { readonly name: string; readonly voyages: readonly { readonly n: number }[] }) => ({
          name,
          voyages: voyages.filter(({ n }) => n > 1),
        }),
      ),
    );
    expect(
      await rows("/ports?select=id,to:vessels(home_port_id)&to.having=or(count().gt.5,tonnage.max().lt.9)&id=eq.1"),
    ).toEqual([{ id: 1, to: [] }]);
    expect(await rows("/rpc/all_vessels?select=home_port_id,n:count()&having=count().gt.1")).toEqual([
      { home_port_id: 1, n: 2 },
    ]);
    const countAnswer = await api.get("/rpc/all_vessels?select=home_port_id&having=count().gt.0&limit=1", {
      headers: { prefer: "count=exact" },
    });
    expect(countAnswer.headers["content-range"]).toBe("0-0/2");
    for (const query of ["vessels.having=eq.5", "vessels.having=count()", "voyages.having=count().gt.1"])
      expect((await api.get(`/ports?select=id,vessels(id)&${query}`)).status, query).toBe(400);
    const spread = await api.get("/vessels?select=id,...ports(name)&ports.having=count().gt.0");
    expect(spread.status, spread.text).toBeLessThan(500);
    expect((await disabledApi.get("/ports?select=id,vessels(id)&vessels.having=count().gt.0")).json().code).toBe(
      "PGRST123",
    );
  });

  test("P-GRP-3 an argument named having precedes the parameter for groups", async () => {
    const db = await testDatabase();
    await db.query(
      `create schema argued; create table argued.meal (id int); insert into argued.meal values (1); create function argued.meals("having" text) returns setof argued.meal language sql stable as 'select * from argued.meal'; grant usage on schema argued to sea_anon; grant select on argued.meal to sea_anon`,
    );
    const mealsApi = await startApi({ preset: plus, dbSchemas: ["argued"] });
    expect((await mealsApi.get("/rpc/meals?having=more")).json()).toEqual([{ id: 1 }]);
  });

  test("P-GRP-3 an error in having names its position", async () => {
    const rejection = async (having: string, target = api) => {
      const { status, text } = await target.get(`/vessels?select=home_port_id&having=${having}`);
      const { code, message, details, hint } = JSON.parse(text);
      return [status, code, message, details, hint];
    };
    const parse = (text: string, column: number, details: string) => [
      400,
      "PGRST100",
      `"failed to parse having (${text})" (line 1, column ${column})`,
      details,
      null,
    ];
    expect(await rejection("(count().gt.1")).toEqual(
      parse("(count().gt.1", 14, 'unexpected end of input expecting "," or ")"'),
    );
    expect(await rejection("(count().gt.1)x")).toEqual(
      parse("(count().gt.1)x", 15, "unexpected 'x' expecting end of input"),
    );
    expect(await rejection("or(count().gt.1,nosuch)")).toEqual(
      parse("or(count().gt.1,nosuch)", 17, 'unexpected "n" expecting column.aggregate().operator.value'),
    );
    const deep = await rejection(`${"or(".repeat(101)}count().gt.1${")".repeat(101)}`);
    expect(deep).toEqual([
      400,
      "PGRST100",
      "The request has logic trees nested deeper than 100 levels",
      null,
      "The limit is the setting maxLogicDepth.",
    ]);
  });

  test("P-GRP-3 the hint for a filter on a column named having suggests a logic tree", async () => {
    const db = await testDatabase();
    await db.query(
      'create schema meals; create table meals.meal (id int, "having" int); insert into meals.meal values (1, 6); grant usage on schema meals to sea_anon; grant select on meals.meal to sea_anon',
    );
    const mealsApi = await startApi({
      preset: plus,
      dbSchemas: ["meals"],
      compatMode: false,
      restPrefixes: ["/"],
    });
    expect((await mealsApi.get("/meal?having=eq.6")).json().hint).toBe(
      "The parameter 'having' is not a filter. A filter on the column 'having' is written in a logic tree: and=(having.eq.6)",
    );
    expect((await mealsApi.get("/meal?and=(having.eq.6)")).json()).toEqual([{ id: 1, having: 6 }]);
  });

  test("P-GRP-3 the count is that of the groups, with embeds and windows beside it", async () => {
    const answer = await api.get(
      "/vessels?select=home_port_id,ports(name),tonnage.sum()&having=count().gt.0&limit=1&order=tonnage.sum().desc",
      {
        headers: { prefer: "count=exact" },
      },
    );
    expect(answer.headers["content-range"]).toBe("0-0/2");
    expect(answer.json()).toEqual([{ home_port_id: 1, ports: { name: "Oslo" }, sum: 1255 }]);
  });

  test("P-GRP-4 groups are ordered by aggregates", async () => {
    expect(await rows("/vessels?select=home_port_id,tonnage.sum()&order=tonnage.sum().asc")).toEqual([
      { home_port_id: null, sum: 47 },
      { home_port_id: 1, sum: 1255 },
    ]);
    expect(await rows("/vessels?select=home_port_id&having=count().gt.0&order=id.count().desc.nullslast")).toEqual([
      { home_port_id: 1 },
      { home_port_id: null },
    ]);
    expect((await api.get("/vessels?select=name&order=tonnage.sum()")).json()).toMatchObject({ code: "42803" });
  });

  test("P-GRP-4 groups are ordered by their number of rows, selected or not", async () => {
    const portKeys = [{ home_port_id: 1 }, { home_port_id: null }];
    expect(await rows("/vessels?select=home_port_id&having=count().gt.0&order=count().desc")).toEqual(portKeys);
    expect(await rows("/vessels?select=home_port_id&having=count().gt.0&order=count().asc.nullsfirst")).toEqual(
      [...portKeys].reverse(),
    );
    expect(await rows("/vessels?select=home_port_id,count()&order=count().desc,home_port_id&limit=1")).toEqual([
      { home_port_id: 1, count: 2 },
    ]);
    expect(await rows("/rpc/all_vessels?select=home_port_id,count()&order=count().desc&limit=1")).toEqual([
      { home_port_id: 1, count: 2 },
    ]);
    expect((await api.get("/vessels?select=home_port_id,count()&order=count().down")).json().code).toBe("PGRST100");
    expect((await api.get("/vessels?select=name&order=count()")).json().code).toBe("42803");
  });

  test.each([
    ["having=fare.gt.100", "PGRST100"],
    ["having=", "PGRST100"],
    ["having=fare.sum()", "PGRST100"],
    ["having=fare.nosuch().gt.1", "PGRST100"],
    ["having=fare.sum().nosuch.1", "PGRST100"],
    ["having=sum().gt.1", "PGRST100"],
    ["having=(fare.sum().gt.1,)", "PGRST100"],
    ["having=nosuch.sum().gt.1", "42703"],
    ["having=fare.sum().gt.abc", "22P02"],
    [`having=${encodeURIComponent('"x";drop table sea.ports--".sum().gt.1')}`, "PGRST100"],
    [`having=${encodeURIComponent('"x"" y".sum().gt.1')}`, "PGRST100"],
  ])("P-GRP-3 a condition on groups is rejected: %s", async (query, code) => {
    const answer = await api.get(`/voyages?select=vessel_id&${query}`);
    expect([answer.status, answer.json().code]).toEqual([400, code]);
  });

  test("P-GRP-3 having rejects aggregates that are switched off or not permitted", async () => {
    expect((await disabledApi.get("/voyages?select=vessel_id&having=count().gt.0")).json()).toMatchObject({
      code: "PGRST123",
    });
    const getAs = (role: string) =>
      graphqlApi.get("/album?select=artist_id&having=count().gt.1", { headers: asAdmin(role) });
    expect((await getAs("readers")).json()).toMatchObject({ code: "42501" });
    expect((await getAs("fans")).json()).toEqual([{ artist_id: 3 }]);
  });

  test("P-GRP-3 a write reads the parameter having as a filter on a column", async () => {
    const answer = await api.delete("/voyages?having=eq.1");
    expect([answer.status, answer.json().code]).toEqual([400, "42703"]);
    expect((await api.delete("/voyages?having=count().gt.0")).json().code).toBe("PGRST100");
  });

  test("P-GEN-2 without the plugin having is a filter for reads too, and an order rejects aggregates", async () => {
    expect((await plainApi.get("/album?having=sold.sum().gt.1")).json().code).toBe("PGRST100");
    expect((await plainApi.get("/album?order=sold.sum()")).json().code).toBe("PGRST100");
    const fullApi = await startApi({ preset: fullCompat });
    expect((await fullApi.get("/vessels?having=eq.1")).json().code).toBe("42703");
  });
});
