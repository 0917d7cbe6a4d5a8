/** Runs the programs of the guides about tests and bundles, in a folder with the package and its dependencies. */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { capabilities, openDatabase, testDatabase } from "../support/database.ts";
import { atFileEnd } from "../support/file-end.ts";
import { sendRequest, type Answer, type RequestParts } from "../support/http.ts";
import { parseBlocks, readPage } from "../support/pages/pages.ts";
import { openSocket } from "../support/socket.ts";
import { jwtSecret, signToken } from "../support/tokens.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "relapi-apps-"));
afterAll(() => rmSync(folder, { recursive: true }));

for (const name of ["express", "graphql", "vitest", "esbuild", "webpack", "pg", "@electric-sql/pglite"]) {
  const path = join(folder, "node_modules", name);
  mkdirSync(dirname(path), { recursive: true });
  symlinkSync(join(root, "node_modules", name), path);
}
symlinkSync(root, join(folder, "node_modules/relapi"));
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');

/** Each block of code names its file in its first line. */
for (const page of ["test-your-app", "bundle-your-app"])
  for (const { text } of parseBlocks(readPage(`guides/${page}.md`))) {
    const [, name] = /^(?:\/\/|--) (\S+\.(?:js|sql))\n/.exec(text) ?? [];
    if (name !== undefined) writeFileSync(join(folder, name), text);
  }

const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
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

const esbuild = (format: string, file: string): Promise<unknown> => {
  const script = readFileSync(join(folder, "bundle.js"), "utf8")
    .replace('format: "esm"', `format: "${format}"`)
    .replace("dist/server.mjs", `dist/${file}`)
    .replace(/^ *banner.*\n/m, (banner) => (format === "esm" ? banner : ""));
  writeFileSync(join(folder, `bundle-${format}.js`), script);
  return run(`bundle-${format}.js`);
};

const webpack = async (): Promise<unknown> => {
  const script = `import webpack from "webpack";
    import config from "./webpack.config.js";
    const faster = { ...config, optimization: { minimize: false } };
    webpack(faster, (error, stats) => console.log(error ?? stats.toString({ all: false, errors: true, warnings: true })));`;
  writeFileSync(join(folder, "bundle-webpack.js"), script);
  const { stdout } = await run("bundle-webpack.js");
  // These are the warnings that the guide names.
  for (const [, path = ""] of stdout.matchAll(/^(?:WARNING|ERROR) in (\S+)/gm))
    expect(path).toMatch(/node_modules\/(?:express|pg|pg-protocol|ws)\//);
  return undefined;
};

interface RunningBundle {
  readonly port: number;
  readonly stderr: () => string;
  send(method: string, path: string, parts?: RequestParts): Promise<Answer>;
}

/** Starts a program that prints its address, for the duration of `work`. */
const withServer = async (
  file: string,
  env: Readonly<Record<string, string | undefined>>,
  work: (running: RunningBundle) => Promise<void>,
): Promise<void> => {
  const server = spawn(process.execPath, [file], { cwd: dirname(file), env: { ...environment, PORT: "0", ...env } });
  const errors: Buffer[] = [];
  server.stderr.on("data", (chunk: Buffer) => errors.push(chunk));
  const stderr = (): string => Buffer.concat(errors).toString();
  try {
    const lines = createInterface(server.stdout);
    const exit = once(server, "exit").then(() => Promise.reject(new Error(`the program has ended: ${stderr()}`)));
    exit.catch(() => undefined);
    const [address] = (await Promise.race([once(lines, "line"), exit])) as [string]; // a line has one part
    const port = Number(new URL(address).port);
    await work({
      port,
      stderr,
      send: (method, path, parts) => sendRequest({ port, agent: new Agent() }, method, path, parts),
    });
  } finally {
    server.kill("SIGKILL");
  }
};

const page = { headers: { accept: "text/html" } };

test("C-PKG-10 a bundle beside the installed package serves both APIs, their pages and the embedded database", async () => {
  await esbuild("esm", "server.mjs");
  await withServer(join(folder, "dist/server.mjs"), {}, async ({ send, stderr }) => {
    expect((await send("GET", "/api/artist?select=name&artist_id=eq.1")).json()).toEqual([{ name: "AC/DC" }]);
    const response = await send("POST", "/v1/graphql", { body: { query: "{ __typename }" } });
    expect(response.json()).toEqual({ data: { __typename: "query_root" } });
    for (const path of ["/v1/graphql", "/api/"]) expect((await send("GET", path, page)).status).toBe(200);
    expect(stderr()).toBe("");
  });
});

describe.skipIf(!capabilities.realServer)("C-PKG-10 a bundle in a folder without packages works", () => {
  const headers = { authorization: `Bearer ${signToken({ role: "music_reader" })}` };

  const bundles = [
    ["esbuild, esm", "server.mjs", () => esbuild("esm", "server.mjs")],
    ["esbuild, cjs", "server.cjs", () => esbuild("cjs", "server.cjs")],
    ["webpack", "server.cjs", webpack],
  ] as const;
  // The bundler webpack takes more of the processor than all other tests of this file.
  const isTested = ([tool]: (typeof bundles)[number]): boolean =>
    tool !== "webpack" || (process.env["ALL_TOOLS"] ?? "") !== "";
  test.each(bundles.filter(isTested))(
    "C-PKG-10 a bundle serves REST, GraphQL and WebSockets: %s",
    async (tool, file, bundle) => {
      rmSync(join(folder, "dist"), { recursive: true, force: true });
      await bundle();
      const bundleFolder = mkdtempSync(join(tmpdir(), "relapi-alone-"));
      atFileEnd(async () => rmSync(bundleFolder, { recursive: true, force: true }));
      cpSync(join(folder, "dist"), bundleFolder, { recursive: true });
      const { databaseUrl: DATABASE_URL } = (await testDatabase()).options;
      const env = { DATABASE_URL, JWT_SECRET: jwtSecret };
      await withServer(join(bundleFolder, file), env, async ({ send, port, stderr }) => {
        const artist = await send("GET", "/api/artist?select=id&limit=1&order=id", { headers });
        expect(artist.json()).toEqual([{ id: 1 }]);
        const body = { query: "{ artist(limit: 1, order_by: {id: asc}) { id } }" };
        expect((await send("POST", "/v1/graphql", { headers, body })).json()).toEqual({
          data: { artist: [{ id: 1 }] },
        });
        expect((await send("GET", "/v1/version")).json()).toMatchObject({ version });
        const socket = await openSocket({ wsUrl: `ws://127.0.0.1:${port}` });
        await socket.init({ headers });
        socket.send({ id: "1", type: "subscribe", payload: { query: body.query.replace("{", "subscription {") } });
        expect(await socket.next()).toMatchObject({ type: "next", payload: { data: { artist: [{ id: 1 }] } } });
        await socket.close();
        if (tool === "webpack") return; // its bundle knows the folder of the package on this machine
        expect((await send("GET", "/v1/graphql", page)).status).not.toBe(200);
        for (const part of ["the playground", "the OpenAPI page"])
          expect(stderr()).toContain(`${part} is disabled: its files are not in the bundle of the application`);
      });
      if (tool === "webpack") return;
      await withServer(join(bundleFolder, file), { DATABASE_URL: undefined }, () => Promise.resolve()).then(
        () => expect.unreachable("the embedded database started without its files"),
        (error: Error) =>
          expect(error.message).toContain(
            "the embedded database cannot start: its files are not in the bundle of the application",
          ),
      );
    },
  );
});
