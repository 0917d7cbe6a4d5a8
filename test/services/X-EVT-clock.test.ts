/** Events and schedules of processes whose clocks are hours apart. */
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { capabilities } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();

  /** Starts a process with a shifted clock, and returns the lines that it prints. */
  const startServer = (hours: number, cron: string): readonly string[] => {
    const lines: string[] = [];
    const clock = pathToFileURL("dist/test/services/shifted-clock.js").href;
    const child = spawn(process.execPath, ["--import", clock, "dist/test/services/clock-server.js"], {
      env: {
        ...process.env,
        DATABASE_URL: database.options.databaseUrl,
        CRON: cron,
        CLOCK_SHIFT_HOURS: String(hours),
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    child.stdout.on("data", (data: Buffer) => lines.push(...data.toString().trim().split("\n")));
    onTestFinished(() => void child.kill("SIGKILL"));
    return lines;
  };

  test("X-EVT-22 each attempt and each time of a schedule is one call, although clocks of processes are wrong", async () => {
    await database.query("create table public.clocked (id int primary key)");
    const [row] = await database.query("select date_trunc('minute', now()) - interval '30 minutes' as at");
    const dueTime = row?.["at"] as Date;
    const cron = `${dueTime.getUTCMinutes()} ${dueTime.getUTCHours()} ${dueTime.getUTCDate()} ${dueTime.getUTCMonth() + 1} *`;
    const YEAR_HOURS = 8766;
    const servers = [startServer(2 * YEAR_HOURS, cron), startServer(-2 * YEAR_HOURS, cron)];
    await until(() => servers.every((lines) => lines.some((line) => line.startsWith("ready"))), "both are ready");
    const years = servers.flat().filter((line) => line.startsWith("ready"));
    expect(new Set(years).size).toBe(2);
    await until(
      async () => (await database.query("select from relapi.schedule")).length === 1,
      "the schedule has begun",
    );
    await database.query(`
      insert into public.clocked select generate_series(1, 20);
      update relapi.schedule set checked_until = now() - interval '1 hour'`);
    const unshiftedServer = startServer(0, cron); // looks for due times at once
    await until(async () => {
      const events = await database.query("select status from relapi.event");
      const runs = await database.query("select status from relapi.scheduled_event");
      return runs.length === 1 && [...events, ...runs].every(({ status }) => status === "delivered");
    }, "everything is delivered");
    const calls = [...servers, unshiftedServer].flat().filter((line) => !line.startsWith("ready"));
    const expected = Array.from({ length: 20 }, (_, i) => [`event ${i + 1} 1`, `event ${i + 1} 2`]).flat();
    expect(calls.toSorted()).toEqual([...expected, `schedule ${dueTime.toISOString()}`].toSorted());
    // The log has the times of the database.
    const wrong = await database.query(`
      select from relapi.event_invocation i join relapi.event e on e.id = i.event_id
      where i.started_at not between e.created_at and e.ended_at`);
    expect(wrong).toEqual([]);
  });
});
