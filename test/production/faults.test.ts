import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { faults } from "./faults/all.ts";

describe("docs/reliability.md", () => {
  const page = readFileSync(new URL("../../docs/reliability.md", import.meta.url), "utf8");

  test("the names of faults differ, and the table contains each fault of the program", () => {
    const names = faults.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !page.includes(`| ${name} |`))).toEqual([]);
  });

  test("the table reports no lost write that was answered with success", () => {
    const rows = page.split("\n").filter((line) => /^\| .* \| \d+ \| \d+ \| \d+ \|/.test(line));
    expect(rows.length).toBeGreaterThanOrEqual(faults.length);
    expect(rows.filter((row) => row.split("|")[4]?.trim() !== "0")).toEqual([]);
  });
});
