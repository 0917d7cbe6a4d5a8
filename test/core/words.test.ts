/** Core knows no surface and no dialect: none of its files contains their names, or names of their settings in SQL. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const core = fileURLToPath(new URL("../../core/", import.meta.url));
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((name) => /\.(?:ts|md|sql)$/.test(name));

/** A hook has the name of a surface, and ids of rules name the place of a contract. */
const ALLOWED_WORDS = /\bbuildGqlField\b|\b[RGX]-[A-Z]+-\d+/g;

test.each(files)("the file core/%s names no surface and no dialect", (name) => {
  const text = readFileSync(core + name, "utf8").replaceAll(ALLOWED_WORDS, "");
  expect(text).not.toMatch(/graphql|gql|hasura|pgrst|postgrest|schema cache|jwt\.claims|app\.settings/i);
});

/** Comments, regular expressions and strings. */
const NO_IDENTIFIERS =
  /\/\*[\s\S]*?\*\/|\/\/.*|(?<=(?:[(,=:[!&|?{};]|return|^)\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/gm;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The words and phrases of the glossary's last column that are the term for nothing else. Parentheses follow those that
 *  are retired for one meaning only. */
const listRetired = (): readonly string[] => {
  const glossary = readFileSync(`${root}docs/glossary.md`, "utf8");
  const rows = [...glossary.matchAll(/^\| (.+?) \| .+? \| (.+?) \|$/gm)];
  const terms = new Set(rows.flatMap(([, term = ""]) => term.toLowerCase().match(/[a-z]+/g) ?? []));
  return rows
    .flatMap(([, , retiredCell = ""]) => retiredCell.replaceAll(/[^,;]*\([^)]*\)[^,;]*/g, "").split(/[,;]/))
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => /^[a-z]{3,}(?: [a-z]+)*$/.test(entry) && !terms.has(entry));
};

/** The identifiers and the file's name in words: ` get role ` for `getRole`. */
const wordsOf = (path: string): string => {
  const code = `${readFileSync(root + path, "utf8").replaceAll(NO_IDENTIFIERS, " ")} ${path}`;
  return Array.from(
    new Set(code.match(/[\w$-]+/g)),
    (identifier) => ` ${(identifier.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).join(" ").toLowerCase()} `,
  ).join(",");
};

test.each(["core", "plugins", "presets"])("identifiers of %s contain no word that the glossary retired", (folder) => {
  const retiredTerms = listRetired();
  expect(retiredTerms).toEqual(expect.arrayContaining(["catalogue", "guest", "snippet", "header row"]));
  const matches = readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const words = wordsOf(`${folder}/${name}`);
      return retiredTerms
        .filter((entry) => words.includes(` ${entry} `) || words.includes(` ${entry}s `))
        .map((entry) => `${name}: ${entry}`);
    });
  expect(matches).toEqual([]);
});

/** The places at which a function word is the name that a contract fixes: a key of the output of `why`. */
const FIXED_NAMES = /isEmbedded \? \{ of:/g;

/** A declaration or a key whose name is a function word. */
const FUNCTION_WORD =
  /(?:\b(?:const|let|function|type|interface|readonly)\s+|[({,<]\s*|\.\.\.)(of|by|what|why|who|whose|whole|such|same|about|given)(?=\s*(?:\?:|[:=,)}\]<(]))/gi;

test.each(["core", "plugins", "presets"])("no name of %s is a function word", (folder) => {
  const matches = readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const code = readFileSync(`${root}${folder}/${name}`, "utf8")
        .replaceAll(NO_IDENTIFIERS, " ")
        .replaceAll(FIXED_NAMES, " ");
      return Array.from(code.matchAll(FUNCTION_WORD), ([, word]) => `${name}: ${word}`);
    });
  expect(matches).toEqual([]);
});
