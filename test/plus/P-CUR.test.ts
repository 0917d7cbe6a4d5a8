/** Pages by cursor on REST: docs/guides/pages-by-cursor.md. */
import { PostgrestClient } from "@supabase/postgrest-js";
import { describe, expect, test } from "vitest";
import { definePlugin, without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { asAdmin, startApi, type Answer, type StartOptions } from "../support/api.ts";
import { buildMetadataDocument, permissions, table } from "../support/metadata-document.ts";
import { requireLinearTime } from "../support/growth.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { lastStatement } from "./last-statement.ts";
import { createOrdered, ORDERED_ROWS } from "./ordered-types.ts";

const start = (overrides: StartOptions = {}) => startApi({ ...overrides, preset: plus });

const api = await start();
const etagApi = await start({ etags: true });
await api.sql(`
  create table sea.buoy_log (
    id int primary key, place text collate "C", depth float8, seen timestamptz, notes jsonb, kind text not null collate "C");
  insert into sea.buoy_log
    select n,
           case when n % 5 = 0 then null else (array['a "b"', 'c,d', 'e\\f', 'ünï', 'x.y'])[n % 4 + 1] end,
           case n % 7 when 0 then null when 1 then 'NaN' when 2 then 0.1 else n / 3.0 end,
           timestamptz '2024-01-01 00:00:00.123456+00' + (n % 6) * interval '1 day',
           jsonb_build_object('rank', case when n % 4 = 0 then null else n % 9 end),
           (array['k', 'l'])[n % 2 + 1]
      from generate_series(1, 43) as n;
  create table land.buoy_log as select id, kind from sea.buoy_log;
  alter table land.buoy_log add primary key (id);
  create view sea.bare_log as select depth, kind from sea.buoy_log;
  create table sea.guarded (id int primary key, owner text not null, label text);
  insert into sea.guarded select n, (array['ann', 'bob'])[n % 2 + 1], 'g' || n from generate_series(1, 12) as n;
  alter table sea.guarded enable row level security;
  create policy own on sea.guarded using (owner = current_setting('request.jwt.claims', true)::json->>'sub');
  grant select on sea.buoy_log, land.buoy_log, sea.bare_log, sea.guarded to sea_anon, sea_clerk;
  grant select (id, kind) on sea.buoy_log to sea_columns`);
await api.reload();

/** The target of each relation in `Link`, below the path. */
const parseLinks = (answer: Answer): Readonly<Record<string, string>> =>
  Object.fromEntries(
    [...(answer.headers["link"] ?? "").matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, target = "", rel = ""]) => [
      rel,
      target,
    ]),
  );

type Row = Readonly<Record<string, unknown>>;

/** The rows of all pages along one relation of the links. */
const walk = async (path: string, query: string, rel: "next" | "prev"): Promise<readonly (readonly Row[])[]> => {
  const pages: (readonly Row[])[] = [];
  for (let next: string | undefined = query; next !== undefined;) {
    const answer: Answer = await api.get(path + next);
    expect(answer.status, answer.text).toBe(200);
    pages.push(answer.json());
    next = parseLinks(answer)[rel];
    if (pages.length > 60) throw new Error("the pages do not end");
  }
  return pages;
};

const ids = (rows: readonly Row[]): readonly unknown[] => rows.map(({ id }) => id);

const ORDERS = [
  "id",
  "id.desc",
  "kind",
  "kind.desc,id.desc",
  "place",
  "place.desc",
  "place.nullsfirst",
  "place.desc.nullslast,kind",
  "depth.asc.nullsfirst,place.desc",
  "depth.desc",
  "seen.desc,depth,place.nullsfirst",
  "notes->>rank.desc,kind.asc",
  '"kind".asc,notes->>"rank".nullsfirst',
  "notes",
];

const types = await createOrdered(api.sql, "sea");
await api.sql("grant select on sea.typed to sea_anon");
await api.reload();
await etagApi.reload();

const asCaller = (role: string, claims: Readonly<Record<string, unknown>> = {}) => ({
  headers: bearer({ role, ...claims }),
});

