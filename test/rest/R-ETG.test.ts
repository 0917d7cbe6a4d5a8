import { beforeEach, describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { startApi } from "../support/api.ts";

const api = await startApi({ etags: true, dbTxEnd: "commit" });
const off = await startApi({ on: api.database, dbTxEnd: "commit" });
const bare = await startApi({ on: api.database, dbTxEnd: "commit", parts: [without("etag")] });

await api.sql(`create table sea.etag_rows (id int primary key, name text);
  grant all on sea.etag_rows to sea_anon`);
await api.sql(`create function sea.etag_row_count() returns bigint stable language sql as $$ select count(*) from sea.etag_rows $$;
  grant execute on function sea.etag_row_count() to sea_anon`);
for (const each of [api, off, bare]) await each.reload();

beforeEach(async () => {
  await api.sql("truncate sea.etag_rows");
  await api.sql("insert into sea.etag_rows values (1, 'red'), (2, 'green')");
});

const one = "/etag_rows?id=eq.1";
const tagOf = async (path: string, headers = {}): Promise<string> =>
  (await api.get(path, { headers })).headers["etag"] ?? "none";
const nameOf = async (id: number): Promise<unknown> =>
  (await api.sql<{ name: string }>(`select name from sea.etag_rows where id = ${id}`))[0]?.name;

const FAILED = {
  code: "PGRSTX03",
  details: null,
  hint: "Read them again, and send the new ETag in If-Match",
  message: "The rows have changed since they were read",
};

describe("reads", () => {
  test("R-ETG-1 equal bodies have equal tags, others have others", async () => {
    const tag = await tagOf(one);
    expect(tag).toMatch(/^"[-_\w]{27}"$/);
    expect(await tagOf(`${one}&select=id,name`)).toBe(tag);
    expect(await tagOf("/etag_rows?id=eq.2")).not.toBe(tag);
    expect(await tagOf(one, { accept: "application/vnd.pgrst.object+json" })).not.toBe(tag);
    await api.sql("update sea.etag_rows set name = 'blue' where id = 1");
    expect(await tagOf(one)).not.toBe(tag);
  });

  test("R-ETG-1 functions, and parts of more rows", async () => {
    expect(await tagOf("/rpc/etag_row_count")).toMatch(/^"/);
    const part = await api.get("/etag_rows?limit=1", { headers: { prefer: "count=exact" } });
    expect([part.status, part.headers["etag"]]).toEqual([206, expect.stringMatching(/^"/)]);
  });

  test("R-ETG-1 neither errors nor HEAD nor the root", async () => {
    for (const answer of [await api.get("/etag_rows?id=eq.x"), await api.head(one), await api.get("/")])
      expect(answer.headers["etag"]).toBeUndefined();
  });

  test("R-ETG-2 304 without a body for those who have it", async () => {
    const tag = await tagOf(one);
    for (const sent of [tag, `W/${tag}`, `"other", ${tag}`, "*"]) {
      const answer = await api.get(one, { headers: { "if-none-match": sent } });
      expect([answer.status, answer.text, answer.headers["etag"]], sent).toEqual([304, "", tag]);
      expect(answer.headers).toMatchObject({ vary: "Accept, Prefer, Range", "content-location": one });
      expect(answer.headers).not.toHaveProperty("content-type");
    }
    expect((await api.get(one, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    await api.sql("update sea.etag_rows set name = 'blue' where id = 1");
    const changed = await api.get(one, { headers: { "if-none-match": tag } });
    expect([changed.status, changed.json()]).toEqual([200, [{ id: 1, name: "blue" }]]);
  });
});

describe("writes", () => {
  const write = (method: string, path: string, tag: string, body?: unknown, headers = {}, on = api) =>
    on.request(method, path, { headers: { "if-match": tag, ...headers }, body });

  test("R-ETG-3 what has not changed is written", async () => {
    expect((await write("PATCH", one, await tagOf(one), { name: "blue" })).status).toBe(204);
    expect(await nameOf(1)).toBe("blue");
    expect((await write("PUT", one, await tagOf(one), { id: 1, name: "white" })).status).toBe(204);
    expect(await nameOf(1)).toBe("white");
    expect((await write("DELETE", one, `W/${await tagOf(one)}`)).status).toBe(204);
    expect(await nameOf(1)).toBeUndefined();
  });

  test.each([
    ["PATCH", { name: "blue" }],
    ["PUT", { id: 1, name: "blue" }],
    ["DELETE", undefined],
  ])("R-ETG-3 %s of what has changed is refused", async (method, body) => {
    const tag = await tagOf(one);
    await api.sql("update sea.etag_rows set name = 'white' where id = 1");
    const answer = await write(method, one, tag, body);
    expect([answer.status, answer.json()]).toEqual([412, FAILED]);
    expect(await nameOf(1)).toBe("white");
  });

  test("R-ETG-3 the representation is the one that is asked for", async () => {
    const headers = { accept: "application/vnd.pgrst.object+json", prefer: "return=representation" };
    const tag = await tagOf(one, { accept: headers.accept });
    const answer = await write("PATCH", one, tag, { name: "blue" }, headers);
    expect([answer.status, answer.json()]).toEqual([200, { id: 1, name: "blue" }]);
    expect((await write("PATCH", one, tag, { name: "x" }, headers)).status).toBe(412);
  });

  test("R-ETG-3 an asterisk stands for any row", async () => {
    expect((await write("PATCH", one, "*", { name: "blue" })).status).toBe(204);
    expect((await write("PATCH", "/etag_rows?id=eq.9", "*", { name: "blue" })).status).toBe(412);
    expect((await write("PUT", "/etag_rows?id=eq.9", "*", { id: 9, name: "blue" })).status).toBe(412);
    expect(await nameOf(9)).toBeUndefined();
  });

  test("R-ETG-3 of two that read the same, one writes", async () => {
    const tag = await tagOf(one);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => write("PATCH", one, tag, { name: `by ${at}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 412)]);
  });

  test("R-ETG-3 a row that is changed while it is written is refused", async () => {
    const tag = await tagOf(one);
    const [, answer] = await Promise.all([
      // holds the row's lock until the other statement waits for it
      api.sql(`do $$ begin update sea.etag_rows set name = 'white' where id = 1; perform pg_sleep(0.5); end $$`),
      new Promise((resolve) => setTimeout(resolve, 200)).then(() => write("PATCH", one, tag, { name: "blue" })),
    ]);
    expect([answer.status, answer.json().code]).toEqual([412, "PGRSTX03"]);
    expect(await nameOf(1)).toBe("white");
  });

  test("R-ETG-3 POST takes no notice", async () => {
    expect((await write("POST", "/etag_rows", '"none"', { id: 3, name: "blue" })).status).toBe(201);
  });

  test.each([
    ["switched off", off],
    ["without etag", bare],
  ])("R-ETG-1 R-ETG-3 %s there are no tags", async (_title, on) => {
    expect((await on.get(one)).headers["etag"]).toBeUndefined();
    expect((await write("PATCH", one, '"other"', { name: "blue" }, {}, on)).status).toBe(204);
  });
});
