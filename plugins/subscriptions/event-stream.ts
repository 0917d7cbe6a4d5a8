/** Results of one live query as Server-Sent Events; `id` is the hash of the result. A slow client gets the newest
 *  result when it has read the previous one. */
import type { ServerResponse } from "node:http";
import type { Answer, Headers } from "../../core/index.ts";
import type { Heartbeat } from "./heartbeat.ts";

export interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

export interface EventStream {
  /** Held back while the client is slow; a newer one replaces it. */
  offer(event: StreamEvent): void;
  /** Sent in any case, then the end. */
  end(last?: StreamEvent): void;
}

const HEADERS: Headers = [
  ["Content-Type", "text/event-stream; charset=utf-8"],
  ["Cache-Control", "no-cache, no-transform"],
  // buffering proxies would delay events
  ["X-Accel-Buffering", "no"],
];

/** Bytes that may wait in the response before the client counts as slow. */
const MAX_BUFFERED_BYTES = 64 * 1024;

/** What the stream needs of the api. */
export interface EventStreamParts {
  readonly heartbeat: Heartbeat;
  /** Called with every event that joins others which the client has not read. */
  readonly watchUnread: (response: ServerResponse) => void;
}

/** `start` gets the stream once the headers are sent; its return value is called once at the end, whichever side
 *  ends. */
export const answerEvents = (
  { heartbeat, watchUnread }: EventStreamParts,
  start: (stream: EventStream) => () => void,
  headers: Headers = [],
): Answer => ({
  status: 200,
  headers: [...HEADERS, ...headers],
  stream: (response) => {
    let waiting: StreamEvent | undefined;
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
        const event = waiting;
        waiting = undefined;
        if (event !== undefined && !isEnded) write(encodeEvent(event));
      });
    };
    const leave = heartbeat.join(() => {
      if (!isSlow) write(":\n\n");
    });
    const ended = (): void => {
      if (isEnded) return;
      isEnded = true;
      leave();
      stop?.();
    };
    response.on("close", ended);
    // a short event must not wait for the next one
    response.socket?.setNoDelay(true);
    stop = start({
      offer: (event) => {
        if (isEnded) return;
        if (isSlow) waiting = event;
        else write(encodeEvent(event));
      },
      end: (last) => {
        if (isEnded) return;
        if (last !== undefined) write(encodeEvent(last));
        ended();
        response.end();
      },
    });
    if (isEnded) stop();
  },
});

const encodeEvent = ({ id, event, data }: StreamEvent): string =>
  `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`;

/** What the client had last, before its connection broke. */
export const lastEventId = (header: string | undefined): string | undefined =>
  header !== undefined && /^[\w.-]{1,64}$/.test(header) ? header : undefined;
