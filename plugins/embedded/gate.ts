/** Whose turn it is to use the one backend. */
import type { Answer, Request } from "./thread.ts";

/** A client that sends requests to the backend. */
export interface BackendClient {
  /** The next request; `undefined`: none. Called only when it is the client's turn. */
  nextRequest(): Request | undefined;
  onAnswer(answer: Answer): void;
  /** Its request has taken too long and has no answer. */
  onOverrun(): void;
}

/** One client at a time: it holds the backend from its first message until the backend is outside a transaction
 *  again. */
export interface Gate {
  /** The client has a request. */
  enter(client: BackendClient): void;
  /** The backend has finished the last request. */
  answer(answer: Answer): void;
  /** The last request has taken too long. */
  overrun(): void;
  /** The backend takes requests. */
  open(): void;
  /** The backend is gone: clears the holder and the queue. */
  close(): void;
}

/** `send` gets one request at a time: the next one after the response to the last. */
export function createGate(send: (request: Request) => void): Gate {
  const waiting = new Set<BackendClient>(); // in order of arrival
  let holder: BackendClient | undefined;
  let isBusy = false;
  let isOpen = false;

  const sendNext = (client: BackendClient): boolean => {
    const request = client.nextRequest();
    if (request === undefined) return false;
    holder = client;
    isBusy = true;
    send(request);
    return true;
  };

  const advance = (): void => {
    if (isBusy || !isOpen) return;
    if (holder !== undefined) {
      sendNext(holder);
      return;
    }
    for (const client of waiting) {
      waiting.delete(client);
      if (sendNext(client)) return;
    }
  };

  return {
    enter(client) {
      if (client !== holder) waiting.add(client);
      advance();
    },
    answer(answer) {
      const client = holder;
      isBusy = false;
      if (client === undefined) return;
      if (answer.isIdle) {
        holder = undefined;
        waiting.add(client); // behind the others, if it has more to say
      }
      client.onAnswer(answer);
      advance();
    },
    overrun() {
      holder?.onOverrun();
    },
    open() {
      isOpen = true;
      advance();
    },
    close() {
      isOpen = false;
      isBusy = false;
      holder = undefined;
      waiting.clear();
    },
  };
}
