/** Results of one live query in a response that stays open, in whatever format. A slow client gets the newest result
 *  when it has read the previous one. */
import type { ServerResponse } from "node:http";
import type { Answer, Headers } from "../../core/index.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface StreamFormat<Message> {
  readonly headers: Headers;
  /** Before everything else. */
  readonly start?: string;
  encode(message: Message): string;
  /** Shows that the server is alive. */
  readonly beat: string;
  /** After everything else. */
  readonly end?: string;
}

export interface ResultStream<Message> {
  /** Held back while the client is slow; a newer one replaces it. `make` builds the message when it is sent. */
  offer(make: () => Message): void;
  readonly isSlow: boolean;
  /** Sends the message that was held back, then `last`, then the end. */
  end(last?: Message): void;
}

/** What the stream needs of the api. */
export interface StreamParts {
  readonly heartbeat: Heartbeat;
  /** Called with every message that joins others which the client has not read. */
  readonly watchUnread: (response: ServerResponse) => void;
}

const HEADERS: Headers = [
  ["Cache-Control", "no-cache, no-transform"],
  // buffering proxies would delay messages
  ["X-Accel-Buffering", "no"],
];

/** Bytes that may wait in the response before the client counts as slow. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** `start` gets the stream once the headers are sent; its return value is called once at the end, whichever side
 *  ends. */
export const answerStream = <Message>(
  { heartbeat, watchUnread }: StreamParts,
  format: StreamFormat<Message>,
  start: (stream: ResultStream<Message>) => () => void,
): Answer => ({
  status: 200,
  headers: [...format.headers, ...HEADERS],
  stream: (response) => {
    let waiting: (() => Message) | undefined;
    let isSlow = false;
    let isEnded = false;
    let stop: (() => void) | undefined;
    const write = (text: string): void => {
      // beyond the response's buffer, the drain event follows
      const isRoomLeft = response.write(text);
      if (isRoomLeft || response.writableLength === 0) return;
      watchUnread(response);
      if (isSlow || response.writableLength <= MAX_BUFFERED_BYTES) return;
      isSlow = true;
      response.once("drain", () => {
        isSlow = false;
        const make = waiting;
        waiting = undefined;
        if (make !== undefined && !isEnded) write(format.encode(make()));
      });
    };
    if (format.start !== undefined) write(format.start);
    const beating = {
      beat: () => {
        if (!isSlow) write(format.beat);
      },
    };
    heartbeat.join(beating);
    const ended = (): void => {
      if (isEnded) return;
      isEnded = true;
      heartbeat.leave(beating);
      stop?.();
    };
    response.on("close", ended);
    // a short message must not wait for the next one
    response.socket?.setNoDelay(true);
    stop = start({
      offer: (make) => {
        if (isEnded) return;
        if (isSlow) waiting = make;
        else write(format.encode(make()));
      },
      get isSlow() {
        return isSlow;
      },
      end: (last) => {
        if (isEnded) return;
        const newest = waiting;
        waiting = undefined;
        if (newest !== undefined) write(format.encode(newest()));
        if (last !== undefined) write(format.encode(last));
        if (format.end !== undefined) write(format.end);
        ended();
        response.end();
      },
    });
    if (isEnded) stop();
  },
});
