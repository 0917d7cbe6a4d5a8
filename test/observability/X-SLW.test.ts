/** Slow queries in the log, with their plans. */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { without, type Logger } from "../../core/index.ts";
import { capabilities, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { until } from "../support/until.ts";
import { createLogger } from "../support/logger.ts";

interface Line {
  readonly message: string;
  readonly fields: any;
}

const lines: Line[] = [];
const logger: Logger = createLogger({
  error: (message, fields) => lines.push({ message, fields }),
  warn: (message, fields) => lines.push({ message, fields }),
});

/** The log entries of slow queries that contain the text. */
const findSlowQueries = (text: string): readonly any[] =>
  lines
    .filter(({ message, fields }) => message === "slow query" && fields.statement.includes(text))
    .map(({ fields }) => fields);

/** The plans in the log with that key. */
const findPlans = (planKey: string): readonly any[] =>
  lines
    .filter(({ message, fields }) => message === "plan of a slow query" && fields.planKey === planKey)
    .map(({ fields }) => fields);

const start = (options: StartOptions): Promise<TestApi> =>
  startApi({ dbSchemas: ["sea", "land", "public"], logger, ...options });

let api: TestApi;
beforeAll(async () => {
  // With one connection, plans are requested in the order of the queries.
  api = await start({ slowQueryMs: 1, slowQueryPlans: true, ...(capabilities.realServer ? { dbPool: 1 } : {}) });
});
beforeEach(() => {
  lines.length = 0;
});

const slept = "/rpc/sleep";

test("X-SLW-1 a slow statement is logged with its duration, role and plan key, and without values", async () => {
  await api.post(slept, { body: { seconds: 0.0421 } });
  const [fields] = findSlowQueries("sleep");
  expect(fields).toMatchObject({ role: "sea_anon", surface: "rest", operation: "call", operationName: "sleep" });
  expect(fields.durationMs).toBeGreaterThanOrEqual(42);
  expect(fields.planKey).toMatch(/^[\w-]{22}$/);
  expect(fields.statement).toContain("sleep");
  expect(JSON.stringify(lines)).not.toContain("0.0421");
});

test("X-SLW-2 the plan is logged once a minute under the same role, with parameters in place of values", async () => {
  await api.sql(
    "create view sea.slow_ports as select id, name from sea.ports, pg_catalog.pg_sleep(0.02) where name <> 'of the view'",
  );
  await api.sql("grant select on sea.slow_ports to sea_anon");
  await api.reload();
  lines.length = 0;
  for (const value of ["VALUE_1", "VALUE_2", "VALUE_3"])
    expect((await api.get(`/slow_ports?name=neq.${value}&select=id`)).status).toBe(200);
  expect(findSlowQueries("slow_ports")).toHaveLength(3);
  const [{ planKey: key }] = findSlowQueries("slow_ports");
  // Its plan follows all plans that were due before.
  await api.get("/slow_ports?select=name");
  const otherKey = findSlowQueries("slow_ports").at(-1).planKey;
  await until(() => findPlans(otherKey).length === 1, "the plan of another query is logged");
  expect(findPlans(key)).toHaveLength(1);
  const [{ plan, role }] = findPlans(key);
  expect(role).toBe("sea_anon");
  expect(plan).toMatch(/Filter: .*name <> \$\d/);
  expect(plan).toContain("cost=");
  for (const secret of ["VALUE_", "of the view"]) expect(plan).not.toContain(secret);
  expect(JSON.stringify(lines)).not.toContain("VALUE_");
  // Its connection is used by other requests afterwards.
  expect((await api.get("/ports?id=eq.1&select=id")).json()).toEqual([{ id: 1 }]);
});

test("X-SLW-1 nothing is logged without the setting or the plugin", async () => {
  for (const options of [{}, { slowQueryMs: 1, parts: [without("slow-queries")] }]) {
    const otherApi = await start(options);
    lines.length = 0;
    await otherApi.post(slept, { body: { seconds: 0.05 } });
    expect(lines.filter(({ message }) => message.includes("slow query"))).toEqual([]);
  }
});
