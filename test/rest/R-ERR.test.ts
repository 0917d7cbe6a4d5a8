// @runs-also-on postgresql-15-postgis
import { describe, expect, test } from "vitest";
import { definePlugin, RelApiError } from "../../core/index.ts";
import { readRaisedHook } from "../../plugins/rest/api.ts";
import { startApi } from "../support/api.ts";
import { cases, type Case } from "../support/cases.ts";

const api = await startApi();
const minimalApi = await startApi({ clientErrorVerbosity: "minimal" });

const call = (name: string, query: Readonly<Record<string, string>> = {}) =>
  `GET /rpc/${name}?${new URLSearchParams(query)}`;
const state = (code: string, status: number, text = "said so"): Case => ({
  title: `R-ERR-3 ${code} is ${status}${text === "said so" ? "" : ` (${text})`}`,
  request: call("raise_state", { state: code, text }),
  status,
  answer: { code, details: null, hint: null, message: text },
  responseHeaders: { "proxy-status": `PostgREST; error=${code}` },
});

cases(api, [
  {
    title: "R-ERR-1 an error has its keys in a fixed order, without blanks",
    request: "GET /harbours?select=id",
    status: 404,
    check: (answer) =>
      expect(answer.text).toMatch(
        /^\{"code":"PGRST205","details":null,"hint":(null|".*?"),"message":"Could not find the table 'sea.harbours' in the schema cache"\}$/,
      ),
    responseHeaders: {
      "content-type": "application/json; charset=utf-8",
      "content-length": /^\d+$/,
      "proxy-status": "PostgREST; error=PGRST205",
      vary: null,
      "content-range": null,
      "range-unit": null,
      "preference-applied": null,
      "server-timing": null,
      "content-profile": null,
      "content-location": null,
    },
  },
  {
    title: "R-ERR-1 R-ERR-1a HEAD has the headers of the error without a body",
    request: "HEAD /harbours",
    status: 404,
    bytes: "",
    responseHeaders: { "content-type": "application/json; charset=utf-8", "proxy-status": "PostgREST; error=PGRST205" },
  },
  {
    title: "R-ERR-1 an error of the database keeps its details and hint",
    request: call("raise_state", { state: "P0001", text: "no", detail: "because", hint: "do not" }),
    status: 400,
    answer: { code: "P0001", details: "because", hint: "do not", message: "no" },
  },
  {
    title: "R-ERR-1 the error of the object type without a row has its keys",
    request: "GET /vessels?id=eq.99",
    headers: { accept: "application/vnd.pgrst.object+json" },
    status: 406,
    answer: {
      code: "PGRST116",
      details: "The result contains 0 rows",
      hint: null,
      message: "Cannot coerce the result to a single JSON object",
    },
  },
  {
    title: "R-ERR-1 the error of the object type names the number of rows",
    request: "GET /vessels",
    headers: { accept: "application/vnd.pgrst.object+json" },
    status: 406,
    check: (answer) => expect(answer.json().details).toBe("The result contains 3 rows"),
  },
  {
    title: "R-ERR-1 a media type that no plugin produces is 406",
    request: "GET /vessels",
    headers: { accept: "image/gif" },
    status: 406,
    answer: {
      code: "PGRST107",
      details: null,
      hint: null,
      message: "None of these media types are available: image/gif",
    },
  },
  ...(
    [
      ["08006", 503],
      ["09000", 500],
      ["0L000", 403],
      ["0P000", 403],
      ["21000", 500],
      ["22012", 400],
      ["23502", 400],
      ["23503", 409],
      ["23505", 409],
      ["23514", 400],
      ["25006", 405],
      ["25001", 500],
      ["28000", 403],
      ["2D000", 500],
      ["38000", 500],
      ["39000", 500],
      ["3B000", 500],
      ["40001", 500],
      ["42P01", 404],
      ["42P17", 500],
      ["42883", 404],
      ["42703", 400],
      ["53400", 500],
      ["53100", 503],
      ["54000", 400],
      ["55000", 500],
      ["57014", 500],
      ["57P01", 503],
      ["58000", 500],
      ["F0000", 500],
      ["HV000", 500],
      ["P0001", 400],
      ["P0002", 500],
      ["XX000", 500],
      ["ZZ999", 400],
    ] as const
  ).map(([code, status]) => state(code, status)),
  state("21000", 400, "UPDATE requires a WHERE clause"),
  state("22023", 401, 'role "nobody" does not exist'),
  state("22023", 400, "another matter"),
  state("42883", 406, "function xmlagg(integer) does not exist"),
  {
    title: "R-ERR-3 42501 of an anonymous caller is 401",
    request: call("raise_state", { state: "42501", text: "no" }),
    status: 401,
    responseHeaders: { "www-authenticate": "Bearer" },
  },
  {
    title: "R-ERR-3 42501 of a role is 403",
    request: call("raise_state", { state: "42501", text: "no" }),
    role: "sea_clerk",
    status: 403,
    responseHeaders: { "www-authenticate": null },
  },
  {
    title: "R-ERR-2 every 503 has the header Retry-After",
    request: call("raise_state", { state: "53300", text: "full" }),
    status: 503,
    responseHeaders: { "retry-after": /^\d+$/ },
  },
  {
    title: "R-ERR-4 a SQLSTATE PTxyz sets the status and the reason",
    request: call("raise_payment"),
    status: 402,
    statusText: "Payment Required",
    answer: { code: "PT402", details: "Quota exceeded", hint: "Upgrade your plan", message: "Payment Required" },
  },
  {
    title: "R-ERR-4 a SQLSTATE PT with other characters than three digits is 500",
    request: call("raise_state", { state: "PT40A", text: "odd" }),
    status: 500,
    answer: { code: "PT40A", details: null, hint: null, message: "odd" },
  },
  {
    title: "R-ERR-4 a SQLSTATE PT with a status that HTTP does not have is 500",
    request: call("raise_state", { state: "PT001", text: "odd" }),
    status: 500,
  },
  {
    title: "R-ERR-4 a message of two lines becomes a reason of one line",
    request: call("raise_state", { state: "PT418", text: "I am\r\nX-Evil: yes" }),
    status: 418,
    statusText: "I am X-Evil: yes",
    responseHeaders: { "x-evil": null },
  },
  {
    title: "R-ERR-4 a reason may contain another alphabet",
    request: call("raise_state", { state: "PT418", text: "Tëapot مو" }),
    status: 418,
    check: ({ statusText }) => expect(Buffer.from(statusText, "latin1").toString("utf8")).toBe("Tëapot مو"),
  },
  {
    title: "R-ERR-5 R-ERR-5a headers that SQL raises replace those of the server",
    request: call("raise_pgrst", {
      message: '{"code":"sea-1","message":"m"}',
      detail:
        '{"status":401,"headers":{"www-authenticate":"Bearer realm=sea","Content-Type":"application/problem+json"}}',
    }),
    status: 401,
    responseHeaders: { "www-authenticate": "Bearer realm=sea", "content-type": "application/problem+json" },
  },
  {
    title: "R-ERR-5 R-ERR-5a a raised PGRST error sets the status, headers and body",
    request: call("raise_pgrst", {
      message: '{"code":"sea-1","message":"vessel full"}',
      detail: '{"status":409,"headers":{"X-Reason":"full"}}',
    }),
    status: 409,
    statusText: "Conflict",
    answer: { code: "sea-1", details: null, hint: null, message: "vessel full" },
    responseHeaders: { "x-reason": "full", "proxy-status": "PostgREST; error=sea-1" },
  },
  {
    title: "R-ERR-5 R-ERR-5a a raised PGRST error may have details, a hint and a status text",
    request: call("raise_pgrst", {
      message: '{"code":"sea-2","message":"m","details":"d","hint":"h"}',
      detail: '{"status":299,"status_text":"Nearly","headers":{}}',
    }),
    status: 299,
    statusText: "Nearly",
    answer: { code: "sea-2", details: "d", hint: "h", message: "m" },
  },
  {
    title: "R-ERR-5 R-ERR-5b a raised message that is not JSON is PGRST121",
    request: call("raise_pgrst", { message: "oops", detail: "{}" }),
    status: 500,
    answer: {
      code: "PGRST121",
      details: "Invalid JSON value for MESSAGE: 'oops'",
      hint: "MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'.",
      message: `Could not parse JSON in the "RAISE SQLSTATE 'PGRST'" error`,
    },
  },
  {
    title: "R-ERR-5 R-ERR-5b a raised message without the required keys is PGRST121",
    request: call("raise_pgrst", { message: '{"code":"x"}', detail: '{"status":400,"headers":{}}' }),
    status: 500,
    check: (answer) => expect(answer.json().details).toBe(`Invalid JSON value for MESSAGE: '{"code":"x"}'`),
  },
  {
    title: "R-ERR-5 R-ERR-5b a raised error without DETAIL is PGRST121",
    request: call("raise_pgrst", { message: '{"code":"x","message":"y"}' }),
    status: 500,
    check: (answer) =>
      expect(answer.json()).toMatchObject({
        code: "PGRST121",
        details: "DETAIL is missing in the RAISE statement",
        hint: "DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'.",
      }),
  },
  ...['{"status":"400","headers":{}}', '{"status":400}', '{"status":400,"headers":{"a":1}}', "nothing"].map(
    (detail) => ({
      title: `R-ERR-5 R-ERR-5b a raised DETAIL of the wrong shape is PGRST121: ${detail}`,
      request: call("raise_pgrst", { message: '{"code":"x","message":"y"}', detail }),
      status: 500,
      check: (answer: { json(): unknown }) =>
        expect(answer.json()).toMatchObject({
          code: "PGRST121",
          details: `Invalid JSON value for DETAIL: '${detail}'`,
        }),
    }),
  ),
]);

