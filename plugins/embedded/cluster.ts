/** Makes PGlite instances: extensions, start parameters, scripts. Runs in the thread and in the build. */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import type { Extension } from "@electric-sql/pglite";

/** One megabyte per WAL segment, and few of them kept: the image shrinks from 40 to 13 MB, and the memory with it. */
export const initDbParams = ["--wal-segsize=1", "-c", "max_wal_size=16MB", "-c", "min_wal_size=2MB"];

/** Below the default stack of the thread an expression as deep as this ends in PostgreSQL's own error (see `stackMb` in host.ts). */
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB", "-c", "max_stack_depth=1MB"];

export interface ClusterOptions {
  readonly dataFolder?: string;
  readonly imagePath?: string;
  readonly extensions: readonly string[];
  /** Server settings for this run, such as `work_mem=1MB` */
  readonly settings?: readonly string[];
}

/** Starts PGlite: on its folder, from an image, or (slowly) from nothing. @throws Error with PostgreSQL's last words */
export async function openCluster(options: ClusterOptions): Promise<PGlite> {
  const extensions = Object.fromEntries(
    await Promise.all(options.extensions.map(async (name) => [name, await loadExtension(name)] as const)),
  );
  const lastWords: string[] = [];
  try {
    return await PGlite.create({
      ...(options.dataFolder === undefined ? {} : { dataDir: options.dataFolder }),
      ...(options.imagePath === undefined ? {} : { loadDataDir: new Blob([gunzipSync(readFileSync(options.imagePath))]) }),
      extensions,
      startParams: [...startParams, ...(options.settings ?? []).flatMap((setting) => ["-c", setting])],
      initDbStartParams: initDbParams,
      onStderr: (line) => {
        lastWords.push(line);
        if (lastWords.length > 5) lastWords.shift();
        return false; // nothing of it to the console
      },
    });
  } catch (error) {
    throw new Error(["the embedded database did not start", messageOf(error), ...lastWords].join("\n  "), { cause: error });
  }
}

/** The extension of this name out of PGlite itself or out of a package of its own, such as `@electric-sql/pglite-postgis`. */
async function loadExtension(name: string): Promise<Extension> {
  if (!/^[a-z][a-z0-9_-]*$/.test(name)) throw new Error(`"${name}" is no name of an extension`);
  const attempts = [
    () => import(`@electric-sql/pglite/contrib/${name.replaceAll("-", "_")}`),
    () => import(`@electric-sql/pglite-${name}`),
    // The user's own installation, where this package cannot see it
    async () => import(pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(`@electric-sql/pglite-${name}`)).href),
  ];
  for (const attempt of attempts) {
    const module: unknown = await attempt().catch((error: unknown) => {
      if (isMissingModule(error)) return undefined;
      throw error;
    });
    const extension = module === undefined ? undefined : Object.values(module as Record<string, unknown>).find(isExtension);
    if (extension !== undefined) return extension;
  }
  throw new Error(
    `extension "${name}" is not part of PGlite: install @electric-sql/pglite-${name}, in the release made for the PGlite that is installed`,
  );
}

function isExtension(candidate: unknown): candidate is Extension {
  return typeof candidate === "object" && candidate !== null && "setup" in candidate && typeof candidate.setup === "function";
}

function isMissingModule(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND" || code === "ERR_PACKAGE_PATH_NOT_EXPORTED";
}

/** Runs SQL files one after the other. @throws Error that names the file */
export async function runScripts(pg: PGlite, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    try {
      await pg.exec(readFileSync(path, "utf8"));
    } catch (error) {
      throw new Error(`${path}: ${messageOf(error)}`, { cause: error });
    }
  }
}

/** A plain tar of the cluster as it is now. No transaction may be open. */
export async function dumpCluster(pg: PGlite): Promise<Uint8Array> {
  await pg.exec("checkpoint"); // a start from the image then has nothing to redo
  const tar = await pg.dumpDataDir("none");
  return new Uint8Array(await tar.arrayBuffer());
}

/** Version of the PGlite that is installed. */
export function pgliteVersion(): string {
  const entry = fileURLToPath(import.meta.resolve("@electric-sql/pglite"));
  return (JSON.parse(readFileSync(join(dirname(entry), "..", "package.json"), "utf8")) as { version: string }).version;
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
