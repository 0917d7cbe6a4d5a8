import { beforeEach, describe, expect, test } from "vitest";
import { definePlugin, without } from "../../core/index.ts";
import { capabilities, startApi } from "../support/api.ts";
import { untilLocked } from "../support/locks.ts";

const api = await startApi({ etags: true, dbTxEnd: "commit" });
const disabledApi = await startApi({ dbTxEnd: "commit" });
const bareApi = await startApi({ dbTxEnd: "commit", parts: [without("etag")] });

await api.sql(`create table sea.etag_rows (id int primary key, name text);
  grant all on sea.etag_rows to sea_anon`);
await api.sql(`create function sea.etag_row_count() returns bigint stable language sql as $$ select count(*) from sea.etag_rows $$;
  grant execute on function sea.etag_row_count() to sea_anon`);
for (const target of [api, disabledApi, bareApi]) await target.reload();

beforeEach(async () => {
  await api.sql("truncate sea.etag_rows");
  await api.sql("insert into sea.etag_rows values (1, 'red'), (2, 'green')");
});

const rowPath = "/etag_rows?id=eq.1";
const fetchTag = async (path: string, headers = {}): Promise<string> =>
  (await api.get(path, { headers })).headers["etag"] ?? "none";
const readName = async (id: number): Promise<unknown> =>
  (await api.sql<{ name: string }>(`select name from sea.etag_rows where id = ${id}`))[0]?.name;

const TAG_MISMATCH = {
  code: "PGRSTX03",
  details: null,
  hint: "Read them again, and send the new ETag in If-Match",
  message: "The rows have changed since they were read",
};

