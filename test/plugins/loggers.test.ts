/** The loggers of applications: pino, `console`, and objects with the same methods. */
import { Console } from "node:console";
import { Writable } from "node:stream";
import { pino } from "pino";
import { describe, expect, test } from "vitest";
import { definePlugin, without, type RelApiOptions } from "../../core/index.ts";
import { startApi, type StartOptions } from "../support/api.ts";
import { collectMessages } from "../support/logger.ts";

type Line = readonly [level: string, message: string, fields?: Readonly<Record<string, unknown>>];

/** Logs a line of each level at the start, and an error that a listener throws. */
const talkative = definePlugin({
  name: "talkative",
  apply: (_, { logger, onModel }) => {
    for (const level of ["error", "warn", "info", "debug"] as const) logger[level](`an ${level} line`, { a: 1 });
    onModel(() => {
      throw new Error("a listener that fails");
    });
  },
});

/** A logger that collects its lines. */
const keepLines = () => {
  const lines: Line[] = [];
  const write = (level: string) => (message: string, fields?: object) => {
    lines.push(fields === undefined ? [level, message] : [level, message, { ...fields }]);
  };
  const logger = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  return { lines, logger };
};

/** A stream that collects its text. */
const keepText = (): { readonly stream: Writable; readonly text: () => string } => {
  const chunks: string[] = [];
  const stream = new Writable({
    write: (chunk, _encoding, callback) => {
      chunks.push(String(chunk));
      callback();
    },
  });
  return { stream, text: () => chunks.join("") };
};

/** Starts an api, sends a request that succeeds and one that fails, and closes the api. */
const runApi = async (options: StartOptions): Promise<void> => {
  const api = await startApi({ parts: [talkative], ...options });
  await api.get("/ports?select=id&limit=1");
  await api.get("/no-such-table");
  await api.close();
};

describe("X-LOG-5 the log lines of a mounted api", () => {
  const collectLevels = async (options: RelApiOptions): Promise<readonly string[]> => {
    const { lines, logger } = keepLines();
    await runApi({ ...options, logger });
    return lines.map(([level, message, fields]) => (message === "request" ? `request ${fields?.["status"]}` : level));
  };

  test("X-LOG-5 without logLevel warnings and errors are logged, and requests are not", async () => {
    expect(await collectLevels({ logLevel: undefined })).toEqual(["error", "warn", "error"]);
  });

  test.each([
    ["silent", [], []],
    ["error", ["error"], []],
    ["warn", ["error", "warn"], ["request 404"]],
    ["info", ["error", "warn", "info"], ["request 200", "request 404"]],
    ["debug", ["debug", "error", "warn", "info"], ["request 200", "request 404"]],
  ] as const)("X-LOG-5 the setting logLevel %s decides the levels of log lines", async (logLevel, levels, requests) => {
    const loggedLevels = new Set(await collectLevels({ logLevel }));
    expect(loggedLevels).toEqual(new Set([...levels, ...requests]));
  });
});

describe("X-LOG-2 the option logger", () => {
  test("X-LOG-2 an object with the four methods gets messages with fields, and requests", async () => {
    const { lines, logger } = keepLines();
    await runApi({ logger, logLevel: "info" });
    expect(lines).toContainEqual(["info", "schema loaded", expect.objectContaining({ relations: expect.any(Number) })]);
    expect(lines).toContainEqual(["info", "request", expect.objectContaining({ path: "/ports", status: 200 })]);
    // The stack is a string, which every logger can write.
    const cause = expect.stringMatching(/^Error: a listener that fails\n {4}at /);
    expect(lines).toContainEqual(["error", "a plugin failed", { plugin: "talkative", hook: "onModel", cause }]);
  });

  test("X-LOG-2 without the plugin access-log a logger receives no requests", async () => {
    const { lines, logger } = keepLines();
    await runApi({ logger, logLevel: "info", parts: [without("access-log")] });
    expect(lines.map(([, message]) => message)).toContain("schema loaded");
    expect(lines.map(([, message]) => message)).not.toContain("request");
  });

  test("X-LOG-2 pino receives the fields first and applies its own level", async () => {
    const { stream, text } = keepText();
    await runApi({ logger: pino({ level: "warn" }, stream), logLevel: "info" });
    const lines = text()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { level: 50, msg: "an error line", a: 1 },
      { level: 40, msg: "an warn line", a: 1 },
      {
        level: 50,
        msg: "a plugin failed",
        plugin: "talkative",
        hook: "onModel",
        cause: expect.stringContaining("at "),
      },
      { level: 40, msg: "request", path: "/no-such-table", status: 404 },
    ]);
  });

  test("X-LOG-2 a console writes the message, then the fields", async () => {
    const { stream, text } = keepText();
    await runApi({ logger: new Console(stream), logLevel: "warn" });
    expect(text()).toMatch(
      /^an error line \{ a: 1 \}\nan warn line \{ a: 1 \}\na plugin failed \{\n {2}plugin: 'talkative'/,
    );
  });

  test("X-LOG-2 a logger without one of the methods is rejected", async () => {
    const logger = { error: () => undefined, log: () => undefined, warn: () => undefined } as unknown as Console;
    await expect(startApi({ logger })).rejects.toThrow(
      "option logger has no method info: pass pino, winston, console, or an object with error, warn, info and debug",
    );
  });
});

describe("X-LOG-6 the option name", () => {
  test("X-LOG-6 the name is the first field of each line", async () => {
    const { lines, logger } = keepLines();
    await runApi({ logger, logLevel: "info", name: "shop" });
    expect(lines.length).toBeGreaterThan(4);
    for (const [, , fields] of lines) expect(Object.entries(fields ?? {})[0]).toEqual(["api", "shop"]);
  });

  test("X-LOG-6 the name is at the end of a line of text", async () => {
    const { logger, lines } = collectMessages("access");
    await runApi({ logger, logLevel: "info", name: "shop" });
    expect(lines[0]).toMatch(/"GET \/ports\?select=id&limit=1 HTTP\/1\.1" 200 \d+ "" "" "api=shop"$/);
  });
});

test("R-AUT-16 an api in an application logs an anonymous role that does not exist, once", async () => {
  const { lines, logger } = keepLines();
  const api = await startApi({ anonRole: "sea_annon", logger });
  await api.reload();
  const problems = lines.filter(([, message]) => message.startsWith("ANON_ROLE"));
  expect(problems.map(([level, message]) => [level, message])).toEqual([
    ["warn", 'ANON_ROLE is "sea_annon", a role that does not exist; did you mean "sea_anon"?'],
  ]);
});
