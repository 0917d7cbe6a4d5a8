/** Outgoing messages of a socket. Replies are sent at once; results of live queries wait while the client is slow, and
 *  only the newest of each is stored. */
import type { Duplex } from "node:stream";

export interface Outbox {
  send(text: string): void;
  /** A message encoded before (`encodeFrame`). */
  sendFrame(frame: Uint8Array): void;
  /** A result of the live query `id`. `encode` builds the message when it is sent. */
  offer(id: string, hash: string, encode: () => Uint8Array): void;
  /** The live query has ended: nothing more goes out for it. */
  forget(id: string): void;
  readonly isSlow: boolean;
}

interface Kept {
  /** Hash of the last result sent. */
  sent: string;
  waiting: { readonly hash: string; readonly encode: () => Uint8Array } | undefined;
}

/** Bytes that may lie in the socket's buffer before the client counts as slow. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** `isOpen`: the socket may still be written to. `whenSlow`: called with every message that joins others which the
 *  client has not read. `whenFast`: called when it has read everything. */
export const createOutbox = (
  socket: Duplex,
  isOpen: () => boolean,
  whenSlow: () => void,
  whenFast: () => void,
): Outbox => {
  // no cache: an outbox is one socket's, whose running operations have ids of their own, and leave with `forget`
  const kept = new Map<string, Kept>();
  let isDraining = false;

  const write = (frame: Uint8Array): void => {
    if (isOpen()) socket.write(frame);
    // a socket with a larger buffer emits no drain event before that is full
    if (socket.writableLength === 0 || !socket.writableNeedDrain) return;
    whenSlow();
    if (isDraining || socket.writableLength <= MAX_BUFFERED_BYTES) return;
    isDraining = true;
    socket.once("drain", drained);
  };

  const drained = (): void => {
    isDraining = false;
    for (const live of kept.values()) {
      const { waiting } = live;
      if (waiting === undefined) continue;
      if (isDraining) return;
      live.waiting = undefined;
      live.sent = waiting.hash;
      write(waiting.encode());
    }
    if (!isDraining) whenFast();
  };

  return {
    send: (text) => write(encodeFrame(text)),
    sendFrame: write,
    offer: (id, hash, encode) => {
      let live = kept.get(id);
      if (live === undefined) kept.set(id, (live = { sent: "", waiting: undefined }));
      if (isDraining) {
        // back at what the client has: nothing to say
        live.waiting = live.sent === hash ? undefined : { hash, encode };
        return;
      }
      live.sent = hash;
      write(encode());
    },
    forget: (id) => {
      kept.delete(id);
    },
    get isSlow() {
      return isDraining;
    },
  };
};

const TEXT_FRAME = 0x81; // the last frame of a text message

/** A text message of a server: one frame, no mask. */
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
