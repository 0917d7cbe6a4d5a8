/** `npm run bench:observability`: what metrics, logs and spans cost. One process has a server of each kind; each round asks
 *  all of them in turn. A number is the median of the ratios to the server that tells nothing in the same round, with the
 *  middle half of them. CPU per request says more than throughput where other programs run beside it. Needs a PostgreSQL:
 *  TEST_DATABASE_URL (superuser), or the server programs of one on this machine. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, get, type IncomingMessage } from "node:http";
import { fileURLToPath } from "node:url";
import { BENCH_SQL } from "./data.ts";
import { VARIANTS } from "./observed-variants.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 60);
const REQUESTS = Number(process.env["BENCH_REQUESTS"] ?? 400);
const WARM_REQUESTS = 3000;
const CONNECTIONS = 4;
const KEYS = 275;
const SERVER = fileURLToPath(new URL("./observed-server.js", import.meta.url));

interface Round {
  readonly ms: number;
  /** Microseconds of the server. */
  readonly cpu: number;
}

const quantile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
};

const percent = (ratio: number): string => `${ratio >= 1 ? "+" : ""}${((ratio - 1) * 100).toFixed(1)}`;

/** `-3.1 % (-4.0 … -1.9)` */
const compared = (ratios: readonly number[]): string =>
  `${percent(quantile(ratios, 0.5))} % (${percent(quantile(ratios, 0.25))} … ${percent(quantile(ratios, 0.75))})`;

const server = await startServer();
const { url, client } = await openFreshDatabase(server, "relapi_observed");
await client.query(BENCH_SQL);
await client.end();
// what it logs goes where nobody reads it
const child = fork(SERVER, [url], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
try {
  const [{ ports }] = (await once(child, "message")) as [{ readonly ports: readonly number[] }];
  const agent = new Agent({ keepAlive: true });
  let key = 0;

  const one = async (port: number): Promise<void> => {
    key = (key + 7919) % KEYS;
    const path = `/api/album?select=title,artist(name)&artist_id=eq.${key}&order=title&limit=10`;
    const [response] = (await once(get({ port, agent, path }), "response")) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`status ${response.statusCode}`);
    response.resume();
    await once(response, "end");
  };

  const cpu = async (): Promise<number> => {
    const answer = once(child, "message") as Promise<[{ readonly cpu: number }]>;
    child.send("cpu");
    return (await answer)[0].cpu;
  };

  const ask = async (port: number, amount: number): Promise<Round> => {
    const before = await cpu();
    const startMs = performance.now();
    let left = amount;
    const work = async (): Promise<void> => {
      while (left-- > 0) await one(port);
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, work));
    return { ms: performance.now() - startMs, cpu: (await cpu()) - before };
  };

  const rounds: Round[][] = ports.map(() => []);
  for (const port of ports) await ask(port, WARM_REQUESTS);
  for (let round = 0; round < ROUNDS; round++)
    for (let i = 0; i < ports.length; i++) {
      const at = (i + round) % ports.length; // whoever comes first has it no better
      rounds[at]?.push(await ask(ports[at] as number, REQUESTS)); // at is within its length
    }

  const [base = []] = rounds;
  process.stdout.write(`${ROUNDS} rounds of ${REQUESTS} requests each\n\n`);
  process.stdout.write("| | CPU per request, µs | CPU | throughput |\n| --- | --- | --- | --- |\n");
  VARIANTS.forEach(({ name }, at) => {
    const own = rounds[at] ?? [];
    const perRequest = quantile(
      own.map((round) => round.cpu / REQUESTS),
      0.5,
    );
    const ofCpu = compared(own.map((round, i) => round.cpu / (base[i]?.cpu ?? Number.NaN)));
    const ofThroughput = compared(own.map((round, i) => (base[i]?.ms ?? Number.NaN) / round.ms));
    process.stdout.write(`| ${name} | ${perRequest.toFixed(1)} | ${ofCpu} | ${ofThroughput} |\n`);
  });
} finally {
  child.disconnect();
  await server.stop();
}
process.exit();
