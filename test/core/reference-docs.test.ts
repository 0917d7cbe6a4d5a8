/**
 * The pages that list plugins: made from the registry, or compared with it. `vitest run -u` writes operators.md again.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { createHooks } from "../../core/hooks.ts";
import { buildRegistry } from "../../core/registry.ts";
import { coreSettings, collectSettings, type AggregateSpec, type OperatorSpec } from "../../core/index.ts";
import { adminServer } from "../../plugins/operations/admin/index.ts";
import { getAggregateName, getOperatorName } from "../../plugins/graphql/part-names.ts";
import { getRestName } from "../../plugins/rest/syntax/grammar.ts";
import { fullCompat, knownOptions, plus } from "../../presets/index.ts";
import { liveTriggers } from "../../presets/cli/live-triggers-command.ts";
import { settingsPage } from "../support/settings-page.ts";

const docs = (path: string): string => fileURLToPath(new URL(`../../docs/${path}`, import.meta.url));
const { plugins } = plus({});

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string =>
  [head, head.map(() => "---"), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`)
    .join("\n");

const code = (text: string | undefined): string => (text === undefined ? "" : `\`${text}\``);

const formatTypes = ({ types, exceptTypes = [] }: Pick<OperatorSpec, "types" | "exceptTypes">): string =>
  types.join(", ") + (exceptTypes.length === 0 ? "" : ` except ${exceptTypes.join(", ")}`);

const formatOperand = ({ operand, operandType, keywords = [], isQuantifiable, hasOption }: OperatorSpec): string =>
  [
    operand === "keyword" ? keywords.join(", ") : operand,
    operandType && `of ${operandType}`,
    isQuantifiable === true && "(any), (all)",
    hasOption === true && "(language)",
  ]
    .filter(Boolean)
    .join(" ");

/** Other operators are only for plans. */
const isNamed = ({ rest, graphql }: AggregateSpec): boolean => rest !== false || graphql !== false;

const operatorsPage = (): string => {
  const sections = plugins
    .filter((plugin) => (plugin.operators ?? []).length > 0)
    .map((plugin) => {
      const rows = (plugin.operators ?? []).map((spec) => [
        code(getRestName(spec)),
        code(getOperatorName(spec)),
        formatTypes(spec),
        formatOperand(spec),
        spec.description ?? "",
      ]);
      return `## ${plugin.name}\n\n${table(["REST", "GraphQL", "Types (GraphQL)", "Operand", "Description"], rows)}`;
    });
  const updates = plugins.flatMap((plugin) =>
    (plugin.updateOperators ?? []).map((spec) => [
      code(spec.graphql),
      spec.types.join(", "),
      plugin.name,
      spec.description,
    ]),
  );
  const embeds = plugins.flatMap((plugin) =>
    (plugin.embeds ?? []).map(({ mode, rest, graphql }) => [
      mode,
      rest === undefined ? "" : code(`${rest.prefix}rel(…)`),
      graphql === undefined ? "" : code(`rel${graphql.suffix}`),
      plugin.name,
    ]),
  );
  const aggregates = plugins.flatMap((plugin) =>
    (plugin.aggregates ?? [])
      .filter(isNamed)
      .map((spec) => [
        code(getRestName(spec)),
        code(spec.types === undefined && spec.predicate === undefined ? undefined : getAggregateName(spec)),
        spec.types === undefined ? "" : formatTypes({ types: spec.types, exceptTypes: spec.exceptTypes }),
        spec.result ?? "",
        spec.predicate === undefined ? "" : `${spec.predicate.type ?? "any"} to ${spec.predicate.result}`,
        plugin.name,
      ]),
  );
  return `${[
    "# Operators",
    "This page lists the operators that each plugin of the package declares. It is written from their declarations by `test/core/reference-docs.test.ts`.",
    "REST accepts an operator for every column, and the database rejects types that the operator does not support. GraphQL offers the operator for the listed types only. An empty cell below REST or GraphQL means that the surface does not have the operator.\nA guide shows how to [write an operator](../guides/write-an-operator.md).",
    ...sections,
    "## Changes of columns",
    table(["GraphQL", "Types", "Plugin", "Description"], updates),
    "## Aggregate functions",
    "REST accepts an aggregate function for every column, and the database rejects types that the function does not support. GraphQL offers the function for the listed types only, in aggregates and their `order_by`. The column of conditions applies to `T_aggregate_bool_exp`: it shows the type that the function takes and the type that is compared. A guide shows how to [write an aggregate function](../guides/write-an-aggregate.md).",
    table(["REST", "GraphQL", "Types (GraphQL)", "Result (GraphQL)", "Conditions (GraphQL)", "Plugin"], aggregates),
    "## Embedding modes",
    table(["Mode", "REST", "GraphQL", "Plugin"], embeds),
  ].join("\n\n")}\n`;
};

