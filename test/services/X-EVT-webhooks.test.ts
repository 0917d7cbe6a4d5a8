/** Event triggers of the metadata, which go to a real HTTP server. */
import { once } from "node:events";
import { propagation, trace } from "@opentelemetry/api";
import { BasicTracerProvider } from "@opentelemetry/sdk-trace-base";
import { describe, expect, onTestFinished, test } from "vitest";
import { asAdmin, capabilities, type StartOptions } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { buildMetadataDocument, table, type Entry } from "../support/metadata-document.ts";
import { openSocket } from "../support/socket.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";
import { startLogged, type LoggedApi } from "./start.ts";
import { createEventReader, EVENTS_OF_TRIGGER } from "./stored-events.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();
  const hook = await startHook();
  hook.answer = json({});

  /** Starts an api with event triggers of one table, and waits for the triggers. */
  const start = async (
    name: string,
    triggers: readonly Entry[],
    { count = 1, ...extraOptions }: StartOptions & { readonly count?: number } = {},
  ): Promise<LoggedApi> => {
    await database.query(`
      create table public.${name} (id int generated always as identity primary key, item text, price numeric);
      grant all on public.${name} to music_editor`);
    hook.requests.length = 0;
    const metadata = buildMetadataDocument([table(name, { event_triggers: triggers })]);
    const api = await startLogged({ on: database, metadata, ...extraOptions });
    await until(async () => {
      const triggerRows = await database.query(
        "select from pg_trigger where tgrelid = $1::regclass and not tgisinternal",
        [`public.${name}`],
      );
      return triggerRows.length === count;
    }, `the table ${name} has ${count} triggers`);
    return api;
  };

  const trigger = (name: string, extraKeys: Entry = {}): Entry => ({
    name,
    definition: { enable_manual: false, insert: { columns: "*" } },
    webhook: hook.url,
    ...extraKeys,
  });

  const { listEvents, listAttempts, untilEvent } = createEventReader(database, EVENTS_OF_TRIGGER);

  test("X-EVT-13 X-EVT-13b X-EVT-15 a webhook receives the change with the body and the headers of Hasura", async () => {
    const definition = {
      insert: { columns: ["id", "price"] },
      update: { columns: ["item"], payload: ["item"] },
      delete: { columns: "*" },
    };
    const headers = [
      { name: "X-Fixed", value: "yes" },
      { name: "X-Secret", value_from_env: "EVT_SECRET" },
    ];
    process.env["EVT_SECRET"] = "s3cret";
    process.env["EVT_BASE"] = hook.url;
    onTestFinished(() => {
      delete process.env["EVT_SECRET"];
      delete process.env["EVT_BASE"];
    });
    const api = await start(
      "sale",
      [{ name: "sale_changed", definition, webhook_from_env: "EVT_BASE", headers, retry_conf: { num_retries: 3 } }],
      { count: 3 },
    );
    const editor = asAdmin("music_editor", { "user-id": "7" });
    await api.post("/sale", { headers: editor, body: { item: "tea", price: 1 } });
    await until(() => hook.requests.length === 1, "the insert arrived");
    await database.query("update public.sale set price = 12345678901234567890.123456789");
    await database.query("update public.sale set item = 'coffee'");
    await until(() => hook.requests.length === 2, "the update arrived");
    await database.query("delete from public.sale");
    await until(() => hook.requests.length === 3, "the delete arrived");
    const [insertRequest, updateRequest, deleteRequest] = hook.requests;
    expect(insertRequest).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json", "x-fixed": "yes", "x-secret": "s3cret" },
    });
    expect(JSON.parse(insertRequest?.body ?? "")).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      trigger: { name: "sale_changed" },
      table: { schema: "public", name: "sale" },
      delivery_info: { current_retry: 0, max_retries: 3 },
      event: {
        op: "INSERT",
        data: { old: null, new: { id: 1, price: 1 } },
        session_variables: { "x-hasura-role": "music_editor", "x-hasura-user-id": "7" },
        trace_context: null,
      },
    });
    expect(JSON.parse(updateRequest?.body ?? "").event).toMatchObject({
      op: "UPDATE",
      data: { old: { item: "tea" }, new: { item: "coffee" } },
      session_variables: null,
    });
    expect(deleteRequest?.body).toContain(
      '"new":null,"old":{"id":1,"item":"coffee","price":12345678901234567890.123456789}',
    );
    expect(api.log.join("\n")).not.toMatch(/s3cret|hook-secret/);
  });

  describe("metadata that cannot be served", () => {
    test.each<[string, Entry, string]>([
      [
        "a bad name",
        { name: "1 order" },
        "event trigger 1 order: its name has to begin with a letter, and to have at most 42 letters, digits, _ and -",
      ],
      [
        "no operation",
        { definition: {} },
        "event trigger bad: definition has no insert, update, delete or enable_manual",
      ],
      ["two webhooks", { webhook_from_env: "A" }, "event trigger bad: it needs either webhook or webhook_from_env"],
      ["no webhook", { webhook: null }, "event trigger bad: it needs either webhook or webhook_from_env"],
      ["another scheme", { webhook: "ftp://secret-host/" }, "event trigger bad: webhook is not an http or https URL"],
      [
        "a missing variable",
        { webhook: "{{EVT_MISSING}}/a" },
        "event trigger bad: the environment variable EVT_MISSING is not set",
      ],
      [
        "an unknown operation",
        { definition: { upsert: { columns: "*" } } },
        "event trigger bad: definition.upsert is not supported",
      ],
      [
        "columns of another type",
        { definition: { insert: { columns: 7 } } },
        'event trigger bad: definition.insert.columns is neither "*" nor a list of column names',
      ],
      [
        "no listened column",
        { definition: { update: { columns: [] } } },
        "event trigger bad: definition.update.columns is empty",
      ],
      [
        "a missing column",
        { definition: { update: { columns: ["colour"] } } },
        'event trigger bad: update: the table has no column "colour"',
      ],
      [
        "a bad number",
        { retry_conf: { num_retries: -1 } },
        "event trigger bad: retry_conf.num_retries is not a whole number from 0 to 10000",
      ],
      [
        "no time",
        { retry_conf: { timeout_sec: "soon" } },
        "event trigger bad: retry_conf.timeout_sec is not a whole number from 1 to 3600",
      ],
      ["a header without name", { headers: [{ value: "a" }] }, "event trigger bad: headers[0] has no name"],
      [
        "a header without value",
        { headers: [{ name: "a" }] },
        "event trigger bad: headers[0] needs either value or value_from_env",
      ],
      [
        "a transform",
        { request_transform: { version: 2, url: "{{$base_url}}/{{if $body}}" } },
        "event trigger bad: request_transform.url: character 17: if is not supported",
      ],
      [
        "a header name with a space",
        { headers: [{ name: "a b", value: "c" }] },
        "event trigger bad: headers[0] is a header that HTTP cannot send",
      ],
      [
        "a header value with a line break",
        { headers: [{ name: "a", value: "b\nc" }] },
        "event trigger bad: headers[0] is a header that HTTP cannot send",
      ],
      [
        "a manual flag",
        { definition: { insert: { columns: "*" }, enable_manual: "yes" } },
        "event trigger bad: definition.enable_manual is neither true nor false",
      ],
      ["an order", { ordered: "yes" }, "event trigger bad: ordered is neither true nor false"],
      [
        "no object",
        "text" as unknown as Entry,
        "event trigger : its name has to begin with a letter, and to have at most 42 letters, digits, _ and -",
      ],
      ["a name twice", { name: "good" }, "event trigger good: another event trigger has this name"],
    ])("X-EVT-14 %s is reported with its location, and the others work", async (title, triggerKeys, message) => {
      const name = `bad_${title.replaceAll(" ", "_")}`;
      const bad = typeof triggerKeys === "string" ? triggerKeys : trigger("bad", triggerKeys);
      const api = await start(name, [trigger("good"), bad]);
      expect(api.log.filter((line) => line.startsWith("metadata:"))).toEqual([
        expect.stringContaining(`metadata: table ${name}: ${message}; ignored`),
      ]);
      await database.query(`insert into public.${name} (item) values ('a')`);
      await until(() => hook.requests.length === 1, "the event arrived");
      expect(api.log.join("\n")).not.toContain("secret-host");
    });

    test("X-EVT-14 the metadata API lists the trigger as inconsistent", async () => {
      const api = await start("listed_order", [
        trigger("fine"),
        trigger("bad", { response_transform: { version: 3 } }),
      ]);
      const answer = await api.post("/v1/metadata", {
        headers: asAdmin(),
        body: { type: "get_inconsistent_metadata", args: {} },
      });
      expect(answer.json().inconsistent_objects).toEqual([
        expect.objectContaining({
          type: "event_trigger",
          reason: expect.stringContaining("response_transform.version is neither 1 nor 2"),
        }),
      ]);
    });
  });

  describe("answers", () => {
    test("X-EVT-16 a status other than 2xx is tried again after the interval, and then counts in the body", async () => {
      hook.answer = (response) =>
        void response.writeHead(hook.requests.length < 3 ? 500 : 204).end(hook.requests.length < 3 ? "broken" : "");
      onTestFinished(() => void (hook.answer = json({})));
      await start("broken_hook", [trigger("broken", { retry_conf: { num_retries: 2, interval_sec: 0 } })]);
      await database.query("insert into public.broken_hook (item) values ('a')");
      await untilEvent("broken", "delivered", 2);
      const bodies = hook.requests.map(({ body }) => JSON.parse(body));
      expect(bodies.map(({ delivery_info }) => delivery_info.current_retry)).toEqual([0, 1, 2]);
      expect(new Set(bodies.map(({ id }) => id)).size).toBe(1);
      const failedAttempt = { status: 500, response: "broken", error: "the webhook answered with status 500" };
      expect(await listAttempts("broken")).toEqual([
        failedAttempt,
        failedAttempt,
        { status: 204, response: "", error: null },
      ]);
    });

    test("X-EVT-16 a webhook that always fails receives each attempt of the trigger, and then the event is dead", async () => {
      hook.answer = (response) => void response.writeHead(500).end();
      onTestFinished(() => void (hook.answer = json({})));
      await start("failing_hook", [trigger("failing", { retry_conf: { num_retries: 3, interval_sec: 0 } })]);
      await database.query("insert into public.failing_hook (item) values ('a')");
      await untilEvent("failing", "dead", 4);
      expect(hook.requests).toHaveLength(4);
    });

    test("X-EVT-16 a status of 2xx delivers the event, whatever the content type of the answer", async () => {
      hook.answer = (response) => void response.writeHead(200, { "content-type": "image/png" }).end("\u0000<p>");
      onTestFinished(() => void (hook.answer = json({})));
      await start("typed_hook", [trigger("typed")]);
      await database.query("insert into public.typed_hook (item) values ('a')");
      await untilEvent("typed", "delivered", 0);
      expect(await listAttempts("typed")).toEqual([{ status: 200, response: "<p>", error: null }]);
    });

    test("X-EVT-16 Retry-After sets the next attempt, although the attempts are used up", async () => {
      hook.answer = (response) => void response.writeHead(429, { "retry-after": "600" }).end();
      onTestFinished(() => void (hook.answer = json({})));
      await start("limited_hook", [trigger("limited", { retry_conf: { num_retries: 0, interval_sec: 1 } })]);
      await database.query("insert into public.limited_hook (item) values ('a')");
      await untilEvent("limited", "pending", 1);
      const [event] = await listEvents("limited");
      expect(event?.wait).toBeGreaterThan(300);
      expect(event?.wait).toBeLessThanOrEqual(600);
    });

    test("X-EVT-13a X-EVT-16 a redirect is not followed", async () => {
      hook.answer = (response) => void response.writeHead(302, { location: `${hook.url}&followed` }).end();
      onTestFinished(() => void (hook.answer = json({})));
      await start("moved_hook", [trigger("moved")]);
      await database.query("insert into public.moved_hook (item) values ('a')");
      await untilEvent("moved", "dead", 1);
      expect(hook.requests).toHaveLength(1);
      expect(await listAttempts("moved")).toMatchObject([{ status: 302 }]);
    });

    test("X-EVT-16 a webhook that does not answer in time has failed, and its connection ends", async () => {
      const closed: Promise<unknown>[] = [];
      hook.answer = (response) => void closed.push(once(response, "close"));
      onTestFinished(() => void (hook.answer = json({})));
      await start("hanging_hook", [trigger("hanging", { retry_conf: { timeout_sec: 1 } })]);
      await database.query("insert into public.hanging_hook (item) values ('a')");
      await untilEvent("hanging", "dead", 1);
      await Promise.all(closed);
      expect(await listAttempts("hanging")).toMatchObject([
        { status: null, error: expect.stringContaining("within 1 s") },
      ]);
    });

    test("X-EVT-16 an answer that is too large has failed, and the log has the beginning of one with an error", async () => {
      hook.answer = (response) =>
        void response.writeHead(hook.requests.length === 1 ? 500 : 200).end("x".repeat(100_000));
      onTestFinished(() => void (hook.answer = json({})));
      const retry_conf = { num_retries: 1, interval_sec: 0 };
      await start("huge_hook", [trigger("huge", { retry_conf })], { webhookMaxAnswerBytes: 10_000 });
      await database.query("insert into public.huge_hook (item) values ('a')");
      await untilEvent("huge", "dead", 2);
      expect(await listAttempts("huge")).toEqual([
        { status: 500, response: "x".repeat(4000), error: "the webhook answered with status 500" },
        { status: null, response: null, error: "the answer of the webhook is larger than 10000 bytes" },
      ]);
    });

    test("X-EVT-16 a response that never ends is cut off at the limit of its size, and the attempt fails", async () => {
      const closed: Promise<unknown>[] = [];
      hook.answer = (response) => {
        closed.push(once(response, "close"));
        const write = (): void => {
          while (response.write("x".repeat(100_000)));
          response.once("drain", write);
        };
        write();
      };
      onTestFinished(() => void (hook.answer = json({})));
      await start("endless_hook", [trigger("endless")], { webhookMaxAnswerBytes: 10_000 });
      await database.query("insert into public.endless_hook (item) values ('a')");
      await untilEvent("endless", "dead", 1);
      await Promise.all(closed);
      expect(await listAttempts("endless")).toMatchObject([
        { status: null, error: "the answer of the webhook is larger than 10000 bytes" },
      ]);
    });

    test("X-EVT-20 the trace of the request arrives in the event and in the header of the webhook", async () => {
      trace.setGlobalTracerProvider(new BasicTracerProvider());
      propagation.disable();
      onTestFinished(() => trace.disable());
      const api = await start("traced_order", [trigger("traced")], { tracing: true, traceRatio: 1 });
      const { headers } = await api.post("/traced_order", { headers: asAdmin("music_editor"), body: { item: "a" } });
      await until(() => hook.requests.length === 1, "the first event arrived");
      await database.query(
        "set local relapi.trace_parent = 'no trace'; insert into public.traced_order (item) values ('b')",
      );
      await until(() => hook.requests.length === 2, "the second event arrived");
      const [, traceId, spanId] = headers["traceparent"]?.split("-") ?? [];
      expect(
        hook.requests.map((request) => [request.headers["traceparent"], JSON.parse(request.body).event.trace_context]),
      ).toEqual([
        [headers["traceparent"], { trace_id: traceId, span_id: spanId }],
        [undefined, null],
      ]);
    });

    test("X-EVT-20 the trace of an operation of a WebSocket arrives in the event", async () => {
      trace.setGlobalTracerProvider(new BasicTracerProvider());
      propagation.disable();
      onTestFinished(() => trace.disable());
      const api = await start("socket_order", [trigger("of_socket")], { tracing: true, traceRatio: 1 });
      const socket = await openSocket(api);
      await socket.init({ headers: asAdmin("music_editor") });
      const query = 'mutation { insert_socket_order(objects: {item: "a"}) { affected_rows } }';
      socket.send({ id: "1", type: "subscribe", payload: { query } });
      expect(await socket.next()).toMatchObject({ payload: { data: { insert_socket_order: { affected_rows: 1 } } } });
      await socket.close();
      await until(() => hook.requests.length === 1, "the event arrived");
      const [request] = hook.requests;
      expect(request?.headers["traceparent"]).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
      expect(JSON.parse(request?.body ?? "").event.trace_context.trace_id).toBe(
        request?.headers["traceparent"]?.toString().split("-")[1],
      );
    });

    test("X-EVT-19 transforms change the request, and the answer in the log", async () => {
      hook.answer = (response) => void response.end('{"state":{"code":12345678901234567890123}}');
      onTestFinished(() => void (hook.answer = json({})));
      const request_transform = {
        version: 2,
        template_engine: "Kriti",
        method: "put",
        url: "{{$base_url}}",
        query_params: { row: "{{$body.event.data.new.id}}" },
        request_headers: { add_headers: { "x-table": "{{$body.table.name}}" }, remove_headers: ["X-Dropped"] },
        body: {
          action: "transform",
          template: '{"price": {{$body.event.data.new.price}}, "by": {{$session_variables?[\'x-hasura-user-id\']}}}',
        },
      };
      const response_transform = { version: 2, body: { action: "transform", template: "{{$body.state}}" } };
      const headers = [
        { name: "X-Dropped", value: "a" },
        { name: "X-Kept", value: "b" },
      ];
      await start("changed_order", [trigger("changed", { request_transform, response_transform, headers })]);
      await database.query("insert into public.changed_order (price) values (0.10)");
      await untilEvent("changed", "delivered", 0);
      expect(hook.requests).toHaveLength(1);
      expect(hook.requests[0]).toMatchObject({
        method: "PUT",
        url: "/hook?row=1",
        headers: { "x-table": "changed_order", "x-kept": "b", "content-type": "application/json" },
        body: '{"price":0.10,"by":null}',
      });
      expect(hook.requests[0]?.headers).not.toHaveProperty("x-dropped");
      expect(await listAttempts("changed")).toMatchObject([{ response: '{"code":12345678901234567890123}' }]);
    });

    test("X-EVT-19 a request that cannot be made has failed, and an answer that cannot be changed delivers the event", async () => {
      const body = { action: "transform", template: "{{$body.event.data.new.absent}}" };
      const responseBody = { action: "transform", template: "{{$body.absent}}" };
      await start(
        "unchanged_order",
        [
          trigger("unsent", { request_transform: { version: 2, body } }),
          trigger("unread", { response_transform: { version: 2, body: responseBody } }),
        ],
        { count: 2 },
      );
      await database.query("insert into public.unchanged_order (item) values ('a')");
      await untilEvent("unsent", "dead", 1);
      await untilEvent("unread", "delivered", 0);
      expect(hook.requests).toHaveLength(1);
      expect(await listAttempts("unsent")).toEqual([
        {
          status: null,
          response: null,
          error: "request_transform.body.template: $body.event.data.new.absent has no value",
        },
      ]);
      expect(await listAttempts("unread")).toMatchObject([{ status: 200, response: "{}", error: null }]);
    });

    test("X-EVT-17 a private address is rejected without WEBHOOK_ALLOWED_HOSTS, and no log has the URL", async () => {
      const api = await start("private_hook", [trigger("private")], { webhookAllowedHosts: [] });
      await database.query("insert into public.private_hook (item) values ('a')");
      await untilEvent("private", "dead", 1);
      expect(hook.requests).toEqual([]);
      expect(await listAttempts("private")).toMatchObject([{ error: expect.stringContaining("private address") }]);
      expect(api.log.join("\n")).not.toContain("hook-secret");
    });
  });
});
