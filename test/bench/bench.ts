/**
 * `npm run bench`: compares requests per second of relapi (on node:http and in Express) with handlers written by hand,
 * as ratios. Contestants alternate in short turns of one run. The benchmark needs a PostgreSQL: TEST_DATABASE_URL
 * (superuser), or the server programs on this machine.
 *
 * `--only WORD` runs the tables whose name contains the word: `--only plus` runs the tables of the plugins of plus, and
 * `--only events` the delivery of events. `--json FILE` writes the figures, from which `npm run bench:page` makes the
 * page and its chart. `--compare COMMIT` compares this checkout with that commit instead, and `--fail-below 0.85` fails
 * if this checkout is slower. `--short` takes a minute.
 */
import { writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";
import { parseArgs } from "node:util";
import { builtCheckout, findCommit } from "./checkout.ts";
import {
  BARE,
  BARE_EXPRESS,
  BARE_ROLE,
  CONTESTANTS,
  PLUS_CONTESTANTS,
  startContestant,
  WITH_TOKENS,
  type Contestant,
  type Measurement,
  type RunningContestant,
} from "./contestants.ts";
import { BENCH_SQL, READS, SCENARIOS, type Scenario } from "./data.ts";
import { PLUS_SCENARIOS, PLUS_SQL, type PlusScenario } from "./plus-data.ts";
import { EVENTS_SQL, measureEvents, printEvents } from "./events.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const { values: options } = parseArgs({
  options: {
    json: { type: "string" },
    compare: { type: "string" },
    "fail-below": { type: "string" },
    short: { type: "boolean", default: false },
    only: { type: "string" },
  },
});

/**
 * The number of processes of a contestant. All of them run throughout, because two processes of one program differ by
 * up to a factor of two for their lifetime.
 */
const PROCESSES = options.short ? 2 : options.compare === undefined ? 3 : 4;
const TURNS = options.short ? 6 : 4;
const SECONDS = options.short ? 1 : 2;
const EVENT_SECONDS = options.short ? 10 : 60;

export interface BenchResult {
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  readonly postgres: string;
  readonly machine: string;
  readonly tables: readonly BenchTable[];
}

export interface BenchTable {
  readonly name: string;
  readonly rows: readonly BenchRow[];
}

export interface BenchRow extends Measurement {
  readonly id: string;
  readonly label: string;
  /** The median and the quartiles of the ratios of all turns, by the name of the other contestant. */
  readonly shares: Readonly<Record<string, readonly [median: number, low: number, high: number]>>;
}

const isRequested = (name: string): boolean => options.only === undefined || name.includes(options.only);

const quantile = (values: readonly number[], share: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * share)] ?? Number.NaN;
const median = (values: readonly number[]): number => quantile(values, 0.5);

type Turn = ReadonlyMap<string, Measurement>;

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Loads all processes of a contestant one after another. Returns the means. */
const measureProcesses = async (processes: readonly RunningContestant[]): Promise<Measurement> => {
  const measurements: Measurement[] = [];
  for (const process of processes) measurements.push(await process.measure(SECONDS));
  return {
    perSecond: mean(measurements.map(({ perSecond }) => perSecond)),
    cpu: mean(measurements.map(({ cpu }) => cpu)),
    p99: mean(measurements.map(({ p99 }) => p99)),
  };
};

/** Starts all processes and loads the contestants in turn, each time in another order. */
const runTurns = async (
  contestants: readonly Contestant[],
  scenario: Scenario,
  databaseUrl: string,
): Promise<readonly Turn[]> => {
  const running: RunningContestant[] = [];
  try {
    const index = [...SCENARIOS, ...PLUS_SCENARIOS].indexOf(scenario as PlusScenario);
    for (let process = 0; process < PROCESSES; process++)
      for (const contestant of contestants)
        running.push(await startContestant(contestant, scenario, index, databaseUrl));
    for (const process of running) await process.measure(SECONDS + 1); // this warms connections, caches and compilers
    const turns: Turn[] = [];
    for (let turn = 0; turn < TURNS; turn++) {
      // The index is within the length.
      const order = contestants.map((_, i) => contestants[(i + turn) % contestants.length] as Contestant);
      if (turn % 2 === 1) order.reverse();
      const measurements = new Map<string, Measurement>();
      for (const contestant of order)
        measurements.set(
          contestant.id,
          await measureProcesses(running.filter((process) => process.contestant === contestant)),
        );
      turns.push(measurements);
    }
    return turns;
  } finally {
    for (const process of running) process.stop();
  }
};

