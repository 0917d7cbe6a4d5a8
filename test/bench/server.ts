/** One contestant in a process of its own: `node server.js <variant> <scenario> <database url>`; prints its port. */
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import pg from "pg";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { SCENARIOS } from "./data.ts";

const [, , variant, scenarioIndex, databaseUrl] = process.argv;
const scenario = SCENARIOS[Number(scenarioIndex)];
if (scenario === undefined || databaseUrl === undefined)
  throw new Error("usage: server.js <variant> <scenario> <database url>");

const keyOf = (url: string | undefined): number => Number((url ?? "").slice((url ?? "").lastIndexOf(".") + 1));

const listenerOf = async (): Promise<RequestListener> => {
  if (variant === "bare") {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
    return (request, response) => {
      pool.query({ name: "q", text: scenario.textSql, values: [keyOf(request.url)] }).then(
        (result) => {
          const body = (result.rows[0] as { body: string }).body;
          response.writeHead(200, {
            "content-type": "application/json; charset=utf-8",
            "content-length": Buffer.byteLength(body),
          });
          response.end(body);
        },
        (error: Error) => response.writeHead(500).end(error.message),
      );
    };
  }
  if (variant === "ordinary") {
    const pool = new pg.Pool({ connectionString: databaseUrl, max: 10 });
    const app = express();
    app.get("/{*path}", async (request, response) => {
      const result = await pool.query(scenario.rowsSql, [keyOf(request.url)]);
      response.json(result.rows);
    });
    return app;
  }
  const api = relApi(fullCompat({ databaseUrl, anonRole: "bench_anon", logLevel: "error", dbPool: 10 }));
  await api.ready;
  return variant === "express" ? express().use(api) : api;
};

const server = createServer(await listenerOf());
server.listen(0, "127.0.0.1", () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`));
