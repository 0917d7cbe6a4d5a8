/** Patches between random JSON texts: they are computed and applied. */
import fc from "../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import {
  applyPatch,
  LivePatchError,
  createGraphqlPatchApplier,
  createRestPatchApplier,
  type PatchOperation,
} from "../../plugins/live/patches/client.ts";
import { diff } from "../../plugins/live/patches/diff.ts";
import { requireLinearTime } from "../support/growth.ts";

const computePatch = (before: string, after: string): readonly PatchOperation[] | undefined => {
  const text = diff(before, after);
  return text === undefined ? undefined : (JSON.parse(text) as readonly PatchOperation[]);
};

/** The operations of the patch. Blanks make the new text longer, so that a patch of any length is used. */
const changes = (before: unknown, after: unknown): readonly PatchOperation[] => {
  const patch = computePatch(JSON.stringify(before), `${JSON.stringify(after)}${" ".repeat(10_000)}`);
  expect(patch).toBeDefined();
  expect(applyPatch(before, patch!)).toEqual(after);
  return patch!;
};

const name = fc.oneof(
  fc.constantFrom("id", "name", "a/b", "m~n", "", "0", "__proto__", 'with "quotes"', "\\", "ü", "\u2028"),
  fc.string({ maxLength: 3 }),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4, withCrossShrink: true }, tie("scalar"), tie("list"), tie("object")),
  scalar: fc.oneof(fc.integer({ min: 0, max: 5 }), fc.string(), fc.boolean(), fc.constant(null), fc.double()),
  list: fc.array(tie("value"), { maxLength: 8 }),
  object: fc.array(fc.tuple(name, tie("value")), { maxLength: 6 }),
}));

/** The value as a text with duplicate names and blanks, which JSON columns may contain. */
const write = (input: unknown, blank: string): string => {
  if (!Array.isArray(input)) return Object.is(input, -0) ? "0" : (JSON.stringify(input) ?? "null");
  const isObject =
    input.length > 0 &&
    input.every((entry) => Array.isArray(entry) && entry.length === 2 && typeof entry[0] === "string");
  return isObject
    ? `{${blank}${input.map(([key, member]) => `${JSON.stringify(key)}${blank}:${write(member, blank)}`).join(`${blank},`)}${blank}}`
    : `[${blank}${input.map((item) => write(item, blank)).join(`,${blank}`)}${blank}]`;
};

const blank = fc.constantFrom("", " ", "\n", "\t ");

test("X-PAT-4 a patch turns the old value into the new value", () => {
  fc.assert(
    fc.property(value, value, blank, (a, b, space) => {
      const [before, after] = [write(a, space), write(b, "") + " ".repeat(5000)];
      const patch = computePatch(before, after);
      const old = JSON.parse(before);
      const copy = structuredClone(old);
      expect(patch).toBeDefined();
      expect(applyPatch(old, patch!)).toEqual(JSON.parse(after));
      expect(old).toEqual(copy);
    }),
    { numRuns: 3000 },
  );
});

test("X-PAT-5 in lists of rows any row may be added, removed, changed and moved", () => {
  const row = fc.record({ id: fc.integer({ min: 1, max: 12 }), name: fc.constantFrom("a", "b", "c"), more: value });
  const list = fc.uniqueArray(row, { maxLength: 12, selector: ({ id }) => id });
  fc.assert(
    fc.property(list, list, (a, b) => {
      const before = JSON.stringify({ rows: a });
      const after = JSON.stringify({ rows: b });
      const patch = computePatch(before, after + " ".repeat(20_000))!;
      expect(applyPatch(JSON.parse(before), patch)).toEqual(JSON.parse(after));
    }),
    { numRuns: 1000 },
  );
});

const rows = (...ids: readonly number[]) => ids.map((id) => ({ id, name: `row ${id}`, of: { size: id * 10 } }));

