// Bundles the modules of the server and the used parts of GraphQL's packages into a few files. Node needs half a
// millisecond to load each file. It is the last step of `npm run build`. Modules that applications import stay
// separate. After `npm run build:ts` the server loads one file per module again.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliDecompressSync } from "node:zlib";
import { build } from "esbuild";
import { joinLicences, collectLicences } from "./bundled-files.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const chunks = join(dist, "chunks");

/**
 * Paths in `dist`. Each is written as its index until the end, because esbuild may split a long string into several
 * lines.
 */
const own = [];
const OWN_NAME = /__relapiOwn(\d+)__/g;

/** An optional package that creates objects of graphql. The server needs one that uses its own copy of graphql. */
const WRAP_TOOLS = "@graphql-tools/wrap";
const LOADS_TOOLS = `importPackage("${WRAP_TOOLS}", "remote-schema-fields", "${WRAP_TOOLS}@11")`;
let loadsOfTools = 0;

/**
 * Modules and threads resolve files relative to the place where they were compiled. The chunk of a module is known only
 * at the end.
 */
const ownUrls = {
  name: "own-urls",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const url = `new URL(__relapiOwn${own.push(relative(dist, path)) - 1}__, import.meta.url).href`;
      const contents = readFileSync(path, "utf8").replaceAll("import.meta.url", url);
      const [before, ...after] = contents.split(LOADS_TOOLS);
      loadsOfTools += after.length;
      return { contents: [before, ...after].join(`import("${WRAP_TOOLS}")`) };
    }),
};

/**
 * Packages with many files of which the server uses a few, and whose objects stay inside the server. Packages that
 * parse untrusted input first, or that instrumentation observes, stay outside, so that they can be replaced without a
 * build.
 */
const TAKEN_IN = new Set(["commander", "graphql", "graphql-http", "graphql-ws", "inflection", "json-p3", "tapable"]);

/** The packages of `WRAP_TOOLS` and of its dependencies. */
const TOOLS = new RegExp(
  "^(@graphql-hive|@graphql-tools|@graphql-typed-document-node|@repeaterjs|@whatwg-node)/|^(cross-inspect|dataloader|tslib)$",
);

const takenIn = {
  name: "taken-in",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || isAbsolute(path) || TAKEN_IN.has(path.split("/")[0]) || TOOLS.test(path)
        ? undefined
        : { external: true },
    ),
};

/** CommonJS modules load Node's own modules with `require`, which esbuild expects to find and an ES module lacks. */
const ASKS = /\b__require ?=/;
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

const write = ({ path, text }) => {
  const folder = dirname(path);
  const fromHere = (_, index) => JSON.stringify(relative(folder, join(dist, own[index])).replaceAll("\\", "/"));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, `${ASKS.test(text) ? REQUIRE : ""}${text.replace(OWN_NAME, fromHere)}`);
};

rmSync(chunks, { recursive: true, force: true });
const { outputFiles, metafile } = await build({
  absWorkingDir: root,
  entryPoints: [join(dist, "presets", "standalone.js")],
  bundle: true,
  splitting: true,
  format: "esm",
  platform: "node",
  target: "node20",
  outdir: dist,
  outbase: dist,
  allowOverwrite: true,
  chunkNames: "chunks/server-[hash]",
  logLevel: "warning",
  write: false,
  plugins: [ownUrls, takenIn],
  mainFields: ["module", "main"],
  metafile: true,
  // shortens the code; names and lines are kept for stack traces
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: "none",
});
// without the replacement, the server would look for the package beside it
if (loadsOfTools !== 1) throw new Error(`the server has ${loadsOfTools} calls ${LOADS_TOOLS}, expected one`);
outputFiles.forEach(write);

// the licences of all that the package contains of others
const readSource = (path) => readFileSync(join(root, path), "utf8");
const [, ofChinook] = /^(-- Source: the Chinook[^]*?)\n\n/m.exec(
  readSource("plugins/database/embedded/demo/3-music-rows.sql"),
);
const playground = brotliDecompressSync(
  readFileSync(join(dist, "plugins/pages/playground/app/LICENSES.txt.br")),
).toString();
const openapiPage = createRequire(import.meta.url).resolve("swagger-ui-dist/swagger-ui-bundle.js");
writeFileSync(
  join(dist, "THIRD-PARTY-LICENSES.txt"),
  joinLicences([
    "This package contains code and data of others: in the server, in the page for the OpenAPI document, in the demo\ndatabase, and in the GraphQL playground. Their licences follow in this order.\n",
    ...collectLicences(root, Object.keys(metafile.inputs)),
    ...collectLicences(root, [relative(root, openapiPage)]),
    readFileSync(`${openapiPage}.LICENSE.txt`, "utf8"),
    `The demo database\n\n${ofChinook.replace(/^-- ?/gm, "")}\n`,
    playground,
  ]),
);
