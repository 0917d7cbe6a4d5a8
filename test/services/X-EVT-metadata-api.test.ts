/** Event triggers in the metadata API: created, invoked, delivered again, listed and deleted. */
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { capabilities, type StartOptions, type TestApi } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { runCommand } from "../support/metadata-commands.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";
import { startWithWebhooks } from "./start.ts";
import { createLogger } from "../support/logger.ts";
import { temporaryFolder } from "../support/temporary-files.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const hook = await startHook();
  hook.answer = json({});

  const start = async (extraOptions: StartOptions = {}): Promise<TestApi> => {
    const database = await openDatabase();
    await database.query("create table public.parcel (id int primary key, item text)");
    const metadata = temporaryFolder({ "version.yaml": "version: 3\n" });
    const api = await startWithWebhooks({ on: database, metadata, ...extraOptions });
    onTestFinished(api.close);
    expect(await runCommand(api, "pg_track_table", { table: "parcel" })).toEqual({ message: "success" });
    hook.requests.length = 0;
    return api;
  };

  const countTriggers = async (api: TestApi): Promise<number> =>
    (await api.sql("select from pg_trigger where tgname like 'relapi_event_%'")).length;

  const args = { name: "parcel_sent", table: "parcel", webhook: hook.url, insert: { columns: "*" } };

  test("X-EVT-3c a command that installs a trigger loads the model once", async () => {
    let loads = 0;
    const info = (line: string): void => void (loads += line === "schema loaded" ? 1 : 0);
    const api = await start({ logger: createLogger({ info }) });
    const before = loads;
    expect(await runCommand(api, "pg_create_event_trigger", args)).toEqual({ message: "success" });
    await api.sql("insert into public.parcel values (1, 'a')");
    await until(() => hook.requests.length === 1, "the event arrived");
    expect(loads - before).toBe(1);
  });

  test("X-EVT-9a a change of the triggers neither aborts an attempt nor delays other events", async () => {
    const api = await start({ shutdownGrace: 0 });
    let response: ServerResponse | undefined;
    hook.answer = (pendingResponse) => void (response = pendingResponse);
    onTestFinished(() => void (hook.answer = json({})));
    expect(await runCommand(api, "pg_create_event_trigger", args)).toEqual({ message: "success" });
    await api.sql("insert into public.parcel values (1, 'a')");
    await until(() => response !== undefined, "the attempt has begun");
    hook.answer = json({});
    const laterArgs = { ...args, name: "parcel_changed", insert: undefined, update: { columns: "*" } };
    expect(await runCommand(api, "pg_create_event_trigger", laterArgs)).toEqual({ message: "success" });
    await api.sql("update public.parcel set item = 'b'");
    const countDelivered = async (): Promise<number> =>
      (await api.sql("select from relapi.event where status = 'delivered'")).length;
    await until(async () => (await countDelivered()) === 1, "the later event is delivered");
    json({})(response!, hook.requests[0]!);
    await until(async () => (await countDelivered()) === 2, "the first event is delivered");
    expect(hook.requests).toHaveLength(2);
  });

  test("X-EVT-18 X-EVT-3a X-EVT-3c P-HAS-11 a trigger is created, replaced and deleted", async () => {
    const api = await start();
    expect(await runCommand(api, "pg_create_event_trigger", args)).toEqual({ message: "success" });
    await api.sql("insert into public.parcel values (1, 'a')");
    await until(() => hook.requests.length === 1, "the event arrived");
    expect(await runCommand(api, "pg_create_event_trigger", args)).toMatchObject({
      code: "already-exists",
      error: 'event trigger "parcel_sent" already exists',
    });
    const exportedMetadata = await runCommand(api, "export_metadata", {});
    expect(exportedMetadata.sources[0].tables[0].event_triggers).toEqual([
      {
        name: "parcel_sent",
        definition: { enable_manual: false, insert: { columns: "*" } },
        retry_conf: {},
        webhook: hook.url,
      },
    ]);
    const replacementArgs = { ...args, replace: true, headers: [{ name: "x-added", value: "yes" }] };
    expect(await runCommand(api, "pg_create_event_trigger", replacementArgs)).toEqual({ message: "success" });
    await api.sql("insert into public.parcel values (2, 'b')");
    await until(() => hook.requests.length === 2, "the second event arrived");
    expect(hook.requests[1]?.headers["x-added"]).toBe("yes");
    expect(await runCommand(api, "pg_create_event_trigger", { ...args, name: "other", webhook: "none" })).toMatchObject(
      {
        code: "invalid-configuration",
        error: expect.stringContaining("webhook is not an http or https URL"),
      },
    );
    expect(await runCommand(api, "pg_create_event_trigger", { ...args, name: "other", retry_conf: 5 })).toMatchObject({
      code: "invalid-configuration",
      error: expect.stringContaining("retry_conf is not an object"),
    });
    expect(await runCommand(api, "pg_delete_event_trigger", { name: "parcel_sent" })).toEqual({ message: "success" });
    expect(await countTriggers(api)).toBe(0);
    expect(await runCommand(api, "pg_delete_event_trigger", { name: "parcel_sent" })).toMatchObject({
      code: "not-exists",
      error: expect.stringContaining('event trigger "parcel_sent" does not exist'),
    });
    expect(await runCommand(api, "pg_create_event_trigger", { ...args, table: "absent" })).toMatchObject({
      code: "not-exists",
    });
  });

  test("X-EVT-18 P-HAS-11 P-HAS-11a events are invoked, listed and delivered again", async () => {
    const api = await start();
    await runCommand(api, "pg_create_event_trigger", { ...args, enable_manual: true });
    hook.answer = json({ reason: "no" }, 500);
    onTestFinished(() => void (hook.answer = json({})));
    const { event_id: id } = await runCommand(api, "pg_invoke_event_trigger", {
      name: "parcel_sent",
      payload: { id: 7, big: 1 },
    });
    await until(async () => {
      const [event] = await runCommand(api, "pg_get_event_logs", { name: "parcel_sent", status: "processed" });
      return event?.error === true;
    }, "the event is dead");
    expect(JSON.parse(hook.requests[0]?.body ?? "")).toMatchObject({
      id,
      event: {
        op: "MANUAL",
        data: { old: null, new: { id: 7, big: 1 } },
        session_variables: { "x-hasura-role": "admin" },
      },
    });
    expect(await runCommand(api, "pg_get_event_logs", { name: "parcel_sent" })).toEqual([
      expect.objectContaining({
        id,
        delivered: false,
        error: true,
        tries: 1,
        schema_name: "public",
        table_name: "parcel",
        payload: {
          op: "MANUAL",
          data: { old: null, new: { id: 7, big: 1 } },
          session_variables: { "x-hasura-role": "admin" },
          trace_context: null,
        },
      }),
    ]);
    expect(await runCommand(api, "pg_get_event_logs", { name: "parcel_sent", status: "pending" })).toEqual([]);
    hook.answer = json({});
    expect(await runCommand(api, "pg_redeliver_event", { event_id: id })).toEqual({ message: "success" });
    await until(() => hook.requests.length === 2, "the event arrived again");
    await until(async () => {
      const [event] = await runCommand(api, "pg_get_event_logs", { name: "parcel_sent" });
      return event?.delivered === true;
    }, "the event is delivered");
    const attempts = await runCommand(api, "pg_get_event_invocation_logs", { name: "parcel_sent" });
    expect(attempts).toMatchObject([
      { event_id: id, status: 200 },
      { event_id: id, status: 500, response: { body: '{"reason":"no"}' } },
    ]);
    expect(await runCommand(api, "pg_get_event_logs", { name: "parcel_sent", limit: 1, offset: 1 })).toEqual([]);
    expect(await runCommand(api, "pg_get_event_by_id", { event_id: id, invocation_log_limit: 1 })).toEqual({
      event: expect.objectContaining({ id, trigger_name: "parcel_sent", delivered: true }),
      invocations: attempts.slice(0, 1),
    });
    expect(await runCommand(api, "pg_get_event_by_id", { event_id: "00000000-0000-0000-0000-000000000000" })).toEqual({
      event: null,
      invocations: [],
    });
  });

  test("X-EVT-18 the log of events has the trace of the change", async () => {
    const api = await start();
    await runCommand(api, "pg_create_event_trigger", args);
    const [traceId, spanId] = ["4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"];
    await api.sql(
      `begin; set local relapi.trace_parent = '00-${traceId}-${spanId}-01'; insert into public.parcel values (1, 'a'); commit`,
    );
    expect(await runCommand(api, "pg_get_event_logs", { name: "parcel_sent" })).toMatchObject([
      { payload: { op: "INSERT", trace_context: { trace_id: traceId, span_id: spanId } } },
    ]);
  });

  test("X-EVT-18 before the installation there are no events", async () => {
    const api = await start();
    const event_id = "00000000-0000-0000-0000-000000000000";
    expect(await runCommand(api, "pg_redeliver_event", { event_id })).toMatchObject({ code: "not-exists" });
    expect(await runCommand(api, "pg_get_event_by_id", { event_id })).toEqual({ event: null, invocations: [] });
  });

  test("X-EVT-18 P-HAS-11 arguments that do not fit are rejected with their path", async () => {
    const api = await start();
    await runCommand(api, "pg_create_event_trigger", args);
    const answers = await Promise.all([
      runCommand(api, "pg_invoke_event_trigger", { name: "parcel_sent", payload: {} }),
      runCommand(api, "pg_invoke_event_trigger", { name: "absent", payload: {} }),
      runCommand(api, "pg_redeliver_event", { event_id: "1; drop table relapi.event" }),
      runCommand(api, "pg_redeliver_event", { event_id: "00000000-0000-0000-0000-000000000000" }),
      runCommand(api, "pg_get_event_by_id", { event_id: "7" }),
      runCommand(api, "pg_get_event_logs", { name: "parcel_sent", limit: -1 }),
      runCommand(api, "pg_get_event_logs", { name: "parcel_sent", status: "dead" }),
    ]);
    expect(answers.map(({ code, path }) => [code, path])).toEqual([
      ["not-supported", "$.args"],
      ["not-exists", "$.args"],
      ["parse-failed", "$.args.event_id"],
      ["not-exists", "$.args"],
      ["parse-failed", "$.args.event_id"],
      ["parse-failed", "$.args.limit"],
      ["parse-failed", "$.args.status"],
    ]);
  });
});
