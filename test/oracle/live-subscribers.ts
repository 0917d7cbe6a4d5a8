/** Subscribers on every transport, each with the last answer that it received. */
import { request } from "node:http";
import { asAdmin, type TestApi } from "../support/api.ts";
import { openSocket } from "../support/socket.ts";
import type { DrawnDocument } from "./graphql-requests.ts";

export const TRANSPORTS = ["graphql-transport-ws", "graphql-ws", "sse"] as const;
export type Transport = (typeof TRANSPORTS)[number];

export interface Caller {
  readonly role?: string;
  readonly session: Readonly<Record<string, string>>;
}

export interface Subscriber {
  readonly transport: Transport;
  readonly caller: Caller;
  readonly document: DrawnDocument;
  /** `{ data }`, or another value for an error. Undefined before the first answer. */
  last: unknown;
}

export interface Subscribing {
  subscribe(subscriber: Subscriber): Promise<void>;
  close(): Promise<void>;
}

const buildHeaders = ({ role, session }: Caller): Record<string, string> =>
  Object.fromEntries(
    Object.entries(asAdmin(role, session)).flatMap(([name, header]) =>
      typeof header === "string" ? [[name, header]] : [],
    ),
  );

const subscribeByEvents = (api: TestApi, subscriber: Subscriber): (() => void) => {
  const headers = {
    accept: "text/event-stream",
    "content-type": "application/json",
    ...buildHeaders(subscriber.caller),
  };
  const clientRequest = request(
    { port: api.port, host: "127.0.0.1", method: "POST", path: "/v1/graphql", headers },
    (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("error", () => undefined);
      response.on("data", (chunk: string) => {
        text += chunk;
        for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
          const data = text
            .slice(0, end)
            .split("\n")
            .filter((line) => line.startsWith("data: "))
            .map((line) => line.slice("data: ".length))
            .join("\n");
          text = text.slice(end + 2);
          if (data !== "") subscriber.last = JSON.parse(data);
        }
      });
      if (!String(response.headers["content-type"]).startsWith("text/event-stream")) subscriber.last = "rejected";
    },
  );
  clientRequest.on("error", () => undefined);
  clientRequest.end(JSON.stringify(subscriber.document));
  return () => clientRequest.destroy();
};

/** One socket per caller and protocol carries all its operations. */
export const subscribing = (api: TestApi): Subscribing => {
  const sockets = new Map<
    string,
    Promise<{
      readonly send: (message: unknown) => void;
      readonly close: () => Promise<void>;
      readonly byId: Map<string, Subscriber>;
    }>
  >();
  const closers: (() => void)[] = [];
  let count = 0;

  const getSocket = (transport: Transport, caller: Caller) => {
    const key = JSON.stringify([transport, caller]);
    let socket = sockets.get(key);
    if (socket === undefined) {
      socket = (async () => {
        const socket = await openSocket(api, {
          path: transport === "graphql-ws" ? "/v1/graphql" : "/v1/graphql/ws",
          protocols: [transport],
        });
        const byId = new Map<string, Subscriber>();
        socket.socket.on("message", (text: Buffer) => {
          const { id, type, payload } = JSON.parse(text.toString()) as { id?: string; type: string; payload?: unknown };
          const subscriber = id === undefined ? undefined : byId.get(id);
          if (subscriber !== undefined && type !== "complete")
            subscriber.last = type === "error" ? "rejected" : payload;
        });
        await socket.init({ headers: buildHeaders(caller) });
        return { send: socket.send, close: socket.close, byId };
      })();
      sockets.set(key, socket);
    }
    return socket;
  };

  return {
    subscribe: async (subscriber) => {
      const { transport, caller, document } = subscriber;
      if (transport === "sse") return void closers.push(subscribeByEvents(api, subscriber));
      const { send, byId } = await getSocket(transport, caller);
      const id = String(++count);
      byId.set(id, subscriber);
      send({ id, type: transport === "graphql-ws" ? "start" : "subscribe", payload: document });
    },
    close: async () => {
      for (const close of closers) close();
      for (const socket of sockets.values()) await (await socket).close();
    },
  };
};
