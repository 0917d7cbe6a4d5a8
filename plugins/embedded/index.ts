/** A PostgreSQL inside the process, for those who do not have a server:
 *  `new pg.Pool({ stream: startEmbeddedDatabase().stream })`. It is PGlite (PostgreSQL compiled to WebAssembly) in a
 *  thread; docs/guides/embedded-database.md says what it is not for. */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import type { Duplex } from "node:stream";
import { presetError } from "../../core/index.ts";
import { demoScripts, imagePath } from "./assets.ts";
import { takeDataFolder } from "./folder.ts";
import { createGate } from "./gate.ts";
import { launchThread } from "./host.ts";
import type { Thread } from "./host.ts";
import { createClientStream } from "./stream.ts";
import type { ClientStream } from "./stream.ts";
import type { Boot, Request } from "./thread.ts";

export interface EmbeddedOptions {
  /** Folder that keeps the data; absent: in memory, gone with the process. One process at a time. */
  readonly dataDir?: string | undefined;
  /** What a fresh database holds: the demo (default), nothing, or the file of an image that `dump` made. A filled
   *  `dataDir` stays as it is. */
  readonly image?: "demo" | "empty" | (string & {});
  /** Extensions to make available beside ltree: contrib modules of PGlite (`pg_trgm`), or `postgis` where
   *  @electric-sql/pglite-postgis is installed. */
  readonly extensions?: readonly string[];
  /** SQL run once, after a fresh start. No `COPY ... FROM STDIN`. */
  readonly loadScript?: string;
  /** Seconds for statements that no `statement_timeout` limits; 30 by default, 0: no limit. Beyond it the database starts
   *  again, since PGlite cannot cancel a statement: in memory with the data of a fresh start. */
  readonly statementTimeout?: number;
  /** Takes the few lines there are to say about slow starts and crashes; absent: standard error. */
  readonly log?: (line: string) => void;
}

export interface EmbeddedDatabase {
  /** For the `stream` option of `pg`: a fresh Duplex per client. */
  readonly stream: () => Duplex;
  /** Settles when the first statement can run; rejects with the reason why the database did not start. */
  readonly ready: Promise<void>;
  /** Ends all clients and the database. A statement that does not end within 5 s is cut off; a data folder recovers
   *  from that. */
  close(): Promise<void>;
  /** gzipped tar of the current state, for `image`. Waits until no transaction is open. */
  dump(): Promise<Uint8Array>;
  /** Ends a statement that does not end by itself, and all clients with it. In memory the data is again that of a fresh
   *  start. */
  restart(): Promise<void>;
}

const closeMs = 5000;
const usualTimeoutSeconds = 30;

/** It is an optional dependency. @rule C-PKG-3 */
const demandPglite = (): void => {
  try {
    createRequire(import.meta.url).resolve("@electric-sql/pglite");
  } catch {
    throw presetError(
      "the embedded database is not installed: npm install @electric-sql/pglite, or set DATABASE_URL to use a server",
    );
  }
};

/** Starts the database at once; statements wait until it is up. @throws Error if the data folder is in use, or the
 *  image or PGlite is missing */
export function startEmbeddedDatabase(options: EmbeddedOptions = {}): EmbeddedDatabase {
  demandPglite();
  const log = options.log ?? ((line: string): void => void process.stderr.write(`${line}\n`));
  const freshBoot = buildFreshBoot(options);
  const folder = options.dataDir === undefined ? undefined : takeDataFolder(options.dataDir);
  const limitMs = (options.statementTimeout ?? usualTimeoutSeconds) * 1000;
  let isFresh = folder?.isFresh ?? true;
  const streams = new Set<ClientStream>();
  const gate = createGate((request: Request) => thread.send(request));
  let clientCount = 0;
  let isClosed = false;
  let thread: Thread;

  const endClients = (reason: string): void => {
    for (const stream of streams) stream.cutOff(reason);
    gate.close();
  };

  const start = (): Promise<Uint8Array> => {
    const boot: Boot = {
      ...(isFresh ? freshBoot : { extensions: freshBoot.extensions, scriptPaths: [] }),
      dataFolder: folder?.clusterPath,
    };
    if (isFresh && boot.imagePath === undefined)
      log(
        "relapi: preparing the embedded database, which takes about 5 s (npm run build creates an image to start from)",
      );
    const greeting = new Promise<Uint8Array>((resolve, reject) => {
      let isUp = false;
      thread = launchThread(boot, limitMs, {
        onReady(message) {
          isUp = true;
          if (folder !== undefined && isFresh) {
            folder.markFilled();
            isFresh = false;
          }
          gate.open();
          resolve(message);
        },
        onAnswer: gate.answer,
        onOverrun() {
          log(
            `relapi: a statement exceeded its time limit, and the embedded database can only end it by a restart${folder ? "" : " with its initial data"}`,
          );
          gate.overrun();
          relaunch("the embedded database is restarted: a statement exceeded its time limit");
        },
        onEnd(message) {
          reject(new Error(message));
          endClients(isUp ? `the embedded database has stopped: ${message}` : message);
          if (!isUp) return;
          log(
            `relapi: the embedded database stopped (${message}); restarting${folder ? "" : " with its initial data"}`,
          );
          up = start();
        },
      });
    });
    greeting.catch(() => {}); // the waiting caller gets the error
    return greeting;
  };

  const relaunch = (reason: string): void => {
    const ended = thread.stop(0);
    endClients(reason);
    up = ended.then(() => {
      if (isClosed) throw new Error("the embedded database is closed");
      return start();
    });
    up.catch(() => {}); // the waiting caller gets the error
  };

  const ask = (request: Request): Promise<Uint8Array> =>
    new Promise((resolve) => {
      let unsaid: Request | undefined = request;
      gate.enter({
        nextRequest() {
          const next = unsaid;
          unsaid = undefined;
          return next;
        },
        onAnswer: ({ bytes }) => resolve(bytes),
        onOverrun() {}, // it has no limit
      });
    });

  let up = start();
  const ready = up.then(() => undefined);
  ready.catch(() => {}); // a caller need not look at it
  return {
    stream() {
      clientCount += 1;
      const stream = createClientStream({
        prefix: `c${clientCount}_`,
        gate,
        greeting: () => (isClosed ? Promise.reject(new Error("the embedded database is closed")) : up),
        onNotification(message, from) {
          for (const other of streams) if (other !== from) other.notify(message);
        },
        onClose: (closed) => streams.delete(closed),
      });
      streams.add(stream);
      return stream.duplex;
    },
    ready,
    dump: () => ask({ kind: "dump" }),
    async restart() {
      if (isClosed) throw new Error("the embedded database is closed");
      relaunch("the embedded database is restarted");
      await up;
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      endClients("the embedded database is closed");
      await thread.stop(folder === undefined ? 0 : closeMs);
      folder?.release();
    },
  };
}

/** How a fresh database comes to life. The folder is not part of it. @throws Error if the image is missing */
function buildFreshBoot(options: EmbeddedOptions): Boot {
  const image = options.image ?? "demo";
  const isBuiltIn = (name: string): name is "demo" | "empty" => name === "demo" || name === "empty";
  const path = isBuiltIn(image) ? imagePath(image) : image;
  const boot = { extensions: [...new Set(["ltree", ...(options.extensions ?? [])])], loadScript: options.loadScript };
  if (existsSync(path)) return { ...boot, imagePath: path, scriptPaths: [] };
  if (!isBuiltIn(image)) throw new Error(`there is no database image ${path}`);
  return { ...boot, scriptPaths: image === "demo" ? demoScripts() : [] };
}
