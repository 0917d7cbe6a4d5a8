// Puts the modules of the server, and what it uses of GraphQL's packages, together into a few files, since Node takes
// half a millisecond for each file that it loads. The last step of `npm run build`. What others import stays as it was
// compiled. `npm run build:ts` makes the server load a file for each module again.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const chunks = join(dist, "chunks");

/** Paths in `dist`, each named by its index until the end: a long text may be put on several lines. */
const own = [];
const OWN_NAME = /__relapiOwn(\d+)__/g;

/** Modules look for the files beside them, and threads for their own, where they were compiled to. Which file a module
 *  comes into is known at the end. */
const ownUrls = {
  name: "own-urls",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const url = `new URL(__relapiOwn${own.push(relative(dist, path)) - 1}__, import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", url) };
    }),
};

/** Many files, of which the server uses a few parts; it hands objects of theirs to nobody else. Not those that read what
 *  strangers send before anything else does, or that others watch: they are replaced without a build. */
const TAKEN_IN = new Set(["commander", "graphql", "graphql-http", "graphql-ws", "inflection", "json-p3", "tapable"]);

const takenIn = {
  name: "taken-in",
  setup: ({ onResolve }) =>
    onResolve({ filter: /^[^./]/ }, ({ path, kind }) =>
      kind === "entry-point" || isAbsolute(path) || TAKEN_IN.has(path.split("/")[0]) ? undefined : { external: true },
    ),
};

/** What is in a bundle goes with its licence. */
const writeLicences = ({ inputs }, file) => {
  const folders = new Set(
    Object.keys(inputs).flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  const texts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
    const found = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
    return `${name} ${version}\n\n${found === undefined ? license : readFileSync(join(root, folder, found), "utf8").trim()}\n`;
  });
  writeFileSync(file, texts.join(`\n${"-".repeat(80)}\n\n`));
};

/** Modules of the older kind ask for Node's own: where esbuild looks for `require`, a module has none. */
const ASKS = /\b__require ?=/;
const REQUIRE =
  'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);';

const write = ({ path, text }) => {
  const folder = dirname(path);
  const fromHere = (_, index) => JSON.stringify(relative(folder, join(dist, own[index])).replaceAll("\\", "/"));
  mkdirSync(folder, { recursive: true });
  if (!path.endsWith(".js")) return writeFileSync(path, text);
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
  sourcemap: true,
  logLevel: "warning",
  write: false,
  plugins: [ownUrls, takenIn],
  mainFields: ["module", "main"],
  metafile: true,
  // less to read; names and lines stay for whoever reads a stack
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 120,
  legalComments: "none",
});
outputFiles.forEach(write);
writeLicences(metafile, join(chunks, "LICENSES.txt"));
