/** The contestants that answer the same requests, each in a separate process. */
import { spawn, type ChildProcess } from "node:child_process";
import { generateKeyPairSync } from "node:crypto";
import { fileURLToPath } from "node:url";
import jwt from "jsonwebtoken";
import { cpuMicroseconds } from "./cpu.ts";
import type { LoadRequest, Scenario } from "./data.ts";
import { load } from "./load.ts";
import type { PlusScenario } from "./plus-data.ts";

export interface Contestant {
  readonly id: string;
  readonly label: string;
  /** The variant of `server.ts`. */
  readonly variant: string;
  readonly isGraphql?: boolean;
  readonly token?: Token;
  /** The `dist` folder of another checkout. */
  readonly dist?: string;
}

interface Token {
  /** The server's `JWT_SECRET`. */
  readonly secret: string;
  readonly bearer: string;
}

const CLAIMS = { role: "bench_anon", sub: "1" };
const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const HS_SECRET = "a secret of the benchmark, which is long enough";
const HS256: Token = { secret: HS_SECRET, bearer: jwt.sign(CLAIMS, HS_SECRET, { expiresIn: "1h" }) };
const RS256: Token = {
  secret: JSON.stringify(publicKey.export({ format: "jwk" })),
  bearer: jwt.sign(CLAIMS, privateKey, { algorithm: "RS256", expiresIn: "1h" }),
};

export const BARE = "bare";
export const BARE_ROLE = "bare-role";
export const BARE_EXPRESS = "bare-express";

/** The contestants of all general scenarios. */
export const CONTESTANTS: readonly Contestant[] = [
  { id: "rest", label: "relapi on node:http, REST", variant: "relapi" },
  { id: "graphql", label: "relapi on node:http, GraphQL", variant: "relapi", isGraphql: true },
  { id: "over", label: "relapi over an Express application, REST", variant: "over" },
  { id: "express-rest", label: "relapi in Express, REST", variant: "express" },
  { id: "express-graphql", label: "relapi in Express, GraphQL", variant: "express", isGraphql: true },
  { id: BARE, label: "bare node:http + pg, no role", variant: BARE },
  { id: BARE_ROLE, label: "bare node:http + pg, role and claims", variant: BARE_ROLE },
  { id: BARE_EXPRESS, label: "bare handler in Express, no role", variant: BARE_EXPRESS },
  { id: "ordinary", label: "Express + pg, res.json, no role", variant: "ordinary" },
];

/** The contestants of the scenarios of plus, which have one request each. */
export const PLUS_CONTESTANTS: readonly Contestant[] = [
  { id: "plus", label: "relapi on node:http", variant: "plus" },
  { id: BARE, label: "bare node:http + pg, no role", variant: BARE },
  { id: BARE_ROLE, label: "bare node:http + pg, role and claims", variant: BARE_ROLE },
];

/** The contestants that show the cost of verifying a token. */
export const WITH_TOKENS: readonly Contestant[] = [
  { id: "rest", label: "relapi, REST, anonymous", variant: "relapi" },
  { id: "hs256", label: "relapi, REST, HS256", variant: "relapi", token: HS256 },
  { id: "rs256", label: "relapi, REST, RS256", variant: "relapi", token: RS256 },
];

export interface RunningContestant {
  readonly contestant: Contestant;
  readonly port: number;
  measure(seconds: number): Promise<Measurement>;
  stop(): void;
}

export interface Measurement {
  readonly perSecond: number;
  /** The processor time of the server's process, in microseconds per request. */
  readonly cpu: number;
  /** The 99th percentile in milliseconds. */
  readonly p99: number;
}

const SERVER = fileURLToPath(new URL("./server.js", import.meta.url));
const CONNECTIONS = 20;

/** Checks the body, since GraphQL errors have the status 200. @throws Error */
const checkAnswer = async (port: number, { method, path, headers = {}, body }: LoadRequest): Promise<void> => {
  const init = { method, headers, ...(body === undefined ? {} : { body }) };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
  const text = await answer.text();
  if (!answer.ok || text.startsWith('{"errors"') || text === "[]") throw new Error(`${path}: ${answer.status} ${text}`);
};

/** Starts the server of a contestant. @throws Error if the server does not start */
export const startContestant = async (
  contestant: Contestant,
  scenario: Scenario,
  index: number,
  databaseUrl: string,
): Promise<RunningContestant> => {
  const { variant, isGraphql = false, token, dist } = contestant;
  const child: ChildProcess = spawn(
    process.execPath,
    [SERVER, variant, String(index), databaseUrl, ...(dist === undefined ? [] : [dist])],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, ...(token === undefined ? {} : { BENCH_JWT_SECRET: token.secret }) },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once("data", (text: Buffer) => resolve(Number(String(text).trim())));
    child.once("exit", (code) => reject(new Error(`the server "${variant}" ended with ${code}`)));
  });
  const { pid = 0 } = child;
  // The tables of plus contain only such scenarios.
  const ask = variant === "plus" ? (scenario as PlusScenario).ask : undefined;
  if (ask !== undefined) await checkAnswer(port, ask(1));
  const headers = token === undefined ? undefined : { authorization: `Bearer ${token.bearer}` };
  return {
    contestant,
    port,
    measure: async (seconds) => {
      const before = cpuMicroseconds(pid);
      const { perSecond, p99, count } = await load({
        port,
        scenario,
        isGraphql,
        seconds,
        connections: CONNECTIONS,
        ...(headers === undefined ? {} : { headers }),
        ...(ask === undefined ? {} : { ask }),
      });
      return { perSecond, p99, cpu: (cpuMicroseconds(pid) - before) / count };
    },
    stop: () => void child.kill(),
  };
};
