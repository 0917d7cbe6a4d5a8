/** Cron triggers of the metadata, which go to a real HTTP server. */
import { describe, expect, onTestFinished, test } from "vitest";
import { schedules } from "../../plugins/services/index.ts";
import { asAdmin, capabilities, type StartOptions } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { buildMetadataDocument, type Entry } from "../support/metadata-document.ts";
import { until } from "../support/until.ts";
import { json, startHook } from "./hook-server.ts";
import { startLogged, startWithWebhooks, type LoggedApi } from "./start.ts";
import { createEventReader, SCHEDULED_EVENTS } from "./stored-events.ts";

describe.runIf(capabilities.realServer)("with a PostgreSQL server", async () => {
  const database = await openDatabase();
  const hook = await startHook();
  hook.answer = json({});

  const HALF_AN_HOUR_AGO = new Date(Math.floor(Date.now() / 60_000 - 30) * 60_000);
  const PAST = `${HALF_AN_HOUR_AGO.getUTCMinutes()} ${HALF_AN_HOUR_AGO.getUTCHours()} ${HALF_AN_HOUR_AGO.getUTCDate()} ${HALF_AN_HOUR_AGO.getUTCMonth() + 1} *`;

  const hasTables = async (): Promise<boolean> => {
    const [row] = await database.query("select to_regclass('relapi.schedule') is not null as exists");
    return row?.["exists"] === true;
  };

  // This installs the tables, so that tests can write rows before they start a server.
  const first = await startWithWebhooks({ on: database, parts: [schedules({ "0 0 31 2 *": () => 0 })] });
  await until(hasTables, "the tables are installed");
  await first.close();

  /** Starts an api with cron triggers, of which all have missed one time. */
  const start = async (triggers: readonly Entry[], extraOptions: StartOptions = {}): Promise<LoggedApi> => {
    hook.requests.length = 0;
    for (const { name } of triggers)
      await database.query(
        `insert into relapi.schedule (name, cron, checked_until) values ($1, $2, now() - interval '1 hour')
        on conflict do nothing`,
        [name ?? "", PAST],
      );
    return startLogged({
      on: database,
      metadata: buildMetadataDocument([], { cron_triggers: triggers }),
      ...extraOptions,
    });
  };

  const trigger = (name: string, extraKeys: Entry = {}): Entry => ({
    name,
    webhook: hook.url,
    schedule: PAST,
    include_in_metadata: true,
    ...extraKeys,
  });

  const { listEvents, listAttempts, untilEvent } = createEventReader(database, SCHEDULED_EVENTS);

  test("X-SCH-8 X-SCH-10 a webhook receives the time with the body and the headers of Hasura", async () => {
    process.env["SCH_SECRET"] = "s3cret";
    process.env["SCH_BASE"] = hook.url;
    onTestFinished(() => {
      delete process.env["SCH_SECRET"];
      delete process.env["SCH_BASE"];
    });
    const headers = [
      { name: "X-Fixed", value: "yes" },
      { name: "X-Secret", value_from_env: "SCH_SECRET" },
    ];
    const payload = { size: 12345678901234567890n, list: [1, "two"] };
    const api = await start([
      trigger("reports", { webhook: "{{SCH_BASE}}", headers, payload, comment: "every evening" }),
      trigger("plain", { webhook: null, webhook_from_env: "SCH_BASE" }),
    ]);
    await untilEvent("reports", "delivered", 0);
    await untilEvent("plain", "delivered", 0);
    const reports = hook.requests.find(({ body }) => body.includes("reports"));
    const plain = hook.requests.find(({ body }) => body.includes("plain"));
    expect(reports).toMatchObject({
      method: "POST",
      headers: { "content-type": "application/json", "x-fixed": "yes", "x-secret": "s3cret" },
    });
    expect(reports?.body).toContain('"payload":{"size":12345678901234567890,"list":[1,"two"]}');
    const time = HALF_AN_HOUR_AGO.toISOString().replace(".000", "");
    expect(JSON.parse(reports?.body ?? "")).toMatchObject({ name: "reports", comment: "every evening" });
    expect(JSON.parse(plain?.body ?? "")).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: "plain",
      scheduled_time: time,
      payload: null,
    });
    expect(api.log.join("\n")).not.toMatch(/s3cret|hook-secret/);
  });

  test("X-SCH-9 triggers that cannot be served are reported with their location, and the others work", async () => {
    const bad: readonly [Entry, string][] = [
      [
        trigger("1 report"),
        "cron trigger 1 report: its name has to begin with a letter, and to have at most 100 letters, digits, _ and -",
      ],
      [
        trigger("words", { schedule: "at noon" }),
        'cron trigger words: schedule: "at noon" is not a cron expression, which has five fields: minute, hour, day, month, weekday',
      ],
      [trigger("number", { schedule: 5 }), "cron trigger number: schedule is not a cron expression"],
      [
        trigger("range", { schedule: "0 25 * * *" }),
        'cron trigger range: schedule: "0 25 * * *" is not a cron expression, which has five fields: minute, hour, day, month, weekday',
      ],
      [trigger("no_hook", { webhook: null }), "cron trigger no_hook: it needs either webhook or webhook_from_env"],
      [trigger("ftp", { webhook: "ftp://secret-host/" }), "cron trigger ftp: webhook is not an http or https URL"],
      [
        trigger("missing", { webhook: "{{SCH_MISSING}}/a" }),
        "cron trigger missing: the environment variable SCH_MISSING is not set",
      ],
      [
        trigger("retries", { retry_conf: { num_retries: -1 } }),
        "cron trigger retries: retry_conf.num_retries is not a whole number from 0 to 10000",
      ],
      [
        trigger("unknown_rule", { retry_conf: { interval_sec: 1 } }),
        "cron trigger unknown_rule: retry_conf.interval_sec is not supported",
      ],
      [
        trigger("sent_header", { headers: [{ name: "a", value: "b\r\nc: d" }] }),
        "cron trigger sent_header: headers[0] is a header that HTTP cannot send",
      ],
      [
        trigger("header", { headers: [{ name: "a" }] }),
        "cron trigger header: headers[0] needs either value or value_from_env",
      ],
      [trigger("comment", { comment: 7 }), "cron trigger comment: comment is not a string"],
      [
        trigger("request", { request_transform: { version: 2, method: "TRACE" } }),
        "cron trigger request: request_transform.method is not one of GET, POST, PUT, PATCH, DELETE",
      ],
      [
        trigger("response", { response_transform: { version: 3 } }),
        "cron trigger response: response_transform.version is neither 1 nor 2",
      ],
      [trigger("good"), "cron trigger good: another schedule has this name"],
    ];
    const api = await start([trigger("good"), ...bad.map(([entry]) => entry)]);
    await untilEvent("good", "delivered", 0);
    expect(api.log.filter((line) => line.startsWith("metadata:"))).toEqual(
      bad.map(([, message]) => expect.stringContaining(`metadata: ${message}; ignored`)),
    );
    expect(api.log.join("\n")).not.toContain("secret-host");
    const answer = await api.post("/v1/metadata", {
      headers: asAdmin(),
      body: { type: "get_inconsistent_metadata", args: {} },
    });
    const { is_consistent, inconsistent_objects: objects } = answer.json();
    expect(is_consistent).toBe(false);
    expect(objects).toHaveLength(bad.length);
    expect(objects[1]).toEqual({
      type: "cron_trigger",
      name: "cron_trigger words",
      definition: { name: "words" },
      reason: expect.stringContaining("is not a cron expression"),
    });
  });

  test("X-SCH-10 a status other than 2xx is tried again after the interval", async () => {
    hook.answer = (response) => void response.writeHead(hook.requests.length < 3 ? 500 : 204).end();
    onTestFinished(() => void (hook.answer = json({})));
    await start([trigger("broken", { retry_conf: { num_retries: 2, retry_interval_seconds: 0 } })]);
    await untilEvent("broken", "delivered", 2);
    expect(new Set(hook.requests.map(({ body }) => JSON.parse(body).id)).size).toBe(1);
    const failedAttempt = { status: 500, response: "", error: "the webhook answered with status 500" };
    expect(await listAttempts("broken")).toEqual([
      failedAttempt,
      failedAttempt,
      { status: 204, response: "", error: null },
    ]);
  });

  test("X-SCH-10 without retry_conf there is one attempt", async () => {
    hook.answer = json({}, 500);
    onTestFinished(() => void (hook.answer = json({})));
    await start([trigger("once")]);
    await untilEvent("once", "dead", 1);
    expect(hook.requests).toHaveLength(1);
  });

  test("X-SCH-10 Retry-After sets the next attempt, although the attempts are used up", async () => {
    hook.answer = (response) => void response.writeHead(429, { "retry-after": "600" }).end();
    onTestFinished(() => void (hook.answer = json({})));
    await start([trigger("limited")]);
    await untilEvent("limited", "pending", 1);
    const [event] = await listEvents("limited");
    expect(event?.wait).toBeGreaterThan(300);
    expect(event?.wait).toBeLessThanOrEqual(600);
  });

  test("X-SCH-11 a private address is rejected without WEBHOOK_ALLOWED_HOSTS, and no log has the URL", async () => {
    const api = await start([trigger("private")], { webhookAllowedHosts: [] });
    await untilEvent("private", "dead", 1);
    expect(hook.requests).toEqual([]);
    expect(await listAttempts("private")).toMatchObject([{ error: expect.stringContaining("private address") }]);
    expect(api.log.join("\n")).not.toContain("hook-secret");
  });
});
