/** Starts the database thread, sends requests to it, and limits the time of each request. */
import { Worker } from "node:worker_threads";
import { getThreadUrl } from "./built-files.ts";
import type { ThreadResponse, BootParameters, ThreadMessage, ThreadRequest } from "./thread-messages.ts";

/** The stack for deep expressions and deep JSON. PostgreSQL's own limit (`max_stack_depth`) must apply first, because
 *  exceeding the stack of the thread ends the database. PostgreSQL's JSON parser keeps its state in registers, so its
 *  limit does not count 3 million levels of JSON, which need 400 MB here. The memory is only reserved until it is
 *  used. */
const STACK_MB = 512;
/** The limit of JavaScript's heap, which contains neither tables nor results. */
const HEAP_MB = 512;

interface ThreadEvents {
  /** `greeting` is the response to a client's startup packet. */
  onReady(greeting: Uint8Array): void;
  onResponse(response: ThreadResponse): void;
  /** Called when a statement exceeds its time limit. Only `stop` ends the statement. */
  onOverrun(): void;
  /** Called once when the database failed to start, or stopped unexpectedly. */
  onEnd(message: string): void;
}

export interface Thread {
  send(request: ThreadRequest): void;
  /** Shuts the database down cleanly after the current request, or terminates it after `waitMs`. No events are reported
   *  from then on. */
  stop(waitMs: number): Promise<void>;
}

/** PostgreSQL as the first thread of the process has compiled it, which halves the start time of later threads. */
let compiledEngine: WebAssembly.Module | undefined;

/** The built images that threads have decompressed. The file of these images never changes. */
const tars = new Map<string, SharedArrayBuffer>();

/** Starts a thread with a database. The thread keeps the process alive while it is starting or busy, but not while it
 *  is idle. `limitMs` applies to requests without a timeout in PostgreSQL; 0 means no limit. */
export function launchThread(boot: BootParameters, limitMs: number, events: ThreadEvents): Thread {
  const builtImage = boot.image?.builtName;
  const worker = new Worker(getThreadUrl(), {
    workerData: {
      ...boot,
      engine: compiledEngine,
      tar: builtImage === undefined ? undefined : tars.get(builtImage),
    } satisfies BootParameters,
    resourceLimits: { stackSizeMb: STACK_MB, maxOldGenerationSizeMb: HEAP_MB },
    execArgv: [],
  });
  let isOver = false;
  let isRunning = false;
  let limit: NodeJS.Timeout | undefined;

  const startTimer = (milliseconds: number): void => {
    clearTimeout(limit);
    if (!isRunning || milliseconds === 0) return;
    const timer = setTimeout(() => {
      // The response may have arrived while this thread was busy.
      setImmediate(() => {
        if (isRunning && limit === timer && !isOver) events.onOverrun();
      });
    }, milliseconds);
    limit = timer;
  };

  const stopTimer = (): void => {
    isRunning = false;
    clearTimeout(limit);
    limit = undefined;
  };

  const end = (message: string): void => {
    if (isOver) return;
    isOver = true;
    stopTimer();
    events.onEnd(message);
  };

  worker.on("message", (message: ThreadMessage) => {
    if (isOver) return;
    if (message.kind === "timer") return startTimer(message.milliseconds || limitMs);
    worker.unref();
    stopTimer();
    if (message.kind === "ready") {
      compiledEngine = message.engine;
      if (builtImage !== undefined && message.tar !== undefined) tars.set(builtImage, message.tar);
      events.onReady(message.greeting);
    } else if (message.kind === "response") events.onResponse(message);
    else end(message.message);
  });
  worker.on("error", (error: Error) => end(error.message));
  worker.on("exit", () => end("its thread has ended"));

  return {
    send(request) {
      worker.ref();
      isRunning = request.kind === "run";
      startTimer(limitMs);
      worker.postMessage(request, request.kind === "run" ? [request.bytes.buffer] : []);
    },
    async stop(waitMs) {
      const wasRunning = !isOver;
      isOver = true;
      stopTimer();
      if (wasRunning && waitMs > 0) {
        worker.ref();
        const exitPromise = new Promise((resolve) => worker.once("exit", resolve));
        let timer: NodeJS.Timeout | undefined;
        const timeoutPromise = new Promise((resolve) => (timer = setTimeout(resolve, waitMs)));
        worker.postMessage({ kind: "stop" } satisfies ThreadRequest);
        await Promise.race([exitPromise, timeoutPromise]);
        clearTimeout(timer);
      }
      await worker.terminate();
    },
  };
}
