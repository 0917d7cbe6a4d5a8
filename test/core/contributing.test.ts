/** The one-minute test of CONTRIBUTING.md: the code that the guides show is the code that the tests run. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const at = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const read = (path: string): string => readFileSync(at(path), "utf8");

interface Row {
  readonly thing: string;
  readonly files: number;
  readonly guide: string;
  readonly example: string;
}

const target = (cell: string): string => /\]\(\.\.\/([^)]+)\)/.exec(cell)?.[1] ?? "";

const rows = (read(".github/CONTRIBUTING.md").split("## The one-minute test")[1] ?? "")
  .split("\n## ")[0]!
  .split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| To add"))
  .map((line): Row => {
    const [thing = "", files, guide = "", example = ""] = line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim());
    return { thing, files: Number(files), guide: target(guide), example: target(example) };
  });

/** The first TypeScript block of a guide, which other tests compare with the code they run. */
const shownBy = (guide: string): readonly string[] =>
  (/```ts\n([\s\S]*?)```/.exec(read(guide))?.[1] ?? "").split("\n").filter((line) => line.trim() !== "");

test.each(["row-history", "soft-delete"])(
  "P-GEN-3 %s is an example of transformPlan that needs core alone",
  (plugin) => {
    const folder = `plugins/plus/${plugin}`;
    const files = readdirSync(at(folder), { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
    const text = files.map((name) => read(`${folder}/${name}`)).join("\n");
    expect(text).toContain("hooks.transformPlan");
    const imports = [...text.matchAll(/^(?:import (?!type )[^;]*?|\} )from "(\.[^"]+)"/gm)].map(([, from]) => from);
    expect(imports).toContain("../../../core/index.ts");
    expect(imports.filter((from) => from !== "../../../core/index.ts" && from !== "./settings.ts")).toEqual([]);
  },
);

describe("the one-minute test", () => {
  test("lists what can be added", () => {
    expect(rows.map(({ thing }) => thing)).toEqual(expect.arrayContaining(["an operator", "an auth scheme"]));
  });

  test.each(rows)("$thing takes as many files as it says", ({ files, guide, example }) => {
    const shown = shownBy(guide);
    expect(existsSync(at(example)), example).toBe(true);
    const tested = read(example).replaceAll(/(?:\.\.\/)+core\/index\.ts/g, "relapi");
    for (const line of shown.filter((shownLine) => !/^import |^\} from "/.test(shownLine)))
      expect(tested).toContain(line);
    // one file: whatever it imports comes from a package
    const imports = shown.flatMap((line) => /from "([^"]+)"/.exec(line)?.[1] ?? []);
    expect(imports).toContain("relapi");
    expect(files).toBe(1 + imports.filter((from) => from.startsWith(".")).length);
  });
});
