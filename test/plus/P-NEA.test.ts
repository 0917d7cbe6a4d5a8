// @runs-also-on postgresql-15-postgis
/** Nearest first: docs/guides/nearest.md. */
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { capabilities, forGraphql, startApi } from "../support/api.ts";
import { lastStatement } from "./last-statement.ts";

type Row = Readonly<Record<string, any>>;

const recorder = lastStatement();
const api = await startApi({ ...forGraphql(), preset: plus, parts: [recorder.plugin] });

const available = async (name: string): Promise<boolean> =>
  ((await api.sql(`select 1 from pg_available_extensions where name = '${name}'`)) as readonly Row[]).length > 0;

const extensions = {
  trigrams: await available("pg_trgm"),
  gist: await available("btree_gist"),
  vectors: await available("vector"),
  cubes: await available("cube"),
};

await api.sql(`
  create schema ext;
  create table spot (id int primary key, at point, area box, word text, day date, amount int, seen timestamp, span int4range,
    season daterange, weight numrange, shift tstzrange);
  insert into spot
    select n, point(n % 100, n / 100), box(point(n % 100, n / 100), point(n % 100, n / 100)),
           md5(n::text), date '2020-01-01' + n, n * 3, timestamp '2020-01-01' + n * interval '1 hour',
           int4range(n * 10, n * 10 + 5), daterange(date '2020-01-01' + n, date '2020-01-01' + n + 7),
           numrange(n, n + 0.5), tstzrange(timestamptz '2020-01-01 00:00+00' + n * interval '1 hour', null)
      from generate_series(1, 5000) as n;
  update spot set word = 'marsupial' where id = 77;
  insert into spot (id) values (0);
  create index on spot using gist (at);
  create index on spot using gist (area);
  ${extensions.trigrams ? "create extension if not exists pg_trgm; alter extension pg_trgm set schema ext; create index on spot using gist (word ext.gist_trgm_ops);" : ""}
  ${extensions.gist ? "create extension if not exists btree_gist; alter extension btree_gist set schema ext; create index on spot using gist (day); create index on spot using gist (amount); create index on spot using gist (seen);" : ""}
  ${extensions.vectors ? "create extension if not exists vector; alter extension vector set schema ext; create table face (id int primary key, look ext.vector(3)); insert into face select n, ext.vector('[' || n || ',1,2]') from generate_series(1, 3000) as n; create index on face using hnsw (look ext.vector_l2_ops); grant select on face to sea_anon;" : ""}
  ${extensions.cubes ? "create extension if not exists cube; alter extension cube set schema ext; create table block (id int primary key, c ext.cube); insert into block select n, ext.cube(n) from generate_series(1, 3) as n; grant select on block to sea_anon;" : ""}
  grant usage on schema ext to public;
  grant select on spot to sea_anon;
  analyze spot`);
await api.reload();

const explainLast = async (): Promise<string> => {
  const lines = (await api.sql(`explain ${recorder.text()}`)) as readonly Row[];
  return lines.map((line) => line["QUERY PLAN"]).join("\n");
};

const ids = (rows: readonly Row[]): readonly unknown[] => rows.map(({ id }) => id);

/** A case that is requested by REST and by GraphQL; both must use an index. */
interface Case {
  readonly column: string;
  readonly rest: string;
  readonly graphql: string;
  readonly nearest: readonly number[];
  readonly index?: string;
  readonly distances: readonly unknown[];
  readonly from: string;
}

const check = async (
  { column, rest, graphql, nearest, index, distances, from }: Case,
  table = "spot",
): Promise<void> => {
  const limit = nearest.length;
  const byRest = await api.get(
    `/${table}?select=id&order=${column}.nearest(${encodeURIComponent(rest)})&limit=${limit}`,
    {
      headers: { prefer: "distance=column" },
    },
  );
  expect(byRest.status, byRest.text).toBe(200);
  expect(ids(byRest.json())).toEqual(nearest);
  expect(byRest.json().map((row: Row) => row[`${column}_distance`])).toEqual(distances);
  expect(byRest.headers["preference-applied"]).toBe("distance=column");
  const knn = new RegExp(`Index (?:Only )?Scan using ${index}[^]*Order By: `);
  if (index !== undefined) expect(await explainLast()).toMatch(knn);
  const { data, errors } = await api.gql(
    `query ($from: ${graphql}!) { ${table}(limit: ${limit}, order_by: { ${column}_nearest: { from: $from } }) { id far: ${column}_distance(from: $from) } }`,
    { from: JSON.parse(from) },
  );
  expect(errors ?? []).toEqual([]);
  expect(ids(data[table])).toEqual(nearest);
  expect(data[table].map(({ far }: Row) => far)).toEqual(distances);
  if (index !== undefined) expect(await explainLast()).toMatch(knn);
};

