// Writes what the package exports: docs/reference/public-api.md has each export with its mark and the first sentence of its
// docstring, and public-api.d.ts has the declarations without comments, so that a diff shows each change of the types.
// It reads `dist`: `npm run docs:public-api`. An argument names another folder to write to. @rule C-API-1 C-API-2
import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
// TypeScript 7 has no stable interface for programs
const ts = createRequire(join(root, "docs/openapi-typescript/package.json"))("typescript");
const folder = process.argv[2] ?? join(root, "docs/reference");

const { exports, name: packageName } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const targets = Object.entries(exports).map(([path, target]) => [path, target.default ?? target]);
const entries = targets
  .filter(([, target]) => target.endsWith(".js"))
  .map(([path, target]) => ({ name: packageName + path.slice(1), file: join(root, target.replace(/js$/, "d.ts")) }));

const options = { strict: true, module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022, types: ["node"] };
const program = ts.createProgram(entries.map(({ file }) => file), { ...options, noEmit: true });
const checker = program.getTypeChecker();
const { Alias, Type, Value } = ts.SymbolFlags;
const resolve = (symbol) => (symbol.flags & Alias ? checker.getAliasedSymbol(symbol) : symbol);
const getDocumentation = (symbol) => ts.displayPartsToString(resolve(symbol).getDocumentationComment(checker));

/** A rule's id or the name of a plugin may follow a full stop within a sentence, so a capital letter begins the next. */
const summarize = (symbol) => {
  const text = getDocumentation(symbol).replaceAll(/\s+/g, " ").trim();
  return (/^.*?[.](?= [A-Z\d`'"]|$)/.exec(text)?.[0] ?? text).replaceAll("|", "\\|");
};
const isExperimental = (symbol) => resolve(symbol).getJsDocTags().some(({ name }) => name === "experimental");

const exported = [];
for (const { name, file } of entries) {
  const atRunTime = await import(pathToFileURL(file.replace(/d\.ts$/, "js")).href);
  // `export type *` of relapi names functions of core too, which no application can call
  const symbols = checker
    .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(file)))
    .filter((symbol) => symbol.name in atRunTime || resolve(symbol).flags & Type);
  exported.push({ name, symbols: symbols.sort((a, b) => (a.name < b.name ? -1 : 1)) });
}

// --- the page -------------------------------------------------------------------------------------------------------

const BEGIN = "<!-- Written by `npm run docs:public-api` from the docstrings. -->";
const undocumented = exported.flatMap(({ symbols }) => symbols.filter((symbol) => summarize(symbol) === ""));
if (undocumented.length > 0) throw new Error(`without a docstring: ${undocumented.map(({ name }) => name).join(", ")}`);

const buildRow = (symbol) =>
  `| \`${symbol.name}\` | ${isExperimental(symbol) ? "experimental" : "stable"} | ${summarize(symbol)} |`;
const sections = exported.map(({ name, symbols }) =>
  [`## ${name}`, "", "| Export | Mark | |", "|---|---|---|", ...symbols.map(buildRow)].join("\n"),
);
const [head] = readFileSync(join(root, "docs/reference/public-api.md"), "utf8").split(BEGIN);
writeFileSync(join(folder, "public-api.md"), `${[head + BEGIN, ...sections].join("\n\n")}\n`);

// --- the report -----------------------------------------------------------------------------------------------------

/** The declarations that the exports reach, by file and position. */
const reached = new Map();
const visit = (symbol) => {
  for (const declaration of symbol.declarations ?? []) {
    const file = declaration.getSourceFile();
    const statement = ts.findAncestor(declaration, (node) => ts.isSourceFile(node.parent) || ts.isModuleBlock(node.parent));
    const isOwn = relative(join(root, "dist"), file.fileName).match(/^\.\.|node_modules/) === null;
    if (!isOwn || statement === undefined || ts.isModuleDeclaration(statement)) continue;
    const found = reached.get(file) ?? reached.set(file, new Set()).get(file);
    if (found.has(statement)) continue;
    found.add(statement);
    ts.forEachChild(statement, function look(node) {
      const named = ts.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
      if (named !== undefined && resolve(named).flags & (Type | Value)) visit(resolve(named));
      ts.forEachChild(node, look);
    });
  }
};
for (const { symbols } of exported) symbols.forEach((symbol) => visit(resolve(symbol)));

const printer = ts.createPrinter({ removeComments: true });
const lists = exported.map(({ name, symbols }) => {
  const named = symbols.map((symbol) => `  ${isExperimental(symbol) ? "/** @experimental */ " : ""}${symbol.name},`);
  return [`// ${name}`, "export {", ...named, "};"].join("\n");
});
const parts = [...reached]
  .map(([file, statements]) => [relative(join(root, "dist"), file.fileName), file, [...statements]])
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([path, file, statements]) => {
    const texts = statements.sort((a, b) => a.pos - b.pos).map((each) => printer.printNode(ts.EmitHint.Unspecified, each, file));
    return [`// --- ${path}`, ...texts].join("\n");
  });
writeFileSync(join(folder, "public-api.d.ts"), `${[...lists, ...parts].join("\n\n")}\n`);
