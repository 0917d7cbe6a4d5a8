/** `npm run pictures` makes the pictures of the README, in docs/images, from a server that it starts. */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openPage, type Page } from "./browser.ts";
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
  const { port } = server.address() as AddressInfo; // it listens on TCP
  await new Promise((resolve) => server.close(resolve));
  return port;
};

const output = (command: string, port: number): readonly Line[] => {
  const here = command.replaceAll(`:${SHOWN_PORT}`, `:${port}`).replace(/^curl/, "curl -s");
  const { stdout } = spawnSync("sh", ["-c", here], { encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  return [{ text: command, isCommand: true }, ...lines.map((text) => ({ text })), { text: "" }];
};

const save = async (page: Page, name: string): Promise<void> => {
  writeFileSync(join(images, `${name}.png`), await page.screenshot());
  await page.close();
};

const port = await freePort();
const server = spawn(process.execPath, [join(root, "dist/presets/standalone.js"), "--port", String(port)], {
  env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
});
try {
  let said = "";
  for (const stream of [server.stdout, server.stderr]) stream.on("data", (text: Buffer) => (said += text.toString()));
  for (const endMs = Date.now() + 60_000; !said.includes("Try:");) {
    if (Date.now() > endMs || server.exitCode !== null) throw new Error(`the server did not start:\n${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const banner = said.slice(0, said.indexOf("\nTry:")).replaceAll(`:${port}`, `:${SHOWN_PORT}`);
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
  const graphiql = await openPage(
    `${url}/v1/graphql`,
    `localStorage.setItem("graphiql:query", ${JSON.stringify(QUERY)}); localStorage.setItem("graphiql:theme", "light")`,
  );
  await graphiql.until("document.querySelector('.graphiql-execute-button')");
  await graphiql.until("document.querySelector('.graphiql-query-editor .view-lines')?.textContent.includes('tracks')");
  await graphiql.evaluate("document.querySelector('.graphiql-execute-button').click()");
  await graphiql.until("document.querySelector('.result-window')?.textContent.includes('aggregate')");
  await new Promise((resolve) => setTimeout(resolve, 1000)); // colours arrive line by line
  await save(graphiql, "graphiql");

  const isPage = (await fetch(url, { headers: { accept: "text/html" } })).headers
    .get("content-type")
    ?.startsWith("text/html");
  if (isPage === true) {
    const front = await openPage(url);
    await front.until("document.readyState === 'complete'");
    await save(front, "front-page");
  }
} finally {
  server.kill("SIGTERM");
}
for (const name of ["terminal.svg", "graphiql.png"])
  console.log(`docs/images/${name}: ${Math.ceil(statSync(join(images, name)).size / 1024)} kB`);
