/**
 * The memory that large bodies and responses need in addition to an idle server: the peak of the process during a
 * request, by the size sent. Each scene has its own server process.
 */
import { fork } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { connect } from "node:net";
import { sendRequest } from "../support/http.ts";

const MEGABYTE = 1024 * 1024;
const ROWS = 100_000;

/** Rows of `memory_row`, with about 84 bytes of JSON each. */
export const SIZES_SQL = `
create table memory_row (id int, name text, note text);
create table memory_million as select i as id, 'name ' || i as name, repeat('n', 40) as note from generate_series(1, 1000000) i;
create table memory_text (id int primary key, body text not null);
insert into memory_text select mb, repeat('0123456789abcdef', mb * 65536) from unnest('{1,10,50}'::int[]) mb;
grant select on memory_million, memory_text to bench_anon;
grant select, insert, delete on memory_row to bench_anon;
create function note_size(body text) returns int language sql immutable as 'select length(body)';
analyze`;

interface SceneContext {
  readonly port: number;
  readonly agent: Agent;
  /** The growth of the process's peak memory since it was idle. */
  readonly growth: () => number;
}

interface SizeScene {
  readonly name: string;
  /** The limit on growth in megabytes, by the size sent. */
  readonly limit: (megabytes: number) => number;
  /** Runs the scene, and returns the megabytes sent. */
  readonly run: (context: SceneContext) => Promise<number>;
}

const post = async (
  { port, agent }: SceneContext,
  path: string,
  type: string,
  body: string | Buffer,
): Promise<number> => {
  const headers = { "content-type": type, prefer: "return=minimal" };
  const { status, text } = await sendRequest({ port, agent }, "POST", path, { headers, body });
  if (status >= 300 || text.startsWith('{"errors"')) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
  return Buffer.byteLength(body) / MEGABYTE;
};

/** Reads the response completely and discards it. */
const read = ({ port, agent }: SceneContext, path: string, headers = {}, body?: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const outgoing = request({ port, agent, host: "127.0.0.1", path, method, headers }, (incoming) => {
      let bytes = 0;
      if (incoming.statusCode !== 200) reject(new Error(`${path}: ${incoming.statusCode}`));
      incoming.on("data", (chunk: Buffer) => (bytes += chunk.length));
      incoming.on("end", () => resolve(bytes / MEGABYTE)).on("error", reject);
    });
    outgoing.on("error", reject).end(body);
  });

const JSON_TYPE = { "content-type": "application/json" };

/** Sends a GraphQL query and returns its response. */
const ask = (context: SceneContext, query: string): Promise<number> =>
  read(context, "/v1/graphql", JSON_TYPE, JSON.stringify({ query }));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Sends a request, reads nothing for some seconds, and disconnects. */
const stall = async ({ port }: SceneContext, request: string): Promise<number> => {
  const socket = connect(port, "127.0.0.1");
  socket.pause();
  socket.write(request);
  await pause(6000);
  socket.destroy();
  await pause(500);
  return 0;
};

const rows = (count: number, row: (index: number) => string, separator: string): string =>
  Array.from({ length: count }, (_, index) => row(index)).join(separator);
const json = (count: number): string =>
  `[${rows(count, (index) => `{"id":${index},"name":"name ${index}","note":"${"n".repeat(40)}"}`, ",")}]`;
const csv = (count: number): string =>
  `id,name,note\n${rows(count, (index) => `${index},name ${index},${"n".repeat(40)}`, "\n")}`;
/** Rows for a GraphQL insert, whose number of values is limited. */
const longRows = (count: number): string =>
  `[${rows(count, (index) => `{"id":${index},"name":"name ${index}","note":"${"n".repeat(1000)}"}`, ",")}]`;
const JSON_ROWS_PER_MEGABYTE = 12_500;
const CSV_ROWS_PER_MEGABYTE = 16_500;

const twoCopies = (megabytes: number): number => 2 * megabytes + FLOOR_MEGABYTES;
/** A body is in memory as bytes, a string, values, the JSON text of its rows, and part of the message to the database. */
const ofBody = (megabytes: number): number => Math.max(5 * megabytes, FLOOR_MEGABYTES);
/** The memory that any request may use: buffers of the sockets, and garbage that is not collected yet. */
const FLOOR_MEGABYTES = 20;

const SIZES = [1, 10, 50];

const MILLION = JSON.stringify({ query: "{ memory_million { id name note } }" });

