/**
 * Loads that consume memory: small requests that make the server or a backend retain much. Each runs against a server
 * process with a 1 GB heap, so that unbounded growth ends the process.
 */
import { fork } from "node:child_process";
import { createHmac } from "node:crypto";
import { Agent, request } from "node:http";
import { createConnection, type Socket } from "node:net";
import { sendRequest, type RequestParts } from "./http.ts";
import { createRandom } from "./random.ts";
import { MEMORY_SECRET, ROLE_COUNT, roleName } from "./memory-data.ts";

interface LoadContext {
  readonly port: number;
  /** The fraction of the full load: 1, or less for a small one. */
  readonly scale: number;
  /** Sends a request. Its status is counted but not judged: a rejection is as good as a success. */
  readonly ask: (method: string, path: string, parts?: RequestParts) => Promise<void>;
  /** Runs a function this number of times, eight at a time. */
  readonly repeat: (count: number, task: (i: number) => Promise<void>) => Promise<void>;
}

export interface Load {
  readonly name: string;
  readonly connections: number;
  /** The size of pending responses that the settings allow, in addition to the limits. */
  readonly waitingMegabytes?: number;
  /** The part of the load that the test suite runs, with the expected statuses. Absent if the suite skips it. */
  readonly suite?: { readonly scale: number; readonly answers: string };
  /** Runs the load. It may return a function that ends it after the measurement. */
  readonly run: (context: LoadContext) => Promise<void | (() => void)>;
}

/**
 * The limits on the server's heap and the largest backend after the load and a collection, and on the peak memory of
 * the process.
 */
export interface Limits {
  readonly heapMegabytes: number;
  readonly peakMegabytes: number;
  readonly backendMegabytes: number;
}

interface Figures {
  readonly name: string;
  /** The number of responses by status: `200 x 100, 413 x 2`; `none` for requests without a response. */
  readonly answers: string;
  readonly seconds: number;
  /** The retained memory. Undefined if the process ended. */
  readonly memory:
    | { readonly heapMegabytes: number; readonly peakMegabytes: number; readonly backendMegabytes: number }
    | undefined;
}

const graphql = (query: string, variables?: unknown): RequestParts => ({
  body: { query, ...(variables === undefined ? {} : { variables }) },
});

const random = createRandom(1);

/** Nests `_and`, `_or` and `_not` ten levels deep. */
const chain = (depth: number): unknown => {
  if (depth === 0)
    return { [random.pick(["id", "likes"])]: { [random.pick(["_eq", "_gt", "_lt", "_neq"])]: random.int(100) } };
  const inner = chain(depth - 1);
  return random.chance(0.3)
    ? { _not: inner }
    : { [random.pick(["_and", "_or"])]: random.chance(0.5) ? [inner] : inner };
};

const COLUMNS = ["id", "title", "body", "likes", "parent_id", "at", "tags", "data"];

/** A unique document with this number of bytes. */
const longDocument = (bytes: number, i: number, field: string): string => {
  const rootField = (alias: number): string =>
    `a${i}_${alias}: post(where: {likes: {_gt: ${alias}}}, limit: 1) { ${field} title body at }`;
  const parts: string[] = [];
  for (let length = 0, alias = 0; length < bytes; length += parts.at(-1)!.length + 1, alias++)
    parts.push(rootField(alias));
  return `query ($w: post_bool_exp) { post(where: $w, limit: 1) { id } ${parts.join(" ")} }`;
};