const runTable = async (
  name: string,
  contestants: readonly Contestant[],
  references: readonly string[],
  scenario: Scenario,
  databaseUrl: string,
): Promise<BenchTable> => {
  const turns = await runTurns(contestants, scenario, databaseUrl);
  const rows = contestants.map(({ id, label }): BenchRow => {
    const measurements = turns.map((turn) => turn.get(id) as Measurement); // each turn contains every contestant
    const shares = references.map((reference) => {
      const ratios = turns.map((turn, i) => (measurements[i]?.perSecond ?? 0) / (turn.get(reference)?.perSecond ?? 0));
      return [reference, [median(ratios), quantile(ratios, 0.25), quantile(ratios, 0.75)]] as const;
    });
    return {
      id,
      label,
      perSecond: median(measurements.map(({ perSecond }) => perSecond)),
      cpu: median(measurements.map(({ cpu }) => cpu)),
      p99: median(measurements.map(({ p99 }) => p99)),
      shares: Object.fromEntries(shares),
    };
  });
  return { name, rows };
};

const print = ({ name, rows }: BenchTable, references: readonly string[]): void => {
  process.stdout.write(
    `\n| ${name} | requests/s | ${references.map((id) => `of ${id}`).join(" | ")} | CPU µs | p99 ms |\n|${"---|".repeat(4 + references.length)}\n`,
  );
  for (const { label, perSecond, cpu, p99, shares } of rows) {
    const ratios = references.map((id) => {
      const [middle = 0, low = 0, high = 0] = shares[id] ?? [];
      return `${middle.toFixed(2)} (${low.toFixed(2)}–${high.toFixed(2)})`;
    });
    process.stdout.write(
      `| ${label} | ${perSecond.toFixed(0)} | ${ratios.join(" | ")} | ${cpu.toFixed(0)} | ${p99.toFixed(1)} |\n`,
    );
  }
};

const REFERENCES = [BARE, BARE_ROLE, BARE_EXPRESS];

/** The requested tables. */
const measureTables = async (databaseUrl: string): Promise<readonly BenchTable[]> => {
  const tables: BenchTable[] = [];
  const table = async (name: string, all: readonly Contestant[], references: readonly string[], scenario: Scenario) => {
    if (!isRequested(name)) return;
    const benchTable = await runTable(name, all, references, scenario, databaseUrl);
    print(benchTable, references);
    tables.push(benchTable);
  };
  for (const scenario of SCENARIOS) await table(scenario.name, CONTESTANTS, REFERENCES, scenario);
  for (const scenario of PLUS_SCENARIOS) await table(scenario.name, PLUS_CONTESTANTS, [BARE, BARE_ROLE], scenario);
  await table("read by key, with a token", WITH_TOKENS, ["rest"], SCENARIOS[0] as Scenario); // the list is not empty
  return tables;
};

/** Compares this checkout with another commit. @returns whether it is fast enough */
const compare = async (commit: string, databaseUrl: string): Promise<boolean> => {
  const checkout = await builtCheckout(commit);
  try {
    const limit = Number(options["fail-below"] ?? 0);
    let isFast = true;
    for (const scenario of options.short ? READS : SCENARIOS)
      for (const isGraphql of isRequested(scenario.name) ? [false, true] : []) {
        const measureTable = (): Promise<BenchTable> =>
          runTable(
            `${scenario.name}, ${isGraphql ? "GraphQL" : "REST"}`,
            [
              { id: "new", label: "this checkout", variant: "relapi", isGraphql },
              { id: "old", label: commit, variant: "relapi", isGraphql, dist: checkout.dist },
            ],
            ["old"],
            scenario,
            databaseUrl,
          );
        const isSlow = (benchTable: BenchTable): boolean => {
          print(benchTable, ["old"]);
          const [share = 0] = benchTable.rows[0]?.shares["old"] ?? [];
          return share < limit;
        };
        // A measurement that was slow only because of other load is rarely slow again.
        if (isSlow(await measureTable()) && isSlow(await measureTable())) {
          isFast = false;
          process.stdout.write(`slower than ${limit} of ${commit}\n`);
        }
      }
    return isFast;
  } finally {
    checkout.remove();
  }
};

const server = await startServer(["max_connections=400"]);
try {
  const { url, client } = await openFreshDatabase(server, "relapi_bench");
  await client.query(BENCH_SQL);
  await client.query(PLUS_SQL);
  await client.query(EVENTS_SQL);
  const {
    rows: [version],
  } = await client.query<{ server_version: string }>("show server_version");
  await client.end();
  if (options.compare !== undefined) process.exitCode = (await compare(options.compare, url)) ? 0 : 1;
  else {
    const tables = await measureTables(url);
    if ("events".includes(options.only ?? "")) printEvents(await measureEvents(url, EVENT_SECONDS));
    const [cpu] = cpus();
    const result: BenchResult = {
      date: new Date().toISOString().slice(0, 10),
      commit: findCommit("HEAD") ?? "",
      node: process.version,
      postgres: version?.server_version ?? "",
      machine: `${cpus().length} cores (${cpu?.model ?? "unknown"}), ${Math.round(totalmem() / 2 ** 30)} GB`,
      tables,
    };
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, undefined, 2)}\n`);
  }
} finally {
  await server.stop();
}
