/**
 * `relapi init`: creates a project with the packed package, runs its tests, starts it as its image does, and sends
 * requests.
 */
import { execFile, execFileSync, spawn } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { until } from "../support/until.ts";
import { temporaryFolder } from "../support/temporary-files.ts";
import { program, relapi, type Environment, type ProcessResult } from "./run.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = join(temporaryFolder(), "My Shop");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const { NODE_OPTIONS: _, ...environment } = process.env; // settings of the test runner

/** The packages as npm would install them, without a network: the packed package and its dependencies. */
const install = (target: string, dependencies: readonly string[]): void => {
  const packageFolder = temporaryFolder();
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", packageFolder], { cwd: root });
  const modules = join(target, "node_modules");
  mkdirSync(modules);
  execFileSync("sh", ["-c", `tar -xzf ${packageFolder}/relapi-*.tgz -C "$1"`, "sh", modules]);
  renameSync(join(modules, "package"), join(modules, "relapi"));
  const relapiManifest = JSON.parse(readFileSync(join(modules, "relapi/package.json"), "utf8"));
  for (const name of new Set([...Object.keys(relapiManifest.dependencies), ...dependencies, ".bin/tsc"])) {
    if (name === "relapi") continue;
    mkdirSync(dirname(join(modules, name)), { recursive: true });
    symlinkSync(join(root, "node_modules", name), join(modules, name));
  }
};

const runNpmTest = (project: string): Promise<{ readonly stdout: string }> =>
  promisify(execFile)("npm", ["test"], { cwd: project, env: environment });

/** Starts the server of a project, and returns its address once it listens and has loaded the schema. */
const startServer = async (cwd: string, script: string, settings: Environment) => {
  const child = spawn(process.execPath, [script], { cwd, env: { PATH: environment["PATH"], PORT: "0", ...settings } });
  let output = "";
  const start = new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        output += String(chunk);
        if (output.includes("listening")) resolve();
      });
  });
  const exit = new Promise<number | null>((resolve) => child.on("close", resolve));
  const failure = exit.then((code) => {
    throw new Error(`it ended with ${code}: ${output}`);
  });
  failure.catch(() => {}); // a server that has started ends later
  await Promise.race([start, failure]);
  const [, printedAddress = ""] = /listening on (\S+)/.exec(output) ?? [];
  const address = printedAddress.replace("localhost", "127.0.0.1");
  // Its health is 503 until the schema is loaded.
  await until(async () => (await fetch(`${address}/health`)).ok, "the schema is loaded");
  const stop = (): Promise<number | null> => {
    child.kill("SIGTERM");
    return exit;
  };
  return { address, stop };
};

let initResult: ProcessResult;
let testResult: { readonly stdout: string };
let manifest: { readonly name: string; readonly dependencies: object; readonly devDependencies: object };

beforeAll(async () => {
  initResult = await relapi(["init", folder]);
  manifest = JSON.parse(read("package.json"));
  install(folder, [...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]);
  testResult = await runNpmTest(folder);
});

test("C-INI-1 init writes a project in TypeScript and prints the next steps", () => {
  expect([initResult.code, initResult.stderr]).toEqual([0, ""]);
  expect(initResult.stdout).toContain(`Next: cd '${folder}' && npm install && npm test, then npm start`);
  expect(manifest.name).toBe("my-shop");
  for (const file of ["tsconfig.json", "Dockerfile", ".dockerignore", ".gitignore", ".env", "README.md", "schema.sql"])
    expect(existsSync(join(folder, file)), file).toBe(true);
});

test("C-INI-1a npm test compiles the project, and its tests pass with the packed package", () => {
  expect(testResult.stdout).toMatch(/ pass 3\n. fail 0/);
});

test("C-INI-1 init with --js writes the same project in JavaScript", async () => {
  const otherFolder = join(temporaryFolder(), "shop");
  expect(await relapi(["init", "--js", otherFolder])).toMatchObject({ code: 0, stderr: "" });
  symlinkSync(join(folder, "node_modules"), join(otherFolder, "node_modules"));
  expect((await runNpmTest(otherFolder)).stdout).toMatch(/ pass 3\n. fail 0/);
  const { address, stop } = await startServer(otherFolder, "src/server.js", {});
  expect(await (await fetch(`${address}/health`)).text()).toBe("fine");
  expect(await stop()).toBe(0);
});

test("C-INI-1a without a database, the server serves the project's schema with the settings of .env", async () => {
  const { address, stop } = await startServer(folder, "dist/server.js", {});
  expect(await (await fetch(`${address}/api/city?select=name&name=starts.Ab`)).json()).toEqual([{ name: "Abuja" }]);
  expect(await stop()).toBe(0);
});

