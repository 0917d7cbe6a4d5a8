/** `npm run trace`: the way of a warm request through the code: which files of core and plugins it passes, and how many
 *  named functions there. `-- --list` names them. Needs a PostgreSQL: TEST_DATABASE_URL (superuser), or the server
 *  programs of one on this machine. It fails when there are more than `MAX_FILES` and `MAX_FUNCTIONS`. */
import { createServer } from "node:http";
import { Session } from "node:inspector/promises";
import type { AddressInfo } from "node:net";
import { relApi } from "../../core/index.ts";
import { fullCompat } from "../../presets/index.ts";
import { BENCH_SQL } from "./data.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

interface Asked {
  readonly name: string;
  readonly path: string;
  /** GraphQL. */
  readonly body?: string;
}

/** Each sent with another value every time, as clients do. */
const REQUESTS: readonly ((key: number) => Asked)[] = [
  (key) => ({
    name: "REST read with an embed",
    path: `/api/album?select=title,artist(name)&artist_id=eq.${key}&order=title&limit=10`,
  }),
  (key) => ({
    name: "GraphQL query",
    path: "/v1/graphql",
    body: JSON.stringify({
      query: "query ($id: Int!) { album(where: {artist_id: {_eq: $id}}) { title artist { name } } }",
      variables: { id: key },
    }),
  }),
];

/** It fails beyond: files, and named functions. */
const MAX_FILES = 29;
const MAX_FUNCTIONS = 109;

const WARM_REQUESTS = 50;
/** What every one of them calls is the request's; timers of the server fall into one or another. */
const SAMPLES = 5;

/** Named functions by file. */
type Trace = ReadonlyMap<string, ReadonlySet<string>>;

/** `file:///…/dist/plugins/rest/read.js` → `plugins/rest/read` */
const OURS = /\/dist\/((?:core|plugins)\/.*)\.js$/;

const inspector = new Session();
inspector.connect();

const takeTrace = async (): Promise<Trace> => {
  const trace = new Map<string, Set<string>>();
  const { result } = await inspector.post("Profiler.takePreciseCoverage");
  for (const { url, functions } of result) {
    const file = OURS.exec(url)?.[1];
    if (file === undefined) continue;
    const called = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
    if (called.length === 0) continue;
    // two functions of one name in a file are told apart by where they begin
    const named = called.filter(({ functionName }) => functionName !== "");
    trace.set(file, new Set(named.map(({ functionName, ranges }) => `${functionName} @${ranges[0]?.startOffset}`)));
  }
  return trace;
};

const inBoth = (a: Trace, b: Trace): Trace =>
  new Map(
    [...a].flatMap(([file, names]) => {
      const others = b.get(file);
      return others === undefined ? [] : [[file, new Set([...names].filter((name) => others.has(name)))] as const];
    }),
  );

const row = (cells: readonly (string | number)[]): void => void process.stdout.write(`| ${cells.join(" | ")} |\n`);

const areaOf = (file: string): string => file.split("/").slice(0, 2).join("/");

const server = await startServer();
try {
  const { url: databaseUrl, client } = await openFreshDatabase(server, "relapi_trace");
  await client.query(BENCH_SQL);
  await client.end();
  const api = relApi(fullCompat({ databaseUrl, anonRole: "bench_anon", logLevel: "error", dbPool: 1 }));
  await api.ready;
  const http = createServer(api).listen(0, "127.0.0.1");
  await new Promise((resolve) => http.once("listening", resolve));
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const send = async ({ path, body }: Asked): Promise<void> => {
    const response = await fetch(
      origin + path,
      body === undefined ? {} : { method: "POST", body, headers: { "content-type": "application/json" } },
    );
    const text = await response.text();
    if (!response.ok || text.startsWith('{"errors"')) throw new Error(text);
  };

  const traces: (readonly [name: string, trace: Trace])[] = [];
  await inspector.post("Profiler.enable");
  for (const request of REQUESTS) {
    for (let key = 1; key <= WARM_REQUESTS; key++) await send(request(key));
    await inspector.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
    let trace: Trace | undefined;
    for (let sample = 1; sample <= SAMPLES; sample++) {
      await takeTrace(); // begins from nothing
      await send(request(WARM_REQUESTS + sample));
      const taken = await takeTrace();
      trace = trace === undefined ? taken : inBoth(trace, taken);
    }
    await inspector.post("Profiler.stopPreciseCoverage");
    if (trace !== undefined) traces.push([request(0).name, trace]);
  }

  row(["", "files", "named functions"]);
  row(["---", "---", "---"]);
  for (const [name, trace] of traces) {
    const areas = new Map<string, Set<string>>();
    for (const file of trace.keys()) areas.set(areaOf(file), (areas.get(areaOf(file)) ?? new Set()).add(file));
    const count = (files: Iterable<string>): number =>
      [...files].reduce((sum, file) => sum + (trace.get(file)?.size ?? 0), 0);
    row([`**${name}**`, trace.size, count(trace.keys())]);
    if (trace.size > MAX_FILES || count(trace.keys()) > MAX_FUNCTIONS) process.exitCode = 1;
    for (const [area, files] of [...areas].sort()) row([area, files.size, count(files)]);
  }
  if (process.argv.includes("--list"))
    for (const [name, trace] of traces) {
      process.stdout.write(`\n${name}\n`);
      for (const [file, names] of [...trace].sort())
        process.stdout.write(`  ${file}: ${[...names].map((each) => each.split(" ")[0]).join(", ")}\n`);
    }
  await new Promise((resolve) => http.close(resolve));
  await api.close();
} finally {
  await server.stop();
}
process.exit();
