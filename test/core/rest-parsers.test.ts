import fc from "../support/fast-check.ts";
import { describe, expect, test } from "vitest";
import { RelApiError, resolveOptions, collectSettings } from "../../core/index.ts";
import { buildRegistry } from "../../core/registry.ts";
import { fullCompat } from "../../presets/index.ts";
import { parseFilter } from "../../plugins/rest/syntax/filter.ts";
import { buildGrammar } from "../../plugins/rest/syntax/grammar.ts";
import { parseNames, parseTreePath } from "../../plugins/rest/syntax/lex.ts";
import { parseLogic } from "../../plugins/rest/syntax/logic.ts";
import { parseOrder } from "../../plugins/rest/syntax/order.ts";
import { parsePreferences } from "../../plugins/rest/syntax/prefer.ts";
import { decodePercent } from "../../plugins/rest/syntax/parameters.ts";
import { parseQuery } from "../../plugins/rest/syntax/query-string.ts";
import { resolveRange } from "../../plugins/rest/syntax/range.ts";
import type { Condition, Field, LogicTree, OrderTerm, SelectItem } from "../../plugins/rest/request.ts";
import { parseSelect } from "../../plugins/rest/syntax/select.ts";
import { requireLinearTime } from "../support/growth.ts";

const preset = fullCompat({});
const grammar = buildGrammar(
  buildRegistry(preset.plugins),
  { options: resolveOptions({}, collectSettings(preset)) },
  () => false,
);

/** Checks that the parser succeeds or rejects with its own error. Any other error is a bug. */
const parses = (parse: () => unknown): boolean => {
  try {
    parse();
    return true;
  } catch (error) {
    if (!(error instanceof RelApiError)) throw error;
    expect(["parse-error", "range-not-satisfiable"]).toContain(error.code);
    const isOfText = error.facts["limit"] === undefined && error.message !== "The query string is not UTF-8";
    if (error.code === "parse-error" && isOfText) {
      expect(error.message).toMatch(/^"failed to parse [a-z _]+ \([^]*\)" \(line \d+, column \d+\)$/);
      expect(error.details).toMatch(/^unexpected [^]+ expecting [^]+$/);
    }
    return false;
  }
};

/** Returns the characters that Node passes for the bytes of a text. */
const encodeUtf8 = (text: string): string => Buffer.from(text).toString("latin1");

const pieces = [
  "id",
  "name",
  "first-mate",
  "ü",
  "a b",
  '"',
  '\\"',
  "\\",
  "(",
  ")",
  ",",
  ".",
  ":",
  "::",
  "!",
  "*",
  "->",
  "->>",
  "-",
  ">",
  "{",
  "}",
  "not",
  "not.",
  "and",
  "or",
  "in.",
  "is.",
  "eq.",
  "eq(any).",
  "fts(english).",
  "null",
  "asc",
  "desc",
  "nullsfirst",
  "count()",
  "sum()",
  "...",
  "inner",
  "left",
  "text",
  "1",
  "-2",
  " ",
  "\t",
  "\n",
  "\u0000",
  "🚢",
  "%",
  "&",
  ";",
  "=",
  "order",
  "limit",
  "select",
  "columns",
];
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 40 }),
  fc.array(fc.constantFrom(...pieces), { maxLength: 25 }).map((parts) => parts.join("")),
);

