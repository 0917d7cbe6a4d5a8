/** Passes the requests of all clients to the single backend, one at a time. */
import type { ThreadResponse, ThreadRequest } from "./thread-messages.ts";

/** A client that sends requests to the backend. */
export interface BackendClient {
  /** Returns the next request, or undefined if the client has no request. Called only when it is the client's turn. */
  nextRequest(): ThreadRequest | undefined;
  onResponse(response: ThreadResponse): void;
  /** Called when the client's request has exceeded the time limit and gets no response. */
  onOverrun(): void;
}

/** Serves one client at a time. A client holds the backend from its first message until the backend is outside a
 *  transaction again. */
export interface BackendQueue {
  /** Called when the client has a request. */
  enqueue(client: BackendClient): void;
  /** Called when the backend has finished the last request. */
  handleResponse(response: ThreadResponse): void;
  /** Called when the last request has exceeded its time limit. */
  handleOverrun(): void;
  /** Called when the backend accepts requests. */
  open(): void;
  /** Called when the backend is gone. Clears the holder and the queue. */
  close(): void;
}

/** Creates the queue of one backend. `send` is called with one request at a time, and again only after its response. */
export function createBackendQueue(send: (request: ThreadRequest) => void): BackendQueue {
  const waitingClients = new Set<BackendClient>(); // in order of arrival
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
    for (const client of waitingClients) {
      waitingClients.delete(client);
      if (sendNext(client)) return;
    }
  };

  return {
    enqueue(client) {
      if (client !== holder) waitingClients.add(client);
      advance();
    },
    handleResponse(response) {
      const client = holder;
      isBusy = false;
      if (client === undefined) return;
      if (response.isIdle) {
        holder = undefined;
        waitingClients.add(client); // the client queues behind the others, if it has more requests
      }
      client.onResponse(response);
      advance();
    },
    handleOverrun() {
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
      waitingClients.clear();
    },
  };
}
