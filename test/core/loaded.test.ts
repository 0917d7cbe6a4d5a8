/** What the preset `minimal` loads: the compiled files that it leads to, and those that it must not lead to. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { minimal } from "../../presets/minimal.ts";

/** Limits: lower them when it loads less. */
const MAX_FILES = 165;
const MAX_LINES = 15_566;

const root = fileURLToPath(new URL("../../", import.meta.url));
/** Compiled anew, since `dist` may be older than the code. */
const built = mkdtempSync(join(tmpdir(), "relapi-loaded-"));
afterAll(() => rmSync(built, { recursive: true }));
writeFileSync(
  join(built, "tsconfig.json"),
  JSON.stringify({
    extends: join(root, "tsconfig.json"),
    compilerOptions: {
      rootDir: root,
      outDir: built,
      typeRoots: [join(root, "node_modules/@types")],
      declaration: false,
      sourceMap: false,
      noCheck: true,
    },
    files: [join(root, "presets/minimal.ts")],
    include: [],
  }),
);
execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", built]);
const compiled = (file: string): string => readFileSync(join(built, file.replace(/ts$/, "js")), "utf8");

// import { x } from "./a.js";   export * from "./b.js";   import "./c.js";
const STATIC = /^(?:import|export)\s(?:[^;]*?from\s*)?["'](\.[^"']+)\.js["'];/gm;

/** Number of lines by path from the project's root. */
const loadedBy = (entry: string): ReadonlyMap<string, number> => {
  const found = new Map<string, number>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    const text = compiled(file);
    found.set(file, text.split("\n").length - 1);
    for (const [, path] of text.matchAll(STATIC))
      visit(`${relative(root, join(root, dirname(file), path!)).replaceAll("\\", "/")}.ts`);
  };
  visit(entry);
  return found;
};

const loaded = loadedBy("presets/minimal.ts");

test("minimal loads no more than this", () => {
  const lines = [...loaded.values()].reduce((sum, count) => sum + count, 0);
  expect(loaded.size).toBeGreaterThan(60);
  expect({ files: Math.max(loaded.size, MAX_FILES), lines: Math.max(lines, MAX_LINES) }).toEqual({
    files: MAX_FILES,
    lines: MAX_LINES,
  });
});

const textOf = (file: string): string => readFileSync(join(root, file), "utf8");
const pluginFiles = readdirSync(join(root, "plugins"), { recursive: true, encoding: "utf8" })
  .map((name) => join("plugins", name).replaceAll("\\", "/"))
  .filter((name) => name.endsWith(".ts"));
const present = new Set(minimal({}).plugins.map(({ name }) => name));
/** Names of the plugins that the file defines. */
const definedIn = (file: string): readonly string[] =>
  [...textOf(file).matchAll(/definePlugin\(\{\s*name: "([^"]+)"/g)].map(([, name]) => name ?? "");

test("minimal loads no file of a plugin that it leaves out", () => {
  const others = pluginFiles.filter((file) => {
    const names = definedIn(file);
    return names.length > 0 && !names.some((name) => present.has(name));
  });
  expect(others).toEqual(
    expect.arrayContaining([
      "plugins/media/explain.ts",
      "plugins/rest/csv-bodies.ts",
      "plugins/rest/live.ts",
      "plugins/rest/raised-errors.ts",
      "plugins/rest/response-settings.ts",
      "plugins/rest/rpc.ts",
      "plugins/rest/suggestions.ts",
      "plugins/subscriptions/live-queries.ts",
      "plugins/upgrades/index.ts",
    ]),
  );
  expect(others.filter((file) => loaded.has(file))).toEqual([]);
});

test("minimal loads neither folders of other features nor what only they need", () => {
  const features = [
    "graphql",
    "metadata",
    "subscriptions",
    "upgrades",
    "openapi-page",
    "embedded",
    "admin",
    "reload",
    "http",
  ];
  const odd = [...loaded.keys()].filter(
    (file) =>
      features.some((name) => file.startsWith(`plugins/${name}/`)) ||
      /change-feed|multiplex|upgrade|explain|openapi|rpc|fuzzy|csv|jwt/.test(file),
  );
  expect(odd).toEqual([]);
});
