/** Caches are invisible from outside: each response equals that of a fresh server. */
import { isDeepStrictEqual } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { definePlugin, mapPlan, type Exchange } from "../../core/index.ts";
import type { RestHandler } from "../../plugins/rest/api.ts";
import { rolledBack, startApi, type TestApi } from "../support/api.ts";
import { startWithContext } from "../support/context.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";

const CALL = "/rpc/vessels_of?port=1&select=name&order=name";
const READ = "/vessels?select=name&order=name";

type Variant = readonly [path: string, headers: Readonly<Record<string, string>>, method?: "GET" | "HEAD"];

/** Requests that differ from the original in a single respect. */
const listVariants = (path: string): readonly Variant[] => [
  [path, {}],
  [path, { range: "0-0" }],
  [path, { range: "1-5" }],
  [path, { range: "0-" }],
  [`${path}&limit=1`, {}],
  [`${path}&offset=1`, {}],
  [`${path}&limit=1&offset=1`, { range: "0-0" }],
  [path, { prefer: "count=exact" }],
  [path, { prefer: "count=exact", range: "0-0" }],
  [path, { prefer: "handling=strict, max-affected=1" }],
  [path, { prefer: "handling=lenient, max-affected=1" }],
  [path, { prefer: "handling=strict, nonsense" }],
  [path, { accept: "text/csv" }],
  [path, { accept: "application/vnd.pgrst.object+json" }],
  [`${path}&limit=1`, { accept: "application/vnd.pgrst.object+json" }],
  [path, { "accept-profile": "land" }],
  [path, {}, "HEAD"],
  [path, { range: "0-0" }, "HEAD"],
];

describe.each([CALL, READ])("requests with one difference: %s", (base) => {
  const variants = listVariants(base);
  let warmApi: TestApi;
  let coldApi: TestApi;
  beforeAll(async () => {
    warmApi = await startApi({ dbPool: 1 });
    coldApi = await startApi({ dbPool: 1, cacheBytes: 0, dbPreparedStatements: false });
  });

  const fetchAnswer = async (api: TestApi, [path, headers, method = "GET"]: Variant): Promise<unknown> => {
    const answer = await api.request(method, path, { headers });
    return [
      answer.status,
      answer.text,
      answer.headers["content-range"],
      answer.headers["content-type"],
      answer.headers["preference-applied"],
    ];
  };

  test.each([
    ["in order", (list: readonly Variant[]) => list],
    ["backwards", (list: readonly Variant[]) => list.toReversed()],
    [
      "each before all others",
      (list: readonly Variant[]) => list.flatMap((first) => list.flatMap((second) => [first, second])),
    ],
  ])(
    "R-CAC-1 R-RPC-14 R-RNG-2 cached requests get the responses of a server without caches, %s",
    async (_title, arrange) => {
      const expected = new Map<unknown, unknown>();
      for (const variant of variants) expected.set(variant, await fetchAnswer(coldApi, variant));
      for (const variant of arrange(variants))
        expect([variant, await fetchAnswer(warmApi, variant)]).toEqual([variant, expected.get(variant)]);
    },
  );
});

/** Reads a claim and writes it into the plan, where only the cache key distinguishes callers. */
const ownVessel = definePlugin({
  name: "own-vessel",
  apply: (hooks) => {
    hooks.transformPlan.tap("own-vessel", (plan, { model, session, surface }) => {
      const vessel = session.claims["vessel"];
      if (surface !== "rest" || typeof vessel !== "string") return plan;
      return mapPlan(plan, model, {
        read: (read) => ({
          ...read,
          where: {
            kind: "compare",
            left: { kind: "column", name: "name" },
            operator: "eq",
            operand: { constant: vessel },
          },
        }),
      });
    });
  },
});

describe("a plugin whose plans depend on the caller", () => {
  test("R-CAC-1 each caller has their own plan, in any order of callers", async () => {
    const api = await startApi({ parts: [ownVessel] });
    const ask = async (vessel: string | undefined): Promise<unknown> =>
      (
        await api.get("/vessels?select=name&order=name", {
          headers: bearer({ role: "sea_clerk", ...(vessel === undefined ? {} : { vessel }) }),
        })
      ).json();
    for (let round = 0; round < 3; round++) {
      expect(await ask("Fram")).toEqual([{ name: "Fram" }]);
      expect(await ask("Gjoa")).toEqual([{ name: "Gjoa" }]);
      expect(await ask(undefined)).toEqual([{ name: "Ariel" }, { name: "Fram" }, { name: "Gjoa" }]);
    }
  });
});

/** A plugin that wraps the handlers of the surface, and receives its usual context. */
const wrapperPlugin = definePlugin({
  name: "wrapped",
  requires: ["rest"],
  apply: (hooks) => {
    hooks.buildRestRoute.tap("wrapped", (route) => {
      const get = route.methods.get("GET");
      if (get === undefined) return route;
      const ofRoute: RestHandler = (exchange) => get(exchange, route.target);
      const getElsewhere: RestHandler = (exchange, target) =>
        get(Object.create(exchange, { method: { value: "GET" }, path: { value: "/elsewhere" } }) as Exchange, target);
      return { ...route, methods: new Map([...route.methods, ["GET", ofRoute], ["SEARCH", getElsewhere]]) };
    });
  },
});

describe("a plugin that replaces the target or the exchange", () => {
  test("R-CAC-1 R-PATH-9 a request is read from its own path, in any order of requests", async () => {
    const api = await startApi({ dbSchemas: ["public"], parts: [wrapperPlugin] });
    await api.sql(
      "create view seen_path as select current_setting('request.path') as path; grant select on seen_path to sea_anon",
    );
    await api.reload();
    const fetchJson = async (method: string, path: string): Promise<unknown> =>
      (await api.request(method, path)).json();
    for (let round = 0; round < 2; round++) {
      expect(await fetchJson("GET", "/%73een_path")).toEqual([{ path: "/%73een_path" }]);
      expect(await fetchJson("GET", "/seen_path")).toEqual([{ path: "/seen_path" }]);
      expect(await fetchJson("SEARCH", "/seen_path")).toEqual([{ path: "/elsewhere" }]);
    }
  });
});

describe("a request similar to an earlier one", async () => {
  const api = await startWithContext();
  const headers = { "x-session-admin-secret": null };
  const query = "query($id: Int!) { sea_ports(where: { id: { _eq: $id } }) { name } }";
  const path = "/vessels?select=name,ports(name)&id=eq.";

  test.each<readonly [title: string, ask: (i: number) => Promise<unknown>]>([
    ["a read", (i) => api.get(`${path}${i}`)],
    ["a read that is rolled back", (i) => api.get(`${path}${i}`, { headers: rolledBack() })],
    ["an insert", (i) => api.post("/ports", { body: { name: `Port ${i}` }, headers: rolledBack() })],
    ["a call", (i) => api.post("/rpc/add_numbers", { body: { a: i, b: 1 } })],
    ["a query", (id) => api.gql(query, { id }, headers)],
  ])("R-CAC-1 a request makes two look-ups, one for itself and one for its transaction: %s", async (_title, ask) => {
    const counts = (): readonly number[] =>
      ["cache-requests", "cache-hits"].map((name) => api.context.counters.get(name) ?? 0);
    let id = 0;
    // The first reads are measured, and later ones may join others. A read that takes too long runs again on its own.
    await until(async () => {
      const before = counts();
      await ask(id++);
      return isDeepStrictEqual(
        counts().map((count, at) => count - (before[at] ?? 0)),
        [2, 2],
      );
    }, "a request makes two look-ups");
  });
});
