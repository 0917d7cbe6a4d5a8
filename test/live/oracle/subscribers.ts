/** Subscribers on every transport, each with its last result. */
import { request } from "node:http";
import { WebSocket } from "ws";
import type { TestApi } from "../../support/api.ts";
import { graphqlHeaders, restHeaders, type Caller } from "./callers.ts";

export const TRANSPORTS = ["graphql-transport-ws", "graphql-ws", "sse", "rest"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The initial request: a GraphQL payload, or a REST path. */
export type LiveRequest = { readonly query: string; readonly variables: Readonly<Record<string, unknown>> } | string;

/**
 * An event: `answer` has the caller's current result; with `ended`, the live query is over, and `text` gives the reason
 * if there was one.
 */
export type SubscriberEvent =
  | { readonly kind: "answer"; readonly value: unknown; readonly id?: string | undefined }
  | { readonly kind: "error"; readonly text: string; readonly id?: string | undefined }
  | { readonly kind: "ended"; readonly text: string };

interface Place {
  readonly api: TestApi;
  readonly transport: Transport;
  readonly caller: Caller;
  /** Sockets of one caller with the same number are the same socket. */
  readonly socket: number;
}

export interface SubscriberOptions extends Place {
  readonly liveRequest: LiveRequest;
  readonly lastEventId: string | undefined;
  readonly onEvent: (event: SubscriberEvent) => void;
}

export interface Subscribing {
  /** Opens a subscriber, and returns a function that ends it. */
  open(options: SubscriberOptions): () => void;
  /** Breaks the connection of the subscriber. All subscribers on it receive the event that they have ended. */
  cut(place: Place): void;
  close(): void;
}

/** The message and code of an error of either surface. */
export const errorText = (payload: unknown): string => {
  const list = Array.isArray(payload)
    ? payload
    : typeof payload === "object" && payload !== null && "errors" in payload
      ? (payload.errors as readonly unknown[])
      : [payload];
  const { message, extensions, code } = (list[0] ?? {}) as {
    readonly message?: string;
    readonly code?: string;
    readonly extensions?: { readonly code?: string };
  };
  const text = message ?? JSON.stringify(payload);
  // A role without tables has no subscriptions.
  if (/^no subscriptions exist$|^field '\w+' not found in type: '\w+_root'$/.test(text))
    return "error validation-failed: no such field";
  return `error ${extensions?.code ?? code ?? ""}: ${text}`;
};

const hasErrors = (payload: unknown): boolean => typeof payload === "object" && payload !== null && "errors" in payload;

const readData = (payload: unknown): unknown => (payload as { readonly data?: unknown }).data;

const openEvents = ({ api, transport, caller, liveRequest, lastEventId, onEvent }: SubscriberOptions): (() => void) => {
  const isRest = transport === "rest";
  let isOver = false;
  const reportEnd = (text: string): void => {
    if (isOver) return;
    isOver = true;
    onEvent({ kind: "ended", text });
  };
  /** The reason why the stream ended. An error outside of a live query's results has no id. */
  let reason = "";
  const take = (text: string): void => {
    const fields = new Map<string, string>();
    for (const line of text.split("\n")) {
      const colon = line.indexOf(": ");
      if (colon < 1) continue;
      const name = line.slice(0, colon);
      fields.set(name, `${fields.has(name) ? `${fields.get(name)}\n` : ""}${line.slice(colon + 2)}`);
    }
    const [data, event, id] = [fields.get("data"), fields.get("event"), fields.get("id")];
    if (data === undefined || data === "" || isOver) return;
    const payload: unknown = JSON.parse(data);
    const isError = isRest ? event === "failure" : hasErrors(payload);
    reason = isError && id === undefined ? errorText(payload) : "";
    onEvent(
      isError
        ? { kind: "error", text: errorText(payload), id }
        : { kind: "answer", value: isRest ? payload : readData(payload), id },
    );
  };
  const clientRequest = request(
    {
      port: api.port,
      host: "127.0.0.1",
      method: isRest ? "GET" : "POST",
      path: typeof liveRequest === "string" ? liveRequest : "/v1/graphql",
      headers: {
        accept: "text/event-stream",
        ...(isRest ? restHeaders(caller) : { "content-type": "application/json", ...graphqlHeaders(caller) }),
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      },
    },
    (response) => {
      const isStream = String(response.headers["content-type"]).startsWith("text/event-stream");
      let text = "";
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("data", (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf("\n\n"); isStream && end !== -1; end = text.indexOf("\n\n")) {
          take(text.slice(0, end));
          text = text.slice(end + 2);
        }
      });
      response.on("close", () => {
        if (!isStream && text !== "") return reportEnd(errorText(JSON.parse(text)));
        reportEnd(reason);
      });
    },
  );
  clientRequest.on("error", () => reportEnd(""));
  clientRequest.end(typeof liveRequest === "string" ? undefined : JSON.stringify(liveRequest));
  return () => {
    isOver = true;
    clientRequest.destroy();
  };
};