test("operators.md lists the operators that the plugins declare", async () => {
  expect(buildRegistry(plugins).operators.length).toBeGreaterThan(0);
  await expect(operatorsPage()).toMatchFileSnapshot(docs("reference/operators.md"));
});

test("X-SET-3 settings.md lists the settings that core, the plugins and the standalone server declare", () => {
  const page = readFileSync(docs("reference/settings.md"), "utf8");
  expect(page, "npm run docs:settings writes the tables").toBe(settingsPage(page));
});

test("X-SET-6 the presets know the options of every plugin of the package, and no others", () => {
  const ofCore = new Set<string>(coreSettings.map(({ name }) => name));
  const all = collectSettings({ plugins: [...plugins, liveTriggers(() => undefined), adminServer({ port: 0 })] });
  const ofPlugins = all.map(({ name }) => name).filter((name) => !ofCore.has(name));
  expect([...knownOptions].sort()).toEqual(ofPlugins.sort());
});

test("X-SET-8 an editor shows description, default and unit of each option of the presets", () => {
  const file = readFileSync(docs("../dist/presets/options.d.ts"), "utf8");
  const declarations = [...file.matchAll(/\/\*\* (.+) \*\/\n +readonly (\w+)\?:/g)];
  const options = collectSettings(plus({}));
  expect(
    declarations.map(([, , name]) => name),
    "npm run build:ts writes it",
  ).toEqual(options.map(({ name }) => name));
  for (const [i, { name, default: value, unit }] of options.entries()) {
    const end = value === undefined ? "Unset by default" : `Default: \`${JSON.stringify(value)}\``;
    expect(declarations[i]?.[1]).toContain(`. ${end}${unit === undefined ? "" : ` (${unit})`}`);
    if (name.endsWith("Bytes")) expect([name, unit]).toEqual([name, "bytes"]);
    if (name.endsWith("Ms")) expect([name, unit]).toEqual([name, "ms"]);
  }
  expect(file).toContain(
    "/** The maximum number of database connections of each process. Default: `10`. */\n    readonly dbPool?:",
  );
});

test.each([
  ["fullCompat", "plus", fullCompat({}).plugins],
  ["plus", "", plugins.filter((plugin) => fullCompat({}).plugins.every(({ name }) => name !== plugin.name))],
])("presets.md names every plugin of %s, and no other", (preset, next, expected) => {
  const page =
    `${readFileSync(docs("guides/presets.md"), "utf8")}\n## Plugins of \n`
      .split(`## Plugins of ${preset}\n`)[1]
      ?.split(`## Plugins of ${next}\n`)[0] ?? "";
  const listedNames = page
    .split("\n")
    .flatMap((line) =>
      line.startsWith("| `")
        ? Array.from((line.split(" | ")[0] ?? "").matchAll(/`([a-z0-9-]+)`/g), ([, name]) => name ?? "")
        : [],
    );
  expect([...listedNames].sort()).toEqual(expected.map((plugin) => plugin.name).sort());
});

