/**
 * Lists the rules of the contract that no test title begins with: `node dist/test/support/coverage.js [R-EMB]` in the
 * project's root.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const filesBelow = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

// | R-EMB-12 | ...      R-EMB-1. For ...      | G-UPD-1a (S) | ...
const DEFINITION = /^[\s|*#>`-]*([RGXCP]-[A-Z]{2,5}-\d+[a-z]?)\b/gm;
// `"R-EMB-12 R-EMB-13 inner join drops ..."`
const TITLE = /["'`]((?:[RGXCP]-[A-Z]{2,5}-\d+[a-z]?[\s,]+)+)/g;
const RULE = /[RGXCP]-[A-Z]{2,5}-\d+[a-z]?/g;

const definedRules = new Set<string>();
for (const file of filesBelow("docs/reference", ".md")) {
  for (const match of readFileSync(file, "utf8").matchAll(DEFINITION)) definedRules.add(match[1]!);
}
const testedRules = new Set<string>();
for (const file of filesBelow("test", ".test.ts")) {
  for (const match of readFileSync(file, "utf8").matchAll(TITLE))
    for (const rule of match[1]!.match(RULE) ?? []) testedRules.add(rule);
}

/** A rule with a letter (R-TX-17a) continues the one without it, so the tests of that rule cover it too. */
const isTested = (rule: string): boolean => testedRules.has(rule) || testedRules.has(rule.replace(/[a-z]$/, ""));

const chosenFamily = process.argv[2];
const families = new Map<string, string[]>();
for (const rule of definedRules) {
  const family = rule.replace(/-\d+[a-z]?$/, "");
  if (chosenFamily === undefined || chosenFamily === family)
    families.set(family, [...(families.get(family) ?? []), rule]);
}
for (const [family, rules] of families) {
  const untestedRules = rules.filter((rule) => !isTested(rule));
  console.log(
    `${family.padEnd(8)} ${rules.length - untestedRules.length}/${rules.length}${untestedRules.length === 0 ? "" : `  without a test: ${untestedRules.join(" ")}`}`,
  );
}
