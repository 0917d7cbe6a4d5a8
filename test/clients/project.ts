/** A third-party project in a temporary folder: types generated from the running service, compiled strictly. */
import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { atFileEnd } from "../support/file-end.ts";
import { adminSecret } from "../support/tokens.ts";

const run = promisify(execFile);

const modules = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const sources = fileURLToPath(new URL("shop/", import.meta.url));

interface Project {
  readonly folder: string;
  /** Runs the generator on the introspection of the endpoint. @throws Error with its output when it fails */
  generate(endpoint: string): Promise<void>;
  /** Compiles the project. @throws Error with the compiler's messages when there are any */
  compile(): Promise<void>;
}

/** The output of a failed program, which the message of the error leaves out. */
const runNode = async (
  folder: string,
  program: string,
  args: readonly string[],
  environment: Record<string, string> = {},
): Promise<void> => {
  try {
    await run(process.execPath, [join(modules, program), ...args], {
      cwd: folder,
      env: { PATH: process.env["PATH"], HOME: folder, ...environment },
    });
  } catch (error) {
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} failed:\n${stdout}${stderr}`, { cause: error });
  }
};

/**
 * The files of `shop/`. The ending `.txt` hides them from this project's compiler, because their imports are generated.
 */
export const startProject = async (): Promise<Project> => {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "relapi-client-")));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  for (const name of await readdir(sources))
    await writeFile(join(folder, name.replace(/\.txt$/, "")), await readFile(join(sources, name)));
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await symlink(modules, join(folder, "node_modules"));
  return {
    folder,
    generate: (endpoint) =>
      runNode(folder, "@graphql-codegen/cli/cjs/bin.js", ["--config", "codegen.ts", "--silent"], {
        ENDPOINT: endpoint,
        ADMIN_SECRET: adminSecret,
      }),
    compile: () => runNode(folder, "typescript/bin/tsc", ["-p", "."]),
  };
};