describe("minimal verbosity", () => {
  cases(minimalApi, [
    {
      title: "R-ERR-1 minimal verbosity shows only the code and the message",
      request: "GET /vessels?ports.name=eq.x",
      status: 400,
      bytes: `{"code":"PGRST108","message":"'ports' is not an embedded resource in this request"}`,
    },
    {
      title: "R-ERR-1 minimal verbosity applies to errors of the database",
      request: call("raise_payment"),
      status: 402,
      answer: { code: "PT402", message: "Payment Required" },
    },
    {
      title: "R-ERR-1 minimal verbosity applies to an unsatisfiable range",
      request: "GET /vessels?offset=9",
      headers: { prefer: "count=exact" },
      status: 416,
      answer: { code: "PGRST103", message: "Requested range not satisfiable" },
    },
  ]);
});

test("R-ERR-1 the Content-Length of an error counts bytes", async () => {
  const answer = await api.get("/vessels?select=%C3%A9%5D");
  expect(answer.status).toBe(400);
  expect(Number(answer.headers["content-length"])).toBe(answer.bytes.length);
  expect(answer.bytes.length).toBeGreaterThan(answer.text.length);
});

test("R-ERR-1 R-SC-4 the verbosity follows a reload of the settings", async () => {
  const keep = (setting: string) =>
    api.sql(
      `do $$ begin execute format('alter role %I in database %I ${setting}', current_user, current_database()); end $$`,
    );
  const ownApi = await startApi();
  const keys = async () => Object.keys((await ownApi.get("/nowhere")).json());
  expect(await keys()).toEqual(["code", "details", "hint", "message"]);
  try {
    await keep("set pgrst.client_error_verbosity = ''minimal''");
    await ownApi.reload();
    expect(await keys()).toEqual(["code", "message"]);
  } finally {
    await keep("reset pgrst.client_error_verbosity");
  }
});

const quotas = definePlugin({
  name: "quotas",
  requires: ["rest"],
  before: ["raised-errors"],
  apply: (_hooks, context) => {
    context.use(readRaisedHook).tap("quotas", ({ code, message }) =>
      code === "QU001"
        ? {
            error: new RelApiError({ code, status: 429, message, headers: [["Retry-After", "60"]] }),
            statusText: "Slow down",
          }
        : undefined,
    );
  },
});

cases(await startApi({ parts: [quotas] }), [
  {
    title: "X-ERR-1 a plugin maps its own SQLSTATE to a status",
    request: call("raise_state", { state: "QU001", text: "enough" }),
    status: 429,
    answer: { code: "QU001", details: null, hint: null, message: "enough" },
    responseHeaders: { "retry-after": "60" },
    statusText: "Slow down",
  },
  {
    title: "X-ERR-1 SQLSTATEs of raised-errors work beside those of a plugin",
    request: call("raise_state", { state: "PT418", text: "teapot" }),
    status: 418,
  },
]);
