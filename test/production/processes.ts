/** Processes of relApi as in production, and clients that reconnect when disconnected. */
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocket } from "ws";
import { atFileEnd } from "../support/file-end.ts";
import { openStatements, type Statements } from "../support/statements.ts";
import { startPrimary, type Server } from "../support/postgres-server.ts";
import { until } from "../support/until.ts";
import { folderFor, freePort, startProgram, type Program } from "./support.ts";

const program = fileURLToPath(new URL("../../dist/presets/standalone.js", import.meta.url));

export interface Machine {
  readonly port: number;
  /** The id of the started process, which with workers is their parent. */
  readonly pid: number;
  readonly output: () => string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

/** Starts a machine, and resolves when it listens and has loaded the schema. */
export const startMachine = async (settings: Readonly<Record<string, string>>): Promise<Machine> => {
  const child = spawn(process.execPath, [program], {
    env: { PATH: process.env["PATH"], PORT: "0", HOST: "127.0.0.1", ANON_ROLE: "web_anon", ...settings },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  const exit = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const stop = async (signal: NodeJS.Signals = "SIGTERM"): Promise<void> => {
    child.kill(signal);
    await exit;
  };
  atFileEnd(async () => {
    if (child.exitCode === null && child.signalCode === null) await stop("SIGTERM");
  });
  await until(() => output.includes("Try:") || child.exitCode !== null, "the server prints its banner");
  const [, port] = /^ *REST +http:\/\/127\.0\.0\.1:(\d+)/m.exec(output) ?? [];
  if (port === undefined) throw new Error(output);
  return { port: Number(port), pid: child.pid ?? 0, output: () => output, stop };
};

export interface Place {
  readonly server: Server;
  readonly url: string;
  readonly sql: Statements;
}

/** Starts a server with ten seats and a total, which all callers may read. */
export const startPlace = async (settings: readonly string[] = []): Promise<Place> => {
  const server = await startPrimary(settings);
  atFileEnd(() => server.stop());
  const sql = openStatements(server.url);
  await sql.run(`create role web_anon; create table seat (id int primary key, n int not null default 0);
    insert into seat select generate_series(1, 10); create table other (id int primary key); grant select on seat, other to web_anon`);
  return { server, url: server.url, sql };
};

/** The processes that have a slot, whose name begins with theirs. */
export const readers = async ({ sql }: Place): Promise<readonly number[]> =>
  (await sql.run<{ slot_name: string }>("select slot_name from pg_replication_slots")).map(({ slot_name }) =>
    Number(/^relapi_(\d+)_/.exec(slot_name)?.[1]),
  );

export interface Subscriber {
  /** The last value that the client received. */
  readonly n: () => number;
  /** Returns whether the client received an error instead. */
  readonly isRejected: () => boolean;
  readonly close: () => void;
}

const BACK_MS = 100;

/** A live query that reconnects when disconnected. */
const watchText = (port: number, query: string): Subscriber => {
  let last = -1;
  let isRejected = false;
  let socket: WebSocket | undefined;
  let isClosed = false;
  const connect = (): void => {
    socket = new WebSocket(`ws://127.0.0.1:${port}/v1/graphql/ws`, ["graphql-transport-ws"]);
    socket.on("error", () => undefined);
    socket.on("open", () => {
      socket?.send('{"type":"connection_init"}');
      socket?.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query } }));
    });
    socket.on("message", (data: Buffer) => {
      const text = data.toString();
      if (text.startsWith('{"type":"ping"')) socket?.send('{"type":"pong"}');
      isRejected ||= text.includes('"type":"error"');
      const match = /"n":(\d+)/.exec(text);
      if (match !== null) last = Number(match[1]);
    });
    socket.on("close", () => isClosed || setTimeout(connect, BACK_MS));
  };
  connect();
  return {
    n: () => last,
    isRejected: () => isRejected,
    close: () => {
      isClosed = true;
      socket?.terminate();
    },
  };
};

/** Watches one row by its key, or the highest value. */
export const watch = (port: number, id?: number): Subscriber => {
  const subscriber = watchText(
    port,
    id === undefined
      ? "subscription { seat_aggregate { aggregate { max { n } } } }"
      : `subscription { seat_by_pk(id: ${id}) { n } }`,
  );
  atFileEnd(async () => subscriber.close());
  return subscriber;
};

/** The number of subscribed processes, according to the monitor of NATS. */
export const natsConnections = async (monitorPort: number): Promise<number> => {
  const response = await fetch(`http://127.0.0.1:${monitorPort}/connz`);
  const { connections } = (await response.json()) as { readonly connections: readonly { subscriptions: number }[] };
  return connections.filter(({ subscriptions }) => subscriptions > 0).length;
};

/** The responses of Redis to commands, one per line. */
export const askRedis = (port: number, ...commands: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (bytes: Buffer) => (text += bytes.toString()));
    socket.on("error", reject).on("close", () => resolve(text));
    socket.write([...commands, "QUIT", ""].join("\r\n"));
  });

/** The number of subscribed processes. */
export const redisConnections = async (port: number, password?: string): Promise<number> => {
  const text = await askRedis(port, ...(password === undefined ? [] : [`AUTH ${password}`]), "CLIENT LIST");
  return text.split("\n").filter((line) => / sub=[1-9]/.test(line)).length;
};

/** Starts NATS. `monitorPort` is the port of its connection list. */
export const startNats = async (port: number, monitorPort?: number): Promise<Program> =>
  startProgram(
    "nats-server",
    ["-a", "127.0.0.1", "-p", String(port), ...(monitorPort === undefined ? [] : ["-m", String(monitorPort)])],
    { port },
  );

export const startRedis = async (port: number): Promise<Program> =>
  startProgram(
    "redis-server",
    ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--dir", folderFor("redis")],
    { port },
  );

/** Starts HAProxy in front of machines, by their ports. */
export const startBalancer = async (ports: readonly number[]): Promise<number> => {
  const folder = folderFor("haproxy");
  const port = await freePort();
  const file = join(folder, "haproxy.cfg");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    file,
    [
      "defaults",
      "  mode http",
      "  timeout connect 2s",
      "  timeout client 60s",
      "  timeout server 60s",
      "  timeout tunnel 1h",
      "  option redispatch",
      "  retries 3",
      "frontend all",
      `  bind 127.0.0.1:${port}`,
      "  default_backend machines",
      "backend machines",
      "  balance roundrobin",
      ...ports.map((serverPort) => `  server m${serverPort} 127.0.0.1:${serverPort} check inter 500`),
      "",
    ].join("\n"),
  );
  await startProgram("haproxy", ["-db", "-f", file], { port });
  return port;
};