describe("patches of row changes", () => {
  test("X-PAT-5 a row that is added at the front is one add", () =>
    expect(changes(rows(1, 2, 3), rows(9, 1, 2, 3))).toEqual([{ op: "add", path: "/0", value: rows(9)[0] }]));

  test("X-PAT-5 a removed row is one remove, beside changes of others", () => {
    const after = rows(1, 3, 4);
    after[1]!.of.size = 7;
    expect(changes(rows(1, 2, 3, 4), after)).toEqual([
      { op: "remove", path: "/1" },
      { op: "replace", path: "/1/of/size", value: 7 },
    ]);
  });

  test("X-PAT-5 a row that moves is one move, in either direction", () => {
    expect(changes(rows(1, 2, 3, 4, 5), rows(4, 1, 2, 3, 5))).toEqual([{ op: "move", from: "/3", path: "/0" }]);
    expect(changes(rows(1, 2, 3, 4, 5), rows(2, 3, 4, 1, 5))).toEqual([{ op: "move", from: "/0", path: "/3" }]);
  });

  test("X-PAT-5 the key is the member that stays the same, not an earlier name that changes", () => {
    const rowsNamed = (...names: readonly string[]) =>
      names.map((name, i) => ({ name, id: i + 1, note: "x".repeat(99) }));
    expect(changes(rowsNamed("a", "b"), rowsNamed("c", "d"))).toEqual([
      { op: "replace", path: "/0/name", value: "c" },
      { op: "replace", path: "/1/name", value: "d" },
    ]);
  });

  test("X-PAT-5 two members are a key together", () => {
    const lines = (...keys: readonly (readonly [number, number])[]) => keys.map(([a, b]) => ({ a, b, n: 1 }));
    const after = lines([3, 1], [1, 1], [1, 2], [2, 1]);
    after[2]!.n = 5;
    expect(changes(lines([1, 1], [1, 2], [2, 1]), after)).toEqual([
      { op: "add", path: "/0", value: after[0] },
      { op: "replace", path: "/2/n", value: 5 },
    ]);
  });

  test("X-PAT-5 rows without a key, and equal rows, are patched", () => {
    expect(changes([1, 1, 2, 3], [1, 1, 1, 2, 3])).toEqual([{ op: "add", path: "/2", value: 1 }]);
    expect(changes([{ n: 1 }, { n: 1 }], [{ n: 1 }])).toEqual([{ op: "remove", path: "/1" }]);
  });

  test("X-PAT-4 numbers keep their digits", () => {
    const patch = diff('{"a":{"n":9007199254740993,"m":1}}', `{"a":{"n":9007199254740992,"m":1}}${" ".repeat(100)}`);
    expect(patch).toBe('[{"op":"replace","path":"/a/n","value":9007199254740992}]');
    expect(diff('{"a":1.0}', `{"a":1.00}${" ".repeat(100)}`)).toContain('"value":1.00');
  });

  test("X-PAT-4 a row that changed in every member is sent whole", () => {
    const wide = (value: string) => Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, value]));
    expect(changes({ one: { id: 1, ...wide("x") }, two: 2 }, { one: { id: 1, ...wide("y") }, two: 2 })).toEqual([
      { op: "replace", path: "/one", value: { id: 1, ...wide("y") } },
    ]);
  });
});

describe("patches that are too long", () => {
  test("X-PAT-4 a patch is not used if it is longer than the text", () => {
    expect(diff("[1]", "[2]")).toBeUndefined();
    expect(diff(JSON.stringify(rows(1, 2, 3)), JSON.stringify(rows(4, 5, 6)))).toBeUndefined();
  });

  const nestedJson = (depth: number, leaf: number): string =>
    `${'{"a":'.repeat(depth)}${leaf}${`,"pad":"${"x".repeat(20)}"}`.repeat(depth)}`;
  const list = (length: number) => Array.from({ length }, (_, id) => ({ id, text: "x".repeat(30) }));
  const place = ({ id }: { readonly id: number }): number => (id * 7919) % 20_011;

  test.each<readonly [string, (size: number) => readonly [string, string]]>([
    ["deep texts", (depth) => [nestedJson(depth, 1), nestedJson(depth, 2)]],
    [
      "shuffled rows",
      (length) => [JSON.stringify(list(length)), JSON.stringify(list(length).sort((a, b) => place(a) - place(b)))],
    ],
  ])("X-PAT-4 a comparison takes linear time: %s", async (_, buildTexts) => {
    const texts = new Map([1000, 4000].map((size) => [size, buildTexts(size)]));
    for (const [before, after] of texts.values()) {
      const patch = diff(before, after);
      if (patch !== undefined) expect(patch.length).toBeLessThan(after.length);
    }
    await requireLinearTime((size) => diff(...texts.get(size)!), 1000);
  });
});

