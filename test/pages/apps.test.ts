/** Runs the programs of the guides about tests and bundles, in a folder with the package and its dependencies. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import { capabilities, openDatabase } from "../support/database.ts";
import { sendRequest, type RequestParts } from "../support/http.ts";
import { blocksOf, readPage } from "../support/pages/pages.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "relapi-apps-"));
afterAll(() => rmSync(folder, { recursive: true }));

for (const name of ["express", "graphql", "vitest", "esbuild", "pg", "@electric-sql/pglite"]) {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}
symlinkSync(root, join(folder, "node_modules/relapi"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

/** Each block of code names its file in its first line. */
for (const page of ["test-your-app", "bundle-your-app"])
  for (const { text } of blocksOf(readPage(`guides/${page}.md`))) {
    const [, name] = /^(?:\/\/|--) (\S+\.(?:js|sql))\n/.exec(text) ?? [];
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }

const environment = { PATH: process.env["PATH"] };

const run = (...words: readonly string[]) =>
  promisify(execFile)(process.execPath, words, { cwd: folder, env: environment });

test("X-CALL-1 the first block of the guide about tests reads the demo", async () => {
  expect((await run("first.js")).stdout).toContain("[ { name: 'AC/DC' } ]\n");
});

test("X-CALL-1 the tests of the guide pass with vitest", async () => {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const withoutLimits = ["--hookTimeout=0", "--testTimeout=0"];
  const { stdout } = await run(vitest, "run", "--reporter=json", ...withoutLimits, "film.spec.js");
  expect(JSON.parse(stdout)).toMatchObject({ success: true, numPassedTests: 3 });
});

test("C-INI-1 the tests of the guide pass with node:test", async () => {
  const { stdout } = await run("--test", "--test-reporter=tap", "film.test.js");
  expect(stdout).toContain("# pass 2\n# fail 0\n");
});

test.skipIf(!capabilities.realServer)("X-CALL-1 a test on a server has a copy of a database", async () => {
  const { options, close } = await openDatabase();
  const program = `import pg from "pg";
    import { relApi } from "relapi";
    import { fullCompat } from "relapi/presets";
    import { copyDatabase } from "./server-database.js";
    const { databaseUrl, drop } = await copyDatabase(process.argv[1], "template0");
    const client = new pg.Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query("create table film (id int); insert into film values (7)");
    await client.end();
    const api = relApi(fullCompat({ databaseUrl, logLevel: "error" }));
    const answer = await api.rest({ path: "/film", session: { role: new URL(databaseUrl).username } });
    console.log(answer.body.toString());
    await api.close();
    await drop();`;
  const { stdout } = await run("--input-type=module", "--eval", program, String(options.databaseUrl));
  await close();
  expect(stdout).toBe('[{"id":7}]\n');
});

test("C-PKG-2 an application in a bundle serves both APIs and their pages", async () => {
  await run("bundle.js");
  const server = spawn(process.execPath, ["dist/server.js"], { cwd: folder, env: { ...environment, PORT: "0" } });
  try {
    const lines = createInterface(server.stdout);
    const [address] = (await once(lines, "line")) as [string]; // the listener of a readline interface gets a line
    const port = Number(new URL(address).port);
    const send = (method: string, path: string, parts?: RequestParts) =>
      sendRequest({ port, agent: new Agent() }, method, path, parts);
    expect((await send("GET", "/api/artist?select=name&artist_id=eq.1")).json()).toEqual([{ name: "AC/DC" }]);
    const sent = await send("POST", "/v1/graphql", { body: { query: "{ __typename }" } });
    expect(sent.json()).toEqual({ data: { __typename: "query_root" } });
    for (const path of ["/v1/graphql", "/api/"])
      expect((await send("GET", path, { headers: { accept: "text/html" } })).status).toBe(200);
  } finally {
    server.kill("SIGKILL");
  }
});
