/** Preferences of plugins: docs/guides/write-a-preference.md. */
import { describe, expect, test } from "vitest";
import { compose, definePlugin, relApi, type Plugin } from "../../core/index.ts";
import { restPreferencesService, type RestHandler } from "../../plugins/rest/api.ts";
import { fullCompat } from "../../presets/index.ts";
import { forGraphql, startApi, type Answer } from "../support/api.ts";
import { keyOrder } from "./key-order.ts";
import { createLogger } from "../support/logger.ts";

/** `Prefer: wait=5`: the statement is cancelled after five seconds. */
const wait = definePlugin({
  name: "wait",
  preferences: [
    {
      name: "wait",
      values: (seconds) => /^[1-9]$/.test(seconds),
      settings: (seconds) => [["statement_timeout", `${seconds}s`]],
    },
  ],
});

/** `Prefer: echo=relation`: a handler that reads its preference itself. */
const echo = definePlugin({
  name: "echo",
  requires: ["rest"],
  preferences: [{ name: "echo", values: ["relation"] }],
  apply: (hooks, context) => {
    hooks.buildRestRoute.tap("echo", (route) => {
      const get = route.methods.get("GET");
      if (route.target.kind !== "relation" || get === undefined) return route;
      const { name } = route.target.relation;
      const withName: RestHandler = async (exchange, target) => {
        const answer = await get(exchange, target);
        const preferences = context.use(restPreferencesService);
        if (preferences?.read(exchange).get("echo") !== "relation") return answer;
        return { ...answer, headers: [...answer.headers, ["X-Relation", name]] };
      };
      return { ...route, methods: new Map([...route.methods, ["GET", withName]]) };
    });
  },
});

const faulty = definePlugin({
  name: "faulty",
  preferences: [
    {
      name: "faulty",
      values: ["yes"],
      plan: () => {
        throw new Error("not today");
      },
    },
  ],
});

const api = await startApi({ ...forGraphql(), parts: [keyOrder, wait, echo] });
await api.sql(`
  create table stamp (id int primary key, label text);
  insert into stamp values (3, 'c'), (1, 'a'), (2, 'b');
  create view patience as select current_setting('statement_timeout') as statement_timeout;
  create function stamps() returns setof stamp stable language sql as 'select * from stamp';
  grant select on stamp, patience to sea_anon`);
await api.reload();

const ids = (answer: Answer): unknown => (answer.json() as readonly { readonly id: number }[]).map(({ id }) => id);
const readApplied = (answer: Answer): unknown => answer.headers["preference-applied"];

describe("a preference that changes the plan", () => {
  test("R-PRF-7 a preference of a plugin changes the plan of requests that state it", async () => {
    for (let round = 0; round < 3; round++) {
      const sortedAnswer = await api.get("/stamp?select=id", { headers: { prefer: "order=key" } });
      expect([sortedAnswer.status, ids(sortedAnswer), readApplied(sortedAnswer)]).toEqual([
        200,
        [1, 2, 3],
        "order=key",
      ]);
      const plain = await api.get("/stamp?select=id");
      expect([plain.status, ids(plain), readApplied(plain)]).toEqual([200, [3, 1, 2], undefined]);
    }
  });

  test("R-PRF-7 a preference works with limit and offset, whose numbers are bound", async () => {
    const page = (offset: number): Promise<Answer> =>
      api.get(`/stamp?select=id&id=gte.1&limit=1&offset=${offset}`, { headers: { prefer: "order=key" } });
    expect(await Promise.all([0, 1, 2].map(page)).then((pages) => pages.map(ids))).toEqual([[1], [2], [3]]);
  });

  test("R-PRF-7 a preference without effect is not echoed", async () => {
    const descendingAnswer = await api.get("/stamp?select=id&order=id.desc", { headers: { prefer: "order=key" } });
    expect([ids(descendingAnswer), readApplied(descendingAnswer)]).toEqual([[3, 2, 1], undefined]);
    const callAnswer = await api.get("/rpc/stamps?select=id", { headers: { prefer: "order=key" } });
    expect([ids(callAnswer), readApplied(callAnswer)]).toEqual([[3, 1, 2], undefined]);
  });

  test("R-PRF-2 R-PRF-7 strict handling knows the preference and its values", async () => {
    const strictAnswer = await api.get("/stamp?select=id", {
      headers: { prefer: "order=key, handling=strict, count=exact" },
    });
    expect([strictAnswer.status, readApplied(strictAnswer)]).toEqual([200, "count=exact, handling=strict, order=key"]);
    const misspelt = await api.get("/stamp", { headers: { prefer: "handling=strict, order=name" } });
    expect([misspelt.status, misspelt.json()]).toEqual([
      400,
      {
        code: "PGRST122",
        details: "Invalid preferences: order=name",
        hint: null,
        message: "Invalid preferences given with handling=strict",
      },
    ]);
  });
});

