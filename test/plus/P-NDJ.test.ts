/** Rows as lines of JSON. */
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { plus } from "../../presets/index.ts";
import { startApi } from "../support/api.ts";
import { bearer } from "../support/tokens.ts";

const api = await startApi({ preset: plus, streamAboveBytes: 64 * 1024 });
await api.sql(`
  create schema lines;
  grant usage on schema lines to sea_anon, sea_clerk;
  create table lines.item (id int primary key, name text, doc json, owner text);
  insert into lines.item values (1, E'two\\nlines', E'{"a":\\r\\n[1,\\n2]}', 'sea_anon'), (2, 'säck', null, 'sea_clerk');
  create table lines.part (id int primary key, item_id int references lines.item);
  insert into lines.part values (1, 1), (2, 1);
  create table lines.many (id int primary key, note text);
  insert into lines.many select i, repeat('é', 30) as note from generate_series(1, 20000) i;
  alter table lines.item enable row level security;
  create policy own on lines.item for select using (current_user <> 'sea_clerk' or owner = current_user);
  grant select on all tables in schema lines to sea_anon, sea_clerk;
  create table lines.entry (id int primary key, name text default 'none', amount numeric, doc json);
  grant all on lines.entry to sea_anon;
  create function lines.sum_of(a int, b int) returns int language sql immutable as 'select a + b';
  create function lines.numbers() returns setof int language sql stable as 'values (1), (null), (3)';
  create function lines.one() returns int language sql stable as 'select 7';
`);
const linesApi = await startApi({ preset: plus, dbSchemas: ["lines"], streamAboveBytes: 64 * 1024 });
const headers = { accept: "application/x-ndjson" };

const parseLines = (text: string): unknown[] => {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
};

const bodyHeaders = { "content-type": "application/x-ndjson", prefer: "return=representation" };

describe("lines of JSON", () => {
  test("P-NDJ-1 each row is one line, whatever its values contain", async () => {
    const {
      text,
      status,
      headers: responseHeaders,
    } = await linesApi.get("/item?select=*,part(id)&order=id", { headers });
    expect(status).toBe(200);
    expect(responseHeaders["content-type"]).toBe("application/x-ndjson");
    expect(responseHeaders["content-range"]).toBe("0-1/*");
    expect(parseLines(text)).toEqual([
      { id: 1, name: "two\nlines", doc: { a: [1, 2] }, owner: "sea_anon", part: [{ id: 1 }, { id: 2 }] },
      { id: 2, name: "säck", doc: null, owner: "sea_clerk", part: [] },
    ]);
  });

  test("P-NDJ-1 a read without rows has an empty body", async () => {
    expect((await linesApi.get("/item?id=eq.9", { headers })).text).toBe("");
  });

  test("P-NDJ-1 values of functions, counts and rights are those of JSON", async () => {
    expect(parseLines((await linesApi.get("/rpc/numbers", { headers })).text)).toEqual([1, null, 3]);
    expect((await linesApi.get("/rpc/one", { headers })).text).toBe("7\n");
    const countAnswer = await linesApi.get("/item?limit=1&order=id", {
      headers: { ...headers, prefer: "count=exact" },
    });
    expect([countAnswer.status, countAnswer.headers["content-range"]]).toEqual([206, "0-0/2"]);
    const clerkAnswer = await linesApi.get("/item?select=id", {
      headers: { ...headers, ...bearer({ role: "sea_clerk" }) },
    });
    expect(clerkAnswer.text).toBe('{"id":2}\n');
  });

  test("P-NDJ-2 long answers are streamed, and each line is complete", async () => {
    const { text } = await linesApi.get("/many?order=id", { headers });
    const rows = parseLines(text) as { id: number; note: string }[];
    expect(rows).toHaveLength(20_000);
    expect(rows.at(-1)).toEqual({ id: 20_000, note: "é".repeat(30) });
  });

  test("R-STR-6 pages by cursor receive the whole body", async () => {
    const page = await linesApi.get("/many?order=id&limit=5000&cursor=");
    expect(page.json()).toHaveLength(5000);
    expect(page.headers["link"]).toContain('rel="next"');
  });

  test("P-NDJ-1 an error is answered as JSON", async () => {
    const { status, headers: responseHeaders, text } = await linesApi.get("/item?nope=eq.1", { headers });
    expect([status, responseHeaders["content-type"]]).toEqual([400, "application/json; charset=utf-8"]);
    expect(JSON.parse(text)).toMatchObject({ code: "42703" });
  });

  test("P-GEN-2 without the plugin the type is unknown", async () => {
    const bareApi = await startApi({
      preset: plus,
      dbSchemas: ["lines"],
      parts: [without("ndjson")],
    });
    const { status, text } = await bareApi.get("/item", { headers });
    expect(status).toBe(406);
    expect(JSON.parse(text)).toMatchObject({
      code: "PGRST107",
      message: "None of these media types are available: application/x-ndjson",
    });
  });
});

