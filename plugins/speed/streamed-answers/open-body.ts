/** A body on its way from the database to a client. */
import type { ServerResponse } from "node:http";
import type { BodyFrame, ValueTaker } from "../api.ts";
import { plainSink, zippedSink, type Sink } from "./sinks.ts";

export interface OpenBody {
  readonly bytes: number;
  readonly reader: ValueTaker;
  /** Settles when the response is over. */
  writeTo(response: ServerResponse, around?: BodyFrame): Promise<void>;
}

export interface OpenParts {
  readonly response: ServerResponse;
  readonly bytes: number;
  /** How long the database may be kept waiting. */
  readonly patienceMs: number;
  /** Hears that the client has not read all that was written. */
  readonly unread: (response: ServerResponse) => void;
  /** Called once the client has received everything or has left. Undefined if the database may not wait for it. */
  readonly release: (() => void) | undefined;
  readonly resume: () => void;
  readonly drop: () => void;
}

/** @rule R-STR-2 R-STR-3 R-STR-4 R-STR-5 */
export const openBody = ({ response, bytes, patienceMs, unread, release, resume, drop }: OpenParts): OpenBody => {
  let mayWait = release !== undefined;
  /** The bytes that arrive before the headers are sent. */
  const early: Buffer[] = [];
  let sink: Sink | undefined;
  let after: Buffer | undefined;
  let isComplete = false;
  let isOver = false;
  let settle = (): void => undefined;
  const cancelWait = (): void => {
    if (mayWait) release?.();
    mayWait = false;
    sink?.takeAll();
    clearTimeout(patience);
  };
  /** Another request may use the connection once the whole body has arrived. */
  const resumeBody = (): void => {
    if (!isComplete) resume();
  };
  const patience = setTimeout(() => {
    cancelWait();
    resumeBody();
  }, patienceMs);
  patience.unref();
  const finishBody = (): void => {
    if (isOver) return;
    isOver = true;
    early.length = 0;
    cancelWait();
    if (!isComplete) drop();
    settle();
  };
  response.once("close", finishBody);
  const writeTo = (to: Sink, chunk: Buffer): boolean => to.write(chunk) || !mayWait;
  return {
    bytes,
    reader: {
      write: (chunk) => {
        if (isOver) return true;
        if (sink !== undefined) return writeTo(sink, chunk);
        early.push(chunk);
        return !mayWait;
      },
      end: () => {
        isComplete = true;
        cancelWait();
        sink?.end(after);
      },
      // a client must not take it for complete
      fail: () => {
        if (!isComplete) response.destroy();
      },
    },
    writeTo: (to, around) =>
      new Promise((resolve) => {
        settle = resolve;
        if (isOver) return resolve();
        const parts = { response: to, unread: () => unread(to), hasRoom: resumeBody };
        sink = around?.isZipped === true ? zippedSink(parts) : plainSink(parts);
        if (!mayWait) sink.takeAll();
        after = around?.after;
        let isRoom = around === undefined || around.before.length === 0 || writeTo(sink, around.before);
        for (const chunk of early.splice(0)) isRoom = writeTo(sink, chunk);
        if (isComplete) sink.end(after);
        else if (isRoom) resumeBody();
      }),
  };
};
