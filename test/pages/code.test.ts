/** The TypeScript of README.md and docs/ compiles against the package, and runs if nothing else is required. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { transform } from "esbuild";
import { afterAll, describe, expect, test } from "vitest";
import type { RelApi } from "../../core/index.ts";
import { capabilities, testDatabase } from "../support/database.ts";
import { listCode } from "../support/pages/code.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const folder = realpathSync(mkdtempSync(join(tmpdir(), "relapi-code-")));
afterAll(() => rmSync(folder, { recursive: true }));

const { blocks, sharedFiles } = listCode();
const write = (file: string, text: string): void => {
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
};
mkdirSync(join(folder, "node_modules"));
symlinkSync(root, join(folder, "node_modules/relapi"));
for (const name of ["@types", "express", "graphql", "pg", "pino", "tapable", "zod"])
  symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
write("package.json", '{ "type": "module" }');
for (const { file, text } of blocks) write(file, text);
for (const [file, text] of sharedFiles) write(file, text);

/** Compiles a block to JavaScript, beside its TypeScript. */
const emit = async ({ file, text }: (typeof blocks)[number]): Promise<string> => {
  const name = file.replace(/ts$/, "js");
  write(name, (await transform(text, { loader: "ts", target: "node20" })).code);
  return join(folder, name);
};

test("C-API-6 each block of TypeScript compiles under every strict option", () => {
  expect(blocks.length).toBeGreaterThan(50);
  const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--skipLibCheck", "false"];
  const ofFrameworks = ["--jsx", "preserve", "--experimentalDecorators"];
  const options = ["--noEmit", "--target", "es2022", "--types", "node", "--module", "nodenext"];
  const files = [
    ...blocks.map(({ file }) => file),
    ...[...sharedFiles.keys()].filter((file) => file.endsWith(".d.ts")),
  ];
  const { stdout, stderr } = spawnSync(
    join(root, "node_modules/.bin/tsc"),
    [...options, ...strict, ...ofFrameworks, ...files],
    { cwd: folder, encoding: "utf8" },
  );
  const places = new Map(blocks.map(({ file, place }) => [file, place]));
  const errors = `${stdout}${stderr}`.replaceAll(/^([^\s(]+)\(/gm, (all, file: string) => `${places.get(file)} ${all}`);
  expect(errors).toBe("");
});

test("C-API-6 the block that starts an embedded database runs", async () => {
  const block = blocks.find(({ text }) => text.includes("pool.end()"));
  const { status, stderr } = spawnSync(process.execPath, [await emit(block!)], { cwd: folder, encoding: "utf8" });
  expect([status, stderr]).toEqual([0, ""]);
});

describe.skipIf(!capabilities.realServer)("blocks that mount an api", () => {
  const mounting = blocks.filter(({ usesApp, text }) => usesApp && text.includes("relApi("));

  test("C-API-6 the pages contain blocks that mount an api", () => {
    expect(mounting.length).toBeGreaterThan(10);
  });

  test.each(mounting)("C-API-6 the block of $place starts an api that becomes ready", async (block) => {
    const { options, query } = await testDatabase();
    // The guide to stored settings requires this table.
    await query("create schema if not exists app; create table if not exists app.flags (maintenance text)");
    const mountedApis: RelApi[] = [];
    const ofReader = {
      app: { use: (handler: RelApi) => "ready" in handler && mountedApis.push(handler), get: () => undefined },
      databaseUrl: options.databaseUrl,
      jwtSecret: "a secret of thirty-two characters",
      adminSecret: "an admin secret",
      options: { databaseUrl: options.databaseUrl },
      session: () => undefined,
      keys: new Map(),
      askForToken: () => undefined,
      askTheBank: () => undefined,
      askTheImageServer: () => [],
    };
    Object.assign(globalThis, ofReader);
    const page = block.file.replace(/\.\d+\.ts$/, "");
    for (const otherBlock of blocks)
      if (otherBlock.file.startsWith(`${page}.`) && otherBlock !== block) await emit(otherBlock);
    await import(pathToFileURL(await emit(block)).href);
    for (const name of Object.keys(ofReader)) Reflect.deleteProperty(globalThis, name);
    expect(mountedApis).toHaveLength(1);
    for (const api of mountedApis) {
      await api.ready;
      await api.close();
    }
  });
});
