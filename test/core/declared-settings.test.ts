/** Who declares which settings: each plugin what it reads, core nothing else's, and presets know all. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { coreSettings, settingsOf, type Plugin } from "../../core/index.ts";
import { adminServer } from "../../plugins/admin/index.ts";
import { knownOptions, plus } from "../../presets/index.ts";
import { liveTriggers } from "../../presets/live-triggers.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), "utf8");

const plugins: readonly Plugin[] = [...plus({}).plugins, liveTriggers(() => undefined), adminServer({ port: 0 })];
const declared = settingsOf({ plugins });
const ofCore = new Set<string>(coreSettings.map(({ name }) => name));

test("X-SET-5 core declares no setting of a surface or a dialect", () => {
  for (const file of ["settings", "options", "setting-kinds", "define-setting", "resolve-options", "limits"])
    expect(read(`core/kernel/${file}.ts`)).not.toMatch(/pgrst|hasura|graphql|\bREST\b|\blive\b/i);
});

test("X-SET-6 the presets know the options of every plugin of the package, and no others", () => {
  const ofPlugins = declared.map(({ name }) => name).filter((name) => !ofCore.has(name));
  expect([...knownOptions].sort()).toEqual(ofPlugins.sort());
});

/** Works beside these, without requiring them: it comes before, or tells what of them is there. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  "openapi-page": ["openapi"],
  "config-api": [
    "admin-secret",
    "jwt-tokens",
    "graphql",
    "live-queries",
    "poll-changes",
    "metadata",
    "trusted-documents",
  ],
};

const withRequired = (names: readonly string[]): ReadonlySet<string> => {
  const found = new Set<string>();
  const add = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    const plugin = plugins.find((each) => each.name === name);
    for (const required of [...(plugin?.requires ?? []), ...(BESIDE[name] ?? [])]) add(required);
  };
  names.forEach(add);
  return found;
};

/** Words that stand for other things too. */
const AMBIGUOUS: ReadonlySet<string> = new Set(["tracing", "metadata", "adminSecret", "anonRole"]);

const reads = (code: string, option: string): boolean =>
  AMBIGUOUS.has(option)
    ? new RegExp(`options\\.${option}\\b|\\{[^{}]*\\b${option}\\b[^{}]*\\} = [\\w.]*options\\b`).test(code)
    : new RegExp(`\\b${option}\\b`).test(code);

describe("X-SET-5 a plugin declares what it reads, or requires a plugin that does, and nothing else", () => {
  const folders = readdirSync(join(root, "plugins"), { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() ? entry.name : [],
  );

  test.each(folders)("plugins/%s", (folder) => {
    const code = readdirSync(join(root, "plugins", folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts") && name !== "settings.ts")
      .map((name) => read(`plugins/${folder}/${name}`).replace(/\/\*\*[\s\S]*?\*\/|\/\/.*$/gm, ""))
      .join("\n");
    const own = [...code.matchAll(/definePlugin\(\{\s*name: "([^"]+)"/g)].map(([, name]) => name!);
    const allowed = withRequired(own);
    const known = new Set(
      plugins.flatMap(({ name, settings = [] }) => (allowed.has(name) ? settings.map((setting) => setting.name) : [])),
    );
    const undeclared = declared.map(({ name }) => name).filter((name) => !known.has(name) && !ofCore.has(name));
    expect(undeclared.filter((name) => reads(code, name))).toEqual([]);
    // the lists themselves, and what they import, are no reads
    const without = code.replace(/settings: \[[^\]]*\]|^import \{[^}]*\} from .*$/gm, "");
    const listed = plugins.flatMap(({ name, settings = [] }) => (own.includes(name) ? settings : []));
    expect(listed.filter(({ name }) => !AMBIGUOUS.has(name) && !reads(without, name))).toEqual([]);
  });
});

/** Files that a file loads at run time, itself included. */
const loadedBy = (file: string, found = new Set<string>()): ReadonlySet<string> => {
  if (found.has(file)) return found;
  found.add(file);
  // import { a, type B } from "./c.ts"      export * from "./c.ts", but not import type
  for (const [, to] of read(file).matchAll(/^(?:import|export)\s+(?!type\b)(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"/gm))
    loadedBy(join(dirname(file), to!), found);
  return found;
};

test("R-SC-8 minimal loads neither the stored settings nor settings of plugins that it lacks", () => {
  const loaded = [...loadedBy("presets/minimal.ts")].filter((file) => file.endsWith("/settings.ts"));
  expect(loaded.filter((file) => file.startsWith("plugins/")).sort()).toEqual([
    "plugins/auth/settings.ts",
    "plugins/rest/settings.ts",
    "plugins/settings.ts",
  ]);
  expect([...loadedBy("presets/full-compat.ts")]).toContain("plugins/database-settings/index.ts");
});
