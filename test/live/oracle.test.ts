/**
 * Random databases, callers, subscriptions and changes. After each burst, every subscriber has the result of a fresh
 * query. No result is older than an earlier one on its connection, and none contains hidden rows. SEED repeats a run;
 * ORACLE_LIVE_STEPS or ORACLE_LIVE_MINUTES set its length (`npm run oracle:live`).
 */
import { expect, test } from "vitest";
import { capabilities } from "../support/api.ts";
import { chosenSeed, createRandom } from "../support/random.ts";
import { runSteps } from "./oracle/run.ts";
import { getCapacity } from "./oracle/servers.ts";
import { shorten, failureText } from "./oracle/shorten.ts";
import { drawSteps, type Step } from "./oracle/steps.ts";
import { drawWorld, type Source } from "./oracle/world.ts";

const readNumber = (name: string): number | undefined => {
  const text = process.env[name] ?? "";
  return text === "" ? undefined : Number(text);
};

const minutes = readNumber("ORACLE_LIVE_MINUTES");
const wantedSteps = readNumber("ORACLE_LIVE_STEPS") ?? (minutes === undefined ? 240 : Infinity);
const endMs = minutes === undefined ? Infinity : performance.now() + minutes * 60_000;
/** The time for reducing a failure. */
const shorteningMs = (readNumber("ORACLE_SHORTEN_SECONDS") ?? (minutes === undefined ? 20 : 180)) * 1000;
const ROUNDS_PER_WORLD = 12;

const sources: readonly Source[] = capabilities.logicalReplication
  ? ["replication", "replication", "notify", "poll"]
  : ["notify", "poll"];

test(
  "G-SUB-3 G-SUB-4 G-SUB-5 G-SUB-8 X-BUS-3 every subscriber receives the result of a fresh query, and never more",
  { timeout: 2 ** 31 - 1 },
  async () => {
    const first = chosenSeed();
    let stepCount = 0;
    for (let seed = first; stepCount < wantedSteps && performance.now() < endMs; seed++) {
      const random = createRandom(seed);
      const world = drawWorld(random, sources);
      const drawnSteps = drawSteps(random, world, getCapacity());
      const steps: Step[] = [...drawnSteps.first()];
      for (let round = 0; round < ROUNDS_PER_WORLD; round++) steps.push(...drawnSteps.round());
      const { fault, settledCount, messageCount, committedCount, comparedCount, fineCount } = await runSteps(
        world,
        steps,
      );
      stepCount += steps.length;
      console.log(
        `live oracle, SEED=${seed}: ${steps.length} steps, ${committedCount} commits, ${settledCount} times settled, ${messageCount} messages, ${comparedCount} compared, ${fineCount} without an error; changes by ${world.source}, schema by ${world.reload}`,
      );
      if (fault === undefined) continue;
      const failure = await shorten(world, { steps: steps.slice(0, fault.stepCount), fault }, shorteningMs);
      expect.fail(`SEED=${seed}\n${failureText(world, failure)}`);
    }
  },
);