describe("reads", () => {
  test("R-ETG-1 GET and HEAD have the plan of the read for request steps", async () => {
    const keys: (string | undefined)[] = [];
    const planKeys = definePlugin({
      name: "plan-keys",
      apply: (_hooks, context) =>
        context.addStep({ name: "plan-keys", afterResponse: (_exchange, { planKey }) => void keys.push(planKey) }),
    });
    const planKeysApi = await startApi({ etags: true, parts: [planKeys] });
    await planKeysApi.request("GET", "/etag_rows");
    await planKeysApi.request("HEAD", "/etag_rows");
    await expect.poll(() => keys).toEqual([expect.any(String), keys[0]]);
  });

  test("R-ETG-1 equal bodies have equal tags, and different bodies have different tags", async () => {
    const tag = await fetchTag(rowPath);
    expect(tag).toMatch(/^"[-_\w]{27}"$/);
    expect(await fetchTag(`${rowPath}&select=id,name`)).toBe(tag);
    expect(await fetchTag("/etag_rows?id=eq.2")).not.toBe(tag);
    expect(await fetchTag(rowPath, { accept: "application/vnd.pgrst.object+json" })).not.toBe(tag);
    await api.sql("update sea.etag_rows set name = 'blue' where id = 1");
    expect(await fetchTag(rowPath)).not.toBe(tag);
  });

  test("R-ETG-1 functions and partial reads have tags", async () => {
    expect(await fetchTag("/rpc/etag_row_count")).toMatch(/^"/);
    const part = await api.get("/etag_rows?limit=1", { headers: { prefer: "count=exact" } });
    expect([part.status, part.headers["etag"]]).toEqual([206, expect.stringMatching(/^"/)]);
  });

  test("R-ETG-1 errors and the root have no tag", async () => {
    for (const answer of [
      await api.get("/etag_rows?id=eq.x"),
      await api.head("/etag_rows?id=eq.x"),
      await api.get("/"),
    ])
      expect(answer.headers["etag"]).toBeUndefined();
  });

  test.each([
    ["a relation", rowPath, {}],
    ["an object", rowPath, { accept: "application/vnd.pgrst.object+json" }],
    ["CSV", "/etag_rows?order=id", { accept: "text/csv" }],
    ["a function", "/rpc/etag_row_count", {}],
    ["with a count", "/etag_rows?limit=1", { prefer: "count=exact" }],
    ["with a range, which is for GET alone", "/etag_rows?order=id", { range: "0-0" }],
  ])("R-ETG-1 R-ETG-2 HEAD of %s has the headers of GET and no body", async (_title, path, headers) => {
    const { range: _, ...otherHeaders } = headers as Record<string, string>;
    const [head, get] = [await api.head(path, { headers }), await api.get(path, { headers: otherHeaders })];
    expect([head.status, head.text]).toEqual([get.status, ""]);
    const { date: _1, "content-length": _2, ...stableHeaders } = get.headers;
    expect(head.headers).toMatchObject(stableHeaders);
    const secondAnswer = await api.head(path, {
      headers: { ...headers, "if-none-match": String(get.headers["etag"]) },
    });
    expect([secondAnswer.status, secondAnswer.headers["etag"]]).toEqual([304, get.headers["etag"]]);
  });

  test("R-ETG-1 R-ETG-6 headers that SQL sets are kept", async () => {
    const set = { "Cache-Control": "public, max-age=9", Vary: "Accept, authorization", ETag: 'W/"by hand"' };
    const headers = JSON.stringify(Object.entries(set).map(([name, value]) => ({ [name]: value })));
    await api.sql(`create or replace function sea.etag_by_hand() returns int stable language sql as
      $$ select set_config('response.headers', '${headers}', true); select 1 $$;
      grant execute on function sea.etag_by_hand() to sea_anon`);
    await api.reload();
    const answer = await api.get("/rpc/etag_by_hand");
    expect([answer.status, answer.headers]).toMatchObject([
      200,
      { etag: 'W/"by hand"', "cache-control": "public, max-age=9", vary: "Accept, authorization, Accept-Profile" },
    ]);
    const secondAnswer = await api.get("/rpc/etag_by_hand", { headers: { "if-none-match": '"by hand"' } });
    expect([secondAnswer.status, secondAnswer.headers["etag"]]).toEqual([304, 'W/"by hand"']);
  });

  test("R-ETG-6 a response with a tag has Cache-Control and Vary for caches", async () => {
    const { headers } = await api.get(rowPath, { headers: { origin: "https://shop.example" } });
    expect(headers).toMatchObject({
      vary: "Accept, Prefer, Range, Accept-Profile, Authorization",
      "cache-control": "private, no-cache",
      "access-control-expose-headers": expect.stringMatching(/, Range-Unit, ETag$/),
    });
    const without = await disabledApi.get(rowPath, { headers: { origin: "https://shop.example" } });
    expect(without.headers).toMatchObject({
      vary: "Accept, Prefer, Range",
      "access-control-expose-headers": expect.stringMatching(/, Range-Unit$/),
    });
    expect(without.headers).not.toHaveProperty("cache-control");
  });

  test("R-ETG-2 a request with the current tag is answered 304 without a body", async () => {
    const tag = await fetchTag(rowPath);
    for (const tags of [tag, `W/${tag}`, `"other", ${tag}`, ['W/"other"', tag], "*"]) {
      const answer = await api.get(rowPath, { headers: { "if-none-match": tags } });
      expect([answer.status, answer.text, answer.headers["etag"]], String(tags)).toEqual([304, "", tag]);
      expect(answer.headers).toMatchObject({
        vary: "Accept, Prefer, Range, Accept-Profile, Authorization",
        "cache-control": "private, no-cache",
        "content-location": rowPath,
      });
      for (const name of ["content-type", "content-length", "content-range", "range-unit"])
        expect(answer.headers).not.toHaveProperty(name);
    }
    for (const tags of ["", "other", tag.slice(1, -1), "W/*x"])
      expect((await api.get(rowPath, { headers: { "if-none-match": tags } })).status, tags).toBe(200);
    expect((await api.get(rowPath, { headers: { "if-none-match": '"other"' } })).status).toBe(200);
    await api.sql("update sea.etag_rows set name = 'blue' where id = 1");
    const changedAnswer = await api.get(rowPath, { headers: { "if-none-match": tag } });
    expect([changedAnswer.status, changedAnswer.json()]).toEqual([200, [{ id: 1, name: "blue" }]]);
  });
});

describe("writes", () => {
  const write = (method: string, path: string, tag: string, body?: unknown, headers = {}, target = api) =>
    target.request(method, path, { headers: { "if-match": tag, ...headers }, body });

  test("R-ETG-3 a write with the current tag succeeds", async () => {
    expect((await write("PATCH", rowPath, await fetchTag(rowPath), { name: "blue" })).status).toBe(204);
    expect(await readName(1)).toBe("blue");
    expect((await write("PUT", rowPath, await fetchTag(rowPath), { id: 1, name: "white" })).status).toBe(204);
    expect(await readName(1)).toBe("white");
    expect((await write("DELETE", rowPath, `W/${await fetchTag(rowPath)}`)).status).toBe(204);
    expect(await readName(1)).toBeUndefined();
  });

  test.each([
    ["PATCH", { name: "blue" }],
    ["PUT", { id: 1, name: "blue" }],
    ["DELETE", undefined],
  ])("R-ETG-3 %s of changed rows is rejected", async (method, body) => {
    const tag = await fetchTag(rowPath);
    await api.sql("update sea.etag_rows set name = 'white' where id = 1");
    const answer = await write(method, rowPath, tag, body);
    expect([answer.status, answer.json()]).toEqual([412, TAG_MISMATCH]);
    expect(await readName(1)).toBe("white");
  });

  test("R-ETG-3 If-Match compares the tag of the requested representation", async () => {
    const headers = { accept: "application/vnd.pgrst.object+json", prefer: "return=representation" };
    const tag = await fetchTag(rowPath, { accept: headers.accept });
    const answer = await write("PATCH", rowPath, tag, { name: "blue" }, headers);
    expect([answer.status, answer.json()]).toEqual([200, { id: 1, name: "blue" }]);
    expect((await write("PATCH", rowPath, tag, { name: "x" }, headers)).status).toBe(412);
  });

  test("R-ETG-3 an asterisk matches any row", async () => {
    expect((await write("PATCH", rowPath, "*", { name: "blue" })).status).toBe(204);
    expect((await write("PATCH", "/etag_rows?id=eq.9", "*", { name: "blue" })).status).toBe(412);
    expect((await write("PUT", "/etag_rows?id=eq.9", "*", { id: 9, name: "blue" })).status).toBe(412);
    expect(await readName(9)).toBeUndefined();
  });

  test("R-ETG-3 of concurrent writes with the same tag, one succeeds", async () => {
    const tag = await fetchTag(rowPath);
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => write("PATCH", rowPath, tag, { name: `by ${index}` })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, ...Array.from({ length: 7 }, () => 412)]);
  });

  test("R-ETG-3 R-ETG-3b a write is rejected if another transaction changes the row meanwhile", async () => {
    const tag = await fetchTag(rowPath);
    const connection = await api.database.connect();
    await connection.query("begin; update sea.etag_rows set name = 'white' where id = 1");
    const pendingWrite = write("PATCH", rowPath, tag, { name: "blue" });
    if (capabilities.realServer) await untilLocked(api.database); // the statement waits for the row
    await connection.query("commit");
    await connection.end();
    const answer = await pendingWrite;
    expect([answer.status, answer.json().code]).toEqual([412, "PGRSTX03"]);
    expect(await readName(1)).toBe("white");
  });

  test("R-ETG-3 R-ETG-4 POST ignores If-Match and If-None-Match", async () => {
    const headers = { "if-none-match": "*" };
    expect((await write("POST", "/etag_rows", '"none"', { id: 3, name: "blue" }, headers)).status).toBe(201);
  });

  const TAG_EXCLUDED = {
    code: "PGRSTX03",
    details: null,
    hint: "To change them, send their ETag in If-Match",
    message: "There are rows that If-None-Match excludes",
  };
  const writeUnless = (method: string, path: string, tag: string, body?: unknown) =>
    api.request(method, path, { headers: { "if-none-match": tag }, body });

  test("R-ETG-4 PUT with If-None-Match: * inserts a row and rejects an existing one", async () => {
    expect((await writeUnless("PUT", "/etag_rows?id=eq.7", "*", { id: 7, name: "blue" })).status).toBe(204);
    const secondAnswer = await writeUnless("PUT", "/etag_rows?id=eq.7", "*", { id: 7, name: "white" });
    expect([secondAnswer.status, secondAnswer.json()]).toEqual([412, TAG_EXCLUDED]);
    expect(await readName(7)).toBe("blue");
  });

  test("R-ETG-4 of concurrent PUTs with If-None-Match *, one succeeds", async () => {
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        writeUnless("PUT", "/etag_rows?id=eq.8", "*", { id: 8, name: `by ${index}` }),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 412, 412, 412, 412, 412]);
  });

  test.each([
    ["PATCH", { name: "blue" }],
    ["PUT", { id: 1, name: "blue" }],
    ["DELETE", undefined],
  ])("R-ETG-4 %s of rows with an excluded tag is rejected", async (method, body) => {
    const tag = await fetchTag(rowPath);
    const rejection = await writeUnless(method, rowPath, `"other", W/${tag}`, body);
    expect([rejection.status, rejection.json()]).toEqual([412, TAG_EXCLUDED]);
    expect(await readName(1)).toBe("red");
    expect((await writeUnless(method, rowPath, '"other"', body)).status).toBe(204);
    const noRowAnswer = await writeUnless(
      method,
      "/etag_rows?id=eq.99",
      "*",
      method === "PUT" ? { id: 99, name: "x" } : body,
    );
    expect(noRowAnswer.status).toBe(204);
  });

  const REPRESENTATION = { prefer: "return=representation" };
  const tagIn = (answer: { readonly headers: Record<string, unknown> }): unknown => answer.headers["etag"];

  test.each([
    ["POST", "/etag_rows", { id: 5, name: "blue" }, "/etag_rows?id=eq.5", {}],
    ["POST", "/etag_rows?select=name", { id: 5, name: "blue" }, "/etag_rows?id=eq.5&select=name", {}],
    ["PATCH", rowPath, { name: "blue" }, rowPath, {}],
    ["PATCH", `${rowPath}&select=name,id`, { name: "blue" }, `${rowPath}&select=name,id`, {}],
    ["PATCH", rowPath, { name: "blue" }, rowPath, { accept: "application/vnd.pgrst.object+json" }],
    ["PATCH", rowPath, { name: "blue" }, rowPath, { accept: "text/csv" }],
    ["PUT", rowPath, { id: 1, name: "blue" }, rowPath, {}],
    ["PUT", "/etag_rows?id=eq.6", { id: 6, name: "blue" }, "/etag_rows?id=eq.6", {}],
  ])("R-ETG-5 %s %s returns the tag that GET has", async (method, path, body, readPath, accept) => {
    const answer = await api.request(method, path, { headers: { ...REPRESENTATION, ...accept }, body });
    expect(tagIn(answer)).toMatch(/^"/);
    expect(tagIn(await api.get(readPath, { headers: accept }))).toBe(tagIn(answer));
    const next = await write(
      "PATCH",
      readPath,
      String(tagIn(answer)),
      { name: "green" },
      { ...REPRESENTATION, ...accept },
    );
    expect(next.status).toBe(200);
    expect(tagIn(next)).not.toBe(tagIn(answer));
  });

  test("R-ETG-5 a write without a representation of one row returns no tag", async () => {
    for (const [method, path, body, prefer] of [
      ["PATCH", rowPath, { name: "blue" }, "return=minimal"],
      ["POST", "/etag_rows", { id: 5 }, "return=headers-only"],
      ["POST", "/etag_rows", [{ id: 6 }, { id: 7 }], "return=representation"],
      ["PATCH", "/etag_rows?id=eq.99", { name: "blue" }, "return=representation"],
      ["DELETE", rowPath, undefined, "return=representation"],
    ] as const) {
      const answer = await api.request(method, path, { headers: { prefer }, body });
      expect([answer.status < 300, tagIn(answer)], `${method} ${path}`).toEqual([true, undefined]);
    }
  });

  test.each([
    ["switched off", disabledApi],
    ["without etag", bareApi],
  ])("R-ETG-1 R-ETG-3 %s there are no tags", async (_title, target) => {
    expect((await target.get(rowPath)).headers["etag"]).toBeUndefined();
    expect((await target.head(rowPath)).headers["etag"]).toBeUndefined();
    expect((await target.patch(rowPath, { headers: REPRESENTATION, body: {} })).headers["etag"]).toBeUndefined();
    expect((await write("PATCH", rowPath, '"other"', { name: "blue" }, {}, target)).status).toBe(204);
  });
});
