/** Where a text is no JSON: agreed on with the engine's own parser, on texts that somebody broke. */
import fc from "../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import { faultText, jsonFault } from "../../plugins/hints.ts";

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe("R-HNT-5 G-HNT-3 the place where JSON breaks off", () => {
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
  ])("%j", (text, told) => {
    const fault = jsonFault(text);
    expect(fault && faultText(fault)).toBe(told);
  });

  test("it is told of all texts that are no JSON, and of no other", () => {
    const broken = fc
      .tuple(
        fc.json(),
        fc.nat(),
        fc.nat(3),
        fc.string({ maxLength: 2, unit: fc.constantFrom(...'{}[]",:\\eE+-.0u1tnf \n') }),
      )
      .map(([text, at, gone, more]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + more + text.slice(place + gone);
      });
    fc.assert(
      fc.property(fc.oneof(fc.json(), broken), (text) => {
        expect(jsonFault(text) === undefined).toBe(isJson(text));
      }),
      { numRuns: 5000 },
    );
  });

  test("deep and long texts take neither stack nor time", () => {
    const startedMs = performance.now();
    expect(jsonFault("[".repeat(1_000_000))).toMatchObject({ line: 1, column: 1_000_001 });
    expect(jsonFault(`"${"a".repeat(5_000_000)}`)).toMatchObject({ line: 1 });
    expect(jsonFault(`${"\n".repeat(1_000_000)}x`)).toMatchObject({ line: 1_000_001, column: 1 });
    expect(performance.now() - startedMs).toBeLessThan(2000);
  });
});
