/**
 * `relapi init`: creates a project with the packed package, runs its tests, starts it as its image does, and sends
 * requests.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { relapi, temporaryFolder, type Ended } from "./run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(temporaryFolder(), "My Shop");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const { NODE_OPTIONS: _, ...environment } = process.env; // settings of the test runner

/** The packages as npm would install them, without a network: the packed package and its dependencies. */
const install = (into: string, dependencies: readonly string[]): void => {
  const packed = temporaryFolder();
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packed], { cwd: root });
  const modules = join(into, "node_modules");
  mkdirSync(modules);
  execFileSync("sh", ["-c", `tar -xzf ${packed}/relapi-*.tgz -C "$1"`, "sh", modules]);
  renameSync(join(modules, "package"), join(modules, "relapi"));
  const manifest = JSON.parse(readFileSync(join(modules, "relapi/package.json"), "utf8"));
  for (const name of new Set([...Object.keys(manifest.dependencies), ...dependencies])) {
    if (name === "relapi") continue;
    mkdirSync(dirname(join(into, "node_modules", name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(into, "node_modules", name));
  }
};

let made: Ended;
let manifest: { readonly name: string; readonly dependencies: object; readonly devDependencies: object };

beforeAll(async () => {
  made = await relapi(["init", folder]);
  manifest = JSON.parse(read("package.json"));
  install(folder, [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]);
});

test("C-INI-1 writes a project and prints the next steps", () => {
  expect([made.code, made.stderr]).toEqual([0, ""]);
  expect(made.stdout).toContain(`Next: cd ${folder} && npm install && npm test`);
  expect(manifest.name).toBe("my-shop");
  for (const file of ["Dockerfile", ".dockerignore", "plugins/starts-with.js", ".env.example", "README.md"])
    expect(existsSync(join(folder, file))).toBe(true);
});

test("C-INI-1 the project's test passes with the packed package", async () => {
  // later versions of Node report in another format by default
  const run = await promisify(execFile)(process.execPath, ["--test", "--test-reporter=tap"], {
    cwd: folder,
    env: environment,
  });
  expect(run.stdout).toMatch(/# pass 3\n# fail 0/);
});

test("C-INI-3 the image has several stages, does not run as root, and has a health check on an existing page", () => {
  const lines = read("Dockerfile").split("\n");
  const of = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  expect(of("FROM").length).toBeGreaterThan(1);
  expect(of("USER")).toEqual(["10001:10001"]);
  expect(of("HEALTHCHECK")[0]).toMatch(/http:\/\/127\.0\.0\.1:3000\/health"\]$/);
  expect(of("ENV")[0]).toContain("PORT=3000");
  expect(of("ENTRYPOINT")).toEqual(['["node", "server.js"]']);
  // every copied file exists, except the lock file that npm install writes
  const copied = of("COPY").filter((line) => !line.startsWith("--from="));
  const sources = copied.flatMap((line) => line.split(" ").slice(0, -1));
  expect(sources.filter((source) => !existsSync(join(folder, source)))).toEqual(["package-lock.json"]);
  expect(read(".dockerignore").split("\n")).toEqual(expect.arrayContaining(["node_modules", ".env"]));
});

describe.skipIf(!capabilities.realServer)("started as by the image", async () => {
  const { databaseUrl } = (await testDatabase()).options;
  const image = join(temporaryFolder(), "app");

  test("C-INI-3 the tree of the image answers, and ends on SIGTERM", async () => {
    mkdirSync(image);
    for (const name of ["package.json", "app.js", "server.js", "plugins", "node_modules"])
      cpSync(join(folder, name), join(image, name), { recursive: true, verbatimSymlinks: true });
    for (const name of Object.keys(manifest.devDependencies)) rmSync(join(image, "node_modules", name));
    const child = spawn(process.execPath, ["server.js"], {
      cwd: image,
      env: {
        PATH: environment["PATH"],
        NODE_ENV: "production",
        PORT: "0",
        DATABASE_URL: databaseUrl,
        ANON_ROLE: "sea_anon",
      },
    });
    let said = "";
    const started = new Promise<void>((resolve) => {
      for (const stream of [child.stdout, child.stderr])
        stream.on("data", (chunk) => {
          said += String(chunk);
          if (said.includes("schema loaded") && said.includes("listening")) resolve();
        });
    });
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    try {
      await Promise.race([
        started,
        ended.then((code) => {
          throw new Error(`it ended with ${code}: ${said}`);
        }),
      ]);
      const [, address = ""] = /listening on (\S+)/.exec(said) ?? [];
      expect(await (await fetch(`${address}/health`)).text()).toBe("fine");
      const answer = await fetch(`${address}/api/artist?select=name&name=starts.Ab`);
      expect(await answer.json()).toEqual([{ name: "Abba" }]);
    } finally {
      child.kill("SIGTERM");
    }
    expect(await ended).toBe(0);
  });

  test("C-INI-3 the project's commands check and types work", async () => {
    const run = (...words: readonly string[]) =>
      promisify(execFile)(
        process.execPath,
        [join(folder, "node_modules/relapi/dist/presets/standalone.js"), ...words],
        {
          cwd: folder,
          env: { PATH: environment["PATH"], DATABASE_URL: databaseUrl, ANON_ROLE: "sea_anon" },
        },
      );
    expect((await run("check")).stdout).toMatch(/^fine: /);
    expect((await run("types")).stdout).toContain("export type Database = {");
  });
});

test("C-INI-3 without a database its server ends with one line", async () => {
  const run = promisify(execFile)(process.execPath, ["server.js"], { cwd: folder, env: { PATH: environment["PATH"] } });
  await expect(run).rejects.toMatchObject({ code: 1, stdout: "", stderr: "set DATABASE_URL, as in .env.example\n" });
});

test("C-INI-2 init overwrites no file", async () => {
  expect(await relapi(["init", folder])).toEqual({
    code: 1,
    stdout: "",
    stderr: `relapi: "${folder}" is not empty: name a folder that is, or that does not exist\n`,
  });
  expect(await relapi(["init", join(folder, "app.js")])).toMatchObject({ code: 1, stdout: "" });
  expect(await relapi(["init"])).toMatchObject({ code: 2, stdout: "" });
});
