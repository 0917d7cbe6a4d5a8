/** Core knows no surface and no dialect: none of its files contains their names, or names of their settings in SQL. */
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const core = fileURLToPath(new URL("../../core/", import.meta.url));
const files = readdirSync(core, { recursive: true, encoding: "utf8" }).filter((name) => /\.(?:ts|md|sql)$/.test(name));

/** A hook has the name of a surface, and ids of rules name the place of a contract. */
const ALLOWED = /\bbuildGqlField\b|\b[RGX]-[A-Z]+-\d+/g;

test.each(files)("the file core/%s names no surface and no dialect", (name) => {
  const text = readFileSync(core + name, "utf8").replaceAll(ALLOWED, "");
  expect(text).not.toMatch(/graphql|gql|hasura|pgrst|postgrest|schema cache|jwt\.claims|app\.settings/i);
});

/** Retired words that identifiers still contain, for the retired meaning or for another one. A word that no
 *  identifier contains any more is removed from this list and must not return. */
const STILL_USED = new Set(
  `app instance kernel module extension family profile configuration piece event phase spec applied offer engine side
  requirement clause config flag guc budget cap resource bases routine variant link join formatter rival privilege
  authenticator identity proof strategy superuser lens sight ask reply way endpoint controller action data format range
  page hole gap failure refusal mistake problem fault facts ast select mutation rpc include kind style test verb chunk
  command batch place level guard look known safe reset sweep parts socket proxy entry word subscription watcher channel
  protocol reader queue primary trigger volatile diff ping backlog outgoing dump snapshot text texts circle loop double
  doubled twice`.split(/\s+/),
);

/** Comments, regular expressions and strings. */
const NO_IDENTIFIERS =
  /\/\*[\s\S]*?\*\/|\/\/.*|(?<=(?:[(,=:[!&|?{};]|return|^)\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`/gm;

const root = fileURLToPath(new URL("../../", import.meta.url));

/** The single words of the last column of the glossary that are the term for nothing else. */
const retiredWords = (): readonly string[] => {
  const glossary = readFileSync(`${root}docs/glossary.md`, "utf8");
  const rows = [...glossary.matchAll(/^\| (.+?) \| .+? \| (.+?) \|$/gm)];
  const terms = new Set(rows.flatMap(([, term = ""]) => term.toLowerCase().match(/[a-z]+/g) ?? []));
  return rows
    .flatMap(([, , retired = ""]) => retired.replaceAll(/\([^)]*\)/g, "").split(/[,;]/))
    .map((word) => word.trim().toLowerCase())
    .filter((word) => /^[a-z]{3,}$/.test(word) && !terms.has(word) && !STILL_USED.has(word));
};

/** The words of the identifiers and of the file's name. */
const wordsOf = (path: string): ReadonlySet<string> => {
  const code = `${readFileSync(root + path, "utf8").replaceAll(NO_IDENTIFIERS, " ")} ${path}`;
  return new Set(Array.from(code.matchAll(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g), ([word]) => word.toLowerCase()));
};

test.each(["core", "plugins", "presets"])("identifiers of %s contain no word that the glossary retired", (folder) => {
  const retired = retiredWords();
  expect(retired).toEqual(expect.arrayContaining(["catalogue", "guest", "snippet"]));
  const matches = readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => {
      const words = wordsOf(`${folder}/${name}`);
      return retired.filter((word) => words.has(word) || words.has(`${word}s`)).map((word) => `${name}: ${word}`);
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
