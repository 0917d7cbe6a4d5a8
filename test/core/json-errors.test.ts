/** The position of the error in invalid JSON, compared with the engine's own parser on broken texts. */
import fc from "../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import { formatJsonError, findJsonError } from "../../plugins/shared/json-errors.ts";
import { requireLinearTime } from "../support/growth.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("the position of an error in JSON", () => {
  test.each([
    ["", "line 1, column 1: expected a value, found the end"],
    ["{", 'line 1, column 2: expected a key in double quotes or "}", found the end'],
    ['{"a":1', 'line 1, column 7: expected "," or "}", found the end'],
    ['{"a":1,}', 'line 1, column 8: expected a key in double quotes, found "}"'],
    ["{'a':1}", 'line 1, column 2: expected a key in double quotes or "}", found "\'"'],
    ['{"a" 1}', 'line 1, column 6: expected ":", found "1"'],
    ['{"a":tru}', 'line 1, column 6: expected a value, found "t"'],
    ['{"a":01}', 'line 1, column 6: expected a value, found "0"'],
    ["[1,]", 'line 1, column 4: expected a value, found "]"'],
    ["[,1]", 'line 1, column 2: expected a value or "]", found ","'],
    ["[1 2]", 'line 1, column 4: expected "," or "]", found "2"'],
    ["[1]]", 'line 1, column 4: expected the end, found "]"'],
    ['{"a":"x\ny"}', 'line 1, column 8: expected a string without control characters, found "\\n"'],
    ['{"a":"\\x"}', 'line 1, column 7: expected an escape that JSON has, found "\\\\"'],
    ['{"a":"\\u12g4"}', 'line 1, column 7: expected an escape that JSON has, found "\\\\"'],
    ['{"a":"', 'line 1, column 7: expected the closing "\\"" of a string, found the end'],
    ['{\n  "é😀": 1,\n  "b": x\n}', 'line 3, column 8: expected a value, found "x"'],
    ['{"é😀": x}', 'line 1, column 8: expected a value, found "x"'],
    ["\uFEFF{}", 'line 1, column 1: expected a value, found "\uFEFF"'],
    ["NaN", 'line 1, column 1: expected a value, found "N"'],
  ])("R-HNT-5 G-HNT-3 the message about %j has the position of the error", (text, expected) => {
    const error = findJsonError(text);
    expect(error && formatJsonError(error)).toBe(expected);
  });

  test("R-HNT-5 G-HNT-3 every invalid text has a position, and no valid text has one", () => {
    const brokenJson = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat(3),
        fc.string({ maxLength: 2, unit: fc.constantFrom(...'{}[]",:\\eE+-.0u1tnf \n') }),
      )
      .map(([text, position, removedLength, insertion]) => {
        const place = position % (text.length + 1);
        return text.slice(0, place) + insertion + text.slice(place + removedLength);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), brokenJson), (text) => {
        expect(findJsonError(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 5000 },
    );
  });

  test.each([
    ["nested lists", (n: number) => "[".repeat(n), (n: number) => ({ line: 1, column: n + 1 })],
    ["a string without end", (n: number) => `"${"a".repeat(n)}`, (n: number) => ({ line: 1, column: n + 2 })],
    ["lines", (n: number) => `${"\n".repeat(n)}x`, (n: number) => ({ line: n + 1, column: 1 })],
  ])(
    "R-HNT-5 G-HNT-3 deep and long texts are read in linear time without recursion: %s",
    async (_, buildText, place) => {
      expect(findJsonError(buildText(1_000_000))).toMatchObject(place(1_000_000));
      await requireLinearTime((n) => findJsonError(buildText(n)), 50_000);
    },
  );
});
