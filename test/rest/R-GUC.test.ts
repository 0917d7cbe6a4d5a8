import { describe, expect, test } from "vitest";
import { compose, definePlugin, relApi, RelApiError, sql } from "../../core/index.ts";
import { finishAnswerHook } from "../../plugins/rest/api.ts";
import { fullCompat } from "../../presets/index.ts";
import { startApi, type Answer } from "../support/api.ts";
import { cases } from "../support/cases.ts";

const api = await startApi();
const preRequestApi = await startApi({ dbPreRequest: "sea.before_request" });

const headers = (value: string) => `GET /rpc/answer_headers?headers=${encodeURIComponent(value)}`;
const status = (value: string) => `GET /rpc/answer_status?status=${encodeURIComponent(value)}`;
const badHeaders = {
  code: "PGRST111",
  details: null,
  hint: null,
  message: "response.headers guc must be a JSON array composed of objects with a single key and a string value",
};
const badStatus = {
  code: "PGRST112",
  details: null,
  hint: null,
  message: "response.status guc must be a valid status code",
};
const all = (answer: Answer, name: string) =>
  answer.rawHeaders.filter(([header]) => header.toLowerCase() === name).map(([, value]) => value);

cases(api, [
  {
    title: "R-GUC-1 a function sets response headers",
    request: headers('[{"X-Seen":"yes"}]'),
    status: 200,
    responseHeaders: { "x-seen": "yes" },
  },
  {
    title: "R-GUC-1 headers with a repeated name are all sent",
    request: headers('[{"Set-Cookie":"a=1"},{"Set-Cookie":"b=2"}]'),
    check: (answer) => expect(all(answer, "set-cookie")).toEqual(["a=1", "b=2"]),
  },
  {
    title: "R-GUC-1 set headers replace those of the server in any letter case",
    request: headers('[{"content-range":"mine"},{"VARY":"Cookie"}]'),
    check: (answer) => expect([all(answer, "content-range"), all(answer, "vary")]).toEqual([["mine"], ["Cookie"]]),
  },
  {
    title: "R-GUC-1 a set Content-Type changes the header and not the body",
    request: headers('[{"Content-Type":"text/weird"}]'),
    status: 200,
    responseHeaders: { "content-type": "text/weird" },
    check: (answer) => expect(answer.json()).toBe('[{"Content-Type":"text/weird"}]'),
  },
  {
    title: "R-GUC-1 R-GUC-1a a trigger sets response headers",
    request: "POST /bells",
    headers: { prefer: "tx=rollback" },
    body: { rung: 3 },
    status: 201,
    responseHeaders: { "x-bell": "3" },
  },
  { title: "R-GUC-1 an empty list of headers is accepted", request: headers("[]"), status: 200 },
  {
    title: "R-GUC-1 header values may contain other alphabets",
    request: headers('[{"X-Name":"Ærø"}]'),
    check: (answer) => expect(Buffer.from(answer.headers["x-name"] ?? "", "latin1").toString("utf8")).toBe("Ærø"),
  },
  {
    title: "R-GUC-1 a line end in a value adds no second header",
    request: headers('[{"X-A":"a\\r\\nX-B: b"}]'),
    status: 200,
    responseHeaders: { "x-b": null },
  },
  ...["{}", '{"a":"b"}', "nothing", '[{"a":1}]', '[{"a":"b","c":"d"}]', "[{}]", '["a"]', "[null]", '[{"a b":"c"}]'].map(
    (value) => ({
      title: `R-GUC-2 headers of a wrong shape are rejected: ${value}`,
      request: headers(value),
      status: 500,
      answer: badHeaders,
    }),
  ),
  {
    title: "R-GUC-3 a function sets the status",
    request: status("234"),
    status: 234,
    check: (answer) => expect(answer.json()).toBe("234"),
  },
  {
    title: "R-GUC-3 the digits at the start of the value are the status",
    request: status("202 Accepted"),
    status: 202,
  },
  {
    title: "R-GUC-3 a trigger sets the status",
    request: "POST /bells",
    headers: { prefer: "tx=rollback" },
    body: { rung: 8 },
    status: 202,
  },
  ...["ok", "-200", "12", "99999"].map((value) => ({
    title: `R-GUC-3 an invalid status is rejected: ${value}`,
    request: status(value),
    status: 500,
    answer: badStatus,
  })),
  {
    title: "R-GUC-4 response settings do not apply to errors",
    request: "POST /bells",
    body: [{ rung: 8 }, { rung: 0 }],
    status: 400,
    responseHeaders: { "x-bell": null },
    check: (answer) => expect(answer.json().code).toBe("23514"),
  },
]);

