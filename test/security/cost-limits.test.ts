/**
 * Limits by role on rows and on the planner's estimated cost: beyond the first, rows are cut off; beyond the second,
 * nothing runs.
 */
import { describe, expect, test } from "vitest";
import { compose, without } from "../../core/index.ts";
import { restCompat } from "../../presets/index.ts";
import { asAdmin, forGraphql, startApi, type StartOptions, type TestApi } from "../support/api.ts";
import { testDatabase } from "../support/database.ts";
import { initSocket, openEvents, subscribe } from "../support/live.ts";
import { bearer } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { collectMessages } from "../support/logger.ts";

const start = (options: StartOptions = {}): Promise<TestApi> => startApi(forGraphql(options));

const database = await testDatabase();
await database.query(`
  create table shelf (id int primary key, name text);
  create table book (id int primary key, shelf_id int references shelf, title text);
  create index on book (shelf_id);
  insert into shelf select i, 'shelf ' || i from generate_series(1, 20) i;
  insert into book select i, 1 + i % 20, 'book ' || i from generate_series(1, 20000) i;
  create table note_book (id int primary key generated always as identity, title text);
  create function all_books() returns setof book language sql stable as 'select * from book';
  grant select, insert, update on shelf, book, note_book to music_reader, music_editor, sea_anon`);
await database.query("analyze shelf; analyze book");

const reader = bearer({ role: "music_reader" });
const anonymous = { "x-session-admin-secret": null };
const asReader = asAdmin("music_reader");

const rejectedWith = (message: string, code = "cost-limit-exceeded") => ({
  errors: [{ message, extensions: { path: "$", code } }],
});

describe("aliases and root fields", async () => {
  const api = await start({
    apiLimits: { alias_limit: { per_role: { music_reader: 2 } }, root_field_limit: { global: 3 } },
  });

  test("G-LIM-8 aliases and root fields are limited by role, including those of fragments", async () => {
    const three = "{ a: shelf(limit: 1) { b: id c: name } }";
    expect(await api.gql(three, {}, asReader)).toEqual(
      rejectedWith("the operation has 3 aliases, more than 2", "alias-limit-exceeded"),
    );
    const documentWithFragments = "query { shelf(limit: 1) { ...f ...f } } fragment f on shelf { a: id b: name }";
    expect(await api.gql(documentWithFragments, {}, asReader)).toEqual(
      rejectedWith("the operation has 4 aliases, more than 2", "alias-limit-exceeded"),
    );
    expect((await api.gql(three, {}, asAdmin("music_editor"))).data.a).toHaveLength(1);
    const wide = "{ shelf(limit: 1) { id } book(limit: 1) { id } note_book { id } __typename }";
    expect(await api.gql(wide, {}, asReader)).toEqual(
      rejectedWith("the operation has 4 root fields, more than 3", "root-field-limit-exceeded"),
    );
    expect((await api.gql(wide)).data.shelf).toHaveLength(1); // the caller is the administrator
  });
});

