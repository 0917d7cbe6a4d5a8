/** One contestant in a separate process, which prints its port: `node server.js <variant> <scenario> <database url>
 *  [dist of a checkout]`. */
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import express from "express";
import pg from "pg";
import type * as core from "../../core/index.ts";
import type * as presets from "../../presets/index.ts";
import { SCENARIOS, type Scenario } from "./data.ts";
import { PLUS_SCENARIOS, type PlusScenario } from "./plus-data.ts";

const [, , variant, scenarioIndex, databaseUrl, dist = fileURLToPath(new URL("../..", import.meta.url))] = process.argv;
const ALL: readonly (Scenario & Partial<PlusScenario>)[] = [...SCENARIOS, ...PLUS_SCENARIOS];
const scenario = ALL[Number(scenarioIndex)];
if (scenario === undefined || databaseUrl === undefined)
  throw new Error("usage: server.js <variant> <scenario> <database url> [dist of a checkout]");

/** The single parameter of the handlers written by hand: the body, or the number at the end of the path. */
const readValue = async (request: IncomingMessage): Promise<string | number> => {
  if (scenario.body === undefined) {
    const { url = "" } = request;
    return Number(url.slice(url.lastIndexOf(".") + 1));
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

const answerText = (response: ServerResponse, row: { readonly body: string } | undefined): void => {
  if (row === undefined) return void response.writeHead(201).end();
  response.writeHead(200, {
    "content-type": "application/json; charset=utf-8",
    "content-length": Buffer.byteLength(row.body),
  });
  response.end(row.body);
};

/** Runs one prepared statement and sends its text. */
const bare = (): RequestListener => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  return (request, response) => {
    readValue(request)
      .then((value) => pool.query<{ body: string }>({ name: "q", text: scenario.textSql, values: [value] }))
      .then(
        ({ rows: [row] }) => answerText(response, row),
        (error: Error) => response.writeHead(500).end(error.message),
      );
  };
};

/** Runs the statement as a role, with claims for policies, in one round trip: the minimum work of an API for callers. */
const bareWithRole = (): RequestListener => {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 10,
    onConnect: async (client) => {
      await client.query(`prepare q as ${scenario.textSql};
        prepare caller (text, text) as select set_config('role', $1, true), set_config('request.jwt.claims', $2, true)`);
    },
  });
  const caller = `${pg.escapeLiteral("bench_anon")}, ${pg.escapeLiteral(JSON.stringify({ role: "bench_anon" }))}`;
  return (request, response) => {
    readValue(request)
      .then((value) => {
        const literal = typeof value === "number" ? value : pg.escapeLiteral(value);
        // Several statements in one message have one result each.
        return pool.query(`begin; execute caller(${caller}); execute q(${literal}); commit`) as unknown as Promise<
          readonly pg.QueryResult<{ body: string }>[]
        >;
      })
      .then(
        (results) => answerText(response, results[2]?.rows[0]),
        (error: Error) => response.writeHead(500).end(error.message),
      );
  };
};

/** A handler as most developers would write it. */
const ordinary = (): RequestListener => {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
  const app = express();
  app.all("/{*path}", async (request, response) => {
    const { rows } = await pool.query<object>(scenario.rowsSql, [await readValue(request)]);
    response.status(scenario.body === undefined ? 200 : 201).json(rows);
  });
  return app;
};

const relapi = async (
  mount: "listener" | "use" | "over",
  preset: "fullCompat" | "plus" = "fullCompat",
): Promise<RequestListener> => {
  const from = async <Module>(path: string): Promise<Module> =>
    (await import(pathToFileURL(join(resolve(dist), path)).href)) as Module;
  const { relApi } = await from<typeof core>("core/index.js");
  const buildPreset = (await from<typeof presets>("presets/index.js"))[preset];
  const jwtSecret = process.env["BENCH_JWT_SECRET"];
  const api = relApi(
    buildPreset({
      databaseUrl,
      anonRole: "bench_anon",
      logLevel: "error",
      dbPool: 10,
      ...(jwtSecret === undefined ? {} : { jwtSecret }),
      ...scenario.options,
    }),
  );
  await api.ready;
  return mount === "listener" ? api : mount === "use" ? express().use(api) : api.over(express());
};

const VARIANTS: Readonly<Record<string, () => RequestListener | Promise<RequestListener>>> = {
  relapi: () => relapi("listener"),
  express: () => relapi("use"),
  over: () => relapi("over"),
  plus: () => relapi("listener", "plus"),
  bare,
  "bare-role": bareWithRole,
  "bare-express": () => express().all("/{*path}", bare()),
  ordinary,
};

const start = VARIANTS[variant ?? ""];
if (start === undefined) throw new Error(`variants: ${Object.keys(VARIANTS).join(", ")}`);
const server = createServer(await start());
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
