/** What the preset `minimal` loads: the files that it leads to, and those that it must not lead to. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { minimal } from "../../presets/minimal.ts";
import { bundleMinimal } from "../support/minimal-bundle.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

const metafile = await bundleMinimal(root);

/** Paths from the project's root, of what is imported at once. */
const loadedBy = (entry: string): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (file: string): void => {
    if (found.has(file)) return;
    found.add(file);
    for (const { path, kind, external } of metafile.inputs[file]?.imports ?? [])
      if (kind === "import-statement" && external !== true) visit(path);
  };
  visit(entry);
  return found;
};

const loaded = loadedBy("presets/minimal.ts");

test("minimal loads core and the REST surface", () => {
  expect([...loaded]).toEqual(expect.arrayContaining(["core/relapi.ts", "plugins/rest/index.ts"]));
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

test("minimal loads of other features their tokens alone, and not what only they need", () => {
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
  const odd = [...loaded].filter(
    (file) =>
      (!file.endsWith("/api.ts") && features.some((name) => file.startsWith(`plugins/${name}/`))) ||
      /change-feed|multiplex|upgrade|explain|openapi|rpc|fuzzy|csv|jwt/.test(file),
  );
  expect(odd).toEqual([]);
});
