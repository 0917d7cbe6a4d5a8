/**
 * The functions with which a file of clients/ makes its checks. Each file runs separately, and prints its results as
 * one line of JSON.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";

/** The addresses of the servers, and the credentials of callers, written by run.mjs. */
export const place = JSON.parse(process.env["CLIENTS_PLACE"] ?? "{}");

/** Checks equality, key by key. */
export const equals = (actual, expected) => assert.deepEqual(actual, expected);

/** Checks that the value has at least the keys given, in arrays too. */
export const has = (actual, expected) => {
  if (expected instanceof RegExp) return assert.match(String(actual), expected);
  if (expected === null || typeof expected !== "object") return assert.equal(actual, expected);
  assert.ok(actual !== null && typeof actual === "object", `${JSON.stringify(actual)} is no object`);
  if (Array.isArray(expected)) assert.equal(actual.length, expected.length);
  for (const key of Object.keys(expected)) has(actual[key], expected[key]);
};

export const rejects = async (promise, expected) => {
  const error = await promise.then(
    (value) => assert.fail(`was not rejected: ${JSON.stringify(value)}`),
    (reason) => reason,
  );
  has(error, expected);
};

/** Waits until the check passes. @throws the last error of the check, after some seconds */
export const eventually = async (holds, ms = 8000) => {
  for (const end = Date.now() + ms; ; await new Promise((resolve) => setTimeout(resolve, 25))) {
    try {
      return holds();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
};

/** The version that is installed beside the file. */
const findVersion = (name, from) => {
  for (let folder = new URL("./", from); folder.pathname !== "/"; folder = new URL("../", folder)) {
    try {
      return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, folder), "utf8")).version;
    } catch {
      continue;
    }
  }
  throw new Error(`${name} is not installed`);
};

const LONGEST_MS = 60_000;

/**
 * The checks of one client, in order. `exception` is the reason why the check cannot pass with this client. Such a
 * check fails if it passes, so that no exception remains without its reason.
 */
export const client = (name, from, title = name) => {
  const results = [];
  return {
    check: async (description, run, { exception } = {}) => {
      let message;
      try {
        const timeout = new Promise((_, reject) =>
          setTimeout(reject, LONGEST_MS, new Error("took more than a minute")).unref(),
        );
        await Promise.race([Promise.resolve().then(run), timeout]);
      } catch (error) {
        message = error instanceof Error ? error.message : (JSON.stringify(error) ?? String(error));
      }
      if (exception !== undefined && message === undefined)
        results.push({ description, message: `no longer needs an exception: ${exception}` });
      else
        results.push({
          description,
          ...(message === undefined ? {} : { message }),
          ...(exception === undefined ? {} : { exception }),
        });
    },
    report: () => {
      process.stdout.write(`\n${JSON.stringify({ name: title, version: findVersion(name, from), results })}\n`);
      process.exit(0);
    },
  };
};
