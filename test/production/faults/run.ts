/** `npm run faults`: injects faults into programs under load, and writes the effects into a table. */
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hasPostgres } from "../../support/postgres-programs.ts";
import { closeAll } from "../../support/file-end.ts";
import { startLoad, type Outcome } from "../load.ts";
import { has } from "../support.ts";
import { faults } from "./all.ts";
import type { Fault } from "./fault.ts";

const BEFORE_MS = 2000;
const DURATION_MS = 5000;
/** The system has recovered after this time without a failure. */
const QUIET_MS = 3000;
const PATIENCE_MS = 40_000;

interface Row {
  readonly name: string;
  readonly sentCount: number;
  readonly failedCount: number;
  readonly lostCount: number;
  readonly slowestMs: number;
  /** The time from the removal of the fault to the last failure. */
  readonly recoveredMs: number;
  readonly kinds: string;
  readonly fault?: string | undefined;
}

const countKinds = ({ failures }: Outcome): string => {
  const counts = new Map<string, number>();
  for (const { problem } of failures) {
    // GraphQL 200 {"errors":[{"message":"connection error",…
    const kind = /^(\w+ \d{3})/.exec(problem)?.[1] ?? problem;
    counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return [...counts].map(([kind, count]) => `${kind}: ${count}`).join(", ");
};

const run = async (fault: Fault): Promise<Row> => {
  const scene = await fault.arrange();
  const load = startLoad({
    url: scene.url,
    rest: "/api/shelf?select=id,n&order=id.desc&limit=3",
    graphql: "{ shelf(limit: 3, order_by: {id: desc}) { id n } }",
    writes: { relation: "shelf", column: "n" },
    headers: scene.headers,
    workers: 2,
    pauseMs: 5,
  });
  await sleep(BEFORE_MS);
  const before = load.take();
  if (before.failures.length > 0) {
    await load.stop();
    throw new Error(`it fails before the fault: ${countKinds(before)}; ${scene.servers[0]?.output() ?? ""}`);
  }
  await fault.inject(scene);
  await sleep(fault.durationMs ?? DURATION_MS);
  await fault.remove(scene);
  const removedAtMs = Date.now();
  let lastFailureMs = removedAtMs;
  while (Date.now() - lastFailureMs < QUIET_MS && Date.now() - removedAtMs < PATIENCE_MS) {
    await sleep(200);
    lastFailureMs = Math.max(removedAtMs, load.lastFailureMs());
  }
  const outcome = await load.stop();
  const rows = await scene.database.query<{ n: number }>("select n from shelf");
  const storedValues = new Set(rows.map(({ n }) => n));
  const lostCount = [...before.writtenValues, ...outcome.writtenValues].filter((n) => !storedValues.has(n)).length;
  return {
    name: fault.name,
    sentCount: before.sentCount + outcome.sentCount,
    failedCount: outcome.failures.length,
    lostCount,
    slowestMs: Math.round(outcome.slowestMs),
    recoveredMs: lastFailureMs - removedAtMs,
    kinds: countKinds(outcome),
    fault: checkRecovery(fault, lastFailureMs - removedAtMs) ?? (await fault.check?.(scene)),
  };
};

const checkRecovery = ({ recoversWithinMs = PATIENCE_MS }: Fault, recoveredMs: number): string | undefined =>
  recoveredMs <= recoversWithinMs ? undefined : `it failed until ${recoveredMs} ms after the repair`;

const seconds = (ms: number): string => (ms / 1000).toFixed(1);

const formatTable = (rows: readonly Row[]): string =>
  [
    "| Fault | Sent | Failed | Lost | Slowest answer | Last failure after the repair | What failed |",
    "|---|---|---|---|---|---|---|",
    ...rows.map(
      ({ name, sentCount, failedCount, lostCount, slowestMs, recoveredMs, kinds }) =>
        `| ${name} | ${sentCount} | ${failedCount} | ${lostCount} | ${seconds(slowestMs)} s | ${recoveredMs === 0 ? "–" : `${seconds(recoveredMs)} s`} | ${kinds === "" ? "–" : kinds} |`,
    ),
  ].join("\n");

const PAGE = new URL("../../../../docs/reliability.md", import.meta.url); // the path is relative to dist
const TABLE = /(<!-- faults -->\n)[\s\S]*(\n<!-- \/faults -->)/;

const nameFilter = process.argv.slice(2).join(" ");
const chosenFaults = faults.filter(({ name }) => name.includes(nameFilter));
const rows: Row[] = [];
let isWrong = false;
if (!hasPostgres) throw new Error("npm has no PostgreSQL for this platform");
for (const fault of chosenFaults) {
  const missingPrograms = (fault.needs ?? []).filter((program) => !has(program));
  if (missingPrograms.length > 0) {
    process.stderr.write(`skipped, without ${missingPrograms.join(" and ")}: ${fault.name}\n`);
    continue;
  }
  process.stderr.write(`${fault.name} …\n`);
  try {
    const row = await run(fault);
    rows.push(row);
    process.stderr.write(`  ${row.sentCount} sent, ${row.failedCount} failed, ${row.lostCount} lost\n`);
    if (row.fault !== undefined || row.lostCount > 0) {
      isWrong = true;
      process.stderr.write(`  ${row.fault ?? `${row.lostCount} writes are lost`}\n`);
    }
  } catch (error) {
    isWrong = true;
    process.stderr.write(`  ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    await closeAll();
  }
}
const table = formatTable(rows);
process.stdout.write(`${table}\n`);
if (nameFilter === "") writeFileSync(PAGE, readFileSync(PAGE, "utf8").replace(TABLE, `$1${table}$2`));
process.exit(isWrong ? 1 : 0);
