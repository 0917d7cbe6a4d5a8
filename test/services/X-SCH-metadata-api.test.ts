/** Cron triggers and scheduled events in the metadata API: created, replaced, listed and deleted. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { asAdmin, capabilities } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-files.ts";
import { json, startHook } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const hook = await startHook();
  hook.answer = json({});
  const database = await openDatabase();
  const folder = temporaryFolder({ "version.yaml": "version: 3\n" });
  const options = { on: database, metadata: folder };
  const api = await startWithWebhooks(options);

  const run = (type: string, args: unknown): Promise<any> => runCommand(api, type, args);

  const SUCCESS = { message: "success" };
  const NEVER_DUE = "0 0 31 2 *";
  const past = new Date(Math.floor(Date.now() / 60_000 - 30) * 60_000).toISOString();

  const untilStatus = (id: string, status: string): Promise<void> =>
    until(async () => {
      const { events } = await run("get_scheduled_events", { type: "one_off", status: [status] });
      return events.some((event: { id: string }) => event.id === id);
    }, `the event is ${status}`);

  test("X-SCH-12 P-HAS-12 a cron trigger is created, replaced, listed and deleted", async () => {
    const args = {
      name: "nightly",
      webhook: hook.url,
      schedule: NEVER_DUE,
      payload: { a: 1 },
      include_in_metadata: true,
    };
    expect(await run("create_cron_trigger", args)).toEqual(SUCCESS);
    expect(await run("create_cron_trigger", args)).toMatchObject({
      code: "already-exists",
      error: "cron trigger with name: nightly already exists",
    });
    const retry_conf = { num_retries: 2 };
    expect(await run("create_cron_trigger", { ...args, retry_conf, comment: "new", replace: true })).toEqual(SUCCESS);
    expect(await run("get_cron_triggers", {})).toEqual({
      cron_triggers: [
        {
          ...args,
          comment: "new",
          headers: [],
          retry_conf: {
            num_retries: 2,
            retry_interval_seconds: 10,
            timeout_seconds: 60,
            tolerance_seconds: 21_600,
          },
        },
      ],
    });
    expect((await run("export_metadata", {})).cron_triggers).toMatchObject([{ name: "nightly", retry_conf }]);
    expect(await readFile(join(folder, "cron_triggers.yaml"), "utf8")).toContain("name: nightly");
    expect(await run("create_cron_trigger", { ...args, name: "other", schedule: "at noon" })).toMatchObject({
      code: "invalid-configuration",
      error: expect.stringContaining("is not a cron expression"),
    });
    expect(await run("delete_cron_trigger", { name: "nightly" })).toEqual(SUCCESS);
    expect(await run("delete_cron_trigger", { name: "nightly" })).toMatchObject({
      code: "not-exists",
      error: "cron trigger with name: nightly does not exist",
    });
    expect(await run("get_cron_triggers", {})).toEqual({ cron_triggers: [] });
  });

  test("X-SCH-3 P-HAS-12 the waiting events of a deleted cron trigger are deleted", async () => {
    const args = { name: "deleted", webhook: hook.url, schedule: NEVER_DUE, include_in_metadata: true };
    await run("create_cron_trigger", { ...args, name: "kept" });
    await run("create_cron_trigger", args);
    await until(async () => {
      const [table] = await database.query("select to_regclass('relapi.schedule') is not null as exists");
      if (table?.["exists"] !== true) return false;
      return (await database.query("select from relapi.schedule where name = 'deleted'")).length > 0;
    }, "the schedule is known");
    await database.query(
      `insert into relapi.scheduled_event (trigger_name, scheduled_time, next_try_at, status)
      values ('deleted', now() + interval '1 hour', now() + interval '1 hour', 'pending'), ('deleted', now(), now(), 'delivered')`,
    );
    const { events, count } = await run("get_scheduled_events", {
      type: "cron",
      trigger_name: "deleted",
      get_rows_count: true,
    });
    expect(count).toBe(2);
    expect(events).toMatchObject([
      { trigger_name: "deleted", status: "delivered", tries: 0, next_retry_at: null },
      { trigger_name: "deleted", status: "scheduled", tries: 0, next_retry_at: null },
    ]);
    await run("delete_cron_trigger", { name: "deleted" });
    await until(async () => {
      const remainingEvents = await database.query(
        "select status from relapi.scheduled_event where trigger_name = 'deleted'",
      );
      return remainingEvents.length === 1 && remainingEvents[0]?.["status"] === "delivered";
    }, "the waiting event is deleted");
    expect(await database.query("select name from relapi.schedule where name in ('deleted', 'kept')")).toEqual([
      { name: "kept" },
    ]);
  });

  test("X-SCH-12 P-HAS-12 an event is delivered once at its time, with the body of Hasura", async () => {
    process.env["SCH_API_BASE"] = hook.url;
    onTestFinished(() => void delete process.env["SCH_API_BASE"]);
    hook.requests.length = 0;
    const headers = [{ name: "x-fixed", value: "yes" }];
    const payload = { email: "ada@example.org" };
    const createdEvent = await run("create_scheduled_event", {
      webhook: "{{SCH_API_BASE}}",
      schedule_at: past,
      payload,
      headers,
      comment: "reminder",
    });
    expect(createdEvent).toEqual({ message: "success", event_id: expect.stringMatching(/^[0-9a-f-]{36}$/) });
    await untilStatus(createdEvent.event_id, "delivered");
    expect(hook.requests).toHaveLength(1);
    expect(hook.requests[0]?.headers["x-fixed"]).toBe("yes");
    expect(JSON.parse(hook.requests[0]?.body ?? "")).toEqual({
      id: createdEvent.event_id,
      scheduled_time: past.replace(".000", ""),
      payload,
      comment: "reminder",
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    });
    const { events } = await run("get_scheduled_events", { type: "one_off", limit: 1000 });
    expect(events).toContainEqual({
      id: createdEvent.event_id,
      scheduled_time: past,
      status: "delivered",
      tries: 0,
      created_at: expect.any(String),
      next_retry_at: null,
      webhook_conf: "{{SCH_API_BASE}}",
      header_conf: headers,
      payload,
      comment: "reminder",
      retry_conf: { num_retries: 0, retry_interval_seconds: 10, timeout_seconds: 60, tolerance_seconds: 21_600 },
    });
  });

  test("X-SCH-12 a process that has started before the tables exist delivers the event of another process", async () => {
    const ownDatabase = await openDatabase();
    const first = await startWithWebhooks({ ...options, on: ownDatabase });
    onTestFinished(first.close);
    const second = await startWithWebhooks({ ...options, on: ownDatabase, eventsConcurrency: 0 });
    hook.requests.length = 0;
    const args = { webhook: hook.url, schedule_at: past, payload: "of another process" };
    await second.post("/v1/metadata", { headers: asAdmin(), body: { type: "create_scheduled_event", args } });
    await second.close();
    await until(() => hook.requests.length === 1, "the event arrived");
    expect(JSON.parse(hook.requests[0]?.body ?? "")).toMatchObject({ payload: "of another process" });
  });

  test("X-SCH-12 P-HAS-12 failed events and their attempts are listed, and events are deleted", async () => {
    hook.answer = json({ reason: "no" }, 500);
    onTestFinished(() => void (hook.answer = json({})));
    const failedEvent = await run("create_scheduled_event", {
      webhook: hook.url,
      schedule_at: past,
      retry_conf: { num_retries: 1, retry_interval_seconds: 0 },
    });
    await untilStatus(failedEvent.event_id, "error");
    const lateEvent = await run("create_scheduled_event", {
      webhook: hook.url,
      schedule_at: past,
      retry_conf: { tolerance_seconds: 60 },
    });
    await untilStatus(lateEvent.event_id, "dead");
    const invocations = await run("get_scheduled_event_invocations", {
      type: "one_off",
      event_id: failedEvent.event_id,
      get_rows_count: true,
    });
    const attempt = {
      id: expect.any(String),
      event_id: failedEvent.event_id,
      status: 500,
      response: { body: '{"reason":"no"}', error: "the webhook answered with status 500" },
      created_at: expect.any(String),
    };
    expect(invocations).toEqual({ count: 2, invocations: [attempt, attempt] });
    const window = await run("get_scheduled_event_invocations", {
      type: "one_off",
      event_id: failedEvent.event_id,
      get_rows_count: true,
      limit: 1,
      offset: 2,
    });
    expect(window).toEqual({ count: 2, invocations: [] });
    const future = await run("create_scheduled_event", { webhook: hook.url, schedule_at: "2199-01-01T00:00:00+01:00" });
    const { events } = await run("get_scheduled_events", { type: "one_off", status: ["scheduled"] });
    expect(events).toMatchObject([{ id: future.event_id, scheduled_time: "2198-12-31T23:00:00.000Z" }]);
    expect(await run("delete_scheduled_event", { type: "cron", event_id: future.event_id })).toMatchObject({
      code: "not-exists",
    });
    for (const { event_id } of [failedEvent, lateEvent, future])
      expect(await run("delete_scheduled_event", { type: "one_off", event_id })).toEqual(SUCCESS);
    expect(await run("delete_scheduled_event", { type: "one_off", event_id: future.event_id })).toMatchObject({
      code: "not-exists",
      error: `scheduled event "${future.event_id}" does not exist`,
    });
  });

  describe("arguments that do not fit", () => {
    const trigger = { name: "bad", webhook: "http://127.0.0.1/", schedule: NEVER_DUE, include_in_metadata: true };
    const event = { webhook: "http://127.0.0.1/", schedule_at: past };

    test.each<[string, string, unknown, string, string]>([
      ["no name", "create_cron_trigger", { ...trigger, name: undefined }, "parse-failed", "$.args"],
      ["no schedule", "create_cron_trigger", { ...trigger, schedule: undefined }, "parse-failed", "$.args"],
      ["a number as schedule", "create_cron_trigger", { ...trigger, schedule: 5 }, "parse-failed", "$.args.schedule"],
      [
        "no include_in_metadata",
        "create_cron_trigger",
        { ...trigger, include_in_metadata: undefined },
        "parse-failed",
        "$.args",
      ],
      [
        "a text as include_in_metadata",
        "create_cron_trigger",
        { ...trigger, include_in_metadata: "yes" },
        "parse-failed",
        "$.args.include_in_metadata",
      ],
      ["no webhook", "create_cron_trigger", { ...trigger, webhook: undefined }, "invalid-configuration", "$.args"],
      [
        "a transform",
        "create_cron_trigger",
        { ...trigger, request_transform: { version: 2, method: "TRACE" } },
        "invalid-configuration",
        "$.args",
      ],
      ["no time", "create_scheduled_event", { webhook: event.webhook }, "parse-failed", "$.args"],
      [
        "a time without zone",
        "create_scheduled_event",
        { ...event, schedule_at: "2026-12-24T18:00:00" },
        "parse-failed",
        "$.args.schedule_at",
      ],
      [
        "a month that does not exist",
        "create_scheduled_event",
        { ...event, schedule_at: "2026-13-01T00:00:00Z" },
        "parse-failed",
        "$.args.schedule_at",
      ],
      [
        "a day that does not exist",
        "create_scheduled_event",
        { ...event, schedule_at: "2026-02-31T00:00:00Z" },
        "parse-failed",
        "$.args.schedule_at",
      ],
      ["an event without webhook", "create_scheduled_event", { schedule_at: past }, "validation-failed", "$.args"],
      ["an unknown key", "create_scheduled_event", { ...event, name: "no" }, "validation-failed", "$.args"],
      [
        "a bad number",
        "create_scheduled_event",
        { ...event, retry_conf: { timeout_seconds: 0 } },
        "validation-failed",
        "$.args",
      ],
      ["another type", "get_scheduled_events", { type: "daily" }, "parse-failed", "$.args.type"],
      ["no type", "get_scheduled_event_invocations", {}, "parse-failed", "$.args"],
      ["no trigger", "get_scheduled_events", { type: "cron" }, "parse-failed", "$.args"],
      ["an unknown trigger", "get_scheduled_events", { type: "cron", trigger_name: "absent" }, "not-exists", "$.args"],
      ["a status", "get_scheduled_events", { type: "one_off", status: ["late"] }, "parse-failed", "$.args.status"],
      ["a negative limit", "get_scheduled_events", { type: "one_off", limit: -1 }, "parse-failed", "$.args.limit"],
      [
        "a number as flag",
        "get_scheduled_events",
        { type: "one_off", get_rows_count: 1 },
        "parse-failed",
        "$.args.get_rows_count",
      ],
      [
        "SQL as id",
        "delete_scheduled_event",
        { type: "one_off", event_id: "1'; drop schema relapi" },
        "parse-failed",
        "$.args.event_id",
      ],
      [
        "an id without type",
        "delete_scheduled_event",
        { event_id: "00000000-0000-0000-0000-000000000000" },
        "parse-failed",
        "$.args",
      ],
    ])("X-SCH-12 P-HAS-12 %s is rejected with its path", async (_, type, args, code, path) => {
      expect(await run(type, args)).toMatchObject({ code, path });
    });
  });
});