interface Link {
  readonly socket: WebSocket;
  readonly ready: Promise<void>;
  readonly callbacks: Map<string, (event: SubscriberEvent) => void>;
}

export const createSubscribing = (): Subscribing => {
  const links = new Map<string, Link>();
  let count = 0;

  const buildKey = ({ api, transport, caller, socket }: Place): string =>
    JSON.stringify([api.port, transport, caller, socket]);

  const getLink = (place: Place): Link => {
    const { api, transport, caller } = place;
    const key = buildKey(place);
    const openLink = links.get(key);
    if (openLink !== undefined) return openLink;
    const socket = new WebSocket(`${api.wsUrl}${transport === "graphql-ws" ? "/v1/graphql" : "/v1/graphql/ws"}`, [
      transport,
    ]);
    const callbacks: Link["callbacks"] = new Map();
    const ready = new Promise<void>((resolve) => {
      socket.on("open", () =>
        socket.send(JSON.stringify({ type: "connection_init", payload: { headers: graphqlHeaders(caller) } })),
      );
      socket.on("message", (bytes: Buffer) => {
        const { id, type, payload } = JSON.parse(bytes.toString()) as { id?: string; type: string; payload?: unknown };
        if (type === "connection_ack") return resolve();
        if (type === "ping") return socket.send('{"type":"pong"}');
        const onEvent = id === undefined ? undefined : callbacks.get(id);
        if (id === undefined || onEvent === undefined) return;
        if (type === "next" || type === "data")
          return onEvent(
            hasErrors(payload)
              ? { kind: "error", text: errorText(payload) }
              : { kind: "answer", value: readData(payload) },
          );
        // The older protocol sends a completion after an error.
        callbacks.delete(id);
        onEvent({ kind: "ended", text: type === "error" ? errorText(payload) : "" });
      });
    });
    const link: Link = { socket, ready, callbacks };
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (links.get(key) === link) links.delete(key);
      for (const onEvent of callbacks.values()) onEvent({ kind: "ended", text: "" });
      callbacks.clear();
    });
    links.set(key, link);
    return link;
  };

  return {
    open: (options) => {
      const { transport, liveRequest, onEvent } = options;
      if (transport === "sse" || transport === "rest") return openEvents(options);
      const { socket, ready, callbacks } = getLink(options);
      const id = String(++count);
      callbacks.set(id, onEvent);
      void ready.then(() => {
        if (callbacks.has(id))
          socket.send(
            JSON.stringify({ id, type: transport === "graphql-ws" ? "start" : "subscribe", payload: liveRequest }),
          );
      });
      return () => {
        if (!callbacks.delete(id) || socket.readyState !== socket.OPEN) return;
        socket.send(JSON.stringify({ id, type: transport === "graphql-ws" ? "stop" : "complete" }));
      };
    },
    cut: (place) => links.get(buildKey(place))?.socket.terminate(),
    close: () => {
      for (const { socket } of links.values()) socket.terminate();
    },
  };
};