describe("the client", () => {
  test("X-PAT-6 unchanged values are the same objects", () => {
    const before = { rows: rows(1, 2), other: { a: 1 } };
    const after = applyPatch(before, [{ op: "replace", path: "/rows/1/of/size", value: 5 }]);
    expect(after.rows[0]).toBe(before.rows[0]);
    expect(after.other).toBe(before.other);
    expect(before.rows[1]!.of.size).toBe(20);
    expect(after.rows[1]!.of.size).toBe(5);
  });

  test("X-PAT-6 every operation of RFC 6902 is applied", () => {
    expect(
      applyPatch({ a: [1, 2], b: { c: 1 } } as unknown, [
        { op: "test", path: "/b", value: { c: 1 } },
        { op: "copy", from: "/b", path: "/d" },
        { op: "add", path: "/a/-", value: 3 },
        { op: "move", from: "/b/c", path: "/a/0" },
        { op: "add", path: "/d/c", value: 2 },
      ]),
    ).toEqual({ a: [1, 1, 2, 3], b: {}, d: { c: 2 } });
    expect(applyPatch<unknown>({ a: 1 }, [{ op: "replace", path: "", value: 7 }])).toBe(7);
  });

  test.each<readonly [string, PatchOperation]>([
    ["a member that is not there", { op: "remove", path: "/nothing" }],
    ["a member of a member that is not there", { op: "add", path: "/nothing/more", value: 1 }],
    ["an element behind the end", { op: "add", path: "/list/4", value: 1 }],
    ["an index with a zero before it", { op: "remove", path: "/list/01" }],
    ["a negative index", { op: "remove", path: "/list/-1" }],
    ["a name in a list", { op: "add", path: "/list/name", value: 1 }],
    ["a member of a number", { op: "add", path: "/n/more", value: 1 }],
    ["an inherited member", { op: "replace", path: "/constructor", value: 1 }],
    ["a test that fails", { op: "test", path: "/n", value: 2 }],
    ["a move from nowhere", { op: "move", from: "/list/3", path: "/n" }],
  ])("X-PAT-6 a patch that does not fit is rejected: %s", (_title, operation) => {
    const document = { list: [1, 2, 3], n: 1 };
    expect(() => applyPatch(document, [operation])).toThrow(LivePatchError);
    expect(document).toEqual({ list: [1, 2, 3], n: 1 });
  });

  test("X-PAT-6 no prototype is changed", () => {
    const patchedDocument = applyPatch<any>(JSON.parse('{"__proto__":{"a":1}}'), [
      { op: "add", path: "/__proto__/polluted", value: true },
    ]);
    expect(({} as any).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(patchedDocument)).toBe(Object.prototype);
    expect(JSON.stringify(patchedDocument)).toBe('{"__proto__":{"a":1,"polluted":true}}');
    expect(() => applyPatch<any>({}, [{ op: "add", path: "/__proto__/polluted", value: true }])).toThrow(
      LivePatchError,
    );
  });

  test("X-PAT-6 a missing version is noticed, a repeated one is not applied twice", () => {
    const next = createGraphqlPatchApplier();
    const patch = [{ op: "replace", path: "/n", value: 2 }];
    const first = { data: { n: 1 }, extensions: { live: { version: 1 } } };
    const second = { extensions: { live: { version: 2, patch } } };
    expect(next<any>(first).data).toEqual({ n: 1 });
    expect(next<any>(second).data).toEqual({ n: 2 });
    expect(next<any>(second).data).toEqual({ n: 2 });
    expect(() => next<any>({ extensions: { live: { version: 4, patch } } })).toThrow("version 4 does not follow 2");
    expect(next<any>({ data: { n: 9 }, extensions: { live: { version: 1 } } }).data).toEqual({ n: 9 });
    expect(() => createGraphqlPatchApplier()<any>(second)).toThrow(LivePatchError);
    expect(next<any>({ data: 1 })).toEqual({ data: 1 });
    const errorResult = { errors: [{ message: "x" }], extensions: { live: { version: 1, patch } } };
    expect(next(errorResult)).toBe(errorResult);
  });

  test("X-PAT-6 events of REST are applied", () => {
    const next = createRestPatchApplier<readonly number[]>();
    expect(next('{"version":1,"data":[1]}')).toEqual([1]);
    expect(next('{"version":2,"patch":[{"op":"add","path":"/1","value":2}]}')).toEqual([1, 2]);
    expect(() => next('{"version":4,"patch":[]}')).toThrow(LivePatchError);
  });
});
