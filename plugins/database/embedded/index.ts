/** Runs PostgreSQL inside the process, for users without a server: `fullCompat({ database: embedded() })`, or `new
 *  pg.Pool({ stream: embedded().stream })`. The database is PGlite (PostgreSQL compiled to WebAssembly) in a thread;
 *  docs/guides/embedded-database.md lists its limits. */
import { existsSync } from "node:fs";
import type { Duplex } from "node:stream";
import { presetError, resolvePackage } from "../../../core/index.ts";
import { getImagesPath, listDemoScripts } from "./built-files.ts";
import { lockDataFolder } from "./data-folder.ts";
import { createBackendQueue } from "./backend-queue.ts";
import { launchThread } from "./launch-thread.ts";
import { BUILT_IMAGES } from "./images.ts";
import type { Thread } from "./launch-thread.ts";
import { createClientStream } from "./client-stream.ts";
import type { ClientStream } from "./client-stream.ts";
import type { BootParameters, ThreadRequest } from "./thread-messages.ts";

/** The options of `embedded`. */
export interface EmbeddedOptions {
  /** The data folder, which only one process may use at a time. By default, the data is in memory and
   *  lost with the process. */
  readonly dataDir?: string | undefined;
  /** The content of a fresh database: the demo (default), nothing, or the file of an image that `dump` created. A
   *  filled `dataDir` stays unchanged. */
  readonly image?: "demo" | "empty" | (string & {});
  /** Extensions to make available in addition to ltree: contrib modules of PGlite (`pg_trgm`), or `postgis` if
   *  @electric-sql/pglite-postgis is installed. */
  readonly extensions?: readonly string[];
  /** SQL that runs once, after a fresh start. The script may not contain `COPY ... FROM STDIN`. */
  readonly loadScript?: string;
  /** The time limit in seconds for statements without a `statement_timeout`; 30 by default, 0 for no limit. A longer
   *  statement restarts the database, because PGlite cannot cancel a statement. A database in memory then has the data
   *  of a fresh start. */
  readonly statementTimeout?: number;
  /** Logs slow starts and crashes; to standard error by default. */
  readonly log?: (line: string) => void;
}

/** A running embedded database. */
export interface EmbeddedDatabase {
  /** Returns a new Duplex for each client, for the `stream` option of `pg`. */
  readonly stream: () => Duplex;
  /** Resolves when the first statement can run, or rejects with the reason why the database did not start. */
  readonly ready: Promise<void>;
  /** Ends all clients and the database. With a data folder, the running statement has 5 s to end. A data folder
   *  recovers from a statement that was cut off. */
  close(): Promise<void>;
  /** Returns a gzipped tar of the current state, for `image`. Waits until no transaction is open. */
  dump(): Promise<Uint8Array>;
  /** Ends a statement that does not end by itself, together with all clients. A database in memory then has the data of
   *  a fresh start. */
  restart(): Promise<void>;
}

const CLOSE_TIMEOUT_MS = 5000;
const DEFAULT_TIMEOUT_SECONDS = 30;

/** Checks that PGlite, an optional dependency, is installed. @throws RelApiError `preset` @rule C-PKG-3 */
const requirePglite = (): void => {
  try {
    resolvePackage("@electric-sql/pglite");
  } catch {
    throw presetError(
      "the embedded database is not installed: npm install @electric-sql/pglite, or set DATABASE_URL to use a server",
    );
  }
};

/** Starts the embedded database, for the option `database` of a preset. It starts immediately; statements wait until it
 *  is ready. `api.close()` closes it. @throws Error if the data folder is in use, or the image or PGlite is missing */
