/** Creates PGlite instances, with extensions, start parameters and scripts. Used by the thread and by the build. */
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PGlite } from "@electric-sql/pglite";
import type { Extension } from "@electric-sql/pglite";

/** One megabyte per WAL segment and few retained segments shrink the image from 40 to 13 MB, and reduce the memory
 *  usage. */
export const INITDB_PARAMETERS = ["--wal-segsize=1", "-c", "max_wal_size=16MB", "-c", "min_wal_size=2MB"];

/** `max_stack_depth` is lower than the stack of the thread, so that a deep expression ends in PostgreSQL's own error
 *  (see `STACK_MB` in launch-thread.ts). */
const START_PARAMETERS = [...PGlite.defaultStartParams, "-c", "shared_buffers=16MB", "-c", "max_stack_depth=1MB"];

interface ClusterOptions {
  readonly dataFolder?: string;
  /** The tar of the initial cluster. */
  readonly tar?: Uint8Array<ArrayBuffer>;
  /** The compiled PostgreSQL. By default PGlite compiles it. */
  readonly engine?: WebAssembly.Module;
  readonly extensions: readonly string[];
  /** Server settings for this run, such as `work_mem=1MB`. */
  readonly settings?: readonly string[];
  readonly statementTimer?: StatementTimer;
}

/** Starts PGlite from its folder, from an image, or (slowly) from scratch. @throws Error with the last messages of
 *  PostgreSQL */
export async function openCluster(options: ClusterOptions): Promise<PGlite> {
  const extensions = Object.fromEntries(
    await Promise.all(options.extensions.map(async (name) => [name, await loadExtension(name)] as const)),
  );
  const lastStderrLines: string[] = [];
  try {
    return await PGlite.create({
      ...(options.dataFolder === undefined ? {} : { dataDir: options.dataFolder }),
      ...(options.tar === undefined ? {} : { loadDataDir: new Blob([options.tar]) }),
      ...(options.engine === undefined ? {} : { pgliteWasmModule: options.engine }),
      extensions: {
        loadOnDemand,
        ...(options.statementTimer === undefined ? {} : { statementTimer: options.statementTimer.extension }),
        ...extensions,
      },
      startParams: [...START_PARAMETERS, ...(options.settings ?? []).flatMap((setting) => ["-c", setting])],
      initDbStartParams: INITDB_PARAMETERS,
      onStderr: (line) => {
        lastStderrLines.push(line);
        if (lastStderrLines.length > 5) lastStderrLines.shift();
        return false; // keeps the output of PostgreSQL off the console
      },
    });
  } catch (error) {
    throw new Error(["the embedded database did not start", getErrorMessage(error), ...lastStderrLines].join("\n  "), {
      cause: error,
    });
  }
}

/** The types of Node 20 lack this global object. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: { compile(bytes: Uint8Array): Promise<WebAssembly.Module> };
};

/** Compiles PostgreSQL. Another thread can use the result, which shortens its start by half. */
export const compileEngine = (): Promise<WebAssembly.Module> =>
  webAssembly.compile(readFileSync(fileURLToPath(import.meta.resolve("@electric-sql/pglite/pglite.wasm"))));

/** Links the libraries of extensions at their first use. PGlite links all libraries in parallel while it starts. If two
 *  libraries interfere, a later call ends the engine with "null function or function signature mismatch". That happens
 *  in one start of ten with two extensions, and in nearly all with six. PostgreSQL itself links one library after the
 *  other. */
const loadOnDemand: Extension = {
  name: "load-on-demand",
  setup: async (_pg, emscriptenOptions: { preRun: ((engine: PgliteEngine) => void)[] }) => {
    const keepFile = ({ FS }: PgliteEngine): void => {
      FS.createPreloadedFile = (folder, name, content, _canRead, _canWrite, onLoad) => {
        FS.writeFile(`${folder}/${name}`, content);
        onLoad();
      };
    };
    return { emscriptenOpts: { ...emscriptenOptions, preRun: [...emscriptenOptions.preRun, keepFile] } };
  },
};

/** The only timer of the engine, which `statement_timeout` sets. */
interface StatementTimer {
  readonly extension: Extension;
  /** Makes PostgreSQL discard the timer of a finished statement, because PostgreSQL sets no other timer before. Called
   *  between two groups of messages. */
  discardExpired(): void;
}

/** Creates the timer. `onChange` is called when PostgreSQL sets its timer; 0 stops the timer. The call may come while a
 *  statement runs, which only the end of the thread can interrupt. */
