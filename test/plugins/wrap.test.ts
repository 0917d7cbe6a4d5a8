/** Wrappers around all plans and transactions. */
import { expect, test } from "vitest";
import { definePlugin, type Plugin, type PluginContext } from "../../core/index.ts";
import { startApi } from "../support/api.ts";

const lines: string[] = [];

const around = (name: string): Plugin =>
  definePlugin({
    name,
    apply: (_, context) =>
      context.wrap({
        prepare: (next) => (plannedRequest, session, surface) => {
          lines.push(`${name} prepares a ${plannedRequest.plan.kind} of ${session.role} on ${surface}`);
          return next(plannedRequest, session, surface);
        },
        execute: (next) => async (execution) => {
          lines.push(`${name} begins`);
          const rows = await next(execution);
          lines.push(`${name} ends with ${rows.length}`);
          return rows;
        },
      }),
  });

test("X-WRAP-1 the wrapper added last is the first to get plans and transactions of every surface", async () => {
  const api = await startApi({ parts: [around("inner"), around("outer")] });
  lines.length = 0;
  await api.get("/ports?select=id");
  expect(lines).toEqual([
    "outer prepares a read of sea_anon on rest",
    "inner prepares a read of sea_anon on rest",
    "outer begins",
    "inner begins",
    "inner ends with 1",
    "outer ends with 1",
  ]);
  for (const [query, kind] of [
    ["{ sea_ports { id } }", "read"],
    ["{ one: sea_ports { id } two: sea_ports { name } }", "bundle"],
  ] as const) {
    lines.length = 0;
    await api.gql(query);
    expect(lines.filter((line) => line.startsWith("outer"))).toEqual([
      `outer prepares a ${kind} of admin on graphql`,
      "outer begins",
      "outer ends with 1",
    ]);
  }
});

test("X-WRAP-1 the plan that a wrapper passes on is the one that runs", async () => {
  const neverCommits = definePlugin({
    name: "never-commits",
    apply: (_, { wrap }) => wrap({ execute: (next) => (execution) => next({ ...execution, end: "rollback" }) }),
  });
  const api = await startApi({ parts: [neverCommits] });
  const answer = await api.post("/ports", { body: { name: "Nowhere" } });
  expect(answer.status).toBe(201);
  expect(await api.sql("select from sea.ports where name = 'Nowhere'")).toEqual([]);
});

test("X-WRAP-1 every caller goes through all wrappers, and none is added after the start", async () => {
  let earlyExecute: PluginContext["execute"] | undefined;
  let lateWrap: (() => void) | undefined;
  const first = definePlugin({
    name: "first",
    apply: (_, { execute, wrap }) => {
      earlyExecute = execute;
      lateWrap = () => wrap({});
    },
  });
  const api = await startApi({ parts: [first, around("outer")] });
  expect(lateWrap).toThrow('plugin "first" calls wrap after relApi(preset) had applied the plugins');
  lines.length = 0;
  const session = { role: "sea_anon", databaseRole: "sea_anon", isAdmin: false, variables: {}, claims: {} };
  await earlyExecute?.({ session, access: "read only", schema: "sea", programs: [], end: "commit" });
  expect(lines).toEqual(["outer begins", "outer ends with 0"]);
  expect((await api.get("/ports?select=id&limit=1")).status).toBe(200);
});