describe("rows ordered by distance, with an index", () => {
  test("P-NEA-1 P-NEA-2 P-NEA-3 P-NEA-4 points are ordered by distance, with the distance in the result", async () => {
    await check({
      column: "at",
      rest: '"(50,20.2)"',
      graphql: "point",
      from: '"(50,20.2)"',
      nearest: [2050, 2150],
      index: "spot_at_idx",
      distances: [expect.closeTo(0.2, 9), expect.closeTo(0.8, 9)],
    });
  });

  test("P-NEA-2 boxes are ordered by their distance from a point", async () => {
    await check({
      column: "area",
      rest: '"(50,20.2)"',
      graphql: "point",
      from: '"(50,20.2)"',
      nearest: [2050, 2150],
      index: "spot_area_idx",
      distances: [expect.closeTo(0.2, 9), expect.closeTo(0.8, 9)],
    });
  });

  test.skipIf(!extensions.trigrams)("P-NEA-2 words are ordered by pg_trgm in another schema", async () => {
    await check({
      column: "word",
      rest: "marsupials",
      graphql: "String",
      from: '"marsupials"',
      nearest: [77],
      index: "spot_word_idx",
      distances: [expect.closeTo(0.25, 1)],
    });
  });

  test.skipIf(!extensions.gist)("P-NEA-2 dates, numbers and times are ordered by btree_gist", async () => {
    await check({
      column: "day",
      rest: "2020-02-01",
      graphql: "date",
      from: '"2020-02-01"',
      nearest: [31],
      index: "spot_day_idx",
      distances: [0],
    });
    await check({
      column: "amount",
      rest: "301",
      graphql: "Int",
      from: "301",
      nearest: [100, 101],
      index: "spot_amount_idx",
      distances: [1, 2],
    });
    await check({
      column: "seen",
      rest: "2020-01-01T10:10:00",
      graphql: "timestamp",
      from: '"2020-01-01T10:10:00"',
      nearest: [10, 11],
      index: "spot_seen_idx",
      distances: ["00:10:00", "00:50:00"],
    });
  });

  test("P-NEA-2 ranges are ordered by their distance from a value without an index", async () => {
    await check({ column: "span", rest: "108", graphql: "Int", from: "108", nearest: [11, 10], distances: [2, 4] });
    await check({
      column: "season",
      rest: "2019-12-30",
      graphql: "date",
      from: '"2019-12-30"',
      nearest: [1, 2],
      distances: [3, 4],
    });
    await check({
      column: "weight",
      rest: "7.8",
      graphql: "numeric",
      from: "7.8",
      nearest: [8, 7],
      distances: [0.2, 0.3],
    });
    await check({
      column: "shift",
      rest: "2020-01-01T00:30:00Z",
      graphql: "timestamptz",
      from: '"2020-01-01T00:30:00Z"',
      nearest: [1, 2],
      distances: ["00:30:00", "01:30:00"],
    });
  });

  test.skipIf(!extensions.cubes)("P-NEA-2 cubes are ordered by distance", async () => {
    await check(
      {
        column: "c",
        rest: '"(2.2)"',
        graphql: "cube",
        from: '"(2.2)"',
        nearest: [2, 3, 1],
        distances: [expect.closeTo(0.2, 9), expect.closeTo(0.8, 9), expect.closeTo(1.2, 9)],
      },
      "block",
    );
  });

  test.skipIf(!extensions.vectors)("P-NEA-2 vectors are ordered by pgvector", async () => {
    await check(
      {
        column: "look",
        rest: '"[7.1,1,2]"',
        graphql: "vector",
        from: '"[7.1,1,2]"',
        nearest: [7, 8],
        index: "face_look_idx",
        distances: [expect.closeTo(0.1, 5), expect.closeTo(0.9, 5)],
      },
      "face",
    );
    for (const name of ["nearest_cosine", "nearest_product"])
      expect((await api.get(`/face?order=look.${name}("[1,1,2]")&limit=1`)).status).toBe(200);
  });

  test.skipIf(!capabilities.postgis)("P-NEA-2 geometries of PostGIS are ordered by distance", async () => {
    const geoApi = await startApi({
      dbSchemas: ["atlas"],
      dbExtraSearchPath: ["public", "gis"],
      preset: plus,
      parts: [recorder.plugin],
    });
    await geoApi.sql(`
      create table atlas.stop (id int primary key, at gis.geometry(point, 4326), earth gis.geography(point));
      insert into atlas.stop select n, gis.st_setsrid(gis.st_makepoint(n % 100, n / 100), 4326), gis.st_makepoint(n % 100, n / 100)::gis.geography
        from generate_series(1, 5000) as n;
      create index on atlas.stop using gist (at); create index on atlas.stop using gist (earth);
      grant select on atlas.stop to sea_anon; grant usage on schema atlas, gis to sea_anon; analyze atlas.stop`);
    await geoApi.reload();
    for (const [column, distances] of [
      ["at", [expect.closeTo(0.2, 9), expect.closeTo(0.8, 9)]],
      ["earth", [expect.closeTo(22_140, -3), expect.closeTo(88_560, -3)]],
    ] as const) {
      const byRest = await geoApi.get(`/stop?select=id&order=${column}.nearest("SRID=4326%3BPOINT(50 20.2)")&limit=2`, {
        headers: { prefer: "distance=column" },
      });
      expect(byRest.json()).toEqual([2050, 2150].map((id, i) => ({ id, [`${column}_distance`]: distances[i] })));
      expect(await explainLast()).toMatch(new RegExp(`Index Scan using stop_${column}_idx[^]*Order By: `));
      const { data, errors } = await geoApi.gql(
        `query ($from: ${column === "at" ? "geometry" : "geography"}!) { atlas_stop(limit: 2, order_by: { ${column}_nearest: { from: $from } }) { id far: ${column}_distance(from: $from) } }`,
        { from: { type: "Point", coordinates: [50, 20.2] } },
      );
      expect(errors ?? []).toEqual([]);
      expect(data.atlas_stop).toEqual([2050, 2150].map((id, i) => ({ id, far: distances[i] })));
      expect(await explainLast()).toMatch(new RegExp(`Index Scan using stop_${column}_idx[^]*Order By: `));
    }
  });
});

