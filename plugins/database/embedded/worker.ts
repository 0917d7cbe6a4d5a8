/** Runs the embedded database in a thread, so that a long statement does not block other responses of the process. */
import { parentPort, workerData } from "node:worker_threads";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { PGlite } from "@electric-sql/pglite";
import { IDLE_STATUS, correctResponse } from "./backend-messages.ts";
import {
  compileEngine,
  createStatementTimer,
  dumpCluster,
  getErrorMessage,
  openCluster,
  runScripts,
} from "./pglite.ts";
import { readImage } from "./images.ts";
import { buildQuery, STARTUP_PACKET } from "./client-messages.ts";
import type { Batch } from "./client-messages.ts";
import type { ThreadResponse, BootParameters, ThreadMessage, ThreadRequest } from "./thread-messages.ts";

/** The size of the output buffer. A larger buffer is released after its response. */
const INITIAL_BUFFER_BYTES = 1024 * 1024;

/** The number of WAL segments, of 1 MB each, that causes a checkpoint. A checkpoint leaves about 20. */
const MAX_WAL_SEGMENTS = 48;

if (parentPort === null) throw new Error("worker.ts must run in a worker thread");
const port = parentPort;

const post = (message: ThreadMessage, transfer: readonly ArrayBuffer[] = []): void =>
  port.postMessage(message, transfer);

/** Ends the thread after an error, because the behaviour of PostgreSQL is undefined from then on. */
function exitWithError(message: string): never {
  post({ kind: "died", message });
  process.exit(1);
}

/** Collects the backend's output in one reused buffer. `onGroupEnd` is called after each group. */
function createBackend(pg: PGlite, onGroupEnd: () => void) {
  let buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
  let usedBytes = 0;
  const onRawData = (chunk: Uint8Array): void => {
    if (usedBytes + chunk.length > buffer.length) {
      const larger = new Uint8Array(Math.max(buffer.length * 2, usedBytes + chunk.length));
      larger.set(buffer.subarray(0, usedBytes));
      buffer = larger;
    }
    buffer.set(chunk, usedBytes);
    usedBytes += chunk.length;
  };
  const exchange = async (bytes: Uint8Array): Promise<void> => {
    try {
      await pg.execProtocolRawStream(bytes, { syncToFs: false, onRawData });
    } catch (error) {
      exitWithError(getErrorMessage(error));
    }
  };

  /** Runs group by group, because PGlite would assign errors to the wrong group in one call for several. */
  const run = async ({ bytes, groups }: Batch): Promise<ThreadResponse> => {
    const notifications: Uint8Array[] = [];
    let start = 0;
    let isIdle = false;
    usedBytes = 0;
    for (const group of groups) {
      const responseStart = usedBytes;
      await exchange(bytes.subarray(start, group.end));
      onGroupEnd();
      start = group.end;
      const response = correctResponse(buffer, responseStart, usedBytes, group.isSynced);
      usedBytes = response.end;
      notifications.push(...response.notifications);
      if (group.isSynced && response.status === undefined)
        exitWithError("PostgreSQL did not respond to a group of messages");
      isIdle = group.isSynced && response.status === IDLE_STATUS;
    }
    const responseBytes = buffer.slice(0, usedBytes);
    if (buffer.length > INITIAL_BUFFER_BYTES) buffer = new Uint8Array(INITIAL_BUFFER_BYTES);
    return { kind: "response", bytes: responseBytes, isIdle, notifications };
  };

  const greet = async (): Promise<Uint8Array> => {
    usedBytes = 0;
    await exchange(STARTUP_PACKET);
    onGroupEnd();
    return buffer.slice(0, usedBytes);
  };

  return { run, greet };
}

/** Ends the thread on a fatal error. PGlite swallows every exception of the engine and calls the engine again, even
 *  after PostgreSQL has exited. The result would be an endless loop that consumes memory. */
function exitOnFatalErrors(pg: PGlite): void {
  const engine = pg.Module as unknown as { _PostgresMainLoopOnce?: () => void };
  const step = engine._PostgresMainLoopOnce;
  if (step === undefined) return;
  engine._PostgresMainLoopOnce = () => {
    try {
      step();
    } catch (error) {
      if (isFatal(error)) exitWithError(getErrorMessage(error));
      throw error;
    }
  };
}

/** Returns whether PostgreSQL cannot continue after the error. An ordinary SQL error leaves the engine as the text
 *  "unwind" or as exit status 100, depending on the release. A trap or a stack overflow is an Error. */
function isFatal(error: unknown): boolean {
  if (error instanceof Error) return true;
  const { name, status } = error as { name?: unknown; status?: unknown };
  return name === "ExitStatus" && status !== 100;
}

/** Returns the folder of the WAL within the file system of PGlite. */
async function findWalFolder(pg: PGlite): Promise<string> {
  const { rows } = await pg.query<{ folder: string }>(
    "select current_setting('data_directory') || '/pg_wal' as folder",
  );
  const [row] = rows;
  if (row === undefined) throw new Error("PostgreSQL did not name its data folder");
  return row.folder;
}

/** Copies bytes to memory that all threads can read. */
function copyToSharedMemory(bytes: Uint8Array): SharedArrayBuffer {
  const memory = new SharedArrayBuffer(bytes.length);
  new Uint8Array(memory).set(bytes);
  return memory;
}

async function serve(boot: BootParameters): Promise<void> {
  const statementTimer = createStatementTimer((milliseconds) => post({ kind: "timer", milliseconds }));
  const engine = boot.engine ?? (await compileEngine());
  const { tar: decompressedTar, ...options } = boot;
  const sharedTar = decompressedTar ?? (boot.image && copyToSharedMemory(readImage(boot.image)));
  const tar = sharedTar && new Uint8Array(sharedTar).slice(); // a blob does not accept shared memory
  const pg = await openCluster({ ...options, engine, statementTimer, ...(tar && { tar }) });
  await runScripts(pg, boot.scriptPaths);
  if (boot.loadScript !== undefined) await pg.exec(boot.loadScript);
  exitOnFatalErrors(pg);
  const backend = createBackend(pg, statementTimer.discardExpired);
  const walFolder = await findWalFolder(pg);
  const checkpointBatch = buildQuery("checkpoint");

  /** PGlite has no checkpointer process, so the WAL would grow forever without this check. */
  const limitWal = async (): Promise<void> => {
    if (pg.Module.FS.readdir(walFolder).length > MAX_WAL_SEGMENTS) await backend.run(checkpointBatch);
  };

  const handleRequest = async (request: ThreadRequest): Promise<void> => {
    if (request.kind === "dump") {
      const bytes = new Uint8Array(await promisify(gzip)(await dumpCluster(pg)));
      post({ kind: "response", bytes, isIdle: true, notifications: [] }, [bytes.buffer]);
      return;
    }
    if (request.kind === "stop") {
      await pg.close();
      process.exit(0);
    }
    const response = await backend.run(request);
    post(response, [response.bytes.buffer]);
    if (response.isIdle) await limitWal();
  };

  const greeting = await backend.greet();
  // Requests arrive one at a time, but a checkpoint may still run when the next one arrives.
  let last: Promise<void> = Promise.resolve();
  port.on("message", (request: ThreadRequest) => {
    last = last.then(() => handleRequest(request)).catch((error: unknown) => exitWithError(getErrorMessage(error)));
  });
  post({ kind: "ready", greeting, engine, tar: boot.image?.builtName === undefined ? undefined : sharedTar });
}

serve(workerData as BootParameters).catch((error: unknown) => {
  post({ kind: "failed", message: getErrorMessage(error) });
  process.exit(1);
});
