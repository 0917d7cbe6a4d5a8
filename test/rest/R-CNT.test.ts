import { describe, expect, test } from "vitest";
import { plus } from "../../presets/index.ts";
import { startApi, uncountedRange } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const cappedApi = await startApi({ dbMaxRows: 2 });

const prefer = (...preferences: readonly string[]) => ({ prefer: preferences.join(", ") });
const exact = prefer("count=exact");
const range = (contentRange: string) => ({ responseHeaders: { "content-range": contentRange } });

cases(api, [
  {
    title: "R-CNT-1 an exact count ignores limit and offset",
    request: "GET /vessels?limit=1&offset=1",
    headers: exact,
    status: 206,
    ...range("1-1/3"),
  },
  {
    title: "R-CNT-1 an exact count applies filters",
    request: "GET /vessels?tonnage=gt.100&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-1 an exact count applies logic trees",
    request: "GET /vessels?or=(id.eq.1,id.eq.3)&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-1 an exact count applies inner embeds",
    request: "GET /ports?select=name,vessels!inner(name)&limit=1",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-1 an exact count applies the filters of inner embeds",
    request: "GET /vessels?select=name,crew!inner(rank)&crew.rank=eq.mate&limit=5",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-1 an exact count applies inner embeds within inner embeds",
    request: "GET /ports?select=name,vessels!inner(name,crew!inner(rank))&vessels.crew.rank=eq.cook&limit=5",
    headers: exact,
    status: 200,
    ...range("*/0"),
  },
  {
    title: "R-CNT-1 an exact count ignores embeds that are not inner",
    request: "GET /ports?select=name,vessels(name)&vessels.id=eq.0&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-1 an exact count applies the null filter is.null on an embed",
    request: "GET /ports?select=name,vessels()&vessels=is.null&limit=5",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-1 an exact count applies the null filter not.is.null on an embed",
    request: "GET /vessels?select=name,ports()&ports=not.is.null&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-1 an exact count applies null filters in logic trees",
    request: "GET /vessels?select=name,ports()&or=(ports.is.null,tonnage.gt.800)&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-1 R-CNT-1a the count of an unlimited read is its number of rows",
    request: "GET /vessels",
    headers: exact,
    status: 200,
    ...range("0-2/3"),
  },
  {
    title: "R-CNT-1 R-CNT-1a the count of an unlimited read with inner embeds is its number of rows",
    request: "GET /ports?select=name,vessels!inner(name)",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-4 a write counts its rows",
    request: "PATCH /vessels?id=lt.3",
    headers: prefer("count=exact", "tx=rollback"),
    body: { flags: [] },
    status: 204,
    ...range("0-1/2"),
  },
  {
    title: "R-CNT-4 an estimated count of a write is exact",
    request: "DELETE /logbook",
    headers: prefer("count=estimated", "tx=rollback"),
    status: 204,
    ...range("*/2"),
  },
  {
    title: "R-CNT-4 a planned count of a write is not reported",
    request: "POST /logbook",
    headers: prefer("count=planned", "tx=rollback"),
    body: { entry: "x" },
    status: 201,
    ...range(uncountedRange("*")),
  },
  {
    title: "R-CNT-4 a function's count is that of the filtered result",
    request: "GET /rpc/all_vessels?tonnage=gt.100&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-4 a function's count applies null filters on embeds and ignores the limit",
    request: "GET /rpc/all_vessels?select=id,ports()&ports=not.is.null&limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/2"),
  },
  {
    title: "R-CNT-4 an estimated count of a function's rows is exact",
    request: "GET /rpc/all_vessels",
    headers: prefer("count=estimated"),
    status: 200,
    ...range("0-2/3"),
  },
  {
    title: "R-CNT-4 a planned count of a function is not reported",
    request: "GET /rpc/all_vessels",
    headers: prefer("count=planned"),
    status: 200,
    ...range(uncountedRange("0-2")),
  },
  {
    title: "R-CNT-4 a function that returns a single value has the count 1",
    request: "GET /rpc/fleet_weight?port=1",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-4 a function that returns a single row has the count 1",
    request: "GET /rpc/vessel_named?name=Ariel",
    headers: exact,
    status: 200,
    ...range("0-0/1"),
  },
  {
    title: "R-CNT-5 count=none is not a known preference",
    request: "GET /vessels",
    headers: prefer("count=none"),
    status: 200,
    responseHeaders: { "content-range": uncountedRange("0-2"), "preference-applied": null },
  },
  {
    title: "R-CNT-5 count=none is an error under strict handling",
    request: "GET /vessels",
    headers: prefer("handling=strict", "count=none"),
    status: 400,
    check: (answer) =>
      expect(answer.json()).toMatchObject({ code: "PGRST122", details: "Invalid preferences: count=none" }),
  },
  {
    title: "R-CNT-6 HEAD returns the same count as GET",
    request: "HEAD /vessels?limit=1",
    headers: exact,
    status: 206,
    ...range("0-0/3"),
  },
]);