describe("pages of rows", () => {
  test.each(ORDERS)("P-CUR-2 P-CUR-3 the pages in both directions along %s contain every row once", async (order) => {
    const base = `?select=id&order=${encodeURIComponent(order)}`;
    const expected = ids((await api.get(`/buoy_log${base}${order.includes("id") ? "" : ",id"}`)).json());
    expect(expected).toHaveLength(43);
    const forward = await walk("/buoy_log", `${base}&limit=5&cursor=`, "next");
    expect(forward.map(({ length }) => length)).toEqual([5, 5, 5, 5, 5, 5, 5, 5, 3]);
    expect(forward.flatMap(ids)).toEqual(expected);
    // The loop walks from the last page back to the first.
    let last = `${base}&limit=5&cursor=`;
    for (
      let next: string | undefined = last;
      next !== undefined;
      next = parseLinks(await api.get(`/buoy_log${last}`))["next"]
    )
      last = next;
    const backward = await walk("/buoy_log", last, "prev");
    expect([...backward].reverse().flatMap(ids)).toEqual(expected);
  });

  test.each(types)("P-CUR-2 P-CUR-3 the pages ordered by %s contain every row in both directions", async (type) => {
    const column = `c${types.indexOf(type)}`;
    for (const [order, select] of [
      ["asc", "id"],
      ["desc", "*"],
      ["asc.nullsfirst", `id,${column}`],
      ["desc.nullslast", "id"],
    ]) {
      const base = `?select=${select}&order=${column}.${order}`;
      const all = await api.get(`/typed${base},id`);
      expect(all.status, all.text).toBe(200);
      const expected = ids(all.json());
      expect(expected).toHaveLength(ORDERED_ROWS);
      let last = `${base}&limit=4&cursor=`;
      expect((await walk("/typed", last, "next")).flatMap(ids)).toEqual(expected);
      for (let next: string | undefined = last; next; next = parseLinks(await api.get(`/typed${last}`))["next"])
        last = next;
      expect([...(await walk("/typed", last, "prev"))].reverse().flatMap(ids)).toEqual(expected);
    }
  });

  test("P-CUR-1 a page has only the selected columns in PostgreSQL's format, with related rows", async () => {
    const plain = await api.get("/vessels?select=*,ports(name)&order=name&limit=2");
    const page = await api.get("/vessels?select=*,ports(name)&order=name&limit=2&cursor=");
    expect([page.status, page.headers["content-type"], page.json()]).toEqual([
      200,
      "application/json; charset=utf-8",
      plain.json(),
    ]);
    expect(page.text).toBe(plain.text);
    expect(page.headers["content-range"]).toBeUndefined();
    expect(Object.keys(parseLinks(page))).toEqual(["next"]);
    const emptyPage = await api.get("/vessels?id=eq.-1&limit=2&cursor=");
    expect([emptyPage.status, emptyPage.text, emptyPage.headers["link"]]).toEqual([200, "[]", undefined]);
  });

  test.each<readonly [prefer: string, total: number | undefined]>([
    ["count=exact", 22],
    ["count=planned", undefined],
    ["count=estimated", undefined],
    ["timezone=UTC, count=exact", 22],
    ["Count = exact", undefined],
    ["count=all", undefined],
  ])("P-CUR-1 R-CNT-1 a page has the count of all rows for the preference %s", async (prefer, total) => {
    for (const target of [api, etagApi]) {
      const query = "?select=id&kind=eq.l&order=id.desc&limit=9&cursor=";
      const plain = await target.get(`/buoy_log${query.replace("&cursor=", "")}`, { headers: { prefer } });
      const [, rowCount] = (plain.headers["content-range"] ?? "").split("/");
      if (total !== undefined) expect(rowCount).toBe(String(total));
      const pages: number[] = [];
      for (let page: string | undefined = query; page !== undefined;) {
        const answer: Answer = await target.get(`/buoy_log${page}`, { headers: { prefer } });
        const rows = answer.json().length;
        pages.push(rows);
        expect([answer.status, answer.headers["content-range"]]).toEqual(
          rowCount === "*" ? [200, undefined] : [rows < Number(rowCount) ? 206 : 200, `*/${rowCount}`],
        );
        expect(answer.headers["preference-applied"]).toBe(plain.headers["preference-applied"]);
        const head = await target.head(`/buoy_log${page}`, { headers: { prefer } });
        for (const name of ["content-range", "link", "preference-applied", "content-type"])
          expect(head.headers[name], name).toBe(answer.headers[name]);
        expect([head.status, head.text]).toEqual([answer.status, ""]);
        page = parseLinks(answer)["next"];
      }
      expect(pages).toEqual([9, 9, 4]);
    }
  });

  test("P-CUR-1 a counted page with every row is 200, and an error is reported as without pages", async () => {
    const countHeaders = { headers: { prefer: "count=exact" } };
    const all = await api.get("/buoy_log?select=id&limit=50&cursor=", countHeaders);
    expect([all.status, all.headers["content-range"]]).toEqual([200, "*/43"]);
    const emptyPage = await api.get("/buoy_log?select=id&id=lt.0&limit=5&cursor=", countHeaders);
    expect([emptyPage.status, emptyPage.headers["content-range"], emptyPage.text]).toEqual([200, "*/0", "[]"]);
    const joinAnswer = await api.get("/ports?select=name,vessels!inner(id)&order=name&limit=1&cursor=", countHeaders);
    expect(joinAnswer.headers["content-range"]).toBe(
      `*/${((await api.get("/ports?select=name,vessels!inner(id)")).json() as readonly Row[]).length}`,
    );
    const strict = { headers: { prefer: "handling=strict, count=all" } };
    const rejection = await api.get("/buoy_log?select=id&limit=5&cursor=", strict);
    expect([rejection.status, rejection.json().code]).toEqual([400, "PGRST122"]);
  });

  test("P-CUR-1 supabase-js reads the count of a page", async () => {
    const client = new PostgrestClient(api.url, { headers: bearer({ role: "sea_anon" }) });
    const query = client.from("buoy_log").select("id", { count: "exact" }).order("id").limit(2);
    (query as unknown as { readonly url: URL }).url.searchParams.set("cursor", "");
    const { data, count, error } = await query;
    expect([data, count, error]).toEqual([[{ id: 1 }, { id: 2 }], 43, null]);
  });

  test("P-CUR-1 a page without rows links to the pages before and after it", async () => {
    const cappedApi = await start({ dbMaxRows: 4 });
    await api.sql("insert into sea.buoy_log (id, kind) select i, 'way' from generate_series(2001, 2008) i");
    const path = "/buoy_log?select=id&kind=eq.way&order=id";
    const fetchPage = async (
      query: string,
    ): Promise<{ ids: readonly unknown[]; links: Readonly<Record<string, string>> }> => {
      const answer = await cappedApi.get(`/buoy_log${query}`);
      expect(answer.status, answer.text).toBe(200);
      return { ids: ids(answer.json()), links: parseLinks(answer) };
    };
    const first = await fetchPage(`${path.slice("/buoy_log".length)}&limit=30&cursor=`);
    const second = await fetchPage(first.links["next"] ?? "");
    const empty = await fetchPage(second.links["next"] ?? "");
    expect([first.ids, second.ids, empty.ids]).toEqual([[2001, 2002, 2003, 2004], [2005, 2006, 2007, 2008], []]);
    expect(Object.keys(empty.links)).toEqual(["prev", "first"]);
    const last = await fetchPage(empty.links["prev"] ?? "");
    expect([last.ids, Object.keys(last.links)]).toEqual([
      [2005, 2006, 2007, 2008],
      ["prev", "first"],
    ]);
    const before = await fetchPage(last.links["prev"] ?? "");
    expect(before.ids).toEqual([2001, 2002, 2003, 2004]);
    await api.sql("delete from sea.buoy_log where kind = 'way' and id < 2005");
    const emptyPage = await fetchPage(last.links["prev"] ?? "");
    expect([emptyPage.ids, Object.keys(emptyPage.links)]).toEqual([[], ["next", "first"]]);
    expect((await fetchPage(emptyPage.links["next"] ?? "")).ids).toEqual([2005, 2006, 2007, 2008]);
    await api.sql("delete from sea.buoy_log where kind = 'way'");
    await cappedApi.close();
  });

  test("P-CUR-1 links keep the query, and HEAD has them too", async () => {
    const page = await api.get("/buoy_log?select=id&kind=eq.k&order=id&limit=3&cursor=");
    const { next = "" } = parseLinks(page);
    expect(next).toMatch(/^\?select=id&kind=eq\.k&order=id&limit=3&cursor=[\w-]+$/);
    const second = await api.get(`/buoy_log${next}`);
    expect(ids(second.json())).toEqual([8, 10, 12]);
    expect(Object.keys(parseLinks(second))).toEqual(["next", "prev", "first"]);
    const head = await api.head(`/buoy_log${next}`);
    expect([head.status, head.text, head.headers["link"]]).toEqual([200, "", second.headers["link"]]);
  });

  test("P-CUR-2 inserted and deleted rows do not shift a page", async () => {
    await api.sql("insert into sea.buoy_log (id, kind) select i, 'own' from generate_series(1003, 1008) i");
    const page = await api.get("/buoy_log?select=id&kind=eq.own&order=id&limit=3&cursor=");
    expect(ids(page.json())).toEqual([1003, 1004, 1005]);
    await api.sql(
      "insert into sea.buoy_log (id, kind) values (1001, 'own'), (1002, 'own'); delete from sea.buoy_log where id = 1005",
    );
    expect(ids((await api.get(`/buoy_log${parseLinks(page)["next"]}`)).json())).toEqual([1006, 1007, 1008]);
    await api.sql("delete from sea.buoy_log where kind = 'own'");
  });

  test("P-CUR-2 a page is found by an index", async () => {
    await api.sql(`
      create table sea.long_log (id int primary key, at int not null);
      insert into sea.long_log select n, n / 3 from generate_series(1, 30000) as n;
      create index on sea.long_log (at, id); grant select on sea.long_log to sea_anon; analyze sea.long_log`);
    const recorder = lastStatement();
    const recordingApi = await startApi({ preset: plus, parts: [recorder.plugin] });
    const place = Buffer.from(JSON.stringify([2, "sea", "long_log", "at", 0, "9000", "27000"])).toString("base64url");
    const page = await recordingApi.get(`/long_log?select=id&order=at&limit=2&cursor=${place}`);
    expect(ids(page.json())).toEqual([27001, 27002]);
    const explain = async (): Promise<string> => {
      const lines = (await api.sql(`explain (analyze, timing off) ${recorder.text()}`)) as readonly Row[];
      return lines.map((line) => line["QUERY PLAN"]).join("\n");
    };
    const plan = await explain();
    expect(plan).toContain("Index Cond: (ROW(at, id) > ROW(9000, 27000))");
    expect(plan).toMatch(/Index (?:Only )?Scan using long_log_at_id_idx/);
    expect(plan).not.toContain("Rows Removed");
    // There are two starts: the error depends on where the first term begins.
    const mixedCursor = Buffer.from(JSON.stringify([2, "sea", "long_log", "at.desc,id", 0, "9000", "27000"])).toString(
      "base64url",
    );
    const reversePage = await recordingApi.get(`/long_log?select=id&order=at.desc,id&limit=2&cursor=${mixedCursor}`);
    expect(ids(reversePage.json())).toEqual([27001, 27002]);
    expect(await explain()).toMatch(/Index Cond: \(at <= 9000\)[^]*Rows Removed by Filter: [0-3]\n/);
  });

  test("P-CUR-2 P-CUR-5 filters of the request on columns of the order are kept", async () => {
    const all = ids((await api.get("/buoy_log?select=id&order=kind,id")).json());
    const filteredIds = ids((await api.get("/buoy_log?select=id&kind=eq.k&order=kind,id")).json());
    const walkFilters = async (filters: string): Promise<readonly unknown[]> =>
      (await walk("/buoy_log", `?select=id&${filters}&order=kind&limit=4&cursor=`, "next")).flatMap(ids);
    expect(await walkFilters("kind=eq.k&and=(id.gt.0)")).toEqual(filteredIds);
    expect(await walkFilters("and=(kind.eq.k,id.gt.0)")).toEqual(filteredIds);
    expect(await walkFilters("or=(kind.eq.k,and(kind.eq.l,id.gt.0))&id=gt.0")).toEqual(all);
    expect(await walkFilters("kind=eq.k&id=gt.0&kind=eq.k&id=not.is.null")).toEqual(filteredIds);
    expect(await walkFilters("not.and=(kind.eq.l,id.gt.0)")).toEqual(filteredIds);
  });

  test("P-CUR-5 values that a permission hides in some rows are hidden in the order", async () => {
    const columns = (names: readonly string[], filter: object) => ({ columns: names, filter });
    const metadata = buildMetadataDocument(
      [
        table("sea.buoy_log", {
          select_permissions: permissions({
            early: columns(["id", "kind"], { id: { _lte: 20 } }),
            late: columns(["id", "place"], { id: { _gt: 10 } }),
          }),
        }),
      ],
      { inherited_roles: [{ role_name: "both", role_set: ["early", "late"] }] },
    );
    const permissionsApi = await startApi({ preset: plus, metadata, metadataPermissionsForRest: true });
    const headers = asAdmin("both");
    for (const select of ["id", "id,place,kind"]) {
      const all = await permissionsApi.get(`/buoy_log?select=${select}&order=place.desc,kind,id`, { headers });
      const rows: unknown[] = [];
      for (
        let next: string | undefined = `?select=${select}&order=place.desc,kind&limit=5&cursor=`;
        next !== undefined;
      ) {
        const page: Answer = await permissionsApi.get(`/buoy_log${next}`, { headers });
        expect(page.status, page.text).toBe(200);
        rows.push(...page.json());
        next = parseLinks(page)["next"];
      }
      expect(rows).toEqual(all.json());
    }
    await permissionsApi.close();
  });

  test("P-CUR-1 X-MED-3 columns of the order may be selected under any name or not at all", async () => {
    const query = "&order=place.desc,seen,kind&limit=4&cursor=";
    const plain = ids((await api.get("/buoy_log?select=id&order=place.desc,seen,kind,id")).json());
    for (const select of ["*", "id,place,seen,kind", "id,kind:place,at:seen", "id,place:kind,x:place", "id,notes,seen"])
      expect((await walk("/buoy_log", `?select=${select}${query}`, "next")).flatMap(ids)).toEqual(plain);
  });

  test("P-CUR-3 row limits of the server shorten a page and lose no row", async () => {
    const cappedApi = await start({ dbMaxRows: 4 });
    const foundIds: unknown[] = [];
    for (let next: string | undefined = "?select=id&order=id&limit=30&cursor="; next !== undefined;) {
      const answer: Answer = await cappedApi.get(`/buoy_log${next}`);
      foundIds.push(...ids(answer.json()));
      next = parseLinks(answer)["next"];
    }
    expect(foundIds).toEqual(Array.from({ length: 43 }, (_, i) => i + 1));
  });
});