export function embedded(options: EmbeddedOptions = {}): EmbeddedDatabase {
  const freshBoot = buildFreshBoot(options);
  requirePglite();
  const log = options.log ?? ((line: string): void => void process.stderr.write(`${line}\n`));
  const folder = options.dataDir === undefined ? undefined : lockDataFolder(options.dataDir);
  const limitMs = (options.statementTimeout ?? DEFAULT_TIMEOUT_SECONDS) * 1000;
  let isFresh = folder?.isFresh ?? true;
  const streams = new Set<ClientStream>();
  const queue = createBackendQueue((request: ThreadRequest) => thread.send(request));
  let clientCount = 0;
  let isClosed = false;
  let thread: Thread;

  const endClients = (reason: string): void => {
    for (const stream of streams) stream.destroy(reason);
    queue.close();
  };

  const start = (): Promise<Uint8Array> => {
    const boot: BootParameters = {
      ...(isFresh ? freshBoot : { extensions: freshBoot.extensions, scriptPaths: [] }),
      dataFolder: folder?.clusterPath,
    };
    if (isFresh && boot.image === undefined)
      log(
        "relapi: preparing the embedded database, which takes about 5 s (npm run build creates an image to start from)",
      );
    const greeting = new Promise<Uint8Array>((resolve, reject) => {
      let isReady = false;
      thread = launchThread(boot, limitMs, {
        onReady(message) {
          isReady = true;
          if (folder !== undefined && isFresh) {
            folder.markComplete();
            isFresh = false;
          }
          queue.open();
          resolve(message);
        },
        onResponse: queue.handleResponse,
        onOverrun() {
          log(
            `relapi: a statement exceeded its time limit, and the embedded database can only end it by a restart${folder ? "" : " with its initial data"}`,
          );
          queue.handleOverrun();
          relaunch("the embedded database is restarted: a statement exceeded its time limit");
        },
        onEnd(message) {
          reject(new Error(message));
          endClients(isReady ? `the embedded database has stopped: ${message}` : message);
          if (!isReady) return;
          log(
            `relapi: the embedded database stopped (${message}); restarting${folder ? "" : " with its initial data"}`,
          );
          startup = start();
        },
      });
    });
    greeting.catch(() => {}); // the caller that awaits the promise gets the error
    return greeting;
  };

  const relaunch = (reason: string): void => {
    const stopPromise = thread.stop(0);
    endClients(reason);
    startup = stopPromise.then(() => {
      if (isClosed) throw new Error("the embedded database is closed");
      return start();
    });
    startup.catch(() => {}); // the caller that awaits the promise gets the error
  };

  const sendRequest = (request: ThreadRequest): Promise<Uint8Array> =>
    new Promise((resolve) => {
      let unsent: ThreadRequest | undefined = request;
      queue.enqueue({
        nextRequest() {
          const next = unsent;
          unsent = undefined;
          return next;
        },
        onResponse: ({ bytes }) => resolve(bytes),
        onOverrun() {}, // a dump has no time limit
      });
    });

  let startup = start();
  const ready = startup.then(() => undefined);
  ready.catch(() => {}); // callers may ignore the promise
  return {
    stream() {
      clientCount += 1;
      const stream = createClientStream({
        prefix: `c${clientCount}_`,
        queue,
        greeting: () => (isClosed ? Promise.reject(new Error("the embedded database is closed")) : startup),
        onNotification(message, from) {
          for (const receiver of streams) if (receiver !== from) receiver.notify(message);
        },
        onClose: (closed) => streams.delete(closed),
      });
      streams.add(stream);
      return stream.duplex;
    },
    ready,
    dump: () => sendRequest({ kind: "dump" }),
    async restart() {
      if (isClosed) throw new Error("the embedded database is closed");
      relaunch("the embedded database is restarted");
      await startup;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      endClients("the embedded database is closed");
      await thread.stop(folder === undefined ? 0 : CLOSE_TIMEOUT_MS);
      folder?.release();
    },
  };
}

/** Returns the boot parameters of a fresh database, except the folder. @throws Error if the image is missing */
function buildFreshBoot(options: EmbeddedOptions): BootParameters {
  const image = options.image ?? "demo";
  const boot = { extensions: [...new Set(["ltree", ...(options.extensions ?? [])])], loadScript: options.loadScript };
  const builtName = BUILT_IMAGES.find((name) => name === image);
  if (builtName === undefined) {
    if (!existsSync(image)) throw new Error(`there is no database image ${image}`);
    return { ...boot, image: { path: image }, scriptPaths: [] };
  }
  const path = getImagesPath();
  if (existsSync(path)) return { ...boot, image: { path, builtName }, scriptPaths: [] };
  return { ...boot, scriptPaths: builtName === "demo" ? listDemoScripts() : [] };
}
