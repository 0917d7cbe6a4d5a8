/** The files that the preset `minimal` loads, and the files that it must not load. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { expect, test } from "vitest";
import { minimal } from "../../presets/minimal.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: ["presets/minimal.ts"],
  bundle: true,
  packages: "external",
  format: "esm",
  platform: "node",
  write: false,
  metafile: true,
});

/** The paths of eager imports, from the project's root. */
const loadedFiles = new Set<string>();
const load = (file: string): void => {
  if (loadedFiles.has(file)) return;
  loadedFiles.add(file);
  for (const { path, kind, external } of metafile.inputs[file]?.imports ?? [])
    if (kind === "import-statement" && external !== true) load(path);
};
load("presets/minimal.ts");

const present = new Set(minimal({}).plugins.map(({ name }) => name));
/** The files that define plugins, and whether `minimal` has one of the plugins. */
const definitions = readdirSync(`${root}plugins`, { recursive: true, encoding: "utf8" })
  .map((name) => `plugins/${name.replaceAll("\\", "/")}`)
  .filter((file) => file.endsWith(".ts"))
  .flatMap((file) => {
    const names = readFileSync(root + file, "utf8").matchAll(/definePlugin\(\{\s*name: "([^"]+)"/g);
    const definedNames = Array.from(names, ([, name = ""]) => name);
    return definedNames.length === 0 ? [] : [{ file, isPresent: definedNames.some((name) => present.has(name)) }];
  });
const listFolders = (isPresent: boolean): ReadonlySet<string> =>
  new Set(definitions.filter((definition) => definition.isPresent === isPresent).map(({ file }) => dirname(file)));

test("X-PRE-3 minimal loads core and the REST surface", () => {
  expect([...loadedFiles]).toEqual(expect.arrayContaining(["core/relapi.ts", "plugins/rest/rest.ts"]));
});

test("X-PRE-3 minimal loads no file of a plugin that it leaves out", () => {
  const absentFiles = definitions.flatMap(({ file, isPresent }) => (isPresent ? [] : file));
  expect(absentFiles).toEqual(expect.arrayContaining(["plugins/rest/rpc.ts", "plugins/live/engine/live-queries.ts"]));
  expect(absentFiles.filter((file) => loadedFiles.has(file))).toEqual([]);
});

test("X-PRE-3 minimal loads only api.ts of a folder none of whose plugins it has", () => {
  const usedFolders = listFolders(true);
  const unusedFolders = [...listFolders(false)].filter((folder) => !usedFolders.has(folder));
  expect(unusedFolders).toContain("plugins/graphql/types");
  expect([...loadedFiles].filter((file) => !file.endsWith("/api.ts") && unusedFolders.includes(dirname(file)))).toEqual(
    [],
  );
});