test("hooks.md names every hook, of core and of plugins", () => {
  const page = readFileSync(docs("reference/hooks.md"), "utf8");
  const folder = fileURLToPath(new URL("../../plugins/", import.meta.url));
  const declaredHooks = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [...readFileSync(folder + name, "utf8").matchAll(/defineHook\(\s*"(\w+)"/g)])
    .map(([, name]) => name ?? "");
  expect(declaredHooks).toContain("watchChanges");
  for (const hook of [...Object.keys(createHooks()), ...declaredHooks])
    expect(page).toMatch(new RegExp(`^## ${hook}[.(]`, "m"));
});

test("C-API-2 C-API-5 npm run docs:public-api has written what the package exports", () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-public-api-"));
  try {
    const script = fileURLToPath(new URL("../../.ci/public-api.mjs", import.meta.url));
    execFileSync(process.execPath, [script, folder]);
    for (const name of ["public-api.md", "public-api.d.ts"])
      expect(readFileSync(docs(`reference/${name}`), "utf8")).toBe(readFileSync(join(folder, name), "utf8"));
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("errors.md has every code of the surfaces", () => {
  const page = readFileSync(docs("reference/errors.md"), "utf8");
  const source = (path: string): string =>
    readFileSync(fileURLToPath(new URL(`../../plugins/${path}`, import.meta.url)), "utf8");
  const rest = Array.from(
    source("rest/answer/encode-error.ts").matchAll(/"(PGRST[0-9X]+)"/g),
    ([, name]) => name ?? "",
  );
  const graphql = ["errors", "translate-error"].flatMap((name) =>
    Array.from(source(`graphql/${name}.ts`).matchAll(/code: "([a-z-]+)"/g), ([, code]) => code ?? ""),
  );
  expect(rest).toContain("PGRST116");
  expect(graphql).toContain("validation-failed");
  for (const name of [...rest, ...graphql]) expect(page, name).toContain(`\`${name}\``);
});

/** The length of the text of a rule, without its id, markup and the targets of links. */
const MAX_RULE_LENGTH = 400;

test("no rule of the reference is longer than a reader can hold", () => {
  const folder = docs("reference/");
  const longRules = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .flatMap((name) =>
      Array.from(
        readFileSync(folder + name, "utf8").matchAll(
          /^(?:\| )?([RGXCP]-[A-Z]{2,5}-\d+[a-z]?)(?: \([PS]\))?(?: \||\.) (.*)$/gm,
        ),
        ([, rule = "", text = ""]) => ({ rule, text: text.replaceAll(/[`*|]|\]\([^)]*\)/g, "").trim() }),
      ),
    )
    .filter(({ text }) => text.length > MAX_RULE_LENGTH)
    .map(({ rule, text }) => `${rule}: ${text.length}`);
  expect(longRules).toEqual([]);
});

test("the documentation names only files that exist", () => {
  const root = fileURLToPath(new URL("../../", import.meta.url));
  const pages = [
    "README.md",
    ".github/CONTRIBUTING.md",
    ".github/SECURITY.md",
    "core/README.md",
    "core/kernel/README.md",
    "core/settings/README.md",
    "core/sql/README.md",
    "core/database/README.md",
    "core/http/README.md",
  ];
  for (const folder of [
    "docs",
    "docs/design",
    "docs/guides",
    "docs/reference",
    "docs/reference/rest",
    "docs/reference/graphql",
  ])
    for (const name of readdirSync(root + folder)) if (name.endsWith(".md")) pages.push(`${folder}/${name}`);
  const generatedFolders = new Set(["docs/api", "docs/site/dist"]); // created by npm run docs:api and npm run docs
  const missingPaths = pages.flatMap((page) =>
    [
      ...readFileSync(root + page, "utf8")
        .replace(/```[\s\S]*?```/g, "")
        .replace(page.startsWith(".github/") ? /\]\(\.\.\//g : /^$/, "](") // links from one folder below
        .matchAll(/(?<![\w/.-])((?:core|plugins|presets|test|docs)\/[\w./-]*\w)/g),
    ]
      .map(([, path = ""]) => path)
      .filter((path) => !generatedFolders.has(path) && !existsSync(root + path) && !existsSync(`${root}${path}.ts`))
      .map((path) => `${page}: ${path}`),
  );
  expect(missingPaths).toEqual([]);
});