/** A client that sends a request and does not read the response. */
const requestWithoutReading = (port: number, path: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = createConnection({ port, host: "127.0.0.1" }, () => {
      socket.pause();
      socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`);
      resolve(socket);
    });
    socket.once("error", reject);
  });

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const signToken = (role: string): string => {
  const text = [{ typ: "JWT", alg: "HS256" }, { role }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  return `${text}.${createHmac("sha256", MEMORY_SECRET).update(text).digest("base64url")}`;
};

export const LOADS: readonly Load[] = [
  {
    name: "nested variables, 25,000 of one document",
    connections: 4,
    suite: { scale: 0.004, answers: "200 x 100" },
    run: ({ repeat, ask, scale }) =>
      repeat(25_000 * scale, () =>
        ask(
          "POST",
          "/v1/graphql",
          graphql("query ($w: post_bool_exp) { post(where: $w, limit: 1) { id } }", {
            w: chain(100 + random.int(150)),
          }),
        ),
      ),
  },
  {
    name: "2,000 documents of 54 KB",
    connections: 4,
    suite: { scale: 0.002, answers: "200 x 4" },
    run: ({ repeat, ask, scale }) =>
      repeat(2000 * scale, (i) => ask("POST", "/v1/graphql", graphql(longDocument(54_000, i, "id"), { w: chain(2) }))),
  },
  {
    name: "20,000 failing documents of 20 KB",
    connections: 4,
    run: ({ repeat, ask, scale }) =>
      repeat(20_000 * scale, (i) =>
        ask("POST", "/v1/graphql", graphql(longDocument(20_000, i, i % 2 === 0 ? "no_such_field" : "id("), {})),
      ),
  },
  {
    name: "50,000 REST selects",
    connections: 4,
    run: ({ repeat, ask, scale }) =>
      repeat(50_000 * scale, (i) =>
        ask(
          "GET",
          `/api/post?select=${random
            .sample(COLUMNS, 1 + random.int(5))
            .map((column, place) => `x${i}_${place}:${column}`)
            .join(",")}&${random.pick(["id", "likes"])}=gt.${i}&limit=1`,
        ),
      ),
  },
  {
    name: "a batch of 60 entries, 20 MB each",
    connections: 4,
    suite: { scale: 0.034, answers: "200 x 1" },
    run: async ({ ask, scale }) => {
      const query = `{ ${Array.from({ length: 20 }, (_, i) => `a${i}: long_text(where: {id: {_eq: 1}}) { body }`).join(" ")} }`;
      await ask("POST", "/v1/graphql", {
        body: Array.from({ length: Math.max(1, Math.round(60 * scale)) }, () => ({ query })),
      });
    },
  },
  {
    name: "30 answers of 44 MB that nobody reads",
    connections: 4,
    waitingMegabytes: 140,
    run: async ({ port, scale }) => {
      const select = Array.from({ length: 44 }, (_, i) => `a${i}:body`).join(",");
      const sockets = await Promise.all(
        Array.from({ length: Math.max(1, Math.round(30 * scale)) }, () =>
          requestWithoutReading(port, `/api/long_text?select=${select}&id=eq.1`),
        ),
      );
      await pause(30_000 * scale);
      return () => sockets.forEach((socket) => socket.destroy());
    },
  },
  {
    name: "one answer of 570 MB",
    connections: 4,
    run: ({ ask }) =>
      ask("GET", `/api/long_text?select=${Array.from({ length: 19 }, (_, i) => `a${i}:body`).join(",")}&id=eq.2`),
  },
  {
    name: "20 roles x 500 statements, one connection",
    connections: 1,
    suite: { scale: 0.004, answers: "200 x 40" },
    run: async ({ repeat, ask, scale }) => {
      for (let i = 0; i < ROLE_COUNT; i++) {
        const headers = { authorization: `Bearer ${signToken(roleName(i))}` };
        await repeat(500 * scale, (statement) =>
          ask(
            "GET",
            `/api/post?select=${COLUMNS.map((column) => `s${statement}_${column}:${column}`).join(",")}&id=eq.1`,
            { headers },
          ),
        );
      }
    },
  },
  {
    name: "1,200 documents of 17 KB, one connection",
    connections: 1,
    suite: { scale: 0.0025, answers: "200 x 3" },
    run: ({ repeat, ask, scale }) =>
      repeat(1200 * scale, (i) => ask("POST", "/v1/graphql", graphql(longDocument(17_000, i, "id"), {}))),
  },
];

/** The status of a response, whose body is discarded because it may be large. */
const fetchStatus = (
  port: number,
  agent: Agent,
  method: string,
  path: string,
  { headers = {}, body }: RequestParts = {},
): Promise<string> =>
  new Promise((resolve) => {
    const headerEntries = Object.entries(headers).flatMap(([name, header]) =>
      typeof header === "string" ? [[name, header]] : [],
    );
    const outgoing = request(
      {
        host: "127.0.0.1",
        port,
        agent,
        method,
        path,
        headers: { "content-type": "application/json", ...Object.fromEntries(headerEntries) },
      },
      (answer) => {
        let status = String(answer.statusCode);
        answer.once("data", (chunk: Buffer) => {
          if (chunk.subarray(0, 10).toString() === '{"errors":') status = "errors";
        });
        answer.on("data", () => {});
        answer.once("error", () => resolve("none"));
        answer.once("end", () => resolve(status));
      },
    );
    outgoing.once("error", () => resolve("none"));
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });

const MEGABYTE = 1024 * 1024;

/** A server in a separate process. */
export interface LoadedServer {
  /** Runs the load. Requests not sent within the time limit are skipped. */
  measure(load: Load, scale: number, maxSeconds?: number): Promise<Figures>;
  stop(): Promise<void>;
}

/** Starts a server. `program` is the compiled memory-server.js, `connections` the number of database connections. */
export const startLoaded = async (program: string, databaseUrl: string, connections: number): Promise<LoadedServer> => {
  const child = fork(program, [databaseUrl, String(connections)], {
    execArgv: ["--max-old-space-size=1024", "--expose-gc"],
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const exit = new Promise<undefined>((resolve) => child.once("exit", () => resolve(undefined)));
  const nextMessage = <Message>(): Promise<Message | undefined> =>
    Promise.race([
      exit,
      new Promise<Message>((resolve) => child.once("message", (message) => resolve(message as Message))),
    ]);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  const stop = async (): Promise<void> => {
    agent.destroy();
    child.kill("SIGKILL");
    await exit;
  };
  const startMessage = await nextMessage<{ readonly port: number }>();
  if (startMessage === undefined) throw new Error("the server did not start");
  const { port } = startMessage;

  const run = async (load: Load, scale: number, maxSeconds = Infinity): Promise<Figures> => {
    const counts = new Map<string, number>();
    const startedAtMs = performance.now();
    const endMs = startedAtMs + maxSeconds * 1000;
    const ask: LoadContext["ask"] = async (method, path, parts) => {
      const status = await fetchStatus(port, agent, method, path, parts);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    };
    const repeat: LoadContext["repeat"] = async (count, task) => {
      let next = 0;
      const caller = async (): Promise<void> => {
        while (next < count && child.exitCode === null && child.signalCode === null && performance.now() < endMs)
          await task(next++);
      };
      await Promise.all(Array.from({ length: 8 }, caller));
    };
    const end = await load.run({ port, scale, ask, repeat });
    const backend = await sendRequest({ port, agent }, "POST", "/api/rpc/backend_bytes", { body: {} }).then(
      (answer) => Number(answer.text),
      () => Number.NaN,
    );
    const answer = nextMessage<{
      readonly heapBytes: number;
      readonly externalBytes: number;
      readonly peakBytes: number;
    }>();
    child.send("held", () => {}); // the exit event reports a process that has ended
    const memory = await answer;
    end?.();
    return {
      name: load.name,
      answers: [...counts].map(([status, count]) => `${status} x ${count}`).join(", "),
      seconds: (performance.now() - startedAtMs) / 1000,
      memory:
        memory === undefined
          ? undefined
          : {
              heapMegabytes: (memory.heapBytes + memory.externalBytes) / MEGABYTE,
              peakMegabytes: memory.peakBytes / MEGABYTE,
              backendMegabytes: backend / MEGABYTE,
            },
    };
  };

  return { measure: run, stop };
};

/** Runs the load against a server started for it. */
export const measure = async (
  load: Load,
  program: string,
  databaseUrl: string,
  scale: number,
  maxSeconds = Infinity,
): Promise<Figures> => {
  const server = await startLoaded(program, databaseUrl, load.connections);
  try {
    return await server.measure(load, scale, maxSeconds);
  } finally {
    await server.stop();
  }
};

/** The limits for a load. */
export const limitsFor = ({ waitingMegabytes = 0 }: Load, limits: Limits): Limits => ({
  ...limits,
  heapMegabytes: limits.heapMegabytes + waitingMegabytes,
  peakMegabytes: limits.peakMegabytes + waitingMegabytes,
});

/** Describes the exceeded limits. The list is empty if the load stays within all limits. */
export const excesses = ({ memory }: Figures, limits: Limits): readonly string[] => {
  if (memory === undefined) return ["the process ended"];
  return (Object.keys(limits) as (keyof Limits)[])
    .filter((figure) => !(memory[figure] <= limits[figure]))
    .map((figure) => `${figure} is above ${limits[figure]}`);
};

export const HEADINGS = ["load", "answers", "s", "heap MB", "peak MB", "backend MB", ""];

export const formatCells = (figures: Figures, limits: Limits): readonly string[] => {
  const { name, answers, seconds, memory } = figures;
  const sizes =
    memory === undefined
      ? ["-", "-", "-"]
      : [memory.heapMegabytes, memory.peakMegabytes, memory.backendMegabytes].map((size) => size.toFixed(0));
  return [name, answers, seconds.toFixed(0), ...sizes, excesses(figures, limits).join("; ") || "ok"];
};