describe("bodies of lines of JSON", () => {
  const post = async (path: string, body: string | Buffer, extraHeaders: Record<string, string> = {}) => {
    const { status, text } = await linesApi.post(path, { headers: { ...bodyHeaders, ...extraHeaders }, body });
    return { status, text, rows: JSON.parse(text) as unknown };
  };
  const buildErrorAnswer = (message: string, details: unknown = null) => ({
    status: 400,
    rows: { code: "PGRST102", message, details, hint: null },
  });

  test("P-NDJ-3 each line is a row, with or without a final line end", async () => {
    expect(await post("/entry?select=id,name", '{"id":1,"name":"a"}\n{"name":"säck","id":2}\n')).toMatchObject({
      status: 201,
      rows: [
        { id: 1, name: "a" },
        { id: 2, name: "säck" },
      ],
    });
    expect(await post("/entry?select=id,name", '{"id":3,"name":"{\\n"}\n{"id":4,"name":null}')).toMatchObject({
      status: 201,
      rows: [
        { id: 3, name: "{\n" },
        { id: 4, name: null },
      ],
    });
  });

  test("P-NDJ-3 upserts, PATCH and PUT accept lines", async () => {
    const merge = { prefer: "return=representation,resolution=merge-duplicates" };
    await post("/entry", '{"id":10,"name":"old"}');
    expect(
      await post("/entry?select=id,name", '{"id":10,"name":"new"}\n{"id":11,"name":"other"}\n', merge),
    ).toMatchObject({
      rows: [
        { id: 10, name: "new" },
        { id: 11, name: "other" },
      ],
    });
    const patchAnswer = await linesApi.patch("/entry?id=eq.10&select=id,name", {
      headers: bodyHeaders,
      body: '{"name":"p"}\n',
    });
    expect([patchAnswer.status, patchAnswer.json()]).toEqual([200, [{ id: 10, name: "p" }]]);
    const putAnswer = await linesApi.put("/entry?id=eq.12&select=id,name", {
      headers: bodyHeaders,
      body: '{"id":12,"name":"put"}\n',
    });
    expect([putAnswer.status, putAnswer.json()]).toEqual([201, [{ id: 12, name: "put" }]]);
  });

  test("P-NDJ-3 a function takes the arguments of a line", async () => {
    expect(await post("/rpc/sum_of", '{"a":1,"b":2}\n')).toMatchObject({ status: 200, rows: 3 });
  });

  test("P-NDJ-3 numbers keep all their digits, and values their text", async () => {
    const number = "12345678901234567890.12345678901234567890";
    const { text } = await post("/entry?select=amount,doc", `{"id":20,"amount":${number},"doc":{"a":1.00,"a":2}}\n`);
    expect(text).toBe(`[{"amount":${number},"doc":{"a":1.00,"a":2}}]`);
  });

  test("P-NDJ-3 CRLF, empty lines and a byte order mark are accepted", async () => {
    const body = '\ufeff\r\n\n{"id":30}\r\n\r\n \t\n{"id":31} \r\n\n';
    expect(await post("/entry?select=id", body)).toMatchObject({ status: 201, rows: [{ id: 30 }, { id: 31 }] });
    expect(await post("/entry?select=id", '\ufeff{"id":32}')).toMatchObject({ status: 201, rows: [{ id: 32 }] });
  });

  test("P-NDJ-3 a body without a line is answered like empty JSON", async () => {
    for (const body of ["", "\n", "\r\n \n", "\ufeff"]) {
      const answer = await linesApi.post("/entry", { headers: bodyHeaders, body });
      const asJson = await linesApi.post("/entry", { headers: { prefer: bodyHeaders.prefer }, body: "[]" });
      expect([answer.status, answer.text]).toEqual([asJson.status, asJson.text]);
      const columns = await linesApi.post("/entry?columns=id", { headers: bodyHeaders, body });
      expect([columns.status, columns.text]).toEqual([201, "[]"]);
    }
  });

  test("P-NDJ-3 columns and missing=default apply as for JSON", async () => {
    const body = '{"id":40,"nothing":1}\n{"id":41,"name":"b"}\n';
    expect(await post("/entry", body)).toMatchObject(buildErrorAnswer("All object keys must match"));
    expect(await post("/entry?columns=id,name&select=name", body)).toMatchObject({
      status: 201,
      rows: [{ name: null }, { name: "b" }],
    });
    const prefer = "return=representation,missing=default";
    const otherBody = body.replaceAll('"id":4', '"id":5');
    expect(await post("/entry?columns=id,name&select=name", otherBody, { prefer })).toMatchObject({
      status: 201,
      rows: [{ name: "none" }, { name: "b" }],
    });
    expect(await post("/entry", '{"id":60,"nope":1}')).toMatchObject({ status: 400, rows: { code: "PGRST204" } });
  });

  test("P-NDJ-3 the error of a line that is not an object names it, and nothing is written", async () => {
    const brokenLines = [
      '{"id":72,}',
      '{"id":72',
      '[{"id":72}]',
      '{"id":72},{"id":73}',
      '{"id":72} {"id":73}',
      '{"id":72}\r{"id":73}',
      '{"doc":\n1,"id":72}',
      "1",
      "null",
      "\ufeff{}",
      Buffer.from('{"name":"ÿ"}', "latin1"),
    ];
    const message = "Line 4 of the body is not a JSON object";
    for (const line of brokenLines) {
      const body = Buffer.concat([
        Buffer.from('{"id":70}\n\r\n{"id":71}\n'),
        typeof line === "string" ? Buffer.from(line) : line,
        Buffer.from("\n{}\n"),
      ]);
      for (const path of ["/entry", "/entry?columns=id"])
        expect(await post(path, body)).toMatchObject({ status: 400, rows: { code: "PGRST102", message, hint: null } });
    }
    expect(await post("/entry", "\n{}\n\n[1]\n")).toMatchObject(buildErrorAnswer(message));
    expect(await post("/entry", '\ufeff{"id":1,}\n')).toMatchObject(
      buildErrorAnswer(
        "Line 1 of the body is not a JSON object",
        'line 1, column 9: expected a key in double quotes, found "}"',
      ),
    );
    expect(await post("/entry", '{}\r\n{"id" 1}\r\n')).toMatchObject(
      buildErrorAnswer("Line 2 of the body is not a JSON object", 'line 2, column 7: expected ":", found "1"'),
    );
    expect((await linesApi.get("/entry?id=gte.70&id=lt.80")).text).toBe("[]");
  });

  test("P-NDJ-3 the limits of JSON bodies apply", async () => {
    const limits = { maxBodyBytes: 200, maxColumns: 2, maxJsonDepth: 3 };
    const limitedApi = await startApi({ preset: plus, dbSchemas: ["lines"], ...limits });
    const fetchError = async (body: string, path = "/entry") => {
      const { status, text } = await limitedApi.post(path, { headers: bodyHeaders, body });
      const { code, message } = JSON.parse(text) as { code: string; message: string };
      return [status, code, message];
    };
    expect(await fetchError('{"id":80}\n'.repeat(30))).toEqual([
      413,
      "PGRST102",
      "The request body is larger than 200 bytes",
    ]);
    expect(await fetchError('{"id":80}\n{"id":81,"name":"a","amount":1}')).toEqual([
      400,
      "PGRST102",
      "The body names more than 2 columns",
    ]);
    for (const path of ["/entry", "/entry?columns=id"])
      expect(await fetchError('{"id":80}\n{"id":81,"doc":[[1]]}\n', path)).toEqual([
        400,
        "PGRST102",
        "The body is nested deeper than 3 levels",
      ]);
    const { status } = await limitedApi.post("/entry", { headers: bodyHeaders, body: '{"id":80,"doc":[1]}\n' });
    expect(status).toBe(201);
  });

  test("P-NDJ-3 a body of twenty thousand lines is inserted", async () => {
    const ids = Array.from({ length: 20_000 }, (_, i) => 1000 + i);
    const body = ids.map((id) => `{"id":${id},"name":"é${id}"}\n`).join("");
    const { status, text } = await post("/entry?select=id", body);
    expect(status).toBe(201);
    expect((JSON.parse(text) as { id: number }[]).map(({ id }) => id)).toEqual(ids);
  });

  test("P-GEN-2 without the plugin the content type is unknown", async () => {
    const bareApi = await startApi({
      preset: plus,
      dbSchemas: ["lines"],
      parts: [without("ndjson")],
    });
    const { status, text } = await bareApi.post("/entry", { headers: bodyHeaders, body: '{"id":90}\n' });
    expect(status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({
      code: "PGRST102",
      message: "Content-Type not acceptable: application/x-ndjson",
    });
  });
});
