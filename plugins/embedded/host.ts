/** The main thread's end of the thread in which the database runs. */
import { Worker } from "node:worker_threads";
import { threadUrl } from "./assets.ts";
import type { Answer, Boot, FromThread, Request } from "./thread.ts";

/** Room for deep expressions and deep JSON. PostgreSQL's own limit (`max_stack_depth`) must come before that of the
 *  thread, which would end the database; its JSON parser keeps all it has in registers, so 3 million levels in a
 *  request body do not count for PostgreSQL, and need 400 MB here. The memory is only reserved, not used, until then.
 *  */
const stackMb = 512;
/** Of JavaScript objects, of which there are few; tables and results are not counted. */
const heapMb = 512;

export interface ThreadEvents {
  /** `greeting`: the response to a client's startup packet. */
  onReady(greeting: Uint8Array): void;
  onAnswer(answer: Answer): void;
  /** A statement runs for longer than it may. Nothing but `stop` ends it. */
  onOverrun(): void;
  /** It failed to start, or stopped unexpectedly. Called once. */
  onEnd(message: string): void;
}

export interface Thread {
  send(request: Request): void;
  /** Shuts the database down cleanly after the current request; terminates it after `waitMs`. Reports nothing from then
   *  on. */
  stop(waitMs: number): Promise<void>;
}

/** Starts a thread with a database. An idle one does not keep the process alive; one that is starting or busy does.
 *  `limitMs`: of requests for which PostgreSQL has no timeout; 0: none. */
export function launchThread(boot: Boot, limitMs: number, events: ThreadEvents): Thread {
  const worker = new Worker(threadUrl, {
    workerData: boot,
    resourceLimits: { stackSizeMb: stackMb, maxOldGenerationSizeMb: heapMb },
    execArgv: [],
  });
  let isOver = false;
  let isRunning = false;
  let limit: NodeJS.Timeout | undefined;

  const bound = (milliseconds: number): void => {
    clearTimeout(limit);
    if (!isRunning || milliseconds === 0) return;
    const own = setTimeout(() => {
      // the answer may have arrived while this thread was busy
      setImmediate(() => {
        if (isRunning && limit === own && !isOver) events.onOverrun();
      });
    }, milliseconds);
    limit = own;
  };

  const rest = (): void => {
    isRunning = false;
    clearTimeout(limit);
    limit = undefined;
  };

  const end = (message: string): void => {
    if (isOver) return;
    isOver = true;
    rest();
    events.onEnd(message);
  };

  worker.on("message", (message: FromThread) => {
    if (isOver) return;
    if (message.kind === "alarm") return bound(message.milliseconds || limitMs);
    worker.unref();
    rest();
    if (message.kind === "ready") events.onReady(message.greeting);
    else if (message.kind === "answer") events.onAnswer(message);
    else end(message.message);
  });
  worker.on("error", (error: Error) => end(error.message));
  worker.on("exit", () => end("its thread has ended"));

  return {
    send(request) {
      worker.ref();
      isRunning = request.kind === "run";
      bound(limitMs);
      worker.postMessage(request, request.kind === "run" ? [request.bytes.buffer] : []);
    },
    async stop(waitMs) {
      const wasUp = !isOver;
      isOver = true;
      rest();
      if (wasUp && waitMs > 0) {
        worker.ref();
        const ended = new Promise((resolve) => worker.once("exit", resolve));
        let timer: NodeJS.Timeout | undefined;
        const expired = new Promise((resolve) => (timer = setTimeout(resolve, waitMs)));
        worker.postMessage({ kind: "stop" } satisfies Request);
        await Promise.race([ended, expired]);
        clearTimeout(timer);
      }
      await worker.terminate();
    },
  };
}