test("R-GUC-4 a write is committed although its response settings are invalid", async () => {
  await api.sql(
    "create function sea.shout() returns trigger language plpgsql as $$ begin perform set_config('response.status', 'loud', true), set_config('response.headers', 'wrong', true); return new; end $$",
  );
  await api.sql("create table sea.shouts (id int primary key)");
  await api.sql("create trigger shout before insert on sea.shouts for each row execute function sea.shout()");
  await api.sql("grant all on sea.shouts to sea_anon");
  await api.reload();
  const answer = await api.post("/shouts", { body: { id: 1 } });
  expect(answer.status).toBe(500);
  // The status is validated first.
  expect(answer.json()).toEqual(badStatus);
  expect((await api.get("/shouts")).json()).toEqual([{ id: 1 }]);
});

describe("settings of the pre-request function", () => {
  cases(preRequestApi, [
    {
      title: "R-GUC-1 R-GUC-1a the pre-request function sets headers of reads",
      request: "GET /ports?limit=0",
      headers: { "x-pre": "header" },
      status: 200,
      responseHeaders: { "x-pre": "seen" },
    },
    {
      title: "R-GUC-1 the pre-request function sets headers of HEAD",
      request: "HEAD /ports",
      headers: { "x-pre": "header" },
      status: 200,
      responseHeaders: { "x-pre": "seen" },
    },
    {
      title: "R-GUC-1 the pre-request function sets headers of writes",
      request: "PATCH /ports?id=eq.0",
      headers: { "x-pre": "header" },
      body: { name: "x" },
      status: 204,
      responseHeaders: { "x-pre": "seen" },
    },
    {
      title: "R-GUC-1 the pre-request function sets headers of the schema description",
      request: "GET /",
      headers: { "x-pre": "header" },
      status: 200,
      responseHeaders: { "x-pre": "seen" },
    },
    {
      title: "R-GUC-3 the pre-request function sets the status of a read",
      request: "GET /ports?limit=0",
      headers: { "x-pre": "status:203" },
      status: 203,
    },
    {
      title: "R-GUC-4 headers of the pre-request function do not apply to errors",
      request: "GET /ports?select=nothing",
      headers: { "x-pre": "header" },
      status: 400,
      responseHeaders: { "x-pre": null },
    },
    {
      title: "R-GUC-4 an error that the pre-request function raises is the response",
      request: "GET /ports",
      headers: { "x-pre": "raise" },
      status: 418,
      statusText: "I am a teapot",
    },
  ]);
});

describe("result columns of plugins", async () => {
  const clock = definePlugin({
    name: "clock",
    requires: ["rest"],
    resultColumns: [{ name: "day", compile: () => sql`pg_catalog.current_setting('TimeZone')` }],
    apply: (_hooks, context) => {
      context.use(finishAnswerHook).tap("clock", (answer, { day }) => {
        if (day === "Nowhere") throw new RelApiError({ code: "22023", status: 422, message: "no such place" });
        return day == null ? answer : { ...answer, headers: [...answer.headers, ["X-Zone", day]] };
      });
    },
  });
  const ownApi = await startApi({ parts: [clock] });
  const zone = { "x-zone": "Asia/Tokyo" };
  const timezoneHeaders = { prefer: "timezone=Asia/Tokyo, tx=rollback" };

  cases(ownApi, [
    {
      title: "X-RES-1 X-RES-2 a result column sets headers of reads",
      request: "GET /vessels",
      headers: timezoneHeaders,
      responseHeaders: zone,
    },
    {
      title: "X-RES-1 X-RES-2 a result column sets headers of writes",
      request: "POST /ports",
      headers: timezoneHeaders,
      body: [],
      responseHeaders: zone,
    },
    {
      title: "X-RES-1 X-RES-2 a result column sets headers of calls",
      request: "GET /rpc/add_numbers?a=1&b=2",
      headers: timezoneHeaders,
      responseHeaders: zone,
    },
    {
      title: "X-RES-1 X-RES-2 a result column sets headers of the OpenAPI document",
      request: "GET /",
      headers: timezoneHeaders,
      responseHeaders: zone,
    },
    {
      title: "X-RES-2 headers of result columns and of response settings are both sent",
      request: headers('[{"X-Seen":"yes"}]'),
      headers: timezoneHeaders,
      responseHeaders: { ...zone, "x-seen": "yes" },
    },
  ]);

  test("X-RES-2 an error that a tap throws is the response", async () => {
    const strictApi = await startApi({
      parts: [{ ...clock, resultColumns: [{ name: "day", compile: () => sql`'Nowhere'::text` }] }],
    });
    const answer = await strictApi.get("/vessels?limit=1");
    expect([answer.status, answer.json().message]).toEqual([422, "no such place"]);
  });

  test("X-RES-1 a result column with a name of core or a repeated name is rejected", () => {
    const start = (name: string) => () =>
      relApi(
        compose(fullCompat({ databaseUrl: "postgres://nobody@127.0.0.1:1/none" }), {
          ...clock,
          resultColumns: [{ name, compile: () => sql`1` }],
        }),
      );
    expect(start("total")).toThrow('result column "total" of "clock" must consist of lower-case letters and "_"');
    expect(start("response_status")).toThrow(
      'result column "response_status" is declared by plugins "response-settings" and "clock"',
    );
  });
});
