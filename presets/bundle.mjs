// Puts the modules of `dist` together, since Node takes half a millisecond for each file that it loads: the server into a
// few files of its own, and everything that others import into files which share theirs. The last step of `npm run build`;
// `npm run build:ts` writes a file for each module again, which is what `npm run trace` counts.
import { readFileSync, rmSync } from "node:fs";
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

/** Modules look for the files beside them, and threads for their own, where they were compiled to. */
const ownUrls = {
  name: "own-urls",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.js$/ }, ({ path }) => {
      const own = `new URL(${JSON.stringify(relative(chunks, path))}, import.meta.url).href`;
      return { contents: readFileSync(path, "utf8").replaceAll("import.meta.url", own) };
    }),
};

const bundle = (entryPoints, name) =>
  build({
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
  });

rmSync(chunks, { recursive: true, force: true });
// first, while the other entries are as they were compiled
await bundle([join(dist, "presets", "standalone.js")], "server");
await bundle(imported, "relapi");
