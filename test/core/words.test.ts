/** Core knows no surface and no dialect: their words stand in none of its files. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const core = fileURLToPath(new URL("../../core", import.meta.url));

/** Two of the five hooks carry the name of a surface; ids of rules say where a contract is written down. */
const ALLOWED = /\b(?:buildRestRoute|buildGqlField)\b|\b[RGX]-[A-Z]+-\d+/g;

/** Wherever they stand, in longer names too: `graphqlNameOf`, `PGRST000`, `x-hasura-role`. */
const ANYWHERE = /graphql|gql|hasura|pgrst|postgrest/i;

/** Words and parts of names: `restName`, `REST_NAME`, `rest-live`, `liveQuery`; not `interest`, `alive`, `spreadsheet`. */
const WORDS: ReadonlySet<string> = new Set(["rest", "rests", "spread", "spreads", "live"]);

/** Request and response headers of the dialects. */
const HEADERS = /\b(?:(?:[Aa]ccept|[Cc]ontent)-[Pp]rofile|[Rr]ange-[Uu]nit|[Pp]reference-[Aa]pplied|Prefer)\b/;

/** `restNameOf` → rest, Name, Of. */
const partsOf = (line: string): readonly string[] => line.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? [];

const wordsIn = (text: string): readonly string[] =>
  text
    .replaceAll(ALLOWED, "")
    .split("\n")
    .filter(
      (line) =>
        ANYWHERE.test(line) || HEADERS.test(line) || partsOf(line).some((part) => WORDS.has(part.toLowerCase())),
    )
    .map((line) => line.trim());

const files = readdirSync(core, { recursive: true, encoding: "utf8" })
  .map((name) => name.replaceAll("\\", "/"))
  .filter((name) => /\.(?:ts|md|sql)$/.test(name));

test.each([
  "restNameOf(spec)",
  "const REST_NAME = 1",
  'code: "live-queries-too-large"',
  "liveQueryBytes",
  "graphqlName",
  "{ ...rest }",
  "PGRST000",
  "x-hasura-role",
  "isSpread",
  "`Content-Profile`",
])("a surface's word is found: %s", (line) => {
  expect(wordsIn(line)).toEqual([line]);
});

test.each([
  "hooks.buildRestRoute",
  "buildGqlField: FieldHook",
  "@rule X-GQL-3 R-TX-1 G-SES-1",
  "sslmode=prefer",
  "interesting, restart, restore, restrict, arrest",
  "alive, delivered, it lives for as long as the connection",
  "preferred",
])("another word is none: %s", (line) => {
  expect(wordsIn(line)).toEqual([]);
});

test("core knows no surface and no dialect", () => {
  expect(files).toContain("index.ts");
  expect(
    files.flatMap((name) => wordsIn(readFileSync(join(core, name), "utf8")).map((line) => `${name}: ${line}`)),
  ).toEqual([]);
});