describe("rows", async () => {
  const api = await start({
    rowLimits: { music_reader: 5 },
    apiLimits: { row_limit: { global: 7, per_role: { music_reader: 1 } } },
  });

  test("R-LIM-7 R-LIM-7a rows of every level are limited by role, and counts and writes are not", async () => {
    const get = async (path: string, headers = reader) => (await api.get(path, { headers })).json();
    expect(await get("/shelf?select=id")).toHaveLength(5);
    expect(await get("/shelf?select=id&limit=2")).toHaveLength(2);
    expect(await get("/shelf?select=id&limit=500")).toHaveLength(5);
    expect(await get("/shelf?select=id", bearer({ role: "music_editor" }))).toHaveLength(7);
    const shelves = await get("/shelf?select=id,book(id)&limit=2");
    expect(shelves.map(({ book }: { book: unknown[] }) => book.length)).toEqual([5, 5]);
    expect(await get("/rpc/all_books?select=id")).toHaveLength(5);
    const countAnswer = await api.get("/book?select=id", { headers: { ...reader, prefer: "count=exact" } });
    expect([countAnswer.status, countAnswer.headers["content-range"]]).toEqual([206, "0-4/20000"]);
    const writeAnswer = await api.post("/note_book?select=title", {
      headers: { ...reader, prefer: "return=representation, tx=rollback" },
      body: Array.from({ length: 9 }, (_, i) => ({ title: `t${i}` })),
    });
    expect(writeAnswer.json()).toHaveLength(9);
  });

  test("G-LIM-10 lists, relationships and nodes are limited, and aggregates count every row", async () => {
    const query = `{ shelf(limit: 2) { books { id } } all_books: book { id }
      book_aggregate { aggregate { count } nodes { id } } one: shelf_by_pk(id: 20) { id } }`;
    const { data } = await api.gql(query, {}, asReader);
    expect(data.shelf.map(({ books }: { books: unknown[] }) => books.length)).toEqual([5, 5]);
    expect(data.all_books).toHaveLength(5);
    expect([data.book_aggregate.aggregate.count, data.book_aggregate.nodes.length]).toEqual([20_000, 5]);
    expect(data.one).toEqual({ id: 20 });
    const administrator = await api.gql("{ shelf { id } }");
    expect(administrator.data.shelf).toHaveLength(20);
  });

  test("R-LIM-7 without the plugin no caller is limited", async () => {
    const free = await start({ rowLimits: { "*": 1 }, parts: [without("row-limits")] });
    expect((await free.get("/shelf?select=id", { headers: reader })).json()).toHaveLength(20);
  });
});

