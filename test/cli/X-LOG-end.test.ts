/** All log lines are written, however the process ends by itself. */
import { spawn } from "node:child_process";
import { describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";

const SERVE = new URL("../../dist/presets/server/serve.js", import.meta.url).href;
const COUNT = 150;

/** Sends itself a request, and ends before any timer runs. */
const program = (options: object, end: string): string => `
  import { serve } from ${JSON.stringify(SERVE)};
  const { api, address } = await serve({
    options: ${JSON.stringify(options)},
    server: { host: "127.0.0.1", port: 0, unixSocketMode: 0o660, workers: 1 },
  });
  await api.ready;
  const ask = () => fetch(address + "/api/ports?select=id&limit=1").then((answer) => answer.text());
  for (let i = 1; i < ${COUNT}; i++) await ask();
  await ask();
  ${end}
`;

describe.skipIf(!capabilities.realServer)("the end of a process", async () => {
  const database = await testDatabase();

  test.each([
    ["json", "process.exit(3);"],
    ["text", "process.exit(3);"],
    ["json", "setImmediate(() => { throw new Error('fatal'); }); await new Promise(() => {});"],
    ["json", "queueMicrotask(() => Promise.reject(new Error('fatal'))); await new Promise(() => {});"],
  ])("X-LOG-4 every line of a request is written before the process ends: %s, %s", async (logFormat, end) => {
    const options = {
      databaseUrl: database.options.databaseUrl,
      dbSchemas: ["sea"],
      anonRole: "sea_anon",
      logFormat,
      logLevel: "info",
    };
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program(options, end)], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    const code = await new Promise((resolve) => child.on("close", resolve));
    expect(code).not.toBe(0);
    expect(output.endsWith("\n")).toBe(true);
    const lines = output.split("\n").filter((line) => line.includes("/api/ports"));
    expect(lines).toHaveLength(COUNT);
    if (logFormat === "text") return;
    const entries = lines.map((line) => JSON.parse(line));
    expect(new Set(entries.map(({ requestId }) => requestId)).size).toBe(COUNT);
    // Each line has the time of the response, not the time of writing.
    const times = entries.map(({ time }) => Date.parse(time));
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(new Set(times).size).toBeGreaterThan(5);
  });
});
