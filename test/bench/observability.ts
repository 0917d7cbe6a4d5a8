/** `npm run bench:observability`: what metrics, logs and spans cost. One process has a server of each kind; in each round
 *  each of them has a turn of a hundred requests: reads by key and of two levels, half of them REST, half GraphQL. A number
 *  is the median of the ratios to the server that tells nothing in the same ten rounds, with the middle half of them. It
 *  is done several times with new processes; the range of their medians stands beside it. CPU per request says more than
 *  throughput where other programs run beside it. Needs a PostgreSQL: TEST_DATABASE_URL (superuser), or the server
 *  programs of one on this machine. BENCH_BASELINE: the folder of another checkout, built, whose server that tells nothing
 *  has turns too. BENCH_ONLY: numbers of variants. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { loadavg } from "node:os";
import { fileURLToPath } from "node:url";
import { cpuMicroseconds } from "./cpu.ts";
import { BENCH_SQL, READS } from "./data.ts";
import { openKeepAlive, requestText, type KeepAlive } from "./keep-alive.ts";
import { VARIANTS } from "./observed-variants.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const SERIES = Number(process.env["BENCH_SERIES"] ?? 4);
const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 100);
const REQUESTS = 100;
/** Turns that are added up before they are compared. */
const BLOCK = 10;
/** Before it counts. */
const WARM_ROUNDS = 60;
const CONNECTIONS = 4;
const SERVER = fileURLToPath(new URL("./observed-server.js", import.meta.url));
const BASELINE = process.env["BENCH_BASELINE"];
const numbers = process.env["BENCH_ONLY"]?.split(",").map(Number) ?? [...VARIANTS.keys()];
const names = [
  ...numbers.map((number) => VARIANTS[number]?.name),
  ...(BASELINE === undefined ? [] : ["baseline, nothing"]),
];

/** What some requests took. */
interface Turn {
  readonly ms: number;
  /** Microseconds of the server. */
  readonly cpu: number;
}

/** While it warms up each request is traced: what runs for one in a hundred must be compiled too. */
const TRACED = "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01\r\n";

/** Each kind in turn, each time with another key. */
const KINDS: readonly ((key: number, more: string) => string)[] = READS.flatMap(({ rest, graphql, keys }) => [
  (at: number, more: string) => requestText(rest(1 + (at % keys)), undefined, more),
  (at: number, more: string) =>
    requestText("/v1/graphql", JSON.stringify({ query: graphql, variables: { id: 1 + (at % keys) } }), more),
]);

let key = 0;
const nextRequest = (more: string): string => {
  key++;
  const kind = KINDS[key % KINDS.length] as (typeof KINDS)[number]; // within its length
  return kind(Math.floor(key / KINDS.length) * 7919, more);
};

const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

const median = (values: readonly number[]): number => quantile(values, 0.5);

const percent = (ratio: number): string => `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(1)}`;

/** `+3.1 % (+1.0 … +4.9; +2.8 … +3.3)` */
const compared = (series: readonly (readonly number[])[]): string => {
  const all = series.flat();
  const medians = series.map(median);
  const range = (from: number, to: number): string => `${percent(from)} … ${percent(to)}`;
  return `${percent(median(all))} % (${range(quantile(all, 0.25), quantile(all, 0.75))}; ${range(Math.min(...medians), Math.max(...medians))})`;
};

const blocksOf = (turns: readonly Turn[] = []): readonly Turn[] =>
  Array.from({ length: Math.floor(turns.length / BLOCK) }, (_, block) => {
    const of = turns.slice(block * BLOCK, (block + 1) * BLOCK);
    const sum = (what: keyof Turn): number => of.reduce((sum, turn) => sum + turn[what], 0);
    return { ms: sum("ms"), cpu: sum("cpu") };
  });

/** Turns by variant. */
const runSeries = async (url: string): Promise<readonly (readonly Turn[])[]> => {
  // the log goes through a pipe, as to a collector
  const child = fork(SERVER, [url, numbers.join(","), ...(BASELINE === undefined ? [] : [BASELINE])], {
    stdio: ["ignore", "pipe", "ignore", "ipc"],
  });
  child.stdout?.resume();
  const { pid = 0 } = child;
  const [{ ports }] = (await once(child, "message")) as [{ readonly ports: readonly number[] }];
  const servers: (readonly KeepAlive[])[] = [];
  for (const port of ports)
    servers.push(await Promise.all(Array.from({ length: CONNECTIONS }, () => openKeepAlive(port))));

  const ask = async (connections: readonly KeepAlive[], more: string): Promise<Turn> => {
    const before = cpuMicroseconds(pid);
    const startMs = performance.now();
    let left = REQUESTS;
    await Promise.all(
      connections.map(async (connection) => {
        while (left-- > 0) await connection.ask(nextRequest(more));
      }),
    );
    return { ms: performance.now() - startMs, cpu: cpuMicroseconds(pid) - before };
  };

  const turns: Turn[][] = servers.map(() => []);
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++)
    for (let i = 0; i < servers.length; i++) {
      const at = (i + round + WARM_ROUNDS) % servers.length; // whoever comes first has it no better
      const turn = await ask(servers[at] as readonly KeepAlive[], round < 0 ? TRACED : ""); // at is within its length
      if (round >= 0) turns[at]?.push(turn);
    }
  for (const connection of servers.flat()) connection.close();
  child.disconnect();
  await once(child, "exit");
  return turns;
};

const loads: string[] = [];
const server = await startServer();
try {
  const { url, client } = await openFreshDatabase(server, "relapi_observed");
  await client.query(BENCH_SQL);
  await client.end();
  const series: (readonly (readonly Turn[])[])[] = [];
  for (let i = 0; i < SERIES; i++) {
    series.push(await runSeries(url));
    loads.push(loadavg()[0]?.toFixed(1) ?? "");
  }
  process.stdout.write(
    `${SERIES} series of ${ROUNDS} turns of ${REQUESTS} requests each, Node ${process.version}, load ${loads.join(", ")}\n\n`,
  );
  process.stdout.write("| | CPU per request, µs | CPU | throughput |\n| --- | --- | --- | --- |\n");
  /** Of each block, by series. */
  const ratios = (at: number, ratio: (own: Turn, base: Turn) => number): readonly (readonly number[])[] =>
    series.map((turns) => {
      const base = blocksOf(turns[0]);
      return blocksOf(turns[at]).map((own, block) => ratio(own, base[block] as Turn)); // as many
    });
  names.forEach((name, at) => {
    const perRequest = median(series.flatMap((turns) => blocksOf(turns[at]).map(({ cpu }) => cpu / BLOCK / REQUESTS)));
    const ofCpu = compared(ratios(at, (own, base) => own.cpu / base.cpu));
    const ofThroughput = compared(ratios(at, (own, base) => base.ms / own.ms));
    process.stdout.write(`| ${name} | ${perRequest.toFixed(1)} | ${ofCpu} | ${ofThroughput} |\n`);
  });
} finally {
  await server.stop();
}
process.exit();
