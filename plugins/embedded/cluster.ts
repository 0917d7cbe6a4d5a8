/** Makes PGlite instances: extensions, start parameters, scripts. Runs in the thread and in the build. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { gunzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import type { Extension } from "@electric-sql/pglite";

/** One megabyte per WAL segment, and few of them kept: the image shrinks from 40 to 13 MB, and the memory with it. */
export const initDbParams = ["--wal-segsize=1", "-c", "max_wal_size=16MB", "-c", "min_wal_size=2MB"];

/** Below the default stack of the thread an expression as deep as this ends in PostgreSQL's own error (see `stackMb` in
 *  host.ts). */
const startParams = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB", "-c", "max_stack_depth=1MB"];

export interface ClusterOptions {
  readonly dataFolder?: string;
  readonly imagePath?: string;
  readonly extensions: readonly string[];
  /** Server settings for this run, such as `work_mem=1MB` */
  readonly settings?: readonly string[];
  readonly alarm?: Alarm;
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
      ...(options.imagePath === undefined
        ? {}
        : { loadDataDir: new Blob([gunzipSync(readFileSync(options.imagePath))]) }),
      extensions: {
        loadOnDemand,
        ...(options.alarm === undefined ? {} : { alarm: options.alarm.extension }),
        ...extensions,
      },
      startParams: [...startParams, ...(options.settings ?? []).flatMap((setting) => ["-c", setting])],
      initDbStartParams: initDbParams,
      onStderr: (line) => {
        lastWords.push(line);
        if (lastWords.length > 5) lastWords.shift();
        return false; // keeps its output off the console
      },
    });
  } catch (error) {
    throw new Error(["the embedded database did not start", messageOf(error), ...lastWords].join("\n  "), {
      cause: error,
    });
  }
}

/** Leaves the libraries of extensions to the moment of their first use. PGlite links them all at once while it starts,
 *  and when two of them get in each other's way a later call ends the engine with "null function or function signature
 *  mismatch": with two extensions in one start of ten, with six nearly always. PostgreSQL itself links one library
 *  after the other. */
const loadOnDemand: Extension = {
  name: "load-on-demand",
  setup: async (_pg, emscriptenOptions: { preRun: ((engine: Engine) => void)[] }) => {
    const keepFile = ({ FS }: Engine): void => {
      FS.createPreloadedFile = (folder, name, content, _canRead, _canWrite, onLoad) => {
        FS.writeFile(`${folder}/${name}`, content);
        onLoad();
      };
    };
    return { emscriptenOpts: { ...emscriptenOptions, preRun: [...emscriptenOptions.preRun, keepFile] } };
  },
};

/** The one timer of the engine, which `statement_timeout` sets. */
export interface Alarm {
  readonly extension: Extension;
  /** Between two groups of messages: PostgreSQL forgets an alarm that no longer concerns a statement. It would set no
   *  other one before that alarm. */
  settle(): void;
}

/** `changed`: called when PostgreSQL sets its timer; 0 stops it. It can be called while a statement runs, but nothing can
 *  reach PostgreSQL then: the thread has to be ended. */
