// Puts the modules of `dist` together, since Node takes half a millisecond for each file that it loads: the server into a
// few files of its own, and everything that others import into files which share theirs. The last step of `npm run build`;
// `npm run build:ts` writes a file for each module again, which is what `npm run trace` counts.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const dist = join(root, "dist");
const chunks = join(dist, "chunks");

const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const imported = Object.values(exports)
  .map((target) => (typeof target === "string" ? target : target.default))
  .filter((path) => path.endsWith(".js"))
  .map((path) => join(root, path));

const OWN = "relapi-own:";
const OWN_PATH = new RegExp(`${OWN}([^"]+)`, "g");

/** Modules look for the files beside them, and threads for their own, where they were compiled to. Which file a module
 *  comes into is known at the end. */
const ownUrls = {
  name: "own-urls",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const own = `new URL("${OWN}${relative(dist, path).replaceAll("\\", "/")}", import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", own) };
    }),
};

const write = ({ path, text }) => {
  const folder = dirname(path);
  const fromHere = (_, own) => relative(folder, join(dist, own)).replaceAll("\\", "/");
  mkdirSync(folder, { recursive: true });
  writeFileSync(path, path.endsWith(".js") ? text.replace(OWN_PATH, fromHere) : text);
};

const bundle = async (entryPoints, name) => {
  const { outputFiles } = await build({
    entryPoints: [...new Set(entryPoints)],
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    outdir: dist,
    outbase: dist,
    allowOverwrite: true,
    chunkNames: `chunks/${name}-[hash]`,
    plugins: [ownUrls],
    sourcemap: true,
    logLevel: "warning",
    write: false,
  });
  outputFiles.forEach(write);
};

rmSync(chunks, { recursive: true, force: true });
// first, while the other entries are as they were compiled
await bundle([join(dist, "presets", "standalone.js")], "server");
await bundle(imported, "relapi");
