/** `npm run screenshots` makes the pictures of the README and of the guides, in docs/images, from a server of the demo
 *  that it starts. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { until } from "../support/until.ts";
import { startBrowser, type Page } from "./browser.ts";
import { terminalSvg, type Line } from "./terminal.ts";

const root = fileURLToPath(new URL("../../../", import.meta.url)); // part of dist/test/clients
const images = join(root, "docs/images");

/** The address in the README. The server of the pictures uses a free port. */
const SHOWN_PORT = "3000";

const REST = "curl 'http://127.0.0.1:3000/api/album?select=title,artist(name)&album_id=in.(1,3)'";
const GRAPHQL = `curl http://127.0.0.1:3000/v1/graphql \\
  -d '{"query":"{ album(where: {album_id: {_in: [1, 3]}}) { title artist { name } } }"}'`;

const QUERY = `query Albums {
  artist(
    where: { name: { _like: "D%" } }
    order_by: { name: asc }
    limit: 3
  ) {
    name
    albums(limit: 2) {
      title
      tracks_aggregate {
        aggregate {
          count
        }
      }
    }
  }
}
`;

const freePort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // the server listens on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const output = (command: string, port: number): readonly Line[] => {
  const localCommand = command.replaceAll(`:${SHOWN_PORT}`, `:${port}`).replace(/^curl/, "curl -s");
  const { stdout } = spawnSync("sh", ["-c", localCommand], { encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  return [{ text: command, isCommand: true }, ...lines.map((text) => ({ text })), { text: "" }];
};

const ADMIN_SECRET = "secret";

/** Saves a picture of the viewport, which is 1280 pixels wide. */
const save = async (page: Page, name: string, height: number, scheme: "light" | "dark"): Promise<void> => {
  await page.prefer(scheme);
  await page.resize(1280, height);
  // Two frames later the page is painted in these colours.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  writeFileSync(join(images, `${name}.png`), await page.screenshot());
  await page.close();
};

const port = await freePort();
const adminPort = await freePort();
const server = spawn(process.execPath, [join(root, "dist/presets/standalone.js"), "--port", String(port)], {
  env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ADMIN_SECRET, ADMIN_PORT: String(adminPort) },
});
const browser = await startBrowser();
try {
  let serverOutput = "";
  for (const stream of [server.stdout, server.stderr])
    stream.on("data", (text: Buffer) => (serverOutput += text.toString()));
  await until(() => serverOutput.includes("Try:") || server.exitCode !== null, "the server has started");
  if (server.exitCode !== null) throw new Error(`the server did not start:\n${serverOutput}`);
  const banner = serverOutput.slice(0, serverOutput.indexOf("\nTry:")).replaceAll(`:${port}`, `:${SHOWN_PORT}`);
  mkdirSync(images, { recursive: true });
  const lines: readonly Line[] = [
    { text: "npm start", isCommand: true },
    ...banner
      .split("\n")
      .filter((line) => !/^\d{4}-\d\d-\d\dT/.test(line)) // the log
      .map((text) => ({ text })),
    ...output(REST, port),
    ...output(GRAPHQL, port).slice(0, -1),
  ];
  writeFileSync(join(images, "terminal.svg"), terminalSvg("npm start, and the same query on both APIs", lines));

  const url = `http://127.0.0.1:${port}`;
  const graphiql = await browser.open(
    `${url}/v1/graphql`,
    `localStorage.setItem("graphiql:query", ${JSON.stringify(QUERY)})`,
  );
  await graphiql.until("document.querySelector('.graphiql-execute-button')");
  await graphiql.until("document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('tracks')");
  await graphiql.evaluate("document.querySelector('.graphiql-execute-button').click()");
  await graphiql.until("document.querySelector('.result-window')?.textContent.includes('aggregate')");
  // The colours arrive line by line, and uncoloured text has the class mtk1.
  await graphiql.until(`[...document.querySelectorAll(".graphiql-query-editor .view-line span")].some(
    (each) => each.children.length === 0 && each.textContent.trim() === "count" && !each.classList.contains("mtk1"))`);
  await save(graphiql, "graphiql", 800, "light");

  const front = await browser.open(url);
  await front.until("document.querySelector('#live:not([hidden])')");
  await front.evaluate(
    "for (const at of document.querySelectorAll('[data-origin]')) at.textContent = 'http://127.0.0.1:3000'",
  );
  await save(front, "front-page", 1050, "light");

  const demo = await browser.open(url);
  await demo.until("document.querySelector('#live:not([hidden])')");
  await demo.evaluate("document.querySelector('#watch').click()");
  await demo.until("document.querySelectorAll('#rows tbody tr').length > 3");
  await demo.evaluate(`
    document.querySelector("#row").value = "2";
    document.querySelector("#text").value = "Balls to the Wall (live)";
    document.querySelector("#secret").value = ${JSON.stringify(ADMIN_SECRET)};
    document.querySelector("#edit button").click()`);
  await demo.until("document.querySelector('#rows tr.changed')");
  await demo.until("document.querySelector('#outcome').textContent === 'Saved.'");
  // This picture shows only the panes, because the picture of the page shows the rest.
  await demo.evaluate(
    "for (const each of document.querySelectorAll('header, section:not(#live), footer')) each.remove()",
  );

  const live = await browser.open(`http://127.0.0.1:${adminPort}/live-queries`);
  await live.until("document.querySelector('tbody tr')");
  await live.evaluate("document.querySelector('details').open = true");
  await save(live, "live-queries", 420, "dark");
  await save(demo, "live-demo", 660, "dark");

  const openapi = await browser.open(`${url}/api`);
  await openapi.until("document.querySelectorAll('.opblock-tag').length > 5");
  await openapi.evaluate(
    "[...document.querySelectorAll('.opblock-tag')].find((tag) => tag.textContent.startsWith('album')).click()",
  );
  await openapi.until("document.querySelector('.opblock-get')");
  await save(openapi, "openapi-page", 800, "light");
} finally {
  await browser.close();
  server.kill("SIGTERM");
}
for (const name of readdirSync(images))
  console.log(`docs/images/${name}: ${Math.ceil(statSync(join(images, name)).size / 1024)} kB`);