export function createStatementTimer(onChange: (milliseconds: number) => void): StatementTimer {
  let setMs = 0;
  let reportedMs = 0;
  let clockOffsetMs = 0;
  let isSettling = false;
  let raiseTimeout: ((timer: number, nowMs: number) => void) | undefined;

  const reportTimer = (): void => {
    if (reportedMs !== setMs) onChange(setMs);
    reportedMs = setMs;
  };

  /** Acts like a signal. PostgreSQL handles the timeouts that have passed, and sets its timer for the next one. */
  const wake = (at: number): void => {
    if (setMs === 0) return;
    clockOffsetMs = at;
    raiseTimeout?.(0, performance.now());
    clockOffsetMs = 0;
  };

  return {
    extension: {
      name: "statement-timer",
      setup: async (_pg, emscriptenOptions: { instantiateWasm: Instantiate }) => {
        const instantiateWasm: Instantiate = (imports, callback) => {
          const { env } = imports;
          if (env !== undefined && "_setitimer_js" in env && "emscripten_date_now" in env) {
            env["_setitimer_js"] = (_timer: number, milliseconds: number): number => {
              setMs = milliseconds;
              if (!isSettling) reportTimer();
              return 0;
            };
            env["emscripten_date_now"] = () => Date.now() + clockOffsetMs;
          }
          return emscriptenOptions.instantiateWasm(imports, (instance, module) => {
            raiseTimeout = instance.exports["_emscripten_timeout"] as typeof raiseTimeout;
            callback(instance, module);
          });
        };
        return { emscriptenOpts: { ...emscriptenOptions, instantiateWasm } };
      },
    },
    discardExpired() {
      if (setMs === 0) return;
      isSettling = true;
      wake(0); // the timeout of a statement has ended with the statement
      wake(setMs + 1); // the remaining timer belongs to the statistics that PostgreSQL collects while it is idle
      wake(0);
      isSettling = false;
      reportTimer();
    },
  };
}

type Instantiate = (
  imports: Record<string, Record<string, unknown> | undefined>,
  callback: (instance: { readonly exports: Record<string, unknown> }, module: unknown) => void,
) => unknown;

interface PgliteEngine {
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

/** Finds the extension in PGlite itself or in a separate package, such as `@electric-sql/pglite-postgis`. */
async function loadExtension(name: string): Promise<Extension> {
  if (!/^[a-z][a-z0-9_-]*$/.test(name)) throw new Error(`"${name}" is not an extension name`);
  const packageName = `@electric-sql/pglite-${name}`;
  const url =
    tryResolve(() => import.meta.resolve(`@electric-sql/pglite/contrib/${name.replaceAll("-", "_")}`)) ??
    tryResolve(() => import.meta.resolve(packageName)) ??
    // This is the user's own installation, if this package cannot resolve it.
    tryResolve(() => pathToFileURL(createRequire(join(process.cwd(), "package.json")).resolve(packageName)).href);
  if (url === undefined) {
    throw new Error(
      `extension "${name}" is not part of PGlite: install ${packageName}, in the release made for @electric-sql/pglite ${readPgliteVersion()}`,
    );
  }
  if (url.includes(packageName)) checkPgliteVersion(packageName, dirname(fileURLToPath(url)));
  const exportedValues = Object.values((await import(url)) as Record<string, unknown>);
  const extension = exportedValues.find(isExtension);
  if (extension === undefined) throw new Error(`${url} does not contain an extension for PGlite`);
  return extension;
}

/** Rejects an extension that was compiled for another release of PGlite, because it would fail later with unhelpful
 *  messages. @throws Error */
function checkPgliteVersion(packageName: string, folder: string): void {
  const path = join(folder.slice(0, folder.lastIndexOf(packageName)), packageName, "package.json");
  const { version, peerDependencies } = readPackage(path);
  const requiredVersion = peerDependencies?.["@electric-sql/pglite"];
  const installedVersion = readPgliteVersion();
  if (requiredVersion === undefined || !/^\d+\.\d+\.\d+$/.test(requiredVersion) || requiredVersion === installedVersion)
    return;
  throw new Error(
    `${packageName} ${version} is made for @electric-sql/pglite ${requiredVersion}, but ${installedVersion} is installed: npm install @electric-sql/pglite@${requiredVersion}`,
  );
}

/** Returns a file URL, or undefined if the module does not exist. */
function tryResolve(resolve: () => string): string | undefined {
  try {
    const url = resolve();
    return existsSync(fileURLToPath(url)) ? url : undefined; // a subpath pattern also resolves to missing files
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

/** Runs SQL files in order. @throws Error that names the file */
export async function runScripts(pg: PGlite, paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    try {
      await pg.exec(readFileSync(path, "utf8"));
    } catch (error) {
      throw new Error(`${path}: ${getErrorMessage(error)}`, { cause: error });
    }
  }
}

/** Writes the current cluster as a plain tar. No transaction may be open. */
export async function dumpCluster(pg: PGlite): Promise<Uint8Array> {
  await pg.exec("checkpoint"); // a start from the image then has nothing to redo
  const tar = await pg.dumpDataDir("none");
  return new Uint8Array(await tar.arrayBuffer());
}

/** Returns the version of the installed PGlite. */
export function readPgliteVersion(): string {
  const entry = fileURLToPath(import.meta.resolve("@electric-sql/pglite"));
  return readPackage(join(dirname(entry), "..", "package.json")).version;
}

export function getErrorMessage(error: unknown): string {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : String(error);
}
