/** Creates the streams that replace the sockets of `pg` clients. */
import { Duplex } from "node:stream";
import { createMessageReader, encodeError, readOpening } from "./client-messages.ts";
import type { BackendQueue, BackendClient } from "./backend-queue.ts";

const QUERY_CANCELED = "57014";

export interface ClientStream {
  readonly duplex: Duplex;
  /** Delivers a NotificationResponse caused by another client's statement. */
  notify(message: Uint8Array): void;
  /** Called when the database shuts down. A client that was disconnecting anyway gets no error. */
  destroy(reason: string): void;
}

interface ClientStreamOptions {
  /** The prefix of the client's statement names. The prefix is unique among the clients of a database. */
  readonly prefix: string;
  readonly queue: BackendQueue;
  /** Resolves with the response to a startup packet, once the database is ready. */
  readonly greeting: () => Promise<Uint8Array>;
  /** Called when a response to this client contained a notification, which all clients receive. */
  readonly onNotification: (message: Uint8Array, from: ClientStream) => void;
  readonly onClose: (stream: ClientStream) => void;
}

/** Creates one client's connection to the backend. The client does not queue before it has sent a request. */
export function createClientStream(options: ClientStreamOptions): ClientStream {
  const { queue } = options;
  const reader = createMessageReader(options.prefix);
  let startupBytes: Uint8Array | undefined = new Uint8Array(0); // the bytes of an incomplete startup packet
  let isGreeted = false;
  let isClosed = false;
  let isAwaitingResponse = false;
  let isEnding = false; // the client has sent Terminate or closed its side
  let isEnded = false; // the client gets no more responses
  let isOverrun = false;
  let hasSent = false;
  let isInTransaction = false;

  const client: BackendClient = {
    nextRequest() {
      const batch = isClosed ? takeCleanup() : reader.take();
      if (batch === undefined) return undefined;
      isAwaitingResponse = true;
      return { kind: "run", ...batch };
    },
    onResponse(response) {
      isAwaitingResponse = false;
      isInTransaction = !response.isIdle;
      for (const message of response.notifications) options.onNotification(message, stream);
      if (isClosed) return;
      duplex.push(Buffer.from(response.bytes.buffer));
      endAfterLastResponse();
    },
    onOverrun() {
      if (isClosed || isEnded) return;
      isEnded = true;
      isOverrun = true;
      duplex.once("end", () => duplex.destroy());
      duplex.push(encodeError(QUERY_CANCELED, "canceling statement due to statement timeout"));
      duplex.push(null);
    },
  };

  const takeCleanup = () => {
    if (!hasSent) return undefined;
    hasSent = false;
    return reader.buildCleanup(isInTransaction);
  };

  const endAfterLastResponse = (): void => {
    if (!isEnding || isEnded || isAwaitingResponse || reader.hasGroups) return;
    isEnded = true;
    duplex.push(null);
  };

  const open = (chunk: Uint8Array): void => {
    startupBytes =
      startupBytes === undefined || startupBytes.length === 0 ? chunk : Buffer.concat([startupBytes, chunk]);
    const packet = readOpening(startupBytes);
    if (packet === undefined) return;
    const followingBytes = startupBytes.subarray(packet.bytes);
    if (packet.kind === "encryption") {
      startupBytes = new Uint8Array(0);
      duplex.push("N"); // no encryption within a process
      if (followingBytes.length > 0) open(followingBytes);
      return;
    }
    startupBytes = undefined;
    if (packet.kind === "cancel") {
      isEnding = true; // a running statement cannot be interrupted
      endAfterLastResponse();
      return;
    }
    options.greeting().then(
      (greeting) => {
        if (isClosed || isEnded) return;
        isGreeted = true;
        duplex.push(Buffer.from(greeting));
      },
      (error: Error) => duplex.destroy(error),
    );
    if (followingBytes.length > 0) receiveBytes(followingBytes);
  };

  const receiveBytes = (chunk: Uint8Array): void => {
    reader.write(chunk);
    if (reader.hasGroups) {
      hasSent = true;
      queue.enqueue(client);
    }
    isEnding ||= reader.isTerminated;
    endAfterLastResponse();
  };

  const receive = (chunk: Uint8Array, callback: (error?: Error | null) => void): void => {
    try {
      if (startupBytes === undefined) receiveBytes(chunk);
      else open(chunk);
      callback();
    } catch (error) {
      callback(error as Error);
    }
  };

  const duplex = new Duplex({
    read() {}, // responses are pushed as they arrive
    write: (chunk: Uint8Array, _encoding, callback) => receive(chunk, callback),
    writev: (chunks, callback) => receive(Buffer.concat(chunks.map(({ chunk }) => chunk as Uint8Array)), callback),
    final(callback) {
      isEnding = true;
      endAfterLastResponse();
      callback();
    },
    destroy(error, callback) {
      isClosed = true;
      options.onClose(stream);
      // All clients share the backend, so the state that this client left is cleared in a separate turn.
      if (hasSent) queue.enqueue(client);
      callback(error);
    },
  });

  // These methods belong to a socket. A Duplex does not have them, but pg calls them.
  Object.assign(duplex, {
    connect: () => {
      process.nextTick(() => duplex.emit("connect"));
      return duplex;
    },
    setNoDelay: () => duplex,
    setKeepAlive: () => duplex,
    ref: () => duplex,
    unref: () => duplex,
  });

  const stream: ClientStream = {
    duplex,
    notify(message) {
      if (isGreeted && !isClosed && !isEnded) duplex.push(Buffer.from(message));
    },
    destroy(reason) {
      if (isOverrun) return; // the stream closes when the client has read the error
      duplex.destroy(isEnding ? undefined : new Error(reason));
    },
  };
  return stream;
}
