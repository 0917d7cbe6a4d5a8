/** Results of one live query as Server-Sent Events; `id` is the hash of the result. */
import type { StreamFormat } from "./result-stream.ts";

export interface StreamEvent {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

export const eventStream: StreamFormat<StreamEvent> = {
  headers: [["Content-Type", "text/event-stream; charset=utf-8"]],
  encode: ({ id, event, data }) =>
    `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}data: ${data.replace(/\r\n|\r|\n/g, "\ndata: ")}\n\n`,
  beat: ":\n\n",
};

/** Our hashes contain at most one space. */
export const eventId = (hash: string): string => hash.replace(" ", "-");

/** What the client had last, before its connection broke. */
export const lastEventId = (header: string | undefined): string | undefined =>
  header !== undefined && /^[\w.-]{1,64}$/.test(header) ? header : undefined;
