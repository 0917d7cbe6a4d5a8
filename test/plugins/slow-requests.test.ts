/** Steps around requests, and settings of plugins. */
import { describe, expect, test } from "vitest";
import { buildSettingRows, definePlugin } from "../../core/index.ts";
import { startApi, type StartOptions } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { bearer } from "../support/tokens.ts";
import { slowRequests } from "./slow-requests.ts";
import { createLogger } from "../support/logger.ts";

const database = await testDatabase();
await database.query("create function sea.nap() returns int language sql as 'select 1 from pg_sleep(0.01)'");

const startWatched = async (options: StartOptions = {}) => {
  const warnings: (readonly [string, unknown])[] = [];
  const warn = (message: string, fields?: unknown): void => void warnings.push([message, fields]);
  const logger = createLogger({ warn });
  const api = await startApi({ parts: [slowRequests], logger, ...options });
  return { api, warnings: () => warnings.filter(([message]) => message === "slow answer") };
};

describe("X-STEP-1 a step around each request", () => {
  test("X-STEP-1 the step gets the result of the request", async () => {
    const patient = await startWatched({ slowAfter: 60_000 });
    await patient.api.get("/ports", { headers: bearer({ role: "sea_clerk" }) });
    expect(patient.warnings()).toEqual([]);
    const { api, warnings } = await startWatched({ slowAfter: 1 });
    await api.post("/rpc/nap", { headers: bearer({ role: "sea_clerk" }) });
    await api.relApi.rest({ method: "POST", path: "/rpc/nap" });
    expect(warnings()).toEqual([
      ["slow answer", { method: "POST", path: "/rpc/nap", status: 200, role: "sea_clerk", ms: expect.any(Number) }],
      ["slow answer", expect.objectContaining({ path: "/api/rpc/nap", role: "sea_anon" })],
    ]);
  });

  test("X-STEP-1 the step gets the key of the plan that was run", async () => {
    const keys: (string | undefined)[] = [];
    const counting = definePlugin({
      name: "counting",
      apply: (_, context) =>
        context.addStep({ name: "counting", afterResponse: (_exchange, { planKey }) => void keys.push(planKey) }),
    });
    const api = await startApi({ parts: [counting] });
    await api.get("/ports?id=eq.1");
    await api.get("/ports?id=eq.2");
    await api.get("/ports?select=id&id=eq.2");
    await api.gql("query ($id: Int!) { ports(where: { id: { _eq: $id } }) { id } }", { id: 1 });
    await api.gql("query ($id: Int!) { ports(where: { id: { _eq: $id } }) { id } }", { id: 2 });
    await api.get("/no_such_table");
    const [key, sameKey, otherKey, queryKey, sameQueryKey, noKey] = keys;
    expect(key).toMatch(/^[\w-]{22}$/);
    expect([sameKey, sameQueryKey, noKey]).toEqual([key, queryKey, undefined]);
    expect(new Set([key, otherKey, queryKey]).size).toBe(3);
  });

  test("G-ERR-9 callers are rejected with the messages of each surface", async () => {
    const { api } = await startWatched({ bannedRoles: ["sea_clerk"] });
    const clerk = bearer({ role: "sea_clerk" });
    const rejection = await api.get("/ports", { headers: clerk });
    expect(rejection.status).toBe(403);
    expect(rejection.json()).toMatchObject({ code: "role-banned", message: "Requests of this role are rejected" });
    const answer = await api.post("/v1/graphql", { headers: clerk, body: { query: "{ __typename }" } });
    expect([answer.status, answer.json()]).toEqual([
      403,
      { errors: [{ message: "Requests of this role are rejected", extensions: { path: "$", code: "role-banned" } }] },
    ]);
    expect((await api.get("/ports")).status).toBe(200);
  });

  test("X-STEP-1 an error of a step after the response is logged and changes nothing", async () => {
    const faulty = definePlugin({
      name: "faulty",
      apply: (_, context) =>
        context.addStep({
          name: "faulty",
          headers: () => {
            throw new Error("no headers");
          },
          afterResponse: () => {
            throw new Error("no end");
          },
        }),
    });
    const errors: unknown[] = [];
    const error = (message: string, fields: unknown): void => void errors.push([message, fields]);
    const logger = createLogger({ error });
    const api = await startApi({ parts: [faulty], logger });
    expect((await api.get("/ports?limit=1")).status).toBe(200);
    expect(errors).toHaveLength(2);
    expect(errors[0]).toMatchObject(["a request step of a plugin failed", { step: "faulty" }]);
  });
});

test("X-SET-3 a settings page lists the rows of the plugin", () => {
  expect(buildSettingRows([slowRequests])).toEqual([
    "| `SLOW_AFTER` |  | `500` | milliseconds after which an answer counts as slow and is logged |",
    "| `BANNED_ROLES` |  | `[]` | roles whose requests are rejected |",
  ]);
});