describe("any text is parsed or rejected", () => {
  const parsers: readonly (readonly [name: string, parse: (raw: string) => unknown])[] = [
    ["select", (raw) => parseSelect(grammar, raw)],
    ["order", (raw) => parseOrder(grammar, "order", raw)],
    ["filter value", (raw) => parseFilter(grammar, "id", raw)],
    ["filter name", (raw) => parseFilter(grammar, raw, "eq.1")],
    ["tree", (raw) => parseLogic(grammar, "or", raw)],
    ["negated tree", (raw) => parseLogic(grammar, "not.and", raw)],
    ["tree path", (raw) => parseTreePath(raw)],
    ["columns", (raw) => parseNames(raw, "columns parameter")],
    ["query string", (raw) => parseQuery(grammar, encodeUtf8(raw), "filters")],
    ["query string with arguments", (raw) => parseQuery(grammar, encodeUtf8(raw), "arguments")],
  ];
  test.each(parsers)("R-LEX-10 %s", (_name, parse) => {
    fc.assert(
      fc.property(text, (raw) => void parses(() => parse(raw))),
      { numRuns: 2000 },
    );
  });

  test("R-PRF-1 preferences are never rejected while they are read", () => {
    fc.assert(
      fc.property(text, (raw) => void parsePreferences(grammar, raw)),
      { numRuns: 1000 },
    );
  });

  test("R-URL-1 percent escapes of any kind are decoded to well-formed text", () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(fc.constantFrom("%", "%2", "%zz", "%e9", "%c3%a9", "%00", "%ff"), fc.string({ maxLength: 3 })),
        ),
        (parts) => {
          // The function throws on text that is not well-formed.
          encodeURIComponent(decodePercent(parts.join("")));
        },
      ),
      { numRuns: 1000 },
    );
  });

  test("R-URL-1 the output of encodeURIComponent is decoded again", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }),
        (raw) => void expect(decodePercent(encodeURIComponent(raw))).toBe(raw),
      ),
    );
  });

  test("R-RNG-4 a window lies within the requested range", () => {
    const number = fc.bigInt({ min: -5n, max: 12n });
    fc.assert(
      fc.property(
        fc.record({ limit: fc.option(number, { nil: undefined }), offset: fc.option(number, { nil: undefined }) }),
        fc.option(fc.tuple(fc.nat(9), fc.nat(9)), { nil: undefined }),
        (range, header) => {
          parses(() => {
            const window = resolveRange(range, header === undefined ? undefined : `${header[0]}-${header[1]}`);
            expect(window.offset >= 0n).toBe(true);
            if (range.limit !== undefined) expect(window.limit !== undefined && window.limit <= range.limit).toBe(true);
            if (header !== undefined && window.limit !== 0n) {
              expect(window.offset >= BigInt(header[0])).toBe(true);
              expect(window.offset + (window.limit ?? 0n) - 1n <= BigInt(header[1])).toBe(true);
            }
          });
        },
      ),
      { numRuns: 2000 },
    );
  });

  test.each([
    ["select", (raw: string) => parseSelect(grammar, raw)],
    ["order", (raw: string) => parseOrder(grammar, "order", raw)],
    ["tree", (raw: string) => parseLogic(grammar, "or", raw)],
    ["filter", (raw: string) => parseFilter(grammar, "id", raw)],
    ["tree path", (raw: string) => parseTreePath(raw)],
  ])("R-LEX-10 long texts take linear time: %s", async (_name, parse) => {
    const pieces = [
      "a(",
      "(",
      "a,",
      "a:",
      "or(",
      "and(id.eq.1,",
      '"',
      "a->",
      "not.",
      "a.",
      "{",
      "in.(",
      "...a(",
      "a-",
      " ",
    ];
    await requireLinearTime((length) => {
      for (const piece of pieces) {
        const raw = piece.repeat(Math.floor(length / piece.length));
        parses(() => parse(raw));
        parses(() => parse(`(${raw}`));
      }
    }, 15_000);
  });
});

const quote = (raw: string): string => `"${raw.replace(/["\\]/g, "\\$&")}"`;
const isPlain = (raw: string): boolean => /^[\p{L}0-9_$]+(?:[ -][\p{L}0-9_$]+)*$/u.test(raw);
const printName = (raw: string): string => (isPlain(raw) && raw !== "count" ? raw : quote(raw));

const name = fc.oneof(
  fc.constantFrom("id", "name", "first-mate", "Just a Name", "a$b$", "123", "ünï"),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);
const step = fc.oneof(
  fc.record({
    arrow: fc.constantFrom("->" as const, "->>" as const),
    key: fc.integer({ min: -99, max: 99 }).map(String),
    isIndex: fc.constant(true),
  }),
  fc.record({
    arrow: fc.constantFrom("->" as const, "->>" as const),
    key: fc.string({ unit: "grapheme", maxLength: 6 }),
    isIndex: fc.constant(false),
  }),
);
const field: fc.Arbitrary<Field> = fc.record({ name, path: fc.array(step, { maxLength: 3 }) });
const printField = (input: Field): string =>
  printName(input.name) + input.path.map(({ arrow, key, isIndex }) => arrow + (isIndex ? key : quote(key))).join("");