test("C-INI-3 the image has several stages, does not run as root, and has a health check on an existing page", () => {
  const lines = read("Dockerfile").split("\n");
  const listArguments = (word: string): readonly string[] =>
    lines.filter((line) => line.startsWith(`${word} `)).map((line) => line.slice(word.length + 1));
  expect(listArguments("FROM")).toHaveLength(3);
  expect(listArguments("USER")).toEqual(["10001:10001"]);
  expect(listArguments("HEALTHCHECK")[0]).toMatch(/http:\/\/127\.0\.0\.1:3000\/health"\]$/);
  expect(listArguments("ENV")[0]).toContain("PORT=3000");
  expect(listArguments("ENTRYPOINT")).toEqual(['["node", "dist/server.js"]']);
  // Every copied file exists, except the lock file that npm install writes.
  const copyLines = listArguments("COPY").filter((line) => !line.startsWith("--from="));
  const sources = copyLines.flatMap((line) => line.split(" ").slice(0, -1));
  expect(new Set(sources.filter((source) => !existsSync(join(folder, source))))).toEqual(
    new Set(["package-lock.json"]),
  );
  expect(read(".dockerignore").split("\n")).toEqual(expect.arrayContaining(["node_modules", ".env"]));
});

describe.skipIf(!capabilities.realServer)("a project started as by the image", async () => {
  const { databaseUrl } = (await testDatabase()).options;
  const image = join(temporaryFolder(), "app");

  test("C-INI-3 the file tree of the image answers requests and ends on SIGTERM", async () => {
    mkdirSync(image);
    for (const name of ["package.json", "dist", "node_modules"])
      cpSync(join(folder, name), join(image, name), { recursive: true, verbatimSymlinks: true });
    for (const name of Object.keys(manifest.devDependencies)) rmSync(join(image, "node_modules", name));
    const settings = { NODE_ENV: "production", DATABASE_URL: databaseUrl, ANON_ROLE: "sea_anon" };
    const { address, stop } = await startServer(image, "dist/server.js", settings);
    try {
      expect(await (await fetch(`${address}/health`)).text()).toBe("fine");
      const answer = await fetch(`${address}/api/artist?select=name&name=starts.Ab`);
      expect(await answer.json()).toEqual([{ name: "Abba" }]);
    } finally {
      expect(await stop()).toBe(0);
    }
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

test("C-INI-3 in production, the server ends with one line if it has no database", async () => {
  const run = promisify(execFile)(process.execPath, ["dist/server.js"], {
    cwd: folder,
    env: { PATH: environment["PATH"], NODE_ENV: "production" },
  });
  await expect(run).rejects.toMatchObject({ code: 1, stdout: "", stderr: "set DATABASE_URL\n" });
});

test("C-INI-2 init overwrites no file and reports an unsuitable folder", async () => {
  const before = read("package.json");
  const expectError = async (name: string, message: string): Promise<void> =>
    expect(await relapi(["init", name])).toEqual({ code: 1, stdout: "", stderr: `relapi: "${name}" ${message}\n` });
  await expectError(folder, "is not empty: name an empty folder, or one that does not exist");
  for (const name of [join(folder, "schema.sql"), join(folder, "schema.sql", "inner")])
    await expectError(name, "is a file or lies below a file: name a folder");
  const longPath = join(folder, "n".repeat(300));
  await expectError(longPath, `cannot be written: ENAMETOOLONG: name too long, mkdir '${longPath}'`);
  expect(read("package.json")).toBe(before);
});

test("C-INI-2 init uses the current folder by default, which may have a .git", async () => {
  const gitFolder = temporaryFolder();
  mkdirSync(join(gitFolder, ".git"));
  const { stdout } = await promisify(execFile)(process.execPath, [program, "init"], {
    cwd: gitFolder,
    env: environment,
  });
  expect(stdout).toContain("\nNext: npm install && npm test, then npm start\n");
  expect(existsSync(join(gitFolder, "src/preset.ts"))).toBe(true);
});

test.skipIf(process.getuid?.() === 0)("C-INI-2 init reports a folder that may not be written", async () => {
  const readOnlyFolder = temporaryFolder();
  chmodSync(readOnlyFolder, 0o555);
  const name = join(readOnlyFolder, "shop");
  expect(await relapi(["init", name])).toEqual({
    code: 1,
    stdout: "",
    stderr: `relapi: "${name}" is not writable for this user: name another folder\n`,
  });
});

test("C-INI-2 init rejects unknown arguments", async () => {
  expect(await relapi(["init", "--python", "shop"])).toMatchObject({ code: 2, stdout: "" });
  expect(await relapi(["init", "one", "two"])).toMatchObject({ code: 2, stdout: "" });
});
