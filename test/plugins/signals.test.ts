/** The events of an api that plugins can listen to. */
import { expect, test } from "vitest";
import {
  definePlugin,
  adaptFieldsFirstLogger,
  transactionEndedSignal,
  type Logger,
  type EndedTransaction,
} from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { createLogger } from "../support/logger.ts";

test("X-SIG-1 a listener gets each transaction, with its request, times and result", async () => {
  const transactions: EndedTransaction[] = [];
  const listener = definePlugin({
    name: "listener",
    apply: (_, context) => context.use(transactionEndedSignal).listen((event) => transactions.push(event)),
  });
  const api = await startApi({ parts: [listener] });
  transactions.length = 0;
  await api.get("/ports?select=id&limit=2");
  await api.gql("query Ports { sea_ports(limit: 1) { id } }");
  await api.get("/ports?select=id&id=eq.x");
  expect(transactions).toHaveLength(3);
  expect(
    transactions.map(({ execution: { exchange } }) => [exchange?.surface, exchange?.operation, exchange?.errorCode]),
  ).toEqual([
    ["rest", { kind: "read", name: "ports" }, undefined],
    ["graphql", { kind: "query", name: "Ports" }, undefined],
    ["rest", { kind: "read", name: "ports" }, "22P02"],
  ]);
  expect(transactions.map(({ rows, error }) => [rows?.length, error === undefined])).toEqual([
    [1, true],
    [1, true],
    [undefined, false],
  ]);
  for (const { askedAtMs, beganAtMs = -1, endedAtMs } of transactions) {
    expect(beganAtMs).toBeGreaterThanOrEqual(askedAtMs);
    expect(endedAtMs).toBeGreaterThan(beganAtMs);
  }
});

test("X-SIG-1 an error of a listener is logged, and changes no response", async () => {
  const errors: unknown[] = [];
  const logger: Logger = createLogger({ error: (_, fields) => errors.push(fields) });
  const brokenListener = definePlugin({
    name: "broken",
    apply: (_, context) =>
      context.use(transactionEndedSignal).listen(() => {
        throw new Error("oh");
      }),
  });
  const api = await startApi({ parts: [brokenListener], logger });
  expect((await api.get("/ports?select=id&id=eq.1")).json()).toEqual([{ id: 1 }]);
  expect(errors).toMatchObject([{ plugin: "broken", hook: 'signal("transaction")' }]);
});

test("X-LOG-2 X-LOG-2a log lines reach a logger that takes fields first, and a plugin that sends them elsewhere", async () => {
  const lines: unknown[] = [];
  const write = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
  const fieldsLogger = adaptFieldsFirstLogger({
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
  });
  const elsewhere = definePlugin({
    name: "elsewhere",
    before: ["access-log"],
    apply: (_, context) => context.logTo(fieldsLogger),
  });
  const api = await startApi({ parts: [elsewhere], logLevel: "info" });
  lines.length = 0;
  fieldsLogger.warn("careful", { a: 1 });
  fieldsLogger.access("a line", 503);
  fieldsLogger.request?.({ status: 404 }, 404);
  expect(lines).toEqual([
    ["warn", { a: 1 }, "careful"],
    ["error", {}, "a line"],
    ["warn", { status: 404 }, "request"],
  ]);
  lines.length = 0;
  await api.reload();
  expect(JSON.stringify(lines)).toContain("schema");
});