describe("counts of groups", () => {
  const startAggregating = async (dbMaxRows?: number) =>
    startApi({ preset: plus, dbAggregatesEnabled: true, ...(dbMaxRows && { dbMaxRows }) });

  test("R-CNT-1 R-CNT-2 R-CNT-3 R-CNT-4 the total of a grouped read is the number of groups", async () => {
    await api.sql(`
      create table sea.sale (id int primary key, day date, qty numeric, port_id int references sea.ports);
      insert into sea.sale select n, date '2024-01-01' + n % 2, n, 1 from generate_series(1, 400) as n;
      create function sea.sales() returns setof sea.sale language sql stable as 'select * from sea.sale';
      grant select on sea.sale to sea_anon;
      analyze sea.sale`);
    const freeApi = await startAggregating();
    const [twoRowApi, oneRowApi] = [await startAggregating(2), await startAggregating(1)];
    const fetchTotal = async (
      path: string,
      count: string,
      target = freeApi,
    ): Promise<readonly (string | number | undefined)[]> => {
      const { status, headers } = await target.get(path, { headers: prefer(`count=${count}`) });
      return [status, headers["content-range"]];
    };
    for (const count of ["exact", "planned", "estimated"]) {
      expect(await fetchTotal("/sale?select=day,count()", count)).toEqual([200, "0-1/2"]);
      expect(await fetchTotal("/sale?select=day,count()&limit=10", count)).toEqual([200, "0-1/2"]);
      expect(await fetchTotal("/sale?select=day,count()&limit=1&offset=1&order=day", count)).toEqual([206, "1-1/2"]);
      expect(await fetchTotal("/sale?select=qty.sum()&limit=10", count)).toEqual([200, "0-0/1"]);
      expect(await fetchTotal("/sale?select=day,n:count(),ports!inner(name)&limit=10", count)).toEqual([200, "0-1/2"]);
      expect(await fetchTotal("/sale?select=day,count()", count, twoRowApi)).toEqual([200, "0-1/2"]);
      expect(await fetchTotal("/sale?select=day,count()&order=day", count, oneRowApi)).toEqual([206, "0-0/2"]);
    }
    for (const count of ["exact", "estimated"]) {
      expect(await fetchTotal("/rpc/sales?select=day,count()", count)).toEqual([200, "0-1/2"]);
      expect(await fetchTotal("/rpc/sales?select=day,count()&limit=1", count)).toEqual([206, "0-0/2"]);
      expect(await fetchTotal("/rpc/sales?select=day,count()", count, oneRowApi)).toEqual([206, "0-0/2"]);
      expect(await fetchTotal("/sale?select=day&having=count().gt.0&limit=1", count)).toEqual([206, "0-0/2"]);
    }
    expect(await fetchTotal("/sale?select=day&having=count().gt.900&limit=1", "exact")).toEqual([200, "*/0"]);
    const { status, headers } = await freeApi.get("/sale?select=day,count()", {
      headers: { ...prefer("count=exact"), range: "0-9" },
    });
    expect([status, headers["content-range"]]).toEqual([200, "0-1/2"]);
  });
});

describe("estimates of the planner", () => {
  test("R-CNT-2 R-CNT-2a a planned count is the planner's estimate of the count query", async () => {
    await api.sql("create table sea.grains as select n as id from generate_series(1, 1000) n");
    await api.sql("grant select on sea.grains to sea_anon");
    await api.sql("analyze sea.grains");
    await api.reload();
    await cappedApi.reload();
    const answer = await api.get("/grains?limit=1", { headers: prefer("count=planned") });
    expect(answer.headers["content-range"]).toBe("0-0/1000");
    expect(answer.status).toBe(206);
    const filteredAnswer = await api.get("/grains?id=gt.500&limit=1", { headers: prefer("count=planned") });
    expect(Number(filteredAnswer.headers["content-range"]?.split("/")[1])).toBeGreaterThan(400);
    expect(Number(filteredAnswer.headers["content-range"]?.split("/")[1])).toBeLessThan(600);
  });

  test("R-CNT-3 an estimated count without DB_MAX_ROWS is the larger of the exact and the planned count", async () => {
    await api.sql("delete from sea.grains where id > 900");
    expect((await api.get("/grains?limit=1", { headers: prefer("count=estimated") })).headers["content-range"]).toBe(
      "0-0/1000",
    );
    expect((await api.get("/ports?limit=1", { headers: prefer("count=exact") })).headers["content-range"]).toBe(
      "0-0/2",
    );
  });

  test("R-CNT-3 an estimated count below DB_MAX_ROWS is exact", async () => {
    expect(
      (await cappedApi.get("/ports?limit=1", { headers: prefer("count=estimated") })).headers["content-range"],
    ).toBe("0-0/2");
    expect(
      (await cappedApi.get("/ports?id=eq.1", { headers: prefer("count=estimated") })).headers["content-range"],
    ).toBe("0-0/1");
  });

  test("R-CNT-3 an estimated count beyond DB_MAX_ROWS is the planner's", async () => {
    expect(
      (await cappedApi.get("/grains?limit=1", { headers: prefer("count=estimated") })).headers["content-range"],
    ).toBe("0-0/1000");
  });
});
