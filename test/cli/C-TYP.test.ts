/** `relapi types`: its output is compiled with the client that reads it. */
import { execFile } from "node:child_process";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { capabilities, testDatabase } from "../support/database.ts";
import { temporaryFolder } from "../support/temporary-files.ts";
import { relapi, type ProcessResult } from "./run.ts";
import { wrongQueries } from "./wrong-queries.ts";

const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));

/** The lines of an error, without the folder. */
const compile = async (folder: string): Promise<readonly string[]> => {
  try {
    await promisify(execFile)(process.execPath, [join(modules, "typescript/bin/tsc"), "-p", "."], { cwd: folder });
    return [];
  } catch (error) {
    return (error as { readonly stdout: string }).stdout.split("\n").filter((line) => /^\S+\.ts\(/.test(line));
  }
};

const CONFIG = {
  compilerOptions: {
    strict: true,
    noEmit: true,
    target: "es2023",
    module: "nodenext",
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    types: [],
    lib: ["es2023", "dom"],
  },
  include: ["*.ts"],
};

describe.skipIf(!capabilities.realServer)("types of a database", () => {
  const wrong = Object.entries(wrongQueries);
  let typesResult: ProcessResult;
  let errors: readonly string[];

  beforeAll(async () => {
    const folder = temporaryFolder();
    const { databaseUrl } = (await testDatabase()).options;
    typesResult = await relapi(["types"], { DATABASE_URL: databaseUrl, DB_SCHEMAS: "sea,land" });
    const right = readFileSync(fileURLToPath(new URL("right-queries.ts.txt", import.meta.url)), "utf8");
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(CONFIG));
    writeFileSync(join(folder, "database.ts"), typesResult.stdout);
    writeFileSync(join(folder, "right.ts"), right);
    writeFileSync(
      join(folder, "wrong.ts"),
      ['import { sea } from "./right.ts";', ...wrong.map(([, query]) => query), ""].join("\n"),
    );
    symlinkSync(modules, join(folder, "node_modules"));
    errors = await compile(folder);
  });

  test("C-TYP-1 types prints one type and nothing else", () => {
    expect([typesResult.code, typesResult.stderr]).toEqual([0, ""]);
    expect(typesResult.stdout).toContain("export type Database = {");
  });

  test("C-TYP-2 valid queries compile with results of the right types", () => {
    expect(errors.filter((line) => !line.startsWith("wrong.ts"))).toEqual([]);
  });

  test.each(wrong.map(([name], i) => [name, i + 2] as const))("C-TYP-2 %s does not compile", (_, line) => {
    expect(errors.filter((error) => error.startsWith(`wrong.ts(${line},`))).not.toEqual([]);
  });

  test("C-TYP-3 functions of extensions are left out, and functions of the schema are not", () => {
    expect(typesResult.stdout).not.toMatch(/similarity|akeys/);
    expect(typesResult.stdout).toContain("      add_numbers: {");
  });
});

describe("types of the demo", () => {
  test("C-TYP-1 C-SET-4b types without a database prints the types of the embedded database, with a notice", async () => {
    const { code, stdout, stderr } = await relapi(["types"]);
    expect([code, stderr]).toEqual([0, "relapi: no DATABASE_URL: starting the embedded demo database\n"]);
    expect(stdout).toMatch(/ {6}album: \{\n {8}Row: \{\n {10}album_id: number;/);
  });
});
