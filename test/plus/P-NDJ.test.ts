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
  create function lines.numbers() returns setof int language sql stable as 'values (1), (null), (3)';
  create function lines.one() returns int language sql stable as 'select 7';
`);
const started = await startApi({ on: api.database, preset: plus, dbSchemas: ["lines"], streamAboveBytes: 64 * 1024 });
const headers = { accept: "application/x-ndjson" };

const linesOf = (text: string): unknown[] => {
  expect(text.endsWith("\n")).toBe(true);
  return text
    .slice(0, -1)
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
};

describe("lines of JSON", () => {
  test("P-NDJ-1 a row is a line, whatever is in it", async () => {
    const { text, status, headers: sent } = await started.get("/item?select=*,part(id)&order=id", { headers });
    expect(status).toBe(200);
    expect(sent["content-type"]).toBe("application/x-ndjson");
    expect(sent["content-range"]).toBe("0-1/*");
    expect(linesOf(text)).toEqual([
      { id: 1, name: "two\nlines", doc: { a: [1, 2] }, owner: "sea_anon", part: [{ id: 1 }, { id: 2 }] },
      { id: 2, name: "säck", doc: null, owner: "sea_clerk", part: [] },
    ]);
  });

  test("P-NDJ-1 no row is no line", async () => {
    expect((await started.get("/item?id=eq.9", { headers })).text).toBe("");
  });

  test("P-NDJ-1 values of functions, counts, callers", async () => {
    expect(linesOf((await started.get("/rpc/numbers", { headers })).text)).toEqual([1, null, 3]);
    expect((await started.get("/rpc/one", { headers })).text).toBe("7\n");
    const counted = await started.get("/item?limit=1&order=id", { headers: { ...headers, prefer: "count=exact" } });
    expect([counted.status, counted.headers["content-range"]]).toEqual([206, "0-0/2"]);
    const own = await started.get("/item?select=id", { headers: { ...headers, ...bearer({ role: "sea_clerk" }) } });
    expect(own.text).toBe('{"id":2}\n');
  });

  test("P-NDJ-2 long answers are streamed, each line whole", async () => {
    const { text } = await started.get("/many?order=id", { headers });
    const found = linesOf(text) as { id: number; note: string }[];
    expect(found).toHaveLength(20_000);
    expect(found.at(-1)).toEqual({ id: 20_000, note: "é".repeat(30) });
  });

  test("R-STR-6 a plugin that looks at the body gets it: pages by cursor", async () => {
    const page = await started.get("/many?order=id&limit=5000&cursor=");
    expect(page.json()).toHaveLength(5000);
    expect(page.headers["link"]).toContain('rel="next"');
  });

  test("P-NDJ-1 an error is answered as JSON", async () => {
    const { status, headers: sent, text } = await started.get("/item?nope=eq.1", { headers });
    expect([status, sent["content-type"]]).toEqual([400, "application/json; charset=utf-8"]);
    expect(JSON.parse(text)).toMatchObject({ code: "42703" });
  });

  test("P-GEN-2 without the plugin the type is unknown", async () => {
    const bare = await startApi({ on: api.database, preset: plus, dbSchemas: ["lines"], parts: [without("ndjson")] });
    const { status, text } = await bare.get("/item", { headers });
    expect(status).toBe(406);
    expect(JSON.parse(text)).toMatchObject({
      code: "PGRST107",
      message: "None of these media types are available: application/x-ndjson",
    });
  });
});
