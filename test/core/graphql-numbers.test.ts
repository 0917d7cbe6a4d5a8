import fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import {
  formatFixed,
  getNumberText,
  parseJson,
  formatNumber,
  writeJson,
} from "../../plugins/graphql/values/numbers.ts";

test("G-TYP-29 JSON is parsed as by JSON.parse, and written with the same digits", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const flatten = (value: unknown): unknown => {
        const digits = typeof value === "object" ? getNumberText(value) : undefined;
        if (digits !== undefined) return Number(digits);
        if (Array.isArray(value)) return value.map(flatten);
        return typeof value === "object" && value !== null
          ? Object.fromEntries(Object.entries(value).map(([key, part]) => [key, flatten(part)]))
          : value;
      };
      expect(flatten(parseJson(text))).toEqual(JSON.parse(text));
    }),
  );
  const texts = fc
    .tuple(
      fc.boolean(),
      fc.stringMatching(/^(0|[1-9][0-9]{0,25})$/),
      fc.stringMatching(/^(\.[0-9]{1,25})?$/),
      fc.constantFrom("", "e5", "E-30", "e+400"),
    )
    .map(([minus, integer, fraction, power]) => (minus ? "-" : "") + integer + fraction + power);
  fc.assert(
    fc.property(fc.array(texts, { maxLength: 4 }), (numbers) => {
      expect(writeJson(parseJson(`{"a": [${numbers.join(", ")}]}`))).toBe(`{"a":[${numbers.join(",")}]}`);
    }),
  );
});

test("G-COE-10 numbers are written in messages as the dialect does", () => {
  const numberTexts = {
    "0": "0.0",
    "-0": "0.0",
    "5": "5.0",
    "-5": "-5.0",
    "1500": "1500.0",
    "9999999": "9999999.0",
    "10000000": "1.0e7",
    "0.1": "0.1",
    "0.099": "9.9e-2",
    "1e400": "1.0e400",
    "-12.50": "-12.5",
    "1e3": "1000.0",
    "2147483648": "2.147483648e9",
  };
  for (const [text, expected] of Object.entries(numberTexts)) expect(formatNumber(text)).toBe(expected);
});

test("G-TYP-7 money has no exponents, and is rounded to two decimals", () => {
  const moneyTexts = {
    "-2E-2": "-0.02",
    "0.005": "0.01",
    "0.004": "0.00",
    "-0.001": "0.00",
    "1e3": "1000.00",
    "12.345": "12.35",
    "9.999": "10.00",
  };
  for (const [text, expected] of Object.entries(moneyTexts)) expect(formatFixed(text, 2)).toBe(expected);
});

test("G-TYP-29 an own __proto__ stays a key", () => {
  expect(Object.keys(parseJson('{"__proto__": 1.50, "a": 1}') as object)).toEqual(["__proto__", "a"]);
});
