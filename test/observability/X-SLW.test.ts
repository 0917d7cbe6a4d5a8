/** Slow queries in the log, with their plans. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { without, type Logger } from "../../core/index.ts";
import { startApi, type StartOptions, type TestApi } from "../support/api.ts";

interface Line {
  readonly message: string;
  readonly facts: any;
}

const lines: Line[] = [];
const quiet = (): void => undefined;
const logger: Logger = {
  error: (message, facts) => lines.push({ message, facts }),
  warn: (message, facts) => lines.push({ message, facts }),
  info: quiet,
  debug: quiet,
  access: quiet,
};

const said = async (message: string, count = 1): Promise<readonly any[]> => {
  for (const endMs = Date.now() + 3000; Date.now() < endMs; await new Promise((resolve) => setTimeout(resolve, 10))) {
    const found = lines.filter((line) => line.message === message);
    if (found.length >= count) return found.map(({ facts }) => facts);
  }
  throw new Error(`not said ${count} times: ${message}, but ${JSON.stringify(lines)}`);
};

const start = (more: StartOptions): Promise<TestApi> =>
  startApi({ dbSchemas: ["sea", "land", "public"], logger, ...more });

let api: TestApi;
beforeAll(async () => {
  // everything is slow
  api = await start({ slowQueryMs: 1, slowQueryPlans: true });
});
beforeEach(() => {
  lines.length = 0;
});

const slept = "/rpc/sleep";

test("X-SLW-1 the statement, how long it took, for whom, and the key of its plan; never a value", async () => {
  await api.post(slept, { body: { seconds: 0.0421 } });
  const [facts] = await said("slow query");
  expect(facts).toMatchObject({ role: "sea_anon", surface: "rest", operation: "call", operationName: "sleep" });
  expect(facts.durationMs).toBeGreaterThanOrEqual(42);
  expect(facts.planKey).toMatch(/^[\w-]{22}$/);
  expect(facts.statement).toContain("sleep");
  expect(JSON.stringify(lines)).not.toContain("0.0421");
});

test("X-SLW-2 its plan, as the same role, with parameters in the place of values, once a minute", async () => {
  await api.sql(
    "create view sea.slow_ports as select id, name from sea.ports, pg_catalog.pg_sleep(0.02) where name <> 'of the view'",
  );
  await api.sql("grant select on sea.slow_ports to sea_anon");
  await api.reload();
  lines.length = 0;
  for (const value of ["VALUE_1", "VALUE_2", "VALUE_3"])
    expect((await api.get(`/slow_ports?name=neq.${value}&select=id`)).status).toBe(200);
  await said("slow query", 3);
  const [{ plan, role, planKey }] = await said("plan of a slow query");
  expect(role).toBe("sea_anon");
  expect(planKey).toBe((await said("slow query"))[0].planKey);
  expect(plan).toMatch(/Filter: .*name <> \$\d/);
  expect(plan).toContain("cost=");
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await said("plan of a slow query")).toHaveLength(1);
  for (const secret of ["VALUE_", "of the view"]) expect(plan).not.toContain(secret);
  expect(JSON.stringify(lines)).not.toContain("VALUE_");
  // its connection serves others as before
  expect((await api.get("/ports?id=eq.1&select=id")).json()).toEqual([{ id: 1 }]);
});

test("X-SLW-1 without the setting, or without the plugin, nothing is logged", async () => {
  for (const more of [{}, { slowQueryMs: 1, parts: [without("slow-queries")] }]) {
    const other = await start(more);
    lines.length = 0;
    await other.post(slept, { body: { seconds: 0.05 } });
    expect(lines).toEqual([]);
  }
});