const type = fc.constantFrom("text", "int4", "double precision", "_text");
const aggregate = fc.constantFrom("sum" as const, "avg" as const, "count" as const, "max" as const, "min" as const);
const present = (item: object): object => JSON.parse(JSON.stringify(item)) as object;

const leaf: fc.Arbitrary<SelectItem> = fc.oneof(
  fc.constant({ kind: "all" as const }),
  fc.record({ kind: fc.constant("count" as const), alias: name, cast: type }, { requiredKeys: ["kind"] }),
  fc.record(
    { kind: fc.constant("field" as const), field, alias: name, cast: type, aggregate },
    { requiredKeys: ["kind", "field"] },
  ),
);
const { items } = fc.letrec<{ items: readonly SelectItem[]; item: SelectItem }>((tie) => ({
  items: fc.array(tie("item"), { maxLength: 4, minLength: 1 }),
  item: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    leaf,
    fc
      .record(
        {
          kind: fc.constant("embed" as const),
          mode: fc.constantFrom("nest", "spread"),
          name: name.filter((raw) => raw !== "count"),
          alias: name,
          hint: name,
          join: fc.constantFrom("left" as const, "inner" as const),
          items: fc.oneof(fc.constant([]), tie("items")),
        },
        { requiredKeys: ["kind", "mode", "name", "items"] },
      )
      .map((embed): SelectItem => (embed.mode === "spread" ? { ...embed, alias: undefined } : embed)),
  ),
}));

const printItem = (item: SelectItem): string => {
  if (item.kind === "all") return "*";
  const alias = item.alias === undefined ? "" : `${printName(item.alias)}:`;
  if (item.kind === "count") return `${alias}count()${item.cast === undefined ? "" : `::${item.cast}`}`;
  if (item.kind === "field")
    return `${alias}${printField(item.field)}${item.cast === undefined ? "" : `::${item.cast}`}${item.aggregate === undefined ? "" : `.${item.aggregate}()`}`;
  const hint =
    item.hint === undefined ? "" : `!${/^(left|inner)/.test(item.hint) ? quote(item.hint) : printName(item.hint)}`;
  return `${item.mode === "spread" ? "..." : alias}${printName(item.name)}${hint}${item.join === undefined ? "" : `!${item.join}`}(${item.items.map(printItem).join(",")})`;
};

const operand = fc.string({ unit: "grapheme", maxLength: 10 });

interface PrintedCondition {
  readonly field: Field;
  readonly isNegated: boolean;
  readonly operator: string;
  readonly quantifier?: "any" | "all";
  readonly value: string;
}
const printedCondition: fc.Arbitrary<PrintedCondition> = fc.oneof(
  fc.record({
    field,
    isNegated: fc.boolean(),
    operator: fc.constantFrom("eq", "neq", "gt", "isdistinct", "match", "cs", "fts"),
    value: operand,
  }),
  fc.record({
    field,
    isNegated: fc.boolean(),
    operator: fc.constantFrom("eq", "lte", "imatch"),
    quantifier: fc.constantFrom("any" as const, "all" as const),
    value: operand,
  }),
);
const isBare = (raw: string): boolean => !/[,)]/.test(raw) && !raw.startsWith('"') && !raw.startsWith("{");
const printCondition = (input: PrintedCondition, isInTree: boolean): string =>
  `${input.isNegated ? "not." : ""}${input.operator}${input.quantifier === undefined ? "" : `(${input.quantifier})`}.${!isInTree || isBare(input.value) ? input.value : quote(input.value)}`;
const meaning = ({
  isNegated,
  operator,
  quantifier,
  value,
  field: filteredField,
}: Condition | PrintedCondition): object => present({ isNegated, operator, quantifier, value, field: filteredField });