describe("a preference that changes a setting", () => {
  test("R-PRF-7 a preference sets a value for its own transaction only", async () => {
    const before = (await api.get("/patience")).json();
    const patient = await api.get("/patience", { headers: { prefer: "wait=7" } });
    expect([patient.json(), readApplied(patient)]).toEqual([[{ statement_timeout: "7s" }], "wait=7"]);
    expect((await api.get("/patience")).json()).toEqual(before);
  });

  test("R-PRF-7 a value that the plugin's check rejects is treated as unknown", async () => {
    const lenient = await api.get("/patience", { headers: { prefer: "wait=70, wait=8" } });
    expect([lenient.json(), readApplied(lenient)]).toEqual([[{ statement_timeout: "8s" }], "wait=8"]);
    expect((await api.get("/patience", { headers: { prefer: "wait=70, handling=strict" } })).status).toBe(400);
  });
});

test("R-PRF-7 a handler reads the preferences of its request", async () => {
  const answer = await api.get("/stamp", { headers: { prefer: "handling=strict, echo=relation" } });
  expect([answer.status, answer.headers["x-relation"], readApplied(answer)]).toEqual([200, "stamp", "handling=strict"]);
  expect((await api.get("/stamp", { headers: { prefer: "echo=me" } })).headers["x-relation"]).toBeUndefined();
  expect((await api.get("/stamp")).headers["x-relation"]).toBeUndefined();
});

test("R-PRF-7 an error of the plugin is logged with the plugin and the preference", async () => {
  const logLines: string[] = [];
  const otherApi = await startApi({
    ...forGraphql(),
    parts: [faulty],
    logger: createLogger({
      error: (_message, fields) =>
        void logLines.push(`${fields?.["plugin"]}, ${fields?.["hook"]}: ${fields?.["cause"]}`),
    }),
  });
  const answer = await otherApi.get("/stamp", { headers: { prefer: "faulty=yes" } });
  expect([answer.status, answer.json().code]).toEqual([500, "PGRSTX00"]);
  expect(logLines.join("\n")).toMatch(/^faulty, preferences\("faulty"\)\.\w+: Error: not today/);
});

describe("declarations of preferences", () => {
  const declaring = (name: string, preference: string): Plugin =>
    definePlugin({ name, preferences: [{ name: preference, values: ["yes"] }] });
  const start = (...plugins: readonly Plugin[]) => {
    const api = relApi(compose(fullCompat({ databaseUrl: "postgres://127.0.0.1:1/none" }), ...plugins));
    return api.close();
  };

  test("R-PRF-7 two plugins with one preference are rejected by their names", () => {
    expect(() => start(keyOrder, declaring("rows-in-order", "order"))).toThrow(
      'preference "order" is declared by plugins "key-order" and "rows-in-order": rename one or remove one of the plugins',
    );
    expect(() => start(declaring("my-count", "count"))).toThrow(
      'preference "count" is declared by plugins "rest" and "my-count": rename one or remove one of the plugins',
    );
  });

  test("R-PRF-7 a name that is not allowed in a header is rejected", () => {
    expect(() => start(declaring("my-words", "two words"))).toThrow(
      'preference "two words" of plugin "my-words" cannot be sent: name it with letters, digits and dashes',
    );
  });
});