export function createAlarm(changed: (milliseconds: number) => void): Alarm {
  let setMs = 0;
  let toldMs = 0;
  let aheadMs = 0;
  let isSettling = false;
  let raise: ((timer: number, now: number) => void) | undefined;

  const tell = (): void => {
    if (toldMs !== setMs) changed(setMs);
    toldMs = setMs;
  };

  /** As a signal would. PostgreSQL ends the timeouts that have passed by then, and sets its timer for the next one. */
  const wake = (at: number): void => {
    if (setMs === 0) return;
    aheadMs = at;
    raise?.(0, performance.now());
    aheadMs = 0;
  };

  return {
    extension: {
      name: "alarm",
      setup: async (_pg, emscriptenOptions: { instantiateWasm: Instantiate }) => {
        const instantiateWasm: Instantiate = (imports, done) => {
          const { env } = imports;
          if (env !== undefined && "_setitimer_js" in env && "emscripten_date_now" in env) {
            env["_setitimer_js"] = (_timer: number, milliseconds: number): number => {
              setMs = milliseconds;
              if (!isSettling) tell();
              return 0;
            };
            env["emscripten_date_now"] = () => Date.now() + aheadMs;
          }
          return emscriptenOptions.instantiateWasm(imports, (instance, module) => {
            raise = instance.exports["_emscripten_timeout"] as typeof raise;
            done(instance, module);
          });
        };
        return { emscriptenOpts: { ...emscriptenOptions, instantiateWasm } };
      },
    },
    settle() {
      if (setMs === 0) return;
      isSettling = true;
      wake(0); // that of a statement has ended with it
      wake(setMs + 1); // what is left is the one by which PostgreSQL counts its statistics while it has nothing to do
      wake(0);
      isSettling = false;
      tell();
    },
  };
}

type Instantiate = (
  imports: Record<string, Record<string, unknown> | undefined>,
  done: (instance: { readonly exports: Record<string, unknown> }, module: unknown) => void,
) => unknown;

interface Engine {
  FS: {
    writeFile(path: string, content: Uint8Array): void;
    createPreloadedFile(
      folder: string,
      name: string,
      content: Uint8Array,
      canRead: boolean,
      canWrite: boolean,
      onLoad: () => void,
    ): void;
  };
}

/** The extension of this name from PGlite itself or from a separate package, such as `@electric-sql/pglite-postgis`. */
async function loadExtension(name: string): Promise<Extension> {
  if (!/^[a-z][a-z0-9_-]*$/.test(name)) throw new Error(`"${name}" is not an extension name`);
  const packageName = `@electric-sql/pglite-${name}`;
  const url =
    tryResolve(() => import.meta.resolve(`@electric-sql/pglite/contrib/${name.replaceAll("-", "_")}`)) ??
    tryResolve(() => import.meta.resolve(packageName)) ??
    // The user's own installation, where this package cannot see it
    tryResolve(() => pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(packageName)).href);
  if (url === undefined) {
    throw new Error(
      `extension "${name}" is not part of PGlite: install ${packageName}, in the release made for @electric-sql/pglite ${pgliteVersion()}`,
    );
  }
  if (url.includes(packageName)) checkPeer(packageName, dirname(fileURLToPath(url)));
  const exported = Object.values((await import(url)) as Record<string, unknown>);
  const extension = exported.find(isExtension);
  if (extension === undefined) throw new Error(`${url} does not contain an extension for PGlite`);
  return extension;
}

/** Extensions are compiled for one release of PGlite; with another one they fail later, with unhelpful messages. */
function checkPeer(packageName: string, folder: string): void {
  const path = join(folder.slice(0, folder.lastIndexOf(packageName)), packageName, "package.json");
  const { version, peerDependencies } = readPackage(path);
  const needed = peerDependencies?.["@electric-sql/pglite"];
  const installed = pgliteVersion();
  if (needed === undefined || !/^\d+\.\d+\.\d+$/.test(needed) || needed === installed) return;
  throw new Error(
    `${packageName} ${version} is made for @electric-sql/pglite ${needed}, but ${installed} is installed: npm install @electric-sql/pglite@${needed}`,
  );
}

/** A file URL; `undefined` if there is no such module. */
function tryResolve(resolve: () => string): string | undefined {
  try {
    const url = resolve();
    return existsSync(fileURLToPath(url)) ? url : undefined; // a subpath pattern resolves to files that are not there
  } catch {
    return undefined;
  }
}

function readPackage(path: string): { version: string; peerDependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(path, "utf8")) as { version: string; peerDependencies?: Record<string, string> };
}

function isExtension(candidate: unknown): candidate is Extension {
  return (
    typeof candidate === "object" && candidate !== null && "setup" in candidate && typeof candidate.setup === "function"
  );
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
  return readPackage(join(dirname(entry), "..", "package.json")).version;
}

export function messageOf(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}
