// Bundles the playground's page beside the built plugin. GraphiQL and its editor are development dependencies, so users
// of relapi do not install them. `npm run build` runs this script.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

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
    "editor.worker": ofEditor("monaco-editor/esm/vs/editor/editor.worker.js"),
    "json.worker": ofEditor("monaco-editor/esm/vs/language/json/json.worker.js"),
    "graphql.worker": ofEditor("monaco-graphql/esm/graphql.worker.js"),
  },
  format: "iife",
});

// the licences of all bundled packages are distributed with the bundle
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

// the files are stored compressed, because browsers accept gzip and the package stays small
for (const name of readdirSync(outdir)) {
  writeFileSync(join(outdir, `${name}.gz`), gzipSync(readFileSync(join(outdir, name)), { level: 9 }));
  rmSync(join(outdir, name));
}

const sizes = readdirSync(outdir).map((name) => statSync(join(outdir, name)).size);
console.log(`playground: ${sizes.length} files, ${Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024)} KiB`);