describe("estimated cost", async () => {
  const api = await start({
    costLimits: { music_reader: 100, "*": 100_000 },
    estimatedRowLimits: { sea_anon: 500 },
  });

  test("R-LIM-8 R-LIM-8a a request that costs too much is rejected before it runs, and a cheap one runs", async () => {
    const dear = await api.get("/book?select=id,title", { headers: reader });
    expect([dear.status, dear.json()]).toEqual([
      400,
      {
        code: "PGRSTX05",
        details: null,
        hint: "Ask for less: a filter, a smaller limit, fewer relationships. The limit is the setting costLimits.",
        message: expect.stringMatching(/^the request has an estimated cost of \d+, more than 100$/),
      },
    ]);
    expect(dear.headers["proxy-status"]).toBe("PostgREST; error=PGRSTX05");
    for (const path of ["/book?id=eq.7", "/book?select=id&limit=10", "/shelf?select=id"])
      expect((await api.get(path, { headers: reader })).status, path).toBe(200);
    expect((await api.get("/book?select=id", { headers: bearer({ role: "music_editor" }) })).status).toBe(200);
    expect((await api.get("/book?select=id", { headers: asAdmin() })).status).toBe(200);
  });

  test("R-LIM-8 R-LIM-8c the estimate is made for the values of each request", async () => {
    const status = async (limit: number) =>
      (await api.get(`/book?select=id,title,shelf_id&limit=${limit}`, { headers: reader })).status;
    expect([await status(1), await status(20_000), await status(1), await status(20_000)]).toEqual([
      200, 400, 200, 400,
    ]);
    const filteredStatus = async (from: number) =>
      (await api.get(`/book?select=id,title&id=gt.${from}`, { headers: reader })).status;
    expect([await filteredStatus(19_990), await filteredStatus(0), await filteredStatus(19_990)]).toEqual([
      200, 400, 200,
    ]);
  });

  test("G-LIM-11 the cost limit applies to queries, mutations and batches of GraphQL, and to every kind of role", async () => {
    const dear = await api.gql("{ book { id title } }", {}, asReader);
    expect(dear).toEqual(
      rejectedWith(expect.stringMatching(/^the request has an estimated cost of \d+, more than 100$/)),
    );
    expect((await api.gql("{ book(limit: 3) { id } shelf { name } }", {}, asReader)).data.book).toHaveLength(3);
    const write = 'mutation { update_book(where: {title: {_neq: ""}}, _set: {title: "x"}) { affected_rows } }';
    expect(await api.gql(write, {}, asReader)).toEqual(
      rejectedWith(expect.stringMatching(/^the request has an estimated cost of \d+, more than 100$/)),
    );
    expect(await database.query("select count(*)::int as n from book where title = 'x'")).toEqual([{ n: 0 }]);
    const status = await api.post("/v1/graphql", { headers: asReader, body: { query: "{ book { id } }" } });
    expect(status.status).toBe(200);
    const mutation = 'mutation { insert_note_book_one(object: {title: "n"}) { title } }';
    expect(await api.gql(mutation, {}, { ...asReader, prefer: "tx=rollback" })).toEqual({
      data: { insert_note_book_one: { title: "n" } },
    });
  });

  test("R-LIM-8 R-LIM-8a the limit of rows counts repetitions, and regards a LIMIT above them", async () => {
    const get = (path: string) => api.get(path);
    const dear = await get("/book?select=id");
    expect([dear.status, dear.json().message]).toEqual([
      400,
      "the request reads an estimated 20000 rows, more than 500",
    ]);
    expect((await get("/book?select=id&limit=100")).status).toBe(200);
    expect((await get("/shelf?select=id,book(id)")).status).toBe(400);
    expect((await get("/shelf?select=id")).status).toBe(200);
    const { errors } = await api.gql("{ book { id } }", {}, anonymous);
    expect(errors[0].message).toBe("the request reads an estimated 20000 rows, more than 500");
  });

  test("R-LIM-8 R-LIM-8b a statement that cannot be planned fails with its own error", async () => {
    const answer = await api.get("/book?select=id&id=eq.x", { headers: reader });
    expect([answer.status, answer.json().code]).toEqual([400, "22P02"]);
    const rejection = await api.get("/studio?select=id", { headers: bearer({ role: "sea_clerk" }) });
    expect([rejection.status, rejection.json().code]).toEqual([403, "42501"]);
  });

  test("R-LIM-8 a request for the execution plan does not avoid the limit", async () => {
    const ownApi = await start({ costLimits: { "*": 100 }, dbPlanEnabled: true });
    const accept = "application/vnd.pgrst.plan+json; options=analyze";
    expect((await ownApi.get("/book?select=id", { headers: { ...reader, accept } })).json().code).toBe("PGRSTX05");
    expect((await ownApi.get("/book?select=id&limit=1", { headers: { ...reader, accept } })).status).toBe(200);
  });

  test("G-LIM-11 R-LIM-8 each live query is estimated separately, also if several share a statement", async () => {
    const socket = await initSocket(api, { headers: asReader });
    subscribe(socket, "dear", "subscription { book { id title } }");
    expect((await socket.next((message) => message.id === "dear")).payload).toMatchObject({
      errors: [{ extensions: { code: "cost-limit-exceeded" } }],
    });
    for (let i = 1; i <= 40; i++) subscribe(socket, `${i}`, `subscription { book(where: {id: {_eq: ${i}}}) { id } }`);
    for (let i = 1; i <= 40; i++)
      expect((await socket.next((message) => message.id === `${i}`)).payload).toEqual({ data: { book: [{ id: i }] } });
    socket.close();
    const stream = await openEvents(api, "/book?select=id,title", {
      headers: { ...reader, accept: "text/event-stream" },
    });
    await until(() => stream.events.length > 0, "an event");
    expect(stream.events[0]?.data).toContain("PGRSTX05");
    stream.close();
  });

  test("R-LIM-8 the planner estimates only requests of limited callers", async () => {
    const { logger, lines } = collectMessages("info");
    const ownApi = await start({
      costLimits: { music_reader: 1000, music_editor: 1 },
      logger,
      logQuery: true,
    });
    const countExplains = () => lines.filter((line) => line.startsWith("explain (format json)")).length;
    for (let i = 0; i < 3; i++) await ownApi.get("/shelf?id=eq.1", { headers: reader });
    expect(countExplains()).toBe(3);
    expect((await ownApi.get("/shelf?id=eq.1", { headers: bearer({ role: "music_editor" }) })).status).toBe(400);
    expect(countExplains()).toBe(4);
    await ownApi.get("/shelf?id=eq.1");
    expect(countExplains()).toBe(4);
  });

  test("R-LIM-8 costs are not limited by default and without the plugin", async () => {
    const free = await start({ costLimits: { "*": 1 }, parts: [without("cost-limits")] });
    expect((await free.get("/book?select=id", { headers: reader })).status).toBe(200);
    const restOnlyApi = await start({
      costLimits: { "*": 100 },
      preset: (options) => compose(restCompat(options)),
    });
    expect((await restOnlyApi.get("/book?select=id", { headers: reader })).status).toBe(400);
  });
});
