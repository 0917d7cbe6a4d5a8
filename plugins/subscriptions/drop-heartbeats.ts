/** Thousands of clients send a pong every five seconds. Plain pongs are dropped before they are parsed as WebSocket
 *  messages. */
import type { Duplex } from "node:stream";

/** Frames of a client: one frame, masked, of a text of less than 126 bytes. */
const MASK_AT = 2;
const TEXT_AT = 6;
const FIRST_BYTE = 0x81; // the last frame of a text message
const MASKED = 0x80;

type OnData = (this: Duplex, chunk: Buffer) => void;

/** Drops each chunk of a socket that is exactly one of the text messages `texts` (of up to 125 bytes each); passes
 *  everything else to the reader. A chunk from within a longer message can match only if the sender crafted it. */
export const heartbeatDropper = (texts: readonly Uint8Array[]): ((socket: Duplex) => void) => {
  // all sockets of one server have the same reader
  let ofLast: { readonly read: OnData; readonly onData: OnData } | undefined;
  const dropping = (read: OnData): OnData => {
    if (ofLast?.read === read) return ofLast.onData;
    const onData: OnData & { listener?: OnData } = function (chunk) {
      for (const text of texts) if (isMessage(chunk, text)) return;
      read.call(this, chunk);
    };
    // removing the reader removes this too, as with `once`
    onData.listener = read;
    ofLast = { read, onData };
    return onData;
  };
  return (socket) => {
    const readers = socket.listeners("data");
    const read = readers[0] as OnData | undefined;
    if (read === undefined || readers.length > 1) return;
    // the last one that fits is taken off: it must not be this one
    socket.prependListener("data", dropping(read));
    socket.off("data", read);
  };
};

const isMessage = (chunk: Buffer, text: Uint8Array): boolean => {
  const { length } = text;
  if (chunk.length !== TEXT_AT + length || chunk[0] !== FIRST_BYTE || chunk[1] !== (MASKED | length)) return false;
  for (let i = 0; i < length; i++)
    if (((chunk[TEXT_AT + i] ?? 0) ^ (chunk[MASK_AT + (i & 3)] ?? 0)) !== text[i]) return false;
  return true;
};
