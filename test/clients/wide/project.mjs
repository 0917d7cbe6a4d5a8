/** A project with generated types: a folder beside the clients' packages, deleted when the file ends. */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const require = createRequire(import.meta.url);
// The folder is beside the packages, so that they are found. The compiler ignores files in node_modules.
const parent = fileURLToPath(new URL(".cache/", import.meta.url));

const CONFIG = {
  strict: true,
  noUncheckedIndexedAccess: true,
  module: "nodenext",
  target: "es2022",
  lib: ["es2022", "dom", "esnext.disposable"],
  outDir: "out",
  skipLibCheck: true,
  types: [],
};

export const openProject = (compilerOptions = {}) => {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(parent);
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const write = (name, text) => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write("package.json", '{ "type": "module" }');
  write(
    "tsconfig.json",
    JSON.stringify({
      compilerOptions: { ...CONFIG, ...compilerOptions },
      include: ["*.ts", "gql/*.ts", "generated/*.ts"],
    }),
  );
  /** Runs a program of a package. @throws Error with the output of the program */
  const program = async (name, file, args) => {
    const path = join(dirname(require.resolve(`${name}/package.json`)), file);
    try {
      return (await run(process.execPath, [path, ...args], { cwd: folder, env: { ...process.env, NO_COLOR: "1" } }))
        .stdout;
    } catch (error) {
      throw new Error(`${name} failed:\n${error.stdout}${error.stderr}`);
    }
  };
  /** The compiler's messages. Empty if the code compiles. */
  const compile = () =>
    program("typescript", "bin/tsc", ["-p", "."]).then(
      () => "",
      (error) => error.message,
    );
  return {
    folder,
    write,
    program,
    compile,
    /** The lines of the file that do not compile. */
    wrongLines: async (name) => [
      ...new Set([...(await compile()).matchAll(new RegExp(`${name}\\((\\d+),`, "g"))].map(([, line]) => Number(line))),
    ],
    load: (name) => import(pathToFileURL(join(folder, "out", name)).href),
  };
};
