// Bundles the playground's page beside the built plugin: GraphiQL and its editor are development dependencies, so that
// installing relapi
// brings none of them. Run by `npm run build`.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..");
const outdir = join(root, "dist", "plugins", "graphql", "playground", "app");

// the workers must be of the very editor that GraphiQL has
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
  assetNames: "[name]",
  legalComments: "none",
  logLevel: "warning",
};

rmSync(outdir, { recursive: true, force: true });
// in one piece: parts that are loaded later would leave their styles behind
const { metafile } = await build({
  ...common,
  metafile: true,
  entryPoints: {
    main: join(root, "plugins", "graphql", "playground", "app", "main.mjs"),
    "editor.worker": ofEditor("monaco-editor/esm/vs/editor/editor.worker.js"),
    "json.worker": ofEditor("monaco-editor/esm/vs/language/json/json.worker.js"),
    "graphql.worker": ofEditor("monaco-graphql/esm/graphql.worker.js"),
  },
  format: "iife",
});

// what is in the bundle goes with its licence
const packages = new Set(
  Object.keys(metafile.inputs).flatMap((input) => /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
);
const licences = [...packages].sort().flatMap((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8"));
  const file = readdirSync(join(root, folder)).find((each) => /^licen[cs]e/i.test(each));
  const text =
    file !== undefined && existsSync(join(root, folder, file))
      ? readFileSync(join(root, folder, file), "utf8").trim()
      : String(license);
  return [`${name} ${version}\n\n${text}\n`];
});
writeFileSync(join(outdir, "LICENSES.txt"), licences.join(`\n${"-".repeat(80)}\n\n`));

// a browser takes them packed, and so does the package
for (const name of readdirSync(outdir)) {
  writeFileSync(join(outdir, `${name}.gz`), gzipSync(readFileSync(join(outdir, name)), { level: 9 }));
  rmSync(join(outdir, name));
}

const sizes = readdirSync(outdir).map((name) => statSync(join(outdir, name)).size);
console.log(`playground: ${sizes.length} files, ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} KiB`);