test("X-LOG-1 a page has the key of its plan in the log, with and without a count", async () => {
  const keys: (string | undefined)[] = [];
  const recorder = definePlugin({
    name: "plan-keys",
    apply: (_hooks, context) =>
      context.addStep({ name: "plan-keys", afterResponse: (_exchange, { planKey }) => void keys.push(planKey) }),
  });
  const recordingApi = await startApi({ preset: plus, parts: [recorder] });
  const path = "/buoy_log?select=id&order=id&limit=2&cursor=";
  expect((await recordingApi.get(path)).status).toBe(200);
  expect((await recordingApi.get(path, { headers: { prefer: "count=exact" } })).status).toBe(206);
  await until(() => keys.length === 2, "both requests are recorded");
  expect(keys).toEqual([expect.stringMatching(/^[\w-]{22}$/), keys[0]]);
  await recordingApi.close();
});

describe("permissions", () => {
  test("P-CUR-5 a cursor of one caller reveals no more to another than a filter", async () => {
    const ann = await api.get(
      "/guarded?select=id,owner&order=id&limit=2&cursor=",
      asCaller("sea_anon", { sub: "ann" }),
    );
    expect(ann.json()).toEqual([2, 4].map((id) => ({ id, owner: "ann" })));
    const bob = await api.get(`/guarded${parseLinks(ann)["next"]}`, asCaller("sea_anon", { sub: "bob" }));
    expect(bob.json()).toEqual([5, 7].map((id) => ({ id, owner: "bob" })));
    expect((await api.get(`/guarded${parseLinks(ann)["next"]}`)).json()).toEqual([]);
  });

  test("P-CUR-5 the columns of the order and the key must be readable", async () => {
    const allowedAnswer = await api.get("/buoy_log?select=kind&order=kind&limit=2&cursor=", asCaller("sea_columns"));
    expect([allowedAnswer.status, allowedAnswer.json()]).toEqual([200, [{ kind: "k" }, { kind: "k" }]]);
    const deniedAnswer = await api.get("/buoy_log?select=kind&order=depth&limit=2&cursor=", asCaller("sea_columns"));
    expect([deniedAnswer.status, deniedAnswer.json().code]).toEqual([403, "42501"]);
  });
});

