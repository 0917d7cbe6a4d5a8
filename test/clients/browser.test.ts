/**
 * The pages for people in a real browser without internet: the front page, GraphiQL and the OpenAPI page. Skipped
 * without Chromium.
 */
import { afterAll, expect, onTestFinished, test } from "vitest";
import { gqlCompat } from "../../presets/index.ts";
import { asAdmin, startApi } from "../support/api.ts";
import { openDatabase } from "../support/database.ts";
import { chromium, startBrowser, type Browser, type Page } from "./browser.ts";

let browser: Browser | undefined;
afterAll(() => browser?.close());

/** Opens a page that is closed with its test, because an open page keeps running. */
const open = async (url: string, before?: string): Promise<Page> => {
  browser ??= await startBrowser();
  const page = await browser.open(url, before);
  onTestFinished(() => page.close());
  return page;
};

test.skipIf(chromium === undefined)(
  "X-PAGE-3a the front page shows requests to copy, in light and dark colours",
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: "music_reader", compatMode: false });
    const page = await open(`${api.url}/`);
    await page.until("document.querySelector('.request button:not([hidden])')");
    const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.prefer("light");
    const light = await background();
    await page.prefer("dark");
    expect(await background()).not.toBe(light);
    for (const width of [1280, 390]) {
      await page.resize(width, 800);
      expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    }
    // The address is the one that the browser uses, not one of the settings.
    expect(await page.evaluate("document.querySelector('.request code').textContent")).toContain(
      `curl '${api.url}/api/`,
    );
    expect(page.errors).toEqual([]);
  },
);

test.skipIf(chromium === undefined)(
  "X-PAGE-8 the live demo sends nothing before a click, shows a saved row, and says why the server rejects",
  async () => {
    const database = await openDatabase();
    await database.query(`
      create schema board; grant usage on schema board to sea_anon;
      create table board.note (id bigint primary key, title text check (title <> 'rejected'));
      insert into board.note values (9007199254740993, '<i>one</i>'), (2, 'two');
      grant select, update (title) on board.note to sea_anon`);
    const api = await startApi({ on: database, dbSchemas: ["board"], anonRole: "sea_anon", compatMode: false });
    const page = await open(
      `${api.url}/`,
      `globalThis.sent = [];
      const note = (to) => new Proxy(to, {
        apply: (target, self, list) => (sent.push(String(list[0])), Reflect.apply(target, self, list)),
        construct: (target, list) => (sent.push(String(list[0])), Reflect.construct(target, list)),
      });
      for (const name of ["fetch", "EventSource", "WebSocket"]) globalThis[name] = note(globalThis[name]);`,
    );
    await page.until("document.querySelector('#live:not([hidden])')");
    expect(await page.evaluate("sent")).toEqual([]);
    await page.evaluate("document.querySelector('#watch').click()");
    await page.until("document.querySelectorAll('#rows tbody tr').length === 2");
    expect(await page.evaluate("sent.length")).toBe(1);
    const save = (row: string, title: string): Promise<void> =>
      page.evaluate(
        `document.querySelector('#row').value = '${row}'; document.querySelector('#text').value = '${title}'; document.querySelector('#edit button').click()`,
      );
    await save("9007199254740993", "<b>new</b>");
    await page.until("document.querySelector('#rows tr.changed')");
    expect(await page.evaluate("document.querySelector('#rows tr.changed').innerText")).toContain("<b>new</b>");
    await page.until("document.querySelector('#outcome').textContent === 'Saved.'");
    await save("2", "rejected");
    await page.until("document.querySelector('#outcome.error')");
    expect(await page.evaluate("document.querySelector('#outcome').textContent")).toContain("check constraint");
    await page.evaluate("document.querySelector('#watch').click()");
    await page.until("document.querySelector('#fields').disabled");
    expect(page.errors).toEqual([]);
    expect(await database.query("select title from board.note order by id")).toEqual([
      { title: "two" },
      { title: "<b>new</b>" },
    ]);
  },
);

