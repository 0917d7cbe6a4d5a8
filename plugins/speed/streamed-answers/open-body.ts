/** Passes a body from the database to the response of its client. */
import type { ServerResponse } from "node:http";
import type { BodyFrame, ValueReceiver } from "../api.ts";
import { createPlainSink, createGzipSink, type Sink } from "./sinks.ts";

interface OpenBody {
  readonly receiver: ValueReceiver;
  /** Writes the body to the response. Settles when the response has ended. */
  writeTo(response: ServerResponse, frame?: BodyFrame): Promise<void>;
}

interface OpenBodyParts {
  readonly response: ServerResponse;
  /** The longest time for which the database may wait for the client. */
  readonly patienceMs: number;
  /** Called when the client has not read everything that was written. */
  readonly onUnread: (response: ServerResponse) => void;
  /** Called once the client has received everything or has left. Undefined if the database may not wait for it. */
  readonly release: (() => void) | undefined;
  readonly resume: () => void;
  readonly discard: () => void;
}

/** Connects the receiver of a body with the response to its client. @rule R-STR-2 R-STR-3 R-STR-4 R-STR-5 */
export const openBody = ({ response, patienceMs, onUnread, release, resume, discard }: OpenBodyParts): OpenBody => {
  let mayWait = release !== undefined;
  /** The bytes that arrive before the headers are sent. */
  const earlyChunks: Buffer[] = [];
  let sink: Sink | undefined;
  let after: Buffer | undefined;
  let isComplete = false;
  let isOver = false;
  let settle = (): void => undefined;
  const stopWaiting = (): void => {
    if (mayWait) release?.();
    mayWait = false;
    sink?.disableBackpressure();
    clearTimeout(patienceTimer);
  };
  /** Another request may use the connection once the whole body has arrived. */
  const resumeBody = (): void => {
    if (!isComplete) resume();
  };
  const patienceTimer = setTimeout(() => {
    stopWaiting();
    resumeBody();
  }, patienceMs);
  patienceTimer.unref();
  const finishBody = (): void => {
    if (isOver) return;
    isOver = true;
    earlyChunks.length = 0;
    stopWaiting();
    if (!isComplete) discard();
    settle();
  };
  response.once("close", finishBody);
  const writeTo = (to: Sink, chunk: Buffer): boolean => to.write(chunk) || !mayWait;
  return {
    receiver: {
      write: (chunk) => {
        if (isOver) return true;
        if (sink !== undefined) return writeTo(sink, chunk);
        earlyChunks.push(chunk);
        return !mayWait;
      },
      end: () => {
        isComplete = true;
        stopWaiting();
        sink?.end(after);
      },
      // The client must not take the body for complete.
      fail: () => {
        if (!isComplete) response.destroy();
      },
    },
    writeTo: (to, frame) =>
      new Promise((resolve) => {
        settle = resolve;
        if (isOver) return resolve();
        const parts = { response: to, onUnread: () => onUnread(to), onDrain: resumeBody };
        sink = frame?.isZipped === true ? createGzipSink(parts) : createPlainSink(parts);
        if (!mayWait) sink.disableBackpressure();
        after = frame?.after;
        let mayContinue = frame === undefined || frame.before.length === 0 || writeTo(sink, frame.before);
        for (const chunk of earlyChunks.splice(0)) mayContinue = writeTo(sink, chunk);
        if (isComplete) sink.end(after);
        else if (mayContinue) resumeBody();
      }),
  };
};
