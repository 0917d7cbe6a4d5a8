// Reads the JSON reports of vitest in a folder, report-<name>.json and, for the files that ran once more,
// report-<name>-again.json.
//   report.mjs failed-files <folder> <name>     prints the test files that failed
//   report.mjs result <folder> <name…>          prints failures, flaky files and the counts; exits with 1 when they are red
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

const MOST_FLAKY_FILES = 2;
/** A test of these folders that fails at times may hide a wrong answer. */
const NEVER_FLAKY = /^test\/(?:security|oracle|live\/oracle)/;

const [command, folder, ...names] = process.argv.slice(2);

const read = (name) => {
  try {
    return JSON.parse(readFileSync(join(folder, `report-${name}.json`), "utf8"));
  } catch {
    return undefined;
  }
};

const getPath = (file) => relative(process.cwd(), file.name);
const failedTests = (file) => file.assertionResults.filter((test) => test.status === "failed");
const failedFiles = (report) =>
  report.testResults.filter((file) => file.status === "failed" || failedTests(file).length > 0);
const firstLine = (text) =>
  String(text ?? "")
    .split("\n")
    .find((line) => line.trim() !== "")
    ?.slice(0, 300) ?? "";

const describe = (file) => {
  const failed = failedTests(file);
  if (failed.length === 0) return [`  ${getPath(file)}\n    ${firstLine(file.message)}`];
  return failed.map((test) => `  ${getPath(file)} > ${test.fullName}\n    ${firstLine(test.failureMessages[0])}`);
};

const listFailedFiles = (report) => new Set(failedFiles(report).map(getPath));

if (command === "failed-files") {
  const report = read(names[0]);
  if (report !== undefined) console.log([...listFailedFiles(report)].join("\n"));
  process.exit();
}

let passed = 0;
let failed = 0;
const failures = [];
const flaky = [];
for (const name of names) {
  const first = read(name);
  if (first === undefined || first.testResults.length === 0) {
    failures.push(`  ${name}: there is no report`);
    failed += 1;
    continue;
  }
  const again = read(`${name}-again`);
  const skipped = first.numPendingTests + first.numTodoTests;
  console.log(
    `${name}: ${first.testResults.length} files, ${first.numPassedTests} passed, ${first.numFailedTests} failed, ${skipped} skipped`,
  );
  passed += first.numPassedTests;
  const failedAgain = again === undefined ? undefined : listFailedFiles(again);
  const ranAgain = new Set(again?.testResults.map(getPath));
  for (const file of failedFiles(first)) {
    const path = getPath(file);
    if (ranAgain.has(path) && !failedAgain?.has(path)) {
      flaky.push(path);
      console.log(`failed at first, passed alone:\n${describe(file).join("\n")}`);
      passed += failedTests(file).length;
    } else {
      failures.push(...describe(file));
      failed += Math.max(1, failedTests(file).length);
    }
  }
}
if (failures.length > 0) console.log(`failed:\n${failures.join("\n")}`);
for (const path of flaky) console.log(`flaky: ${path}`);
const grave = flaky.filter((path) => NEVER_FLAKY.test(path));
if (flaky.length > MOST_FLAKY_FILES) console.log(`more than ${MOST_FLAKY_FILES} files are flaky`);
if (grave.length > 0) console.log(`these may never be flaky: ${grave.join(", ")}`);
const isRed = failed > 0 || passed === 0 || flaky.length > MOST_FLAKY_FILES || grave.length > 0;
console.log(`${passed} passed, ${failed} failed`);
process.exit(isRed ? 1 : 0);
