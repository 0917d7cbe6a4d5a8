/** The installed and published package: the lock file, dependencies, exports, the files of the package. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { capabilities, testDatabase } from "../support/database.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const json = (path: string): any => JSON.parse(readFileSync(join(root, path), "utf8"));
const manifest = json("package.json");

interface LockedPackage {
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly dev?: boolean;
  readonly optional?: boolean;
}
const lockedPackages: Readonly<Record<string, LockedPackage>> = json("package-lock.json").packages;

const sources = ["core", "plugins", "presets"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder, name).replaceAll("\\", "/")),
);
const readText = (path: string): string => readFileSync(join(root, path), "utf8");

test("C-PKG-1 the lock file has the optional packages of every platform", () => {
  const missingPackages = Object.entries(lockedPackages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter((name) => {
      for (let folder = path; ; folder = dirname(folder)) {
        const base = folder === "." || folder === "" ? "" : `${folder}/`;
        if (lockedPackages[`${base}node_modules/${name}`] !== undefined) return false;
        if (base === "") return true;
      }
    }),
  );
  expect(missingPackages).toEqual([]);
  const bindings = Object.keys(lockedPackages).filter((path) => path.includes("node_modules/@oxlint/binding-"));
  for (const platform of ["linux-x64-gnu", "linux-arm64-musl", "darwin-arm64", "win32-x64-msvc"])
    expect(bindings).toContain(`node_modules/@oxlint/binding-${platform}`);
});

test("C-PKG-1 the lock file fits package.json", () => {
  // The text has the form in which npm writes the lock file.
  const { dependencies, devDependencies, optionalDependencies, peerDependencies } = lockedPackages[""] as any;
  expect({ dependencies, devDependencies, optionalDependencies, peerDependencies }).toEqual({
    dependencies: manifest.dependencies,
    devDependencies: manifest.devDependencies,
    optionalDependencies: manifest.optionalDependencies,
    peerDependencies: manifest.peerDependencies,
  });
});

test("C-PKG-2 the dependencies are the imports of the package", () => {
  const importedPackages = new Set(
    sources
      .filter((path) => path !== "presets/cli/project-files.ts") // license texts of another project
      .map((path) => readText(path).replace(/^[ \t]*(\/\/|\/?\*).*$/gm, ""))
      .flatMap((text) => [
        ...text.matchAll(/^[ \t]*(?:import|export)\s(?!type\b)[^"';]*?from\s*["']([a-z@][^"':]*)["']/gm),
        // The package is loaded when it is used.
        ...text.matchAll(/\bimport\("([a-z@][^":]*)"\)(?!\.)/g),
        ...text.matchAll(/\b(?:requirePackage|loadPackage)\("([a-z@][^"':]*)"/g),
        ...text.matchAll(/\bPACKAGE = "([a-z@][^"':]*)"/g),
      ])
      .map((match) => (match[1] as string).split("/"))
      .map(([first = "", second]) => (first.startsWith("@") ? `${first}/${second}` : first)),
  );
  const dependencies = [
    ...Object.keys(manifest.dependencies),
    ...Object.keys(manifest.peerDependencies),
    ...Object.keys(manifest.optionalDependencies),
  ];
  const usedDependencies = dependencies.filter((name) => name !== "express"); // applications import it and mount the middleware
  expect([...importedPackages].sort()).toEqual(usedDependencies.sort());
  expect(manifest.devDependencies.graphql).toBeDefined(); // for the tests
});

test("C-PKG-4 the exports are the two entry points, the client, presets, families of plugins and their types", () => {
  const entryPoints = sources
    .filter((path) => /^presets\/(?:minimal|plus|[a-z]+-compat)\.ts$|^plugins\/\w+\/(?:index|api)\.ts$/.test(path))
    .map((path) => path.replace(/\.ts$/, ""));
  const fixedExports = [".", "./presets", "./live-client", "./package.json"];
  const getExportName = (path: string): string => `./${path.replace(/\/index$/, "")}`;
  expect(Object.keys(manifest.exports).sort()).toEqual([...fixedExports, ...entryPoints.map(getExportName)].sort());
  for (const path of entryPoints) expect(manifest.exports[getExportName(path)]).toBe(`./dist/${path}.js`);
});

test("C-PKG-4 the index of a family exports every plugin of its folder", async () => {
  const definition = /^export const (\w+) =[^;]*?\bdefinePlugin\(/gm;
  const families = new Set(sources.flatMap((path) => /^plugins\/(\w+)\/index\.ts$/.exec(path)?.[1] ?? []));
  expect(families).toContain("operators");
  for (const family of families) {
    const files = sources.filter((path) => path.startsWith(`plugins/${family}/`));
    const definedNames = files.flatMap((path) =>
      Array.from(readText(path).matchAll(definition), ([, name = ""]) => name),
    );
    const exportedNames = Object.keys(await import(`../../dist/plugins/${family}/index.js`));
    expect(exportedNames).toEqual(expect.arrayContaining(definedNames));
  }
});

test("C-PKG-4 P-GEN-1 the package exports every import of its documentation and of the plugins of plus", async () => {
  const exportedNames = Object.keys(await import("../../presets/relapi.ts"));
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md") && !name.includes("node_modules"))
    .map((name) => `docs/${name}`);
  const importers = ["README.md", ...pages, ...sources.filter((path) => path.startsWith("plugins/plus/"))];
  const importedNames = importers
    .flatMap((path) => [...readText(path).matchAll(/^import \{([^}]*)\} from "(?:relapi|[./]+core\/index\.ts)"/gm)])
    .flatMap(([, names = ""]) => names.split(","))
    .flatMap((name) => /^\s*(?!type )(\w+)/.exec(name)?.[1] ?? []);
  expect(importedNames).toContain("definePlugin");
  expect(exportedNames).toEqual(expect.arrayContaining(importedNames));
});

test("C-PKG-4c C-PKG-11 the package is small, and has licences but no tests, maps or install scripts", () => {
  const [{ files, size }] = JSON.parse(
    execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, encoding: "utf8" }),
  );
  const paths: readonly string[] = files.map(({ path }: { readonly path: string }) => path);
  expect(paths.filter((path) => /\.map$|^dist\/test\//.test(path))).toEqual([]);
  const modules = paths.filter((path) => path.endsWith(".js"));
  expect(modules.filter((path) => readText(path).includes("//# sourceMappingURL="))).toEqual([]);
  expect(paths).toContain("dist/presets/standalone.js");
  expect(size).toBeLessThan(5_000_000);
  const licences = readText("dist/THIRD-PARTY-LICENSES.txt");
  for (const name of ["commander", "graphql", "graphql-http", "graphql-ws", "inflection", "json-p3", "tapable"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
  for (const name of ["swagger-ui-dist", "graphiql", "monaco-editor", "react"])
    expect(licences).toMatch(new RegExp(`^${name} \\d`, "m"));
  expect(licences).toContain("Copyright (c) 2008-2017 Luis Rocha");
  expect(Object.keys(manifest.scripts).filter((name) => /^(?:pre|post)?(?:install|prepare)$/.test(name))).toEqual([]);
});

test("C-PKG-2 C-PKG-3 the package runs with only its dependencies, and names PGlite if it is missing", () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-package-"));
  try {
    cpSync(join(root, "dist"), join(folder, "dist"), {
      recursive: true,
      filter: (path) => !/dist\/test|\.image$/.test(path),
    });
    cpSync(join(root, "package.json"), join(folder, "package.json"));
    mkdirSync(join(folder, "node_modules"));
    const peers = Object.keys(manifest.peerDependencies).filter(
      (name) => manifest.peerDependenciesMeta[name]?.optional !== true,
    );
    for (const name of [...Object.keys(manifest.dependencies), ...peers])
      symlinkSync(join(root, "node_modules", name), join(folder, "node_modules", name));
    const run = (...words: readonly string[]) =>
      spawnSync(process.execPath, [join(folder, "dist/presets/standalone.js"), ...words], {
        env: { PATH: process.env["PATH"] },
        encoding: "utf8",
      });
    expect(run("--version").stdout).toBe(`${manifest.version}\n`);
    const { status, stderr } = run();
    expect([status, stderr]).toEqual([
      1,
      "relapi: no DATABASE_URL: starting the embedded demo database\n" +
        "relapi: the embedded database is not installed: npm install @electric-sql/pglite, or set DATABASE_URL to use a server\n",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("C-PKG-5 without development dependencies an install builds nothing and does not fail", () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-install-"));
  try {
    const script = manifest.scripts.dependencies.replace(/^node /, "");
    expect(existsSync(join(root, script))).toBe(true);
    const run = spawnSync(process.execPath, [join(root, script)], { cwd: folder, encoding: "utf8" });
    expect([run.status, run.stdout]).toEqual([
      0,
      "relapi: development dependencies are left out, so nothing was built\n",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("C-PKG-5 npm start in a clone that is not built says in one line what to run", () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-unbuilt-"));
  try {
    const run = spawnSync(process.execPath, [join(root, ".ci/build-if-stale.mjs")], { cwd: folder, encoding: "utf8" });
    expect([run.status, run.stdout, run.stderr]).toEqual([
      1,
      "",
      "relapi is not built: run npm install without --omit=dev, which builds it\n",
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("C-PKG-8 the server is bundled into a few files with the licences of their content, and answers", async () => {
  const program = join(root, "dist/presets/standalone.js");
  const chunks = join(root, "dist/chunks");
  const imports = [...readFileSync(program, "utf8").matchAll(/import\("([^"]*)"\)/g)].map(([, path = ""]) => path);
  expect(imports.length).toBeGreaterThan(0);
  for (const path of imports) expect(path).toMatch(/^\.\.\/chunks\/server-/);
  for (const name of readdirSync(chunks).filter((file) => /^server-.*\.js$/.test(file)))
    expect(readFileSync(join(chunks, name), "utf8")).not.toMatch(
      /(?:from|import) ?\(?"(?:graphql[-"]|commander"|inflection"|json-p3"|tapable")/,
    );
  const server = spawn(process.execPath, [program], { env: { PATH: process.env["PATH"], PORT: "0" } });
  try {
    let output = "";
    for await (const chunk of server.stdout) {
      output += String(chunk);
      if (output.includes("Browser")) break;
    }
    const address = /http:\/\/[^/\s]+/.exec(output)?.[0] ?? "";
    const albums = await fetch(`${address}/api/album?select=title&album_id=eq.1`);
    expect(await albums.json()).toEqual([{ title: "For Those About To Rock We Salute You" }]);
    const response = await fetch(`${address}/v1/graphql`, { method: "POST", body: '{"query":"{ __typename }"}' });
    expect(await response.json()).toEqual({ data: { __typename: "query_root" } });
    expect((await fetch(`${address}/v1/graphql`, { headers: { accept: "text/html" } })).status).toBe(200);
  } finally {
    server.kill("SIGKILL");
  }
});

test("C-PKG-9 the packages for tokens and sockets are loaded on first use", async () => {
  const folder = mkdtempSync(join(tmpdir(), "relapi-loaded-"));
  const report = join(folder, "report.cjs");
  writeFileSync(
    report,
    `const packages = ["jsonwebtoken", "ws"];
     const isLoaded = (name) => Object.keys(require.cache).some((path) => path.includes("/node_modules/" + name + "/"));
     process.on("exit", () => console.log("loaded: " + packages.filter(isLoaded).join(" ")));`,
  );
  const loadedBy = async (settings: Readonly<Record<string, string>>, opensSocket: boolean): Promise<string> => {
    const { PATH } = process.env;
    const database = capabilities.realServer
      ? { DATABASE_URL: (await testDatabase()).options.databaseUrl, DB_SCHEMAS: "sea", ANON_ROLE: "sea_anon" }
      : {};
    const program = join(root, "dist/presets/standalone.js");
    const server = spawn(process.execPath, ["--require", report, program], {
      env: { PATH, PORT: "0", ...database, ...settings },
    });
    let output = "";
    for await (const chunk of server.stdout) {
      const isStarting = !output.includes("Browser");
      output += String(chunk);
      if (!isStarting || !output.includes("Browser")) continue;
      const address = /http:\/\/[^/\s]+/.exec(output)?.[0] ?? "";
      const headers = "JWT_SECRET" in settings ? { authorization: "Bearer a.b.c" } : undefined;
      await (await fetch(`${address}/api/`, headers && { headers })).text();
      if (opensSocket) {
        const socket = new WebSocket(`${address.replace("http", "ws")}/v1/graphql`, "graphql-transport-ws");
        await new Promise((resolve, reject) => socket.on("open", resolve).on("error", reject));
        socket.terminate();
      }
      server.kill("SIGTERM");
    }
    return /^loaded:.*$/m.exec(output)?.[0] ?? output;
  };
  try {
    expect(await loadedBy({}, false)).toBe("loaded: ");
    expect(await loadedBy({ JWT_SECRET: "a secret of thirty-two characters" }, true)).toBe("loaded: jsonwebtoken ws");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
