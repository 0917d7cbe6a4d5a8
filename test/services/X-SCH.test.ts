/** Schedules with functions in TypeScript: a real queue, and several servers. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { describe, expect, onTestFinished, test } from "vitest";
import {
  schedules,
  type ScheduledRun,
  type ScheduleHandler,
  type ScheduleOptions,
} from "../../plugins/services/index.ts";
import { capabilities, type StartOptions } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { startLogged, startWithWebhooks, type LoggedApi } from "./start.ts";
import { createEventReader, SCHEDULED_EVENTS } from "./stored-events.ts";

type ScheduleDefinitions = Readonly<Record<string, ScheduleHandler | ScheduleOptions>>;

const nothing = (): void => undefined;

describe("the declaration", () => {
  const nightly = { cron: "0 3 * * *", handle: nothing };

  test.each<[string, unknown, string]>([
    ["a word", { nightly: nothing }, '"nightly" has no valid times: "nightly" is not a cron expression'],
    ["six fields", { "0 0 3 * * *": nothing }, '"0 0 3 * * *" is not a cron expression'],
    ["a minute that is too large", { "60 3 * * *": nothing }, "is not a cron expression"],
    ["a weekday that does not exist", { "0 3 * * xyz": nothing }, "is not a cron expression"],
    ["an empty range", { "0 9-5 * * *": nothing }, "is not a cron expression"],
    ["a step of zero", { "*/0 * * * *": nothing }, "is not a cron expression"],

    ["no function", { nightly: {} }, '"nightly" is neither a function nor an object with the function handle'],
    ["no schedule", { nightly: null }, '"nightly" is neither a function nor an object with the function handle'],
    ["no expression", { nightly: { handle: nothing } }, '"nightly" has no cron, such as "0 3 * * *"'],
    ["an unknown option", { nightly: { ...nightly, retries: 1 } }, '"nightly" has an unknown option "retries"'],
    [
      "a bad number",
      { nightly: { ...nightly, timeoutSeconds: 0 } },
      '"nightly" has timeoutSeconds, which is not a whole number from 1 to 3600',
    ],
    [
      "a payload that is not a JSON value",
      { nightly: { ...nightly, payload: 1n } },
      '"nightly" has a payload that is not a JSON value',
    ],
    ["no object", undefined, "the argument is not an object whose keys are cron expressions or names"],
    ["a name with NUL", { "a\u0000": nightly }, '"a\u0000" has the character NUL, which PostgreSQL cannot store'],
    ["an empty name", { "": nightly }, '"" is not a name of 1 to 100 characters'],
  ])("X-SCH-1 %s is rejected", (_, definitions, message) => {
    expect(() => schedules(definitions as ScheduleDefinitions)).toThrow(message);
  });
});

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();

  const start = (definitions: ScheduleDefinitions, extraOptions: StartOptions = {}): Promise<LoggedApi> =>
    startLogged({ on: database, parts: [schedules(definitions)], ...extraOptions });

  const untilKnown = (name: string): Promise<void> =>
    until(async () => {
      const [table] = await database.query("select to_regclass('relapi.schedule') is not null as exists");
      if (table?.["exists"] !== true) return false;
      return (await database.query("select from relapi.schedule where name = $1", [name])).length > 0;
    }, `the database knows the schedule ${name}`);

  // This installs the tables, so that tests can write rows before they start a server.
  const first = await startWithWebhooks({ on: database, parts: [schedules({ "0 0 31 2 *": nothing })] });
  await untilKnown("0 0 31 2 *");
  await first.close();

  /** The cron expression of one minute of the past. */
  const buildCronExpression = (time: Date): string =>
    `${time.getUTCMinutes()} ${time.getUTCHours()} ${time.getUTCDate()} ${time.getUTCMonth() + 1} *`;

  const HALF_AN_HOUR_AGO = new Date(Math.floor(Date.now() / 60_000 - 30) * 60_000);
  const PAST = buildCronExpression(HALF_AN_HOUR_AGO);
  const NEVER_DUE = "0 0 31 2 *";

  /** Makes the database believe that a process looked for due events for the last time some minutes ago. */
  const missMinutes = (name: string, cron: string, minutes: number): Promise<unknown> =>
    database.query(
      "insert into relapi.schedule (name, cron, checked_until) values ($1, $2, now() - make_interval(mins => $3))",
      [name, cron, minutes],
    );

  const { listEvents, untilEnded } = createEventReader(database, SCHEDULED_EVENTS);

  test("X-SCH-1 X-SCH-6 a function is called at a time that processes have missed", async () => {
    await missMinutes("late", PAST, 60);
    const received: ScheduledRun[] = [];
    await start({ late: { cron: PAST, payload: { size: 1 }, handle: (run) => void received.push(run) } });
    await untilEnded("late", "delivered");
    const [event] = await listEvents("late");
    expect(received).toEqual([
      {
        id: event?.id,
        name: "late",
        scheduledAt: HALF_AN_HOUR_AGO,
        payload: { size: 1 },
        attempt: 1,
        signal: expect.any(AbortSignal),
      },
    ]);
  });

  test("X-SCH-1 a function whose key is the cron expression has it as name", async () => {
    await missMinutes(PAST, PAST, 60);
    const received: ScheduledRun[] = [];
    await start({ [PAST]: (run) => void received.push(run) });
    await untilEnded(PAST, "delivered");
    expect(received).toMatchObject([{ name: PAST, payload: null, scheduledAt: HALF_AN_HOUR_AGO }]);
  });

  test("X-SCH-5 two servers run each time once", async () => {
    await missMinutes("shared", "* * * * *", 60);
    const received: string[][] = [[], []];
    const server = (index: number): Promise<LoggedApi> =>
      start({
        shared: { cron: "* * * * *", handle: ({ scheduledAt }) => void received[index]?.push(String(scheduledAt)) },
      });
    await Promise.all([server(0), server(1)]);
    await until(async () => {
      const events = await listEvents("shared");
      return events.length >= 60 && events.every(({ status }) => status === "delivered");
    }, "all events are delivered");
    const all = received.flat();
    expect(new Set(all).size).toBe(all.length);
    expect(all).toHaveLength((await listEvents("shared")).length);
  });

  test("X-SCH-3 a schedule begins when a process first has it", async () => {
    await missMinutes("known", PAST, 60);
    await start({ fresh: { cron: PAST, handle: nothing }, known: { cron: PAST, handle: nothing } });
    await untilEnded("known", "delivered");
    expect(await listEvents("fresh")).toEqual([]);
  });

  test("X-SCH-3 another expression of the same name begins again", async () => {
    await missMinutes("changed", NEVER_DUE, 60);
    await missMinutes("unchanged", PAST, 60);
    await start({ changed: { cron: PAST, handle: nothing }, unchanged: { cron: PAST, handle: nothing } });
    await untilEnded("unchanged", "delivered");
    expect(await listEvents("changed")).toEqual([]);
  });

  test("X-SCH-7 missed times are made up for within the tolerance", async () => {
    await missMinutes("tolerant", "* * * * *", 60);
    await start({ tolerant: { cron: "* * * * *", toleranceSeconds: 600, handle: nothing } });
    // An event may pass its tolerance between its creation and its delivery.
    await until(async () => {
      const events = await listEvents("tolerant");
      return events.length > 0 && events.every(({ status }) => status !== "pending");
    }, "all events have ended");
    const { length } = await listEvents("tolerant");
    expect(length).toBeGreaterThanOrEqual(9);
    expect(length).toBeLessThan(20);
  });

  test("X-SCH-7 an event that is later than the tolerance is dropped without a call", async () => {
    await database.query(
      `insert into relapi.scheduled_event (trigger_name, scheduled_time, next_try_at, payload)
      values ('stale', now() - interval '2 hours', now(), '1')`,
    );
    const received: ScheduledRun[] = [];
    const handle = (run: ScheduledRun): void => void received.push(run);
    const api = await start({ stale: { cron: NEVER_DUE, toleranceSeconds: 3600, handle } });
    await untilEnded("stale", "dropped");
    expect(received).toEqual([]);
    await until(
      () => api.log.some((line) => line.startsWith("an event was dropped without a call")),
      "the log says so",
    );
    const attempts = await database.query(
      `select i.error from relapi.scheduled_event_invocation i join relapi.scheduled_event e on e.id = i.event_id
      where e.trigger_name = 'stale'`,
    );
    expect(attempts).toEqual([{ error: "the event is later than its tolerance of 3600 s" }]);
  });

  test("X-SCH-6 a failed attempt is repeated with the same id, and the log keeps each attempt", async () => {
    await missMinutes("flaky", PAST, 60);
    const attempts: [string, number][] = [];
    const handle = ({ id, attempt }: ScheduledRun): void => {
      attempts.push([id, attempt]);
      if (attempt < 3) throw new Error(`failure ${attempt}`);
    };
    await start({ flaky: { cron: PAST, intervalSeconds: 1, handle } });
    await untilEnded("flaky", "delivered");
    const [event] = await listEvents("flaky");
    expect(attempts).toEqual([1, 2, 3].map((attempt) => [event?.id, attempt]));
    const invocations = await database.query(
      "select error from relapi.scheduled_event_invocation where event_id = $1 order by id",
      [event?.id],
    );
    expect(invocations).toEqual([{ error: "failure 1" }, { error: "failure 2" }, { error: null }]);
  });

  test("X-SCH-6 an event whose attempts are used up is dead and kept", async () => {
    await missMinutes("failing", PAST, 60);
    const handle = (): never => {
      throw new Error("never");
    };
    const api = await start({ failing: { cron: PAST, retryCount: 1, intervalSeconds: 1, handle } });
    await untilEnded("failing", "dead");
    expect(await listEvents("failing")).toMatchObject([{ tries: 2 }]);
    expect(api.log.join("\n")).toContain("an event was not delivered, and its attempts are used up");
  });

  test("X-SCH-6 the time limit of an attempt aborts its signal", async () => {
    await missMinutes("slow", PAST, 60);
    const reasons: unknown[] = [];
    const handle = ({ signal }: ScheduledRun): Promise<void> =>
      new Promise(() => signal.addEventListener("abort", () => reasons.push(String(signal.reason))));
    await start({ slow: { cron: PAST, retryCount: 0, timeoutSeconds: 1, handle } });
    await untilEnded("slow", "dead");
    expect(reasons).toEqual(["Error: no answer within 1 s"]);
  });

  test("X-SCH-6 an event whose process was killed during its attempt is delivered again with the same id", async () => {
    await missMinutes("killed", PAST, 60);
    const child = spawn(process.execPath, ["dist/test/services/schedule-server.js"], {
      env: { ...process.env, DATABASE_URL: database.options.databaseUrl, CRON: PAST },
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    const [output] = (await once(child.stdout, "data")) as [Buffer];
    child.kill("SIGKILL");
    await once(child, "exit");
    // Only the killed process may end the attempt before this time.
    await database.query(
      "update relapi.scheduled_event set locked_until = clock_timestamp() where trigger_name = 'killed'",
    );
    const received: ScheduledRun[] = [];
    await start({ killed: { cron: PAST, handle: (run) => void received.push(run) } });
    await until(() => received.length === 1, "the event arrived again");
    expect(received[0]).toMatchObject({ id: output.toString().trim(), attempt: 1, scheduledAt: HALF_AN_HOUR_AGO });
  });

  test("X-SCH-5 a process without the schedule leaves its events to others", async () => {
    await missMinutes("handed_over", PAST, 60);
    const idle = await start({ handed_over: { cron: PAST, handle: nothing } }, { eventsConcurrency: 0 });
    await start({ other: { cron: NEVER_DUE, handle: nothing } });
    await untilKnown("other");
    expect(await listEvents("handed_over")).toEqual([]);
    await idle.close();
    await start({ handed_over: { cron: PAST, handle: nothing } });
    await untilEnded("handed_over", "delivered");
  });

  test("X-SCH-13 delivered events are deleted after EVENTS_RETENTION, and are not made again", async () => {
    await missMinutes("old", "* * * * *", 3);
    const definitions = { old: { cron: "* * * * *", handle: nothing } };
    const firstApi = await start(definitions, { eventsRetention: 1 });
    await until(async () => {
      const events = await listEvents("old");
      return events.length >= 3 && events.every(({ status }) => status === "delivered");
    }, "the events are delivered");
    await firstApi.close();
    const [oldest] = await listEvents("old");
    await database.query(
      "update relapi.scheduled_event set ended_at = now() - interval '2 hours' where trigger_name = 'old'",
    );
    await start(definitions, { eventsRetention: 1 });
    await until(async () => {
      const events = await listEvents("old");
      return events.every(({ id }) => id !== oldest?.id);
    }, "the old events are deleted");
    const recreatedEvents = (await listEvents("old")).filter(
      ({ scheduled_time: scheduledTime }) => scheduledTime.getTime() <= (oldest?.scheduled_time.getTime() ?? 0),
    );
    expect(recreatedEvents).toEqual([]);
  });

  test("X-SCH-4 a role that may not install tables says so in one sentence, and the rest is served", async () => {
    const ownDatabase = await openDatabase();
    const loginDatabase = { ...ownDatabase, options: { databaseUrl: ownDatabase.urlAs("sea_login") } };
    const api = await start({ "0 3 * * *": nothing }, { on: loginDatabase });
    await until(() => api.log.some((line) => line.startsWith("schedules do not work")), "the log says so");
    expect(api.log.filter((line) => line.startsWith("schedules do not work"))).toEqual([
      expect.stringContaining("the login role may not install event triggers and schedules"),
    ]);
    expect((await api.gql("{ __typename }")).data).toEqual({ __typename: "query_root" });
  });

  test("X-SCH-4 with EVENTS_INSTALL=false the start changes nothing and says what is missing", async () => {
    const ownDatabase = await openDatabase();
    const api = await start({ "0 3 * * *": nothing }, { on: ownDatabase, eventsInstall: false });
    await until(() => api.log.some((line) => line.startsWith("schedules do not work")), "the log says so");
    expect(api.log.join("\n")).toContain('schedules are not installed: run \\"relapi --preset plus events install\\"');
    expect(await ownDatabase.query("select from pg_namespace where nspname = 'relapi'")).toEqual([]);
  });
});
