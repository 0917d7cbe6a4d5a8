/** The loggers of the guide. */
import { Writable } from "node:stream";
import { pino } from "pino";
import { expect, test } from "vitest";
import { createFieldsLogger, without, type Logger } from "../../core/index.ts";
import { startApi } from "../support/api.ts";
import { until } from "../support/until.ts";
import { messageFirstLogger } from "./loggers.ts";

type Line = readonly [level: string, message: string, fields: object];

const messageFirst = (lines: Line[]): Logger => {
  const write = (level: string) => (message: string, fields: object) => void lines.push([level, message, fields]);
  return messageFirstLogger({
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    debug: write("debug"),
  });
};

test("X-LOG-2 a logger that takes the message first gets messages and requests", async () => {
  const lines: Line[] = [];
  const api = await startApi({ logger: messageFirst(lines) });
  await api.get("/ports?select=id&limit=1");
  await until(() => lines.some(([, message]) => message === "request"), "the request is logged");
  expect(lines).toContainEqual(["info", "schema loaded", expect.objectContaining({ relations: expect.any(Number) })]);
  expect(lines).toContainEqual(["info", "request", expect.objectContaining({ path: "/ports", status: 200 })]);
});

test("X-LOG-2 without the plugin access-log it gets no requests", async () => {
  const lines: Line[] = [];
  const api = await startApi({ logger: messageFirst(lines), parts: [without("access-log")] });
  await api.get("/ports?select=id&limit=1");
  await api.close();
  expect(lines.map(([, message]) => message)).toContain("schema loaded");
  expect(lines.map(([, message]) => message)).not.toContain("request");
});

test("X-LOG-2 pino gets fields, and decides about levels", async () => {
  const lines: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const api = await startApi({ logger: createFieldsLogger(pino({ level: "warn" }, stream)) });
  await api.get("/ports?select=id&limit=1");
  await api.get("/no-such-table");
  await api.close();
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { msg: "request", path: "/no-such-table", status: 404 },
  ]);
});
