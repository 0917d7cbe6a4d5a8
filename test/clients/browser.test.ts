/** The pages for people, in a real browser with no internet: the front page, GraphiQL and the OpenAPI page. Skipped where there is
 *  no Chromium. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "vitest";
import { asAdmin, startApi } from "../support/api.ts";
import { chromium, openPage, type Page } from "./browser.ts";

const folder = join(tmpdir(), "relapi-screenshots");
const pages: Page[] = [];
afterAll(() => Promise.all(pages.map((page) => page.close())));

const open = async (url: string, before?: string): Promise<Page> => {
  const page = await openPage(url, before);
  pages.push(page);
  return page;
};

const keep = async (page: Page, name: string): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.png`), await page.screenshot());
};

test.skipIf(chromium === undefined)(
  "X-PAGE-3 the front page shows requests to copy, by day and by night, and leads to the other pages",
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: "music_reader", compatMode: false });
    const page = await open(`${api.url}/`);
    await page.until("document.querySelector('.request button:not([hidden])')");
    const background = (): Promise<string> => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.prefer("light");
    await keep(page, "front-light");
    const light = await background();
    await page.prefer("dark");
    await keep(page, "front-dark");
    expect(await background()).not.toBe(light);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
    // the address is the browser's own, whatever the server was told
    expect(await page.evaluate("document.querySelector('.request code').textContent")).toContain(
      `curl '${api.url}/api/`,
    );
    await page.evaluate("document.querySelector('a[href$=graphql]').click()");
    await page.until("document.querySelector('.graphiql-query-editor')");
    expect(page.faults).toEqual([]);
  },
);

test.skipIf(chromium === undefined)(
  "G-HTTP-16 the playground opens with a query of the caller's tables, and it runs",
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: "music_reader" });
    const query = (await api.get("/v1/graphql/playground/example")).text;
    const page = await open(`${api.url}/v1/graphql`);
    const [, root = ""] = /^query \{\s+(\w+)/.exec(query) ?? [];
    await page.until(`document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes("${root}")`);
    await page.evaluate("document.querySelector('.graphiql-execute-button').click()");
    await page.until(`document.querySelector('.result-window')?.textContent.includes('"${root}"')`);
    await page.prefer("light");
    await keep(page, "graphiql-light");
    await page.prefer("dark");
    await keep(page, "graphiql-dark");
    expect(page.faults).toEqual([]);
  },
);

test.skipIf(chromium === undefined)(
  "G-HTTP-16 a visit before there were headers does not hide the query of the next",
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: undefined });
    const page = await open(`${api.url}/v1/graphql`);
    const shown = "document.querySelector('.graphiql-query-editor .view-lines')?.textContent";
    await page.until(`${shown}?.includes('__typename')`);
    await page.until("localStorage.getItem('graphiql:tabState') !== null");
    await page.evaluate(
      `sessionStorage.setItem("relapi:playground:headers", JSON.stringify(${JSON.stringify(asAdmin("music_reader"))})), location.reload()`,
    );
    await page.until(`${shown}?.includes('limit')`);
    expect(page.faults).toEqual([]);
  },
);

test.skipIf(chromium === undefined)("G-HTTP-2 the playground runs a query and shows its rows", async () => {
  const api = await startApi({ dbSchemas: ["public"], anonRole: "music_reader" });
  const query = "{ artist(order_by: {id: asc}, limit: 2) { name } }";
  const page = await open(`${api.url}/v1/graphql`, `localStorage.setItem("graphiql:query", ${JSON.stringify(query)})`);
  await page.until("document.querySelector('.graphiql-execute-button')");
  await page.until("document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('artist')");
  await page.evaluate("document.querySelector('.graphiql-execute-button').click()");
  await page.until("document.querySelector('.result-window')?.textContent.includes('Bjork')");
  await keep(page, "playground");
  const shown = await page.evaluate<string>("document.querySelector('.result-window').textContent");
  expect(shown).toContain("Abba");
  expect(page.faults).toEqual([]);
});

test.skipIf(chromium === undefined)("R-OAS-1 the OpenAPI page lists the relations and tries a request", async () => {
  const api = await startApi();
  const page = await open(`${api.url}/api`);
  const operation = "document.querySelector('.opblock-get:has([data-path=\"/ports\"])')";
  await page.until("document.querySelector('#operations-tag-ports')");
  await page.evaluate("document.querySelector('#operations-tag-ports').click()");
  await page.until(operation);
  await page.evaluate(`${operation}.querySelector('.opblock-summary-control').click()`);
  // requests can be tried without asking for it first
  await page.until(`${operation}.querySelector('.execute')`);
  await page.evaluate(`${operation}.querySelector('.execute').click()`);
  await page.until(`${operation}.querySelector('.live-responses-table')?.textContent.includes('Leith')`);
  await page.evaluate(`${operation}.querySelector('.live-responses-table').scrollIntoView()`);
  await page.prefer("light");
  await keep(page, "openapi-light");
  await page.prefer("dark");
  await page.until("document.documentElement.classList.contains('dark-mode')");
  await keep(page, "openapi-dark");
  expect(page.faults).toEqual([]);
});
