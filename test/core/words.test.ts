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

/** Identifiers that may contain a retired word: it has the meaning in the parentheses of the glossary, or a contract or
 *  library fixes the name. A word with parentheses is checked if it is in this list. */
const KEPT_IDENTIFIERS: Readonly<Record<string, RegExp>> = {
  ast: /^ast(?:FromValue|Node)$|AST/,
  authenticator: /^authenticator$/,
  backlog: /^backlog$/i,
  clause: /^clauses?$|^(?:body|compileFrom)Clause$|^from-?clause$/i,
  diff: /^diff$/,
  dump: /^dump(?:$|[-A-Z])/,
  formatter: /^formatters$/,
  guc: /^R-GUC$/,
  instance: /^(?:instance|InstanceType|toBeInstanceOf)$/,
  loop: /event-?loop|^(?:childL|l)oops$|^_PostgresMainLoopOnce$/i,
  lsn: /^pg_lsn$/,
  "mime type": /^(?:mimeType|MIME_TYPE)$/,
  outgoing: /^(?:outgoing|OutgoingMessage)$/,
  procedure: /^stored_procedures$/,
  "stored procedure": /^stored_procedures$/,
  // The functions of a promise.
  reject: /^rejects?(?:OnExit)?$/,
  requirement: /Requirements?$|^requirements?$/,
  "schema cache": /schema-?cache/i,
  strategy: /^(?:reconnectS|s)trategy$/,
  superuser: /^(?:isS|s)uperuser(?:Report)?$/,
  unauthorized: /^(?:unauthorized|HASURA_GRAPHQL_UNAUTHORIZED_ROLE)$/,
  "virtual column": /^VIRTUAL_COLUMNS_VERSION$/,
};

/** Retired words that tests and programs of `.ci` use in their ordinary meaning: faults that a test causes, rows named
 *  `guest`, the place at which a scene runs. */
const WORDS_OF_TESTS: ReadonlySet<string> = new Set(
  "bug,chain,circle,fault,gap,guest,look,place,twice,verb,way".split(","),
);

/** The words and phrases of the glossary's last column that are the term for nothing else. */
const listRetired = (): readonly string[] => {
  const glossary = readFileSync(`${root}docs/glossary.md`, "utf8");
  const rows = [...glossary.matchAll(/^\| (.+?) \| .+? \| (.+?) \|$/gm)];
  const terms = new Set(rows.flatMap(([, term = ""]) => term.toLowerCase().match(/[a-z]+/g) ?? []));
  return rows
    .flatMap(([, , retiredCell = ""]) => retiredCell.split(/[,;](?![^(]*\))/))
    .map((entry) => /^(?:to |bare )?"?([^"(]+?)"?(?: \(.*\))?$/.exec(entry.trim().toLowerCase()))
    .flatMap((match) => {
      const [entry = "", word = ""] = match ?? [];
      const isChecked = !entry.endsWith(")") || word in KEPT_IDENTIFIERS;
      return isChecked && /^[a-z]{3,}(?: [a-z]+)*$/.test(word) && !terms.has(word) ? [word] : [];
    });
};

/** The identifiers of a file and its name, each with its words: ` get role ` for `getRole`. */
const splitIdentifiers = (path: string): readonly (readonly [identifier: string, words: string])[] => {
  const code = `${readFileSync(root + path, "utf8").replaceAll(NO_IDENTIFIERS, " ")} ${path}`;
  return Array.from(new Set(code.match(/[\w$-]+/g)), (identifier) => [
    identifier,
    ` ${(identifier.match(/[A-Z]?[a-z]+|[A-Z]+(?![a-z])/g) ?? []).join(" ").toLowerCase()} `,
  ]);
};

const FOLDERS = ["core", "plugins", "presets", "test", ".ci"];

const listCode = (folder: string): readonly string[] =>
  readdirSync(root + folder, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    // This file names the retired words.
    .filter((name) => /\.(?:ts|mjs|js)$/.test(name) && !/node_modules\/|\bwords\.test\.ts$/.test(name));

test.each(FOLDERS)("identifiers of %s contain no word that the glossary retired", (folder) => {
  const retiredTerms = listRetired();
  expect(retiredTerms).toEqual(expect.arrayContaining(["catalogue", "snippet", "header row", "deny", "clause"]));
  const isProduct = folder !== "test" && folder !== ".ci";
  const checkedTerms = retiredTerms.filter((word) => isProduct || !WORDS_OF_TESTS.has(word));
  const matches = listCode(folder).flatMap((name) => {
    const identifiers = splitIdentifiers(`${folder}/${name}`);
    const text = identifiers.map(([, words]) => words).join(",");
    return checkedTerms
      .filter((word) => text.includes(` ${word} `) || text.includes(` ${word}s `))
      .flatMap((word) =>
        identifiers
          .filter(([, words]) => words.includes(` ${word} `) || words.includes(` ${word}s `))
          .filter(([identifier]) => KEPT_IDENTIFIERS[word]?.test(identifier) !== true)
          .map(([identifier]) => `${name}: ${identifier}`),
      );
  });
  expect(matches).toEqual([]);
});

/** The places at which a function word is the name that a contract fixes: a key of the output of `why`. */
const FIXED_NAMES = /isEmbedded \? \{ of:/g;

/** A declaration or a key whose name is a function word. */
const FUNCTION_WORD =
  /(?:\b(?:const|let|function|type|interface|readonly)\s+|[({,<]\s*|\.\.\.)(of|by|what|why|who|whose|whole|such|same|about|given)(?=\s*(?:\?:|[:=,)}\]<(]))/gi;

test.each(["core", "plugins", "presets", ".ci"])("no name of %s is a function word", (folder) => {
  const matches = listCode(folder).flatMap((name) => {
    const code = readFileSync(`${root}${folder}/${name}`, "utf8")
      .replaceAll(NO_IDENTIFIERS, " ")
      .replaceAll(FIXED_NAMES, " ");
    return Array.from(code.matchAll(FUNCTION_WORD), ([, word]) => `${name}: ${word}`);
  });
  expect(matches).toEqual([]);
});

/** A function that is named by a noun with a preposition: `rowsOf`. */
const NAME_WITH_OF = /\b(?:const|let|function\*?)\s+([a-z]+Of)\b(?=\s*(?:=\s*(?:async\s*)?(?:\(|<|\w+\s*=>)|[(<]))/g;

test.each(FOLDERS)("no function of %s has a name that ends with Of", (folder) => {
  const matches = listCode(folder).flatMap((name) => {
    const code = readFileSync(`${root}${folder}/${name}`, "utf8").replaceAll(NO_IDENTIFIERS, " ");
    return Array.from(code.matchAll(NAME_WITH_OF), ([, identifier]) => `${name}: ${identifier}`);
  });
  expect(matches).toEqual([]);
});