test.skipIf(chromium === undefined)(
  "X-PAGE-8 the live demo of GraphQL shows a saved row, says why the server rejects, and edits no key that a browser rounds",
  async () => {
    const database = await openDatabase();
    await database.query(`
      create schema board; grant usage on schema board to sea_anon;
      create table board.note (id bigint primary key, title text check (title <> 'rejected'));
      insert into board.note values (1, 'one'), (2, 'two');
      grant select, update (title) on board.note to sea_anon`);
    const api = await startApi({
      on: database,
      preset: gqlCompat,
      dbSchemas: ["board"],
      anonRole: "sea_anon",
      compatMode: false,
    });
    const page = await open(`${api.url}/`);
    await page.until("document.querySelector('#live:not([hidden])')");
    await page.evaluate("document.querySelector('#watch').click()");
    await page.until("document.querySelectorAll('#rows tbody tr').length === 2");
    const save = (title: string): Promise<void> =>
      page.evaluate(
        `document.querySelector('#row').value = '2'; document.querySelector('#text').value = '${title}'; document.querySelector('#edit button').click()`,
      );
    await save("new");
    await page.until("document.querySelector('#rows tr.changed')?.innerText.includes('new')");
    await page.until("document.querySelector('#outcome').textContent === 'Saved.'");
    await save("rejected");
    await page.until("document.querySelector('#outcome.error')?.textContent.includes('Check constraint')");
    await database.query("insert into board.note values (9007199254740993, 'three')");
    await page.until("document.querySelector('#fields').disabled");
    expect(page.errors).toEqual([]);
    expect(await database.query("select title from board.note order by id")).toEqual([
      { title: "one" },
      { title: "new" },
      { title: "three" },
    ]);
  },
);

test.skipIf(chromium === undefined)(
  "X-PAGE-3 X-PAGE-6 G-HTTP-2 G-HTTP-16 the front page links to the playground, which runs a query of the caller's tables, also after an earlier visit",
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: undefined, compatMode: false });
    const page = await open(`${api.url}/`);
    await page.until("document.querySelector('a[href$=graphql]')");
    await page.evaluate("document.querySelector('a[href$=graphql]').click()");
    const editorText = "document.querySelector('.graphiql-query-editor .view-lines')?.textContent";
    await page.until(`${editorText}?.includes('__typename')`);
    await page.until("localStorage.getItem('graphiql:tabState') !== null");

    const headers = asAdmin("music_reader");
    const query = (await api.get("/v1/graphql/playground/example", { headers })).text;
    const [, root = ""] = /^query \{\s+(\w+)/.exec(query) ?? [];
    const { data } = await api.gql(query, undefined, headers);
    const rows = data[root] as readonly object[];
    const texts = rows.flatMap((row) => Object.values(row)).filter((value) => typeof value === "string");
    expect(texts.length).toBeGreaterThan(1);
    await page.evaluate(
      `sessionStorage.setItem("relapi:playground:headers", JSON.stringify(${JSON.stringify(headers)})), location.reload()`,
    );
    await page.until(`${editorText}?.includes('limit') && ${editorText}.includes("${root}")`);
    await page.evaluate("document.querySelector('.graphiql-execute-button').click()");
    for (const text of [`"${root}"`, ...texts])
      await page.until(`document.querySelector('.result-window')?.textContent.includes(${JSON.stringify(text)})`);
    for (const [scheme, theme] of [
      ["light", "vs"],
      ["dark", "vs-dark"],
    ] as const) {
      await page.prefer(scheme);
      await page.until(`document.querySelector('.result-window .monaco-editor').classList.contains("${theme}")`);
    }
    expect(page.errors).toEqual([]);
  },
);

test.skipIf(chromium === undefined)("X-PAGE-7a a table of another schema is a link to its requests", async () => {
  const api = await startApi({ dbSchemas: ["sea", "public"], anonRole: "music_reader", compatMode: false });
  const page = await open(`${api.url}/`);
  const link = "document.querySelector('a[href$=\"?schema=public#/album\"]')";
  await page.until(link);
  await page.evaluate(`${link}.click()`);
  await page.until("document.querySelector('#schema')?.value === 'public'");
  await page.until("document.querySelector('#operations-album-get_album, .opblock-get [data-path=\"/album\"]')");
  expect(page.errors).toEqual([]);
});

test.skipIf(chromium === undefined)("R-OAS-1 the OpenAPI page lists the relations and tries a request", async () => {
  const api = await startApi();
  const page = await open(`${api.url}/api`);
  const operation = "document.querySelector('.opblock-get:has([data-path=\"/ports\"])')";
  await page.until("document.querySelector('#operations-tag-ports')");
  await page.evaluate("document.querySelector('#operations-tag-ports').click()");
  await page.until(operation);
  await page.evaluate(`${operation}.querySelector('.opblock-summary-control').click()`);
  // Requests can be sent without a click on "Try it out".
  await page.until(`${operation}.querySelector('.execute')`);
  await page.evaluate(`${operation}.querySelector('.execute').click()`);
  await page.until(`${operation}.querySelector('.live-responses-table')?.textContent.includes('Leith')`);
  await page.evaluate(`${operation}.querySelector('.live-responses-table').scrollIntoView()`);
  await page.prefer("light");
  await page.prefer("dark");
  await page.until("document.documentElement.classList.contains('dark-mode')");
  expect(page.errors).toEqual([]);
});
