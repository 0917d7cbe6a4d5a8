// Bundles the playground's page beside the built plugin. GraphiQL and its editor are development dependencies, so users
// of relapi do not install them. `npm run build` runs this script.
import { rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { compressFiles, joinLicences, collectLicences } from "./bundled-files.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const outdir = join(root, "dist", "plugins", "pages", "playground", "app");

// the workers must belong to the same copy of the editor that GraphiQL uses
const fromHere = createRequire(import.meta.url);
const ofEditor = (path) =>
  createRequire(createRequire(fromHere.resolve("graphiql/package.json")).resolve("@graphiql/react")).resolve(path);

const common = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  outdir,
  target: "es2022",
  define: { "process.env.NODE_ENV": '"production"' },
  loader: { ".ttf": "file" },
  alias: {
    "editor-worker": ofEditor("monaco-editor/esm/vs/editor/editor.worker.js"),
    "json-worker": ofEditor("monaco-editor/esm/vs/language/json/json.worker.js"),
    "graphql-worker": ofEditor("monaco-graphql/esm/graphql.worker.js"),
    // two names of one module
    "prettier/parser-graphql": "prettier/plugins/graphql",
  },
  assetNames: "[name]",
  legalComments: "none",
  logLevel: "warning",
};

rmSync(outdir, { recursive: true, force: true });
// one bundle without code splitting, because lazily loaded chunks would lose their styles
const { metafile } = await build({
  ...common,
  metafile: true,
  entryPoints: {
    main: join(root, "plugins", "pages", "playground", "app", "main.mjs"),
    worker: join(root, "plugins", "pages", "playground", "app", "worker.mjs"),
  },
  format: "iife",
});

writeFileSync(join(outdir, "LICENSES.txt"), joinLicences(collectLicences(root, Object.keys(metafile.inputs))));

console.log(`playground: ${Math.round(compressFiles(outdir) / 1024)} KiB`);