export const SIZE_SCENES: readonly SizeScene[] = [
  ...SIZES.flatMap((megabytes): readonly SizeScene[] => [
    {
      name: `an answer of ${megabytes} MB, REST`,
      limit: twoCopies,
      run: (context) => read(context, `/api/memory_text?id=eq.${megabytes}`),
    },
    {
      name: `an answer of ${megabytes} MB, GraphQL`,
      limit: twoCopies,
      run: (context) => ask(context, `{ memory_text(where: {id: {_eq: ${megabytes}}}) { body } }`),
    },
    {
      name: `a body of ${megabytes} MB, JSON`,
      limit: ofBody,
      run: (context) => post(context, "/api/memory_row", "application/json", json(megabytes * JSON_ROWS_PER_MEGABYTE)),
    },
    {
      name: `a body of ${megabytes} MB, CSV`,
      limit: ofBody,
      run: (context) => post(context, "/api/memory_row", "text/csv", csv(megabytes * CSV_ROWS_PER_MEGABYTE)),
    },
    {
      name: `a body of ${megabytes} MB, form`,
      limit: ofBody,
      run: (context) =>
        post(
          context,
          "/api/memory_row",
          "application/x-www-form-urlencoded",
          `id=1&note=${"n%C3%A9+".repeat(megabytes * 131_000)}`,
        ),
    },
    {
      name: `a body of ${megabytes} MB, GraphQL variables`,
      limit: ofBody,
      run: (context) =>
        post(
          context,
          "/v1/graphql",
          "application/json",
          `{"query":"mutation ($rows: [memory_row_insert_input!]!) { insert_memory_row(objects: $rows) { affected_rows } }","variables":{"rows":${longRows(megabytes * 1000)}}}`,
        ),
    },
    {
      name: `an answer of ${megabytes} MB, CSV`,
      limit: twoCopies,
      run: (context) =>
        read(context, `/api/memory_million?limit=${megabytes * CSV_ROWS_PER_MEGABYTE}`, { accept: "text/csv" }),
    },
    {
      name: `an answer of ${megabytes} MB, GraphQL list`,
      limit: twoCopies,
      run: (context) =>
        ask(context, `{ memory_million(limit: ${megabytes * JSON_ROWS_PER_MEGABYTE}) { id name note } }`),
    },
  ]),
  ...(["application/json", "text/csv"] as const).map((type): SizeScene => ({
    name: `${ROWS} rows inserted, ${type}`,
    limit: type === "text/csv" ? (megabytes) => megabytes + 25 : ofBody,
    run: (context) => post(context, "/api/memory_row", type, type === "text/csv" ? csv(ROWS) : json(ROWS)),
  })),
  ...(["application/json", "text/csv"] as const).flatMap((type): readonly SizeScene[] => [
    {
      name: `a million unread rows, ${type}`,
      limit: () => 30,
      run: (context) => stall(context, `GET /api/memory_million HTTP/1.1\r\nHost: a\r\nAccept: ${type}\r\n\r\n`),
    },
    {
      name: `a million rows that are read, ${type}`,
      limit: () => 60,
      run: (context) => read(context, "/api/memory_million", { accept: type }),
    },
  ]),
  {
    name: "a million unread rows, GraphQL",
    limit: () => 30,
    run: (context) =>
      stall(context, `POST /v1/graphql HTTP/1.1\r\nHost: a\r\nContent-Length: ${MILLION.length}\r\n\r\n${MILLION}`),
  },
  ...["identity", "gzip"].map((coding): SizeScene => ({
    name: `a million rows that are read, GraphQL, ${coding}`,
    limit: () => 60,
    run: (context) => read(context, "/v1/graphql", { ...JSON_TYPE, "accept-encoding": coding }, MILLION),
  })),
];

export interface SizeFigures {
  readonly name: string;
  readonly sentMegabytes: number;
  readonly idleMegabytes: number;
  readonly grownMegabytes: number;
  readonly limitMegabytes: number;
  readonly seconds: number;
}

const readProcessMegabytes = (pid: number, name: string): number =>
  (Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024) /
  MEGABYTE;

/** Only Linux reports the peak memory since a point in time. */
export const canMeasureSizes = process.platform === "linux";

export const measureSize = async (scene: SizeScene, program: string, databaseUrl: string): Promise<SizeFigures> => {
  const child = fork(program, [databaseUrl, "4", String(256 * MEGABYTE)], {
    execArgv: ["--expose-gc"],
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const message = <Message>(): Promise<Message> =>
    new Promise((resolve, reject) => {
      child.once("message", (answer) => resolve(answer as Message));
      child.once("exit", () => reject(new Error(`the server ended: ${scene.name}`)));
    });
  const agent = new Agent({ keepAlive: true });
  try {
    const { port } = await message<{ readonly port: number }>();
    const pid = child.pid as number; // the process has started
    const warmingContext: SceneContext = { port, agent, growth: () => 0 };
    for (let i = 0; i < 20; i++) {
      await read(warmingContext, "/api/memory_million?limit=5");
      await read(warmingContext, "/api/memory_million?limit=5", { accept: "text/csv" });
      await post(warmingContext, "/api/memory_row", "application/json", json(5));
      await post(warmingContext, "/api/memory_row", "text/csv", csv(5));
    }
    const collection = message();
    child.send("collect");
    await collection;
    await pause(300);
    const idleMegabytes = readProcessMegabytes(pid, "VmRSS");
    writeFileSync(`/proc/${pid}/clear_refs`, "5"); // writing 5 resets VmHWM
    const growth = (): number => readProcessMegabytes(pid, "VmHWM") - idleMegabytes;
    const startedAtMs = performance.now();
    // The persistent connection may be closed before the body is ready.
    const sentMegabytes = await scene.run({ port, agent: new Agent(), growth });
    const seconds = (performance.now() - startedAtMs) / 1000;
    await pause(100);
    return {
      name: scene.name,
      sentMegabytes,
      idleMegabytes,
      grownMegabytes: growth(),
      limitMegabytes: scene.limit(sentMegabytes),
      seconds,
    };
  } finally {
    agent.destroy();
    child.kill();
  }
};

export const SIZE_HEADINGS: readonly string[] = ["Scene", "MB sent", "idle MB", "grown MB", "limit", "s", ""];

export const sizeCells = (figures: SizeFigures): readonly string[] => [
  figures.name,
  figures.sentMegabytes.toFixed(1),
  figures.idleMegabytes.toFixed(0),
  figures.grownMegabytes.toFixed(1),
  figures.limitMegabytes.toFixed(0),
  figures.seconds.toFixed(1),
  figures.grownMegabytes > figures.limitMegabytes ? "too much" : "",
];
