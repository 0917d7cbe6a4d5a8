import fc from "../support/fast-check.ts";
import { expect, test } from "vitest";
import { createFuzzySet, THRESHOLD } from "../../plugins/rest/fuzzy.ts";
import { requireLinearTime } from "../support/growth.ts";

const set = createFuzzySet(["vessels", "voyages", "ports", "port_mirror", "سفن"]);

test("R-FUZ-1 the suggestion is the most similar name that reaches the threshold", () => {
  expect(set.suggest("vesels", THRESHOLD.relation)).toBe("vessels");
  expect(set.suggest("vessel", THRESHOLD.relation)).toBe("vessels");
  expect(set.suggest("port", THRESHOLD.relation)).toBe("ports");
});

test("R-FUZ-1 no name below the threshold is suggested", () => {
  // The value 1 - 3/7 is below 0.75 and above 0.33.
  expect(set.suggest("vess", THRESHOLD.relation)).toBeUndefined();
  expect(set.suggest("vess", THRESHOLD.relationship)).toBe("vessels");
});

test("R-FUZ-1 the comparison ignores letter case and works in other alphabets", () => {
  expect(set.suggest("VESSELS", THRESHOLD.relation)).toBe("vessels");
  expect(set.suggest("سفنه", 0.5)).toBe("سفن");
});

test("R-FUZ-1 no name without two common characters in a row is suggested, however short the names", () => {
  expect(createFuzzySet(["ab"]).suggest("xy", 0)).toBeUndefined();
  expect(createFuzzySet(["abc"]).suggest("xbc", 0)).toBe("abc");
});

test("R-FUZ-1 two common characters in a row count only if no name shares three", () => {
  // The run "-ab" is shared with the first name. The second name is closer, but has only "cz" in common, so it is not
  // compared.
  expect(createFuzzySet(["abxxxxxxxx", "zcza"]).suggest("abcz", 0.1)).toBe("abxxxxxxxx");
  expect(createFuzzySet(["zcza"]).suggest("abcz", 0.1)).toBe("zcza");
});

test("R-FUZ-1 equally similar names are ranked by the shared runs", () => {
  // Each name has one change; "banana" shares its runs more often.
  expect(createFuzzySet(["bananx", "xanana"]).suggest("banana", 0.5)).toBe("xanana");
});

test("R-FUZ-1 a known name is its own best suggestion", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.stringMatching(/^[a-z_]{3,12}$/), {
        minLength: 1,
        selector: (name) => name.replaceAll("_", ""),
      }),
      (names) => {
        const all = createFuzzySet(names);
        for (const name of names) if (name.replaceAll("_", "") !== "") expect(all.suggest(name, 1)).toBe(name);
      },
    ),
  );
});

const tableNumbers = (count: number) => createFuzzySet(Array.from({ length: count }, (_, i) => `table_number_${i}`));

test("R-SC-7 the search takes linear time in the number of names and in the length of the input", async () => {
  const sets = new Map([500, 2000].map((count) => [count, tableNumbers(count)]));
  await requireLinearTime((count) => sets.get(count)!.suggest("xtable_nummer", THRESHOLD.relation), 500);
  await requireLinearTime((count) => sets.get(500)!.suggest(`x${"table".repeat(count)}`, THRESHOLD.relation), 20);
});

test("R-SC-7 an input that is longer than any name is not compared", () => {
  const set = tableNumbers(10);
  expect(set.suggest("table_number_7".padEnd(500, "x"), 0)).toBe("table_number_7");
  expect(set.suggest("table_number_7".padEnd(501, "x"), 0)).toBeUndefined();
});
