/**
 * The site of `docs/` in a real browser without internet: two pages and the search. Skipped without Chromium, and where
 * `npm run docs` has not installed its builder: `npm ci` leaves it out, so that the project's installation stays small.
 * The site is built first unless it is newer than the pages.
 */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { chromium, startBrowser, type Browser, type Page } from "./browser.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const site = `${root}docs/site/dist`;

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const isStale = (): boolean => {
  if (!existsSync(`${site}/index.html`)) return true;
  const builtAtMs = statSync(`${site}/index.html`).mtimeMs;
  return readdirSync(`${root}docs`, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|mts|css)$/.test(name) && !/node_modules|dist|\.cache|\.temp/.test(name))
    .some((name) => statSync(`${root}docs/${name}`).mtimeMs > builtAtMs);
};

const canBuild = existsSync(`${root}docs/site/node_modules`);

describe.skipIf(chromium === undefined || !canBuild)("the site", () => {
  const server = createServer((request, response) => {
    const path = decodeURIComponent((request.url ?? "/").split("?")[0] ?? "").replace(/\/$/, "/index.html");
    const file = join(site, path);
    const isThere = file.startsWith(site) && existsSync(file);
    response.writeHead(isThere ? 200 : 404, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    response.end(isThere ? readFileSync(file) : undefined);
  });
  let browser: Browser | undefined;
  const open = async (path: string): Promise<Page> => {
    browser ??= await startBrowser();
    const page = await browser.open(`http://127.0.0.1:${(server.address() as AddressInfo).port}/${path}`);
    onTestFinished(() => page.close());
    return page;
  };

  beforeAll(async () => {
    if (isStale()) execFileSync("npm", ["--prefix", "docs/site", "run", "build"], { cwd: root, stdio: "pipe" });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterAll(async () => {
    await browser?.close();
    server.close();
  });

  test("the first page of the site shows both surfaces and links to features", async () => {
    const page = await open("");
    await page.until("document.querySelectorAll('.surfaces section').length === 2");
    await page.until("document.querySelectorAll('.cards section').length === 4");
    await page.evaluate("document.querySelector('.cards li a').click()");
    await page.until("location.pathname.endsWith('/features/columns.html')");
    await page.until("document.querySelector('h1')?.textContent.includes('Read columns')");
    expect(page.errors).toEqual([]);
  });

  test("the page of a feature shows both surfaces side by side, and cuts nothing off", async () => {
    const page = await open("features/filters.html");
    await page.until("document.querySelectorAll('.surfaces').length > 8");
    const tops = await page.evaluate<readonly number[]>(
      "[...document.querySelector('.surfaces').children].map((child) => child.getBoundingClientRect().top)",
    );
    expect(new Set(tops).size).toBe(1);
    const tooWide = await page.evaluate<readonly string[]>(
      "[...document.querySelectorAll('.surfaces pre')].filter((pre) => pre.scrollWidth > pre.clientWidth + 1).map((pre) => pre.textContent)",
    );
    expect(tooWide).toEqual([]);
    expect(page.errors).toEqual([]);
  });

  test("the search of the site finds a setting without the internet", async () => {
    const page = await open("");
    // The button has no effect until the page's scripts have run.
    await page.until(
      "document.querySelector('#localsearch-input') ?? void document.querySelector('#local-search button')?.click()",
    );
    await page.evaluate(
      "(() => { const input = document.querySelector('#localsearch-input'); input.value = 'trusted documents'; input.dispatchEvent(new Event('input')); })()",
    );
    await page.until("document.querySelector('#localsearch-list .result')?.textContent.includes('trusted')");
    expect(page.errors).toEqual([]);
  });
});