describe("rejected cursors", () => {
  const encodeCursor = (...parts: readonly unknown[]): string =>
    Buffer.from(JSON.stringify(parts)).toString("base64url");
  const good = encodeCursor(2, "sea", "buoy_log", "id", 0, "5");
  test.each([
    ["no cursor at all", "order=id&limit=2&cursor=nonsense"],
    ["no JSON", `order=id&limit=2&cursor=${Buffer.from("[1,").toString("base64url")}`],
    ["JSON of something else", `order=id&limit=2&cursor=${encodeCursor({ a: 1 })}`],
    ["an object", `order=id&limit=2&cursor=${Buffer.from("{}").toString("base64url")}`],
    ["another order", `order=kind&limit=2&cursor=${good}`],
    ["another table", `order=id&limit=2&cursor=${encodeCursor(2, "sea", "vessels", "id", 0, "5")}`],
    ["too few values", `order=kind&limit=2&cursor=${encodeCursor(2, "sea", "buoy_log", "kind", 0, "k")}`],
    ["too many values", `order=id&limit=2&cursor=${encodeCursor(2, "sea", "buoy_log", "id", 0, "5", "6")}`],
    ["a number", `order=id&limit=2&cursor=${encodeCursor(2, "sea", "buoy_log", "id", 0, 5)}`],
    ["a NUL", `order=id&limit=2&cursor=${encodeCursor(2, "sea", "buoy_log", "id", 0, "\u0000")}`],
    ["a version to come", `order=id&limit=2&cursor=${encodeCursor(3, "sea", "buoy_log", "id", 0, "5")}`],
    ["two cursors", `order=id&limit=2&cursor=${good}&cursor=${good}`],
  ])("P-CUR-5 a cursor is rejected: %s", async (_what, query) => {
    const answer = await api.get(`/buoy_log?${query}`);
    expect([answer.status, answer.json().code]).toEqual([400, "cursor-invalid"]);
  });

  test("P-CUR-5 a cursor of a table with the same name in another schema is rejected", async () => {
    const query = "?select=id&order=id&limit=2&cursor=";
    const next = parseLinks(await api.get(`/buoy_log${query}`))["next"];
    const answer = await api.get(`/buoy_log${next}`, { headers: { "accept-profile": "land" } });
    expect([answer.status, answer.json().code]).toEqual([400, "cursor-invalid"]);
    const land = await api.get(`/buoy_log${query}`, { headers: { "accept-profile": "land" } });
    const page = await api.get(`/buoy_log${parseLinks(land)["next"]}`, { headers: { "accept-profile": "land" } });
    expect(page.json()).toEqual([{ id: 3 }, { id: 4 }]);
  });

  test("P-CUR-5 an invalid value in a cursor is the database's error, and never SQL", async () => {
    const evil = `5"),id.gt.0,or(id.eq."1`;
    const answer = await api.get(
      `/buoy_log?order=id&limit=2&cursor=${encodeCursor(2, "sea", "buoy_log", "id", 0, evil)}`,
    );
    expect([answer.status, answer.json().code]).toEqual([400, "22P02"]);
    const text = await api.get(
      `/buoy_log?select=id&order=place&limit=1&cursor=${encodeCursor(2, "sea", "buoy_log", "place", 0, `x"\\),z.(`, "1")}`,
    );
    expect(text.status).toBe(200);
  });

  test.each([
    ["an offset", "/buoy_log?order=id&limit=2&offset=2&cursor=", {}],
    ["a range", "/buoy_log?order=id&limit=2&cursor=", { range: "0-1" }],
    ["another media type", "/buoy_log?order=id&limit=2&cursor=", { accept: "text/csv" }],
    ["one row alone", "/buoy_log?limit=1&cursor=", { accept: "application/vnd.pgrst.object+json" }],
    ["rows without a key", "/bare_log?limit=2&cursor=", {}],
    ["an order in related rows", "/vessels?select=name,ports(name)&order=ports(name)&limit=2&cursor=", {}],
    ["an order by JSON of no text", "/buoy_log?order=notes->rank&limit=2&cursor=", {}],
    ["two orders", "/buoy_log?order=id&order=kind&limit=2&cursor=", {}],
    ["a column shown as something else", "/paints?order=shade&limit=2&cursor=", {}],
    ["a name of the page's own", '/buoy_log?select="cursor page key 0":id&order=depth&limit=2&cursor=', {}],
  ])("P-CUR-4 a request for a page is rejected: %s", async (_what, path, headers) => {
    const answer = await api.get(path, { headers });
    expect([answer.status, answer.json().code]).toEqual([400, "cursor-page-impossible"]);
  });

  test.each<readonly [what: string, orderOf: (n: number) => string]>([
    ["blanks that lead nowhere", (n) => `${" ".repeat(n)}(`],
    ["a string that does not end", (n) => `"${String.raw`\"`.repeat(n)}`],
    ["many strings, and one that does not end", (n) => `${'"a"'.repeat(n)}"`],
    ["many terms", (n) => "depth,".repeat(n)],
    ["many commas", (n) => ",".repeat(n)],
  ])("P-CUR-5 an order of any length is read in linear time: %s", async (_what, buildOrder) => {
    const ask = (n: number): Promise<Answer> => {
      const order = buildOrder(n);
      const query = `order=${encodeURIComponent(order)}&cursor=${encodeCursor(2, "sea", "buoy_log", order, 0, "1")}`;
      return lenientApi.post("/api/batch", { body: [{ path: `/buoy_log?${query}` }] });
    };
    const lenientApi = await start({ compatMode: false, maxUrlBytes: 10_000_000, maxOrderTerms: 1_000_000 });
    expect((await ask(1000)).status).toBe(400);
    await requireLinearTime(ask, 2000);
    await lenientApi.close();
  });

  test("P-CUR-4 pages of aggregated rows are rejected", async () => {
    const aggregatesApi = await start({ dbAggregatesEnabled: true });
    const answer = await aggregatesApi.get("/buoy_log?select=kind,count()&limit=2&cursor=");
    expect([answer.status, answer.json().code]).toEqual([400, "cursor-page-impossible"]);
    expect((await aggregatesApi.get("/ports?select=name,vessels(count())&order=name&limit=1&cursor=")).json()).toEqual([
      { name: "Leith", vessels: [{ count: expect.any(Number) }] },
    ]);
  });

  test("P-CUR-4 other invalid requests have their usual errors", async () => {
    for (const query of ["order=depth.up", "order=nothing", "select=nothing", "limit=-1", "kind=nothing"]) {
      const [with_, without] = [await api.get(`/buoy_log?${query}&cursor=`), await api.get(`/buoy_log?${query}`)];
      expect([with_.status, with_.json()]).toEqual([without.status, without.json()]);
      expect(with_.status).toBeGreaterThanOrEqual(400);
    }
  });
});

test("P-CUR-1 X-EXP-1 browsers of other origins may read the links", async () => {
  const page = await api.get("/buoy_log?limit=2&cursor=", { headers: { origin: "https://shop.example" } });
  expect(page.headers["access-control-expose-headers"]).toMatch(/, Link$/);
});

test("P-CUR-6 a column named cursor can be filtered, and without the plugin the parameter is unknown", async () => {
  await api.sql(
    "create table sea.queries (id int primary key, cursor text); grant select on sea.queries to sea_anon; insert into sea.queries values (1, 'x')",
  );
  await api.reload();
  expect((await api.get("/queries?cursor=eq.x")).json()).toEqual([{ id: 1, cursor: "x" }]);
  expect((await api.get("/queries?cursor=not.is.null&cursor=")).json()).toEqual([{ id: 1, cursor: "x" }]);
  const plainApi = await startApi({ preset: plus, parts: [without("cursor-pages")] });
  const answer = await plainApi.get("/buoy_log?order=id&limit=2&cursor=");
  expect([answer.status, answer.json().code]).toEqual([400, "PGRST100"]);
});
