/** Queues the messages of a socket or a streamed response. Other answers are sent immediately. Results of live
 *  queries wait while the client is slow, and only the newest result of each is stored. */
import type { OutgoingMessage } from "node:http";
import type { Duplex } from "node:stream";

/** The state of a live query in a send queue. */
export interface SendQueueEntry {
  /** The hash of the last result that the client was sent. */
  sentHash: string;
  pendingMessage: { readonly hash: string; readonly encode: () => Uint8Array } | undefined;
}

/** The connection or response that owns a send queue. */
export interface SendQueueOwner {
  /** Returns whether messages can be written. */
  isOpen(): boolean;
  /** Called after each message that is written while the client has unread messages. */
  whenSlow(): void;
  /** Called when the client has read everything. */
  whenFast(): void;
}

/** The unread bytes above which the client counts as slow. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** The send queue of a socket or response. It is a class, because closures and maps for each socket would take ten
 *  times the memory. */
export class SendQueue {
  readonly #stream: Duplex | OutgoingMessage;
  readonly #owner: SendQueueOwner;
  /** The live queries with a pending result. It is only set while the client is slow. */
  #pendingEntries: Set<SendQueueEntry> | undefined;
  #waiting: (() => void)[] | undefined;
  isSlow = false;

  constructor(stream: Duplex | OutgoingMessage, owner: SendQueueOwner) {
    this.#stream = stream;
    this.#owner = owner;
  }

  send(text: string): void {
    this.sendFrame(encodeFrame(text));
  }

  /** Sends a message that `encodeFrame` has encoded. */
  sendFrame(frame: Uint8Array): void {
    const stream = this.#stream;
    // The buffer emits the drain event only after it was full.
    if (!this.#owner.isOpen() || stream.write(frame) || stream.writableLength === 0) return;
    this.#owner.whenSlow();
    if (this.isSlow || stream.writableLength <= MAX_BUFFERED_BYTES) return;
    this.isSlow = true;
    stream.once("drain", () => this.#drained());
  }

  /** Sends a result of a live query, when the client is fast enough. `encode` builds the message when it is sent. */
  offer(live: SendQueueEntry, hash: string, encode: () => Uint8Array): void {
    if (this.isSlow) {
      // A result that the client already has needs no message.
      live.pendingMessage = live.sentHash === hash ? undefined : { hash, encode };
      (this.#pendingEntries ??= new Set()).add(live);
      return;
    }
    live.sentHash = hash;
    this.sendFrame(encode());
  }

  /** Drops the pending result of a live query that has ended. */
  forget(live: SendQueueEntry): void {
    live.pendingMessage = undefined;
    this.#pendingEntries?.delete(live);
  }

  /** Resolves when the client is fast enough for more messages. It never resolves if the client disconnects
   *  before. */
  async whenFast(): Promise<void> {
    while (this.isSlow) await new Promise<void>((resolve) => (this.#waiting ??= []).push(resolve));
  }

  #drained(): void {
    this.isSlow = false;
    for (const live of this.#pendingEntries ?? []) {
      if (this.isSlow) return;
      this.#pendingEntries?.delete(live);
      const { pendingMessage } = live;
      if (pendingMessage === undefined) continue;
      live.pendingMessage = undefined;
      live.sentHash = pendingMessage.hash;
      this.sendFrame(pendingMessage.encode());
    }
    if (this.isSlow) return;
    this.#pendingEntries = undefined;
    const waiters = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const resolve of waiters) resolve();
    this.#owner.whenFast();
  }
}

const TEXT_FRAME = 0x81; // first byte of the final frame of a text message

/** Encodes a text message of a server as one unmasked frame. */
export const encodeFrame = (text: string): Uint8Array => {
  const length = Buffer.byteLength(text);
  const start = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafe(start + length);
  frame[0] = TEXT_FRAME;
  if (start === 2) {
    frame[1] = length;
  } else if (start === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.write(text, start);
  return frame;
};