describe("other orders", () => {
  test("P-NEA-1 the farthest rows, nulls, other terms and filters are accepted", async () => {
    const far = await api.get('/spot?select=id&order=at.nearest("(0,0)").desc.nullslast,id&limit=1');
    expect(ids(far.json())).toEqual([4999]);
    const nulls = await api.get('/spot?select=id&order=at.nearest("(0,0)").nullsfirst&limit=1');
    expect(ids(nulls.json())).toEqual([0]);
    const { data } = await api.gql(
      '{ spot(limit: 1, where: { id: { _gt: 4000 } }, order_by: [{ at_nearest: { from: "(0,0)", order: asc } }, { id: desc }]) { id } }',
    );
    expect(data.spot).toEqual([{ id: 4001 }]);
  });

  test("P-NEA-1 ordinary directions are accepted as before", async () => {
    expect((await api.gql("{ spot(limit: 1, order_by: { amount: desc, word: asc }) { id } }")).data.spot).toEqual([
      { id: 0 },
    ]);
    expect(
      (await api.get("/spot?select=id&order=id.desc&limit=1", { headers: { prefer: "distance=column" } })).headers[
        "preference-applied"
      ],
    ).toBeUndefined();
  });

  test.each([
    'at.nearest("x")',
    "at.nearest()",
    'at.nearest("(0,0)","(1,1)")',
    "word.nearest(a).up",
    "id.closest(1)",
    'at.nearest("(0,0)") or 1=1',
  ])("P-NEA-5 an order by distance is rejected: %s", async (order) => {
    const answer = await api.get(`/spot?order=${encodeURIComponent(order)}`);
    expect(answer.status).toBe(400);
  });

  test("P-NEA-5 a column that the caller may not read has no distance", async () => {
    await api.sql(
      "create table hidden_spot (id int primary key, at point); grant select (id) on hidden_spot to music_reader",
    );
    await api.reload();
    const { errors } = await api.gql(
      '{ hidden_spot { at_distance(from: "(0,0)") } }',
      {},
      { "x-session-role": "music_reader" },
    );
    expect(errors[0].message).toBe("field 'at_distance' not found in type: 'hidden_spot'");
    const orderAnswer = await api.get('/hidden_spot?select=id&order=at.nearest("(0,0)")', {
      headers: { "x-session-admin-secret": null },
    });
    expect(orderAnswer.status).toBe(401);
  });
});

test("P-NEA-5 without the plugin the order is unknown", async () => {
  const plainApi = await startApi({ ...forGraphql(), preset: plus, parts: [without("nearest")] });
  expect((await plainApi.get('/spot?order=at.nearest("(0,0)")')).json().code).toBe("PGRST100");
  const { errors } = await plainApi.gql('{ spot(order_by: { at_nearest: { from: "(0,0)" } }) { id } }');
  expect(errors[0].extensions.code).toBe("validation-failed");
  expect((await plainApi.gql('{ spot { at_distance(from: "(0,0)") } }')).errors[0].message).toBe(
    "field 'at_distance' not found in type: 'spot'",
  );
  const preferAnswer = await plainApi.get("/spot?limit=1", { headers: { prefer: "distance=column, handling=strict" } });
  expect(preferAnswer.json().code).toBe("PGRST122");
});

test("P-NEA-5 X-ORD-4 the error of a type without a distance lists the types that have one", async () => {
  await api.sql(
    "create table price (id int primary key, total numeric, lasts interval); grant select on price to sea_anon",
  );
  await api.reload();
  for (const [column, type] of [
    ["total", "numeric"],
    ["lasts", "interval"],
  ] as const) {
    const answer = await api.get(`/price?select=id&order=${column}.nearest(5)`);
    expect([answer.status, answer.json()]).toEqual([
      404,
      {
        code: "42883",
        message: `the ordering "nearest" does not exist for the type ${type}`,
        details: null,
        hint: expect.stringMatching(/^The ordering "nearest" is for point, .*int4, .*float8, .*timestamptz/),
      },
    ]);
  }
});
