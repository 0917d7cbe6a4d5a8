/** `npm run bench`: requests per second of this service (on node:http and in Express) against handlers written by hand,
 *  in turn in one run, as ratios. Needs a PostgreSQL: TEST_DATABASE_URL (superuser), or the server programs of one on
 *  this machine. BENCH_BASELINE: the folder of another checkout, built; its relapi runs beside this one's, and the
 *  ratio of the two is a column more. */
import { spawn, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { BENCH_SQL, SCENARIOS, type Scenario } from "./data.ts";
import { load } from "./load.ts";
import { openFreshDatabase, startServer } from "./postgres.ts";

const ROUNDS = Number(process.env["BENCH_ROUNDS"] ?? 3);
const SECONDS = Number(process.env["BENCH_SECONDS"] ?? 4);
const CONNECTIONS = 20;

const OWN_SERVER = fileURLToPath(new URL("./server.js", import.meta.url));
const BASELINE = process.env["BENCH_BASELINE"];
const BASELINE_SERVER = BASELINE === undefined ? undefined : resolve(BASELINE, "dist/test/bench/server.js");

interface Contestant {
  readonly label: string;
  readonly variant: "relapi" | "express" | "bare" | "ordinary";
  readonly isGraphql: boolean;
}

const CONTESTANTS: readonly Contestant[] = [
  { label: "(a) relapi on node:http, REST", variant: "relapi", isGraphql: false },
  { label: "(a) relapi on node:http, GraphQL", variant: "relapi", isGraphql: true },
  { label: "(b) relapi in Express, REST", variant: "express", isGraphql: false },
  { label: "(b) relapi in Express, GraphQL", variant: "express", isGraphql: true },
  { label: "(c) bare node:http + pg, text", variant: "bare", isGraphql: false },
  { label: "(d) Express + pg, res.json", variant: "ordinary", isGraphql: false },
];

const startContestant = async (
  program: string,
  variant: string,
  scenario: number,
  databaseUrl: string,
): Promise<{ readonly port: number; readonly process: ChildProcess }> => {
  const child = spawn(process.execPath, [program, variant, String(scenario), databaseUrl], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    child.stdout?.once("data", (text: Buffer) => resolve(Number(String(text).trim())));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  return { port, process: child };
};

const measure = async (port: number, scenario: Scenario, isGraphql: boolean, seconds: number): Promise<number> =>
  (await load({ port, scenario, isGraphql, seconds, connections: CONNECTIONS })).perSecond;

/** Of rounds that ran side by side: the median of their ratios. */
const ofBaseline = (values: readonly number[], before: readonly number[] | undefined): string =>
  BASELINE === undefined
    ? ""
    : before === undefined
      ? " |"
      : ` ${median(values.map((value, round) => value / (before[round] as number))).toFixed(3)} |`; // as many rounds

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

const server = await startServer();
try {
  const { url: databaseUrl, client: setup } = await openFreshDatabase(server, "relapi_bench");
  await setup.query(BENCH_SQL);
  await setup.end();

  for (const [index, scenario] of SCENARIOS.entries()) {
    const rateOf = async (program: string, { variant, isGraphql }: Contestant): Promise<number> => {
      const running = await startContestant(program, variant, index, databaseUrl);
      await measure(running.port, scenario, isGraphql, 1); // connections and caches are warm afterwards
      const rate = await measure(running.port, scenario, isGraphql, SECONDS);
      running.process.kill();
      return rate;
    };
    const rates = new Map<string, number[]>();
    const baselineRates = new Map<string, number[]>();
    for (let round = 0; round <= ROUNDS; round++) {
      for (const contestant of CONTESTANTS) {
        const hasBaseline =
          BASELINE_SERVER !== undefined && (contestant.variant === "relapi" || contestant.variant === "express");
        // who comes first in a round comes second in the next
        const programs = [
          [rates, OWN_SERVER] as const,
          ...(hasBaseline ? [[baselineRates, BASELINE_SERVER] as const] : []),
        ];
        if (round % 2 === 1) programs.reverse();
        for (const [taken, program] of programs) {
          const rate = await rateOf(program, contestant);
          // the first round warms the database up
          if (round > 0) taken.set(contestant.label, [...(taken.get(contestant.label) ?? []), rate]);
        }
      }
    }
    const bare = median(rates.get("(c) bare node:http + pg, text") ?? []);
    const ordinary = median(rates.get("(d) Express + pg, res.json") ?? []);
    const more = BASELINE === undefined ? ["", ""] : [" of the baseline |", "---|"];
    process.stdout.write(
      `\n| ${scenario.name} | requests/s | of (c) | of (d) |${more[0]}\n|---|---|---|---|${more[1]}\n`,
    );
    for (const [label, values] of rates) {
      const rate = median(values);
      process.stdout.write(
        `| ${label} | ${rate.toFixed(0)} | ${(rate / bare).toFixed(2)} | ${(rate / ordinary).toFixed(2)} |${ofBaseline(values, baselineRates.get(label))}\n`,
      );
    }
  }
} finally {
  await server.stop();
}
