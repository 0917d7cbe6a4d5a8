/** Values of metadata that name environment variables. */
import { expect, test } from "vitest";
import { expandHeaders, expandTemplate, readVariable } from "../../plugins/services/webhook/templates.ts";

const environment = { BASE: "https://orders.example", KEY: "a{{BASE}}", EMPTY: "" };

test("X-HTTP-5 a template contains the values of environment variables, which are not expanded again", () => {
  expect(expandTemplate("{{BASE}}/{{ KEY }}?{{EMPTY}}{{1}}{BASE}", environment)).toBe(
    "https://orders.example/a{{BASE}}?{{1}}{BASE}",
  );
});

test("X-HTTP-5 a header has a value or names a variable", () => {
  const headers = [{ name: "X-Key", value_from_env: "KEY" }, { name: "X-Base", value: "{{BASE}}" }, { name: "X-None" }];
  expect(expandHeaders(headers, environment)).toEqual({
    "X-Key": "a{{BASE}}",
    "X-Base": "https://orders.example",
    "X-None": "",
  });
});

test("X-HTTP-5 a variable that is not set is an error that names it", () => {
  const message = "the environment variable NOWHERE is not set";
  expect(() => readVariable("NOWHERE", environment)).toThrow(message);
  expect(() => expandTemplate("{{NOWHERE}}", environment)).toThrow(message);
});
