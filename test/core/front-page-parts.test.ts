/** The tables, the code of clients and the live demo on the page at `/`. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { without } from "../../core/index.ts";
import { gqlCompat } from "../../presets/index.ts";
import { THEME } from "../../plugins/shared/page-style.ts";
import { relapi } from "../cli/run.ts";
import { BROWSER, type StartOptions, type TestApi } from "../support/api.ts";
import { capabilities, openDatabase, testDatabase } from "../support/database.ts";
import { adminSecret } from "../support/tokens.ts";
import {
  readCode,
  readDemo,
  fetchPage,
  listRelations,
  listRequests,
  run,
  start,
  listTags,
  extractText,
} from "../support/front-page.ts";

const api = await start();

describe("tables and clients", () => {
  test("X-PAGE-7 the page lists the tables and views that the anonymous role may read, each with a link to its rows", async () => {
    const page = await fetchPage(api);
    const relations = listRelations(page);
    expect(relations.map(([name]) => name)).toContain("album");
    expect(relations.length).toBeLessThanOrEqual(12);
    for (const [, path] of relations) {
      const { status, text } = await api.get(path, { headers: BROWSER });
      expect([status, Array.isArray(JSON.parse(text))], path).toEqual([200, true]);
    }
  });

  test("X-PAGE-7a tables of other schemas are links to the OpenAPI page, and the page names their header", async () => {
    const schemas = ["sea", "public"];
    const otherApi = await start({ dbSchemas: schemas });
    const page = await fetchPage(otherApi);
    expect(listRelations(page)).toContainEqual(["album", "/api?schema=public#/album"]);
    expect(extractText(page.text)).toContain("Accept-Profile: public");
    expect((await otherApi.get("/api?schema=public", { headers: BROWSER })).text).toContain("<option>public</option>");
    await otherApi.close();
    const bare = await start({ dbSchemas: schemas, parts: [without("openapi-page")] });
    const barePage = await fetchPage(bare);
    expect(listRelations(barePage).map(([name]) => name)).not.toContain("album");
    expect(barePage.text).toContain("<li><code>album</code>");
    await bare.close();
  });

  test("X-PAGE-3a clients get the rows with the code of the page", async () => {
    const server = await start({ restPrefixes: ["/api", "/rest/v1"] });
    const page = await fetchPage(server);
    const [rest = "", graphql = ""] = listRequests(page);
    const [, title] = /"(?:title|name)":"([^"]+)"/.exec(JSON.stringify(await run(rest))) ?? [];
    expect(JSON.stringify(await run(graphql))).toContain(title);
    const cwd = fileURLToPath(new URL("../../", import.meta.url));
    for (const client of ["postgrest-js", "Apollo Client", "urql"]) {
      const code = readCode(page, client);
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], { cwd });
      expect(stdout, client).toContain(title);
    }
    expect(readCode(page, "supabase-js")).toContain(`createClient("${server.url}", "<token>")`);
    await server.close();
  });

  test.skipIf(!capabilities.realServer)("X-PAGE-3a relapi explain takes the requests of the page", async () => {
    const page = await fetchPage(api);
    const explainCommands = [...page.text.matchAll(/<code>(npx relapi explain .*?)<\/code>/gs)].map(([, markup = ""]) =>
      extractText(markup),
    );
    expect(explainCommands).toHaveLength(2);
    const { options } = await testDatabase();
    for (const command of explainCommands) {
      const [, request = ""] = /^npx relapi explain '(.*)'$/s.exec(command) ?? [];
      const { code, stdout, stderr } = await relapi(["explain", request], {
        DATABASE_URL: options.databaseUrl,
        DB_SCHEMAS: "public",
        ANON_ROLE: "music_reader",
      });
      expect([code, stdout], stderr).toEqual([0, expect.stringContaining("limit")]);
    }
  });
});

test("X-PAGE-6 every page has the shared style, whose colours follow the preference of the reader", async () => {
  for (const path of ["/", "/api", "/v1/graphql"]) {
    const { text } = await api.get(path, { headers: BROWSER });
    expect(text, path).toContain(`<style nonce="`);
    expect(text, path).toContain(THEME);
    expect(text, path).toContain('<meta name="color-scheme" content="light dark">');
  }
  expect(THEME).toContain("@media (prefers-color-scheme: dark)");
});

describe("live demo", () => {
  test("X-PAGE-8 the demo watches rows by REST, and knows the primary key and a column of text", async () => {
    const demo = readDemo(await fetchPage(api));
    expect(demo).toMatchObject({ header: "Authorization", prefix: "Bearer " });
    const { text } = await api.get(demo.path);
    const rows = JSON.parse(text) as readonly Record<string, unknown>[];
    expect(rows.length).toBeGreaterThan(0);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual([demo.key, demo.column]);
      expect(typeof row[demo.key]).toBe("string");
    }
    const { status } = await api.request("PATCH", `${demo.relationPath}?${demo.key}=eq.${rows[0]?.[demo.key]}`, {
      body: { [demo.column]: "changed" },
    });
    expect(status).toBe(401);
  });

  test("X-PAGE-8 the form asks for a credential only if the anonymous role may not change the column", async () => {
    const database = await openDatabase();
    await database.query(`
      create schema board; grant usage on schema board to sea_anon;
      create table board.fixed (id int primary key, title text, up int references board.fixed);
      create table board.note (id int primary key, title text);
      grant select on board.fixed, board.note to sea_anon;`);
    const openBoard = (options: StartOptions = {}): Promise<TestApi> =>
      start({ on: database, dbSchemas: ["board"], anonRole: "sea_anon", ...options });
    const closed = await openBoard();
    const page = await fetchPage(closed);
    expect(readDemo(page).relationPath).toBe("/api/fixed");
    expect(page.text).toContain('<input id="secret" type="password" autocomplete="off">');
    await closed.close();

    const secretlessApi = await openBoard({ jwtSecret: undefined, adminSecret: undefined });
    const { text } = await fetchPage(secretlessApi);
    expect(text).not.toContain('id="secret"');
    expect(extractText(text)).toContain("may not change this table, so the server rejects changes");
    await secretlessApi.close();

    await database.query("grant update (title) on board.note to sea_anon");
    const writableApi = await openBoard();
    const openPage = await fetchPage(writableApi);
    expect(readDemo(openPage).relationPath).toBe("/api/note");
    expect(openPage.text).not.toContain('id="secret"');
    await writableApi.close();
  });

  test.each(["sse", "rest-live", "rest-writes"])(
    "X-PAGE-8 without the plugin %s there is no demo, and the page may send nothing",
    async (name) => {
      const bare = await start({ parts: [without(name)] });
      const answer = await fetchPage(bare);
      expect(readDemo(answer)).toBeUndefined();
      expect(answer.text).not.toContain("event-stream");
      expect(answer.headers["content-security-policy"]).not.toContain("connect-src");
      await bare.close();
    },
  );

  test("X-PAGE-7 X-PAGE-8 without REST there are no tables, and the demo uses a subscription and a mutation", async () => {
    const database = await openDatabase();
    await database.query(`
      create schema board; grant usage on schema board to sea_anon;
      create table board.fixed (id int primary key, title text, up int references board.fixed);
      create table board.note (id int primary key, title text);
      insert into board.fixed values (1, 'one');
      grant select on board.fixed, board.note to sea_anon;`);
    const openBoard = (options: StartOptions = {}): Promise<TestApi> =>
      start({ on: database, preset: gqlCompat, dbSchemas: ["board"], anonRole: "sea_anon", ...options });
    const closed = await openBoard();
    const page = await fetchPage(closed);
    expect(listRelations(page)).toEqual([]);
    expect(page.text).not.toContain("postgrest-js");
    expect(page.text).toContain('<input id="secret" type="password" autocomplete="off">');
    const demo = readDemo(page);
    expect(demo).toMatchObject({ path: "/v1/graphql", key: "id", column: "title" });
    expect(demo.subscription).toMatch(/^subscription \{\s+board_fixed\(limit: 5, order_by: \{ id: asc \}\)/);
    const body = { query: demo.mutation, variables: { key: 1, text: "two" } };
    const rejection = await closed.request("POST", demo.path, { body });
    expect(JSON.parse(rejection.text).errors).toHaveLength(1);
    const headers = { "x-session-admin-secret": adminSecret };
    const updateAnswer = await closed.request("POST", demo.path, { body, headers });
    expect(JSON.parse(updateAnswer.text)).toEqual({ data: { update_board_fixed_by_pk: { id: 1 } } });
    expect(await database.query("select title from board.fixed")).toEqual([{ title: "two" }]);
    await closed.close();

    await database.query("grant update (title) on board.note to sea_anon");
    const writableApi = await openBoard();
    const openPage = await fetchPage(writableApi);
    expect(readDemo(openPage).mutation).toContain("update_board_note_by_pk");
    expect(openPage.text).not.toContain('id="secret"');
    await writableApi.close();
  });

  test.each(["sse", "graphql-updates"])("X-PAGE-8 without REST and the plugin %s there is no demo", async (name) => {
    const bare = await start({ preset: gqlCompat, parts: [without(name)] });
    expect(readDemo(await fetchPage(bare))).toBeUndefined();
    await bare.close();
  });
});

test("X-PAGE-5a X-PAGE-8 a table whose name is markup stays text, also in the live demo", async () => {
  const database = await openDatabase();
  const name = `</script><script>alert("1")</script>'`;
  await database.query(`
    create schema markup; grant usage on schema markup to sea_anon;
    create table markup.${JSON.stringify(name).replaceAll('\\"', '""')} (id int primary key, title text);
    insert into markup.${JSON.stringify(name).replaceAll('\\"', '""')} values (1, '<b>bold</b>');
    comment on table markup.${JSON.stringify(name).replaceAll('\\"', '""')} is '<img src=x onerror=alert(1)>';
    grant select on all tables in schema markup to sea_anon`);
  const hostile = await start({ on: database, dbSchemas: ["markup"], anonRole: "sea_anon" });
  const page = await fetchPage(hostile);
  const tags = listTags(page);
  expect(tags.filter((tag) => tag.name === "img")).toEqual([]);
  expect(tags.filter((tag) => / on[a-z]+=/.test(tag.attributes))).toEqual([]);
  expect(tags.filter((tag) => tag.name === "script" && tag.attributes !== "")).toHaveLength(2);
  expect(listRelations(page)).toEqual([[name, expect.any(String)]]);
  expect(JSON.parse((await hostile.get(readDemo(page).path)).text)).toEqual([{ id: "1", title: "<b>bold</b>" }]);
  await hostile.close();
});
