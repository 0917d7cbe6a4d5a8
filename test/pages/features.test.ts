// @runs-also-on postgresql-15-postgis
/**
 * Sends each request of the pages of `docs/features`, and of the recipes that show requests, to the server that the
 * page starts. The answers have to be those of the page. `DOCS_ANSWERS=write` writes the answers into the pages.
 */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { capabilities } from "../support/database.ts";
import { NEEDS_POSTGIS, startPageServer, type PageServer } from "../support/pages/server.ts";
import {
  parseBlocks,
  comparison,
  docsFolder,
  listExamples,
  readPage,
  rewriteBlock,
  writePage,
  type Block,
} from "../support/pages/pages.ts";

const isWriting = process.env["DOCS_ANSWERS"] === "write";

/** The file `live.test.ts` checks the events that follow the first answer. */
const OWN_TEST = ["features/live-queries.md"];

const pages = [
  "README.md",
  ...readdirSync(`${docsFolder}features`).map((name) => `features/${name}`),
  "recipes/row-level-security.md",
  "guides/move-from-postgraphile.md",
].filter((page) => page.endsWith(".md") && !OWN_TEST.includes(page));

describe.each(pages)("%s", (page) => {
  const blocks = parseBlocks(readPage(page));
  const examples = listExamples(blocks);
  const changes: [Block, string][] = [];
  let startedServer: Promise<PageServer> | undefined;
  afterAll(async () => (await startedServer)?.stop());

  test("the page has examples of both surfaces", () => {
    if (page.startsWith("features/")) expect(new Set(examples.map(({ isGraphql }) => isGraphql)).size).toBe(2);
    expect(examples).not.toEqual([]);
  });

  test.skipIf(NEEDS_POSTGIS.includes(page) && !capabilities.postgis).each(examples)(
    "$title",
    async ({ request, answer, isGraphql }) => {
      const server = await (startedServer ??= startPageServer(page));
      const response = await server.send(request);
      if (request.method !== "GET") await server.reset();
      if (answer === undefined) {
        expect(response.status, response.text).toBeLessThan(300);
        if (isGraphql) expect(response.json()).toHaveProperty("data");
      } else if (isWriting) {
        changes.push([answer, await rewriteBlock(answer, response)]);
        if (changes.length === examples.filter((example) => example.answer !== undefined).length)
          writePage(page, changes);
      } else {
        const [expected, actual] = comparison(answer, response);
        expect(actual).toBe(expected);
      }
    },
  );
});

/** The SQL of the demo that a page shows is part of the demo. */
test.each(pages.filter((page) => page.startsWith("features/") && !NEEDS_POSTGIS.includes(page)))(
  "%s: its SQL is that of the demo",
  (page) => {
    const blocks = parseBlocks(readPage(page));
    const folder = fileURLToPath(new URL("../../plugins/database/embedded/demo/", import.meta.url));
    const demo = readdirSync(folder)
      .map((name) => readFileSync(folder + name, "utf8"))
      .join("\n");
    for (const { language, text } of blocks) if (language === "sql") expect(demo).toContain(text.trimEnd());
  },
);
