/** The two pages for people, in a real browser with no internet: GraphiQL and the OpenAPI page. Skipped where there is
 *  no Chromium. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { afterAll, expect, test } from "vitest";
import { startApi } from "../support/api.ts";
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
  "G-HTTP-2 the playground runs a query and shows its rows",
  { timeout: 90_000 },
  async () => {
    const api = await startApi({ dbSchemas: ["public"], anonRole: "music_reader" });
    const query = "{ artist(order_by: {id: asc}, limit: 2) { name } }";
    const page = await open(
      `${api.url}/v1/graphql`,
      `localStorage.setItem("graphiql:query", ${JSON.stringify(query)})`,
    );
    await page.until("document.querySelector('.graphiql-execute-button')");
    await page.until("document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('artist')");
    await page.evaluate("document.querySelector('.graphiql-execute-button').click()");
    await page.until("document.querySelector('.result-window')?.textContent.includes('Bjork')");
    await keep(page, "playground");
    const shown = await page.evaluate<string>("document.querySelector('.result-window').textContent");
    expect(shown).toContain("Abba");
    expect(page.faults).toEqual([]);
  },
);

test.skipIf(chromium === undefined)(
  "R-OAS-1 the OpenAPI page lists the relations and tries a request",
  { timeout: 90_000 },
  async () => {
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
    await keep(page, "openapi");
    expect(page.faults).toEqual([]);
  },
);