interface PrintedGroup {
  readonly kind: "and" | "or";
  readonly isNegated: boolean;
  readonly members: readonly (PrintedCondition | PrintedGroup)[];
}
const { group } = fc.letrec<{ group: PrintedGroup; part: PrintedCondition | PrintedGroup }>((tie) => ({
  group: fc.record({
    kind: fc.constantFrom("and" as const, "or" as const),
    isNegated: fc.boolean(),
    members: fc.array(tie("part"), { minLength: 1, maxLength: 3 }),
  }),
  part: fc.oneof({ depthSize: "small", withCrossShrink: true }, printedCondition, tie("group")),
}));
const printPart = (part: PrintedCondition | PrintedGroup): string =>
  "members" in part
    ? `${part.isNegated ? "not." : ""}${part.kind}(${part.members.map(printPart).join(", ")})`
    : `${printTreeField(part.field)}.${printCondition(part, true)}`;
// A bare name may not begin with an operator word of the tree.
const printTreeField = (input: Field): string =>
  /^(and|or|not)/.test(input.name)
    ? quote(input.name) + printField({ ...input, name: "x" }).slice(1)
    : printField(input);
const treeMeaning = (tree: LogicTree): object =>
  tree.kind === "condition"
    ? meaning(tree.condition)
    : { kind: tree.kind, isNegated: tree.isNegated, members: tree.members.map(treeMeaning) };
const partMeaning = (part: PrintedCondition | PrintedGroup): object =>
  "members" in part
    ? { kind: part.kind, isNegated: part.isNegated, members: part.members.map(partMeaning) }
    : meaning(part);

const term: fc.Arbitrary<OrderTerm> = fc.record(
  {
    embed: name,
    field,
    direction: fc.constantFrom("asc" as const, "desc" as const),
    nulls: fc.constantFrom("first" as const, "last" as const),
  },
  { requiredKeys: ["field"] },
);
const printTerm = (input: OrderTerm): string =>
  `${input.embed === undefined ? printField(input.field) : `${printName(input.embed)}(${printField(input.field)})`}${input.direction === undefined ? "" : `.${input.direction}`}${input.nulls === undefined ? "" : `.nulls${input.nulls}`}`;

describe("printed syntax is parsed to the same value", () => {
  test("R-SEL-1 a printed select is parsed to the same value", () => {
    fc.assert(
      fc.property(items, (expected) => {
        const raw = expected.map(printItem).join(",");
        expect(present(parseSelect(grammar, raw) ?? []), raw).toEqual(present(expected));
      }),
      { numRuns: 1500 },
    );
  });

  test("R-ORD-1 a printed order is parsed to the same value", () => {
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 4 }), (expected) => {
        const raw = expected.map(printTerm).join(",");
        expect(present(parseOrder(grammar, "order", raw).part), raw).toEqual(present(expected));
      }),
      { numRuns: 1500 },
    );
  });

  test("R-FLT-1 printed filters are parsed to the same value", () => {
    fc.assert(
      fc.property(fc.array(name, { maxLength: 3 }), printedCondition, (path, expected) => {
        const raw = [...path.map(printName), printField(expected.field)].join(".");
        const filter = parseFilter(grammar, raw, printCondition(expected, false));
        expect(filter.path, raw).toEqual(path);
        expect(meaning(filter.part), raw).toEqual(meaning(expected));
      }),
      { numRuns: 1500 },
    );
  });

  test("R-LOG-1 printed logic trees are parsed to the same value", () => {
    fc.assert(
      fc.property(group, (expected) => {
        const raw = `(${expected.members.map(printPart).join(",")})`;
        expect(
          treeMeaning(parseLogic(grammar, expected.isNegated ? `not.${expected.kind}` : expected.kind, raw).part),
          raw,
        ).toEqual(partMeaning(expected));
      }),
      { numRuns: 1500 },
    );
  });

  test("R-FLT-7 printed lists are parsed to the same value", () => {
    fc.assert(
      fc.property(fc.array(operand, { minLength: 1 }), (elements) => {
        const { part } = parseFilter(grammar, "name", `in.(${elements.map(quote).join(",")})`);
        // The literal is PostgreSQL's: decode it by its two rules.
        const read = [...(part.value ?? "").matchAll(/"((?:[^"\\]|\\[^])*)"/gu)].map((match) =>
          (match[1] ?? "").replace(/\\([^])/gu, "$1"),
        );
        expect(read).toEqual(elements);
      }),
      { numRuns: 1000 },
    );
  });
});
