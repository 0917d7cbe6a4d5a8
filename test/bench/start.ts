/** `npm run bench:start -- 11`: the times of starts, as the median and the best of eleven rounds. One start ends with
 *  the first response of the demo (C-CLI-7, C-PKG-7), the other with the first response of the embedded database. A third
 *  figure is the time for which an endless statement in the embedded database blocks the event loop. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { embedded } from "../../plugins/database/index.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url));
const rounds = Number(process.argv[2] ?? 11);

/** Milliseconds from the start of the program to its first response. */
const firstAnswer = async (program: string, words: readonly string[]): Promise<number> => {
  const startedAtMs = performance.now();
  const child = spawn(program, words, {
    cwd: root,
    detached: true, // npm starts child processes, so the whole group is ended
    stdio: ["ignore", "pipe", "inherit"],
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], PORT: "0" },
  });
  let output = "";
  const address = await new Promise<string>((resolve, reject) => {
    child.stdout.on("data", (chunk) => {
      output += String(chunk);
      const printedAddress = /REST +(http\S+)/.exec(output)?.[1];
      if (printedAddress !== undefined) resolve(printedAddress);
    });
    child.once("exit", () => reject(new Error(`it ended: ${output}`)));
  });
  await (await fetch(`${address}/album?select=title&album_id=eq.1`)).text();
  const tookMs = performance.now() - startedAtMs;
  const exit = once(child, "exit");
  process.kill(-(child.pid as number), "SIGKILL"); // the child has been started
  await exit;
  return tookMs;
};

const ENDLESS = "select count(*) from generate_series(1, 1000000000000000) as n";

/** Milliseconds until the first query is answered, and the longest block of the event loop. */
const measureEmbedded = async (): Promise<readonly [number, number]> => {
  const startedAtMs = performance.now();
  const database = embedded({ image: "demo" });
  const client = new pg.Client({ stream: database.stream });
  client.on("error", () => undefined);
  await client.connect();
  await client.query("select count(*) from track");
  const tookMs = performance.now() - startedAtMs;
  client.query(ENDLESS).catch(() => undefined); // closing the database ends the statement
  let longestGapMs = 0;
  for (let turn = 0, lastMs = performance.now(); turn < 50; turn++) {
    await sleep(10);
    longestGapMs = Math.max(longestGapMs, performance.now() - lastMs);
    lastMs = performance.now();
  }
  await database.close();
  return [tookMs, longestGapMs];
};

const print = (name: string, times: readonly number[]): void => {
  const sortedMs = [...times].sort((a, b) => a - b);
  const median = sortedMs[Math.floor(sortedMs.length / 2)] ?? Number.NaN;
  console.log(`${name}: median ${median.toFixed(0)} ms, best ${(sortedMs[0] ?? Number.NaN).toFixed(0)} ms`);
};

const measure = async (measureOnce: () => Promise<number>): Promise<readonly number[]> => {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) times.push(await measureOnce());
  return times;
};

print("npm start, first answer", await measure(() => firstAnswer("npm", ["start"])));
print(
  "relapi with the demo, first answer",
  await measure(() => firstAnswer(process.execPath, ["dist/presets/standalone.js"])),
);
const gaps: number[] = [];
const questions = await measure(async () => {
  const [tookMs, gapMs] = await measureEmbedded();
  gaps.push(gapMs);
  return tookMs;
});
print("embedded demo, first question", questions);
print("embedded demo, longest gap of the event loop beside an endless statement", gaps);
