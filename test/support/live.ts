/** Sockets and event streams of tests, opened and initiated. */
import { request, type IncomingMessage } from "node:http";
import type { PluginContext } from "../../core/index.ts";
import type { StartOptions, TestApi } from "./api.ts";
import { startWithContext, type ContextApi } from "./context.ts";
import { openSocket, type SocketOptions, type TestSocket } from "./socket.ts";
import { until } from "./until.ts";

/** Opens and initiates a `graphql-transport-ws` connection, as administrator unless a payload is given. */
export const initSocket = async (api: TestApi, payload?: unknown, options?: SocketOptions): Promise<TestSocket> => {
  const socket = await openSocket(api, options);
  await socket.init(payload);
  return socket;
};

export const subscribe = (
  socket: TestSocket,
  id: string,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): void => socket.send({ id, type: "subscribe", payload: { query, variables } });

/** Resolves when the server has processed all earlier messages of a socket of graphql-transport-ws. */
export const untilProcessed = async (socket: TestSocket): Promise<void> => {
  socket.send({ type: "ping", payload: { after: "all" } });
  await socket.next((message) => message.type === "pong");
};

/** An API for tests that wait for its live queries. */
export interface LiveApi extends ContextApi {
  /**
   * Resolves when every earlier committed change was noticed, no live query is due, and all sent messages have arrived.
   * It writes to `studio`, so schema `public` must be exposed and changes must be noticed.
   */
  settle(): Promise<void>;
}

export const startLive = async (options: StartOptions = {}): Promise<LiveApi> => {
  const api = await startWithContext(options);
  let marker: TestSocket | undefined;
  let count = 0;

  const mark = async (): Promise<string> => {
    const name = `marker ${++count}`;
    await api.sql("update public.studio set name = $1 where id = 1", [name]);
    return name;
  };

  /** Opens the marker and waits for its first change, because the source may miss changes before it listens. */
  const openMarker = async (): Promise<TestSocket> => {
    const socket = await initSocket(api);
    subscribe(socket, "marker", "subscription { studio_by_pk(id: 1) { name } }");
    await socket.next();
    await until(async () => {
      await mark();
      return socket.takeMessages().length > 0;
    }, "a change has arrived");
    return socket;
  };

  return {
    ...api,
    settle: async () => {
      marker ??= await openMarker();
      // The first message may result from a read that began before the change, the second cannot.
      for (let round = 0; round < 2; round++) {
        const name = await mark();
        await marker.next((message) => message.payload?.data?.studio_by_pk?.name === name);
      }
      await untilNoneIsDue(api.context);
      await roundTrip(api);
    },
  };
};

/** Sends a request, whose response arrives after all earlier messages. */
export const roundTrip = async (api: TestApi): Promise<void> => void (await api.gql("{ __typename }"));

/** Resolves when no live query is due or running. */
export const untilNoneIsDue = (context: PluginContext): Promise<void> =>
  until(() => context.counters.get("live-queries-due") === 0, "no live query is due");

export interface Event {
  readonly id?: string;
  readonly event?: string;
  readonly data: string;
}

export interface Stream {
  readonly response: IncomingMessage;
  readonly events: Event[];
  readonly closed: Promise<void>;
  close(): void;
}

const readEvent = (text: string): Event | undefined => {
  const fields: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(": ");
    if (colon < 1) continue;
    const [name, field] = [line.slice(0, colon), line.slice(colon + 2)];
    fields[name] = fields[name] === undefined ? field : `${fields[name]}\n${field}`;
  }
  return "data" in fields ? (fields as unknown as Event) : undefined;
};

/** Sends a `GET` (or another method) that accepts events. */
export const openEvents = (
  target: TestApi,
  path: string,
  { method = "GET", headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Stream> =>
  new Promise((resolve, reject) => {
    const outgoing = request(
      { port: target.port, path, method, headers: { accept: "text/event-stream", ...headers } },
      (response) => {
        const events: Event[] = [];
        let text = "";
        response.on("data", (chunk: Buffer) => {
          text += chunk.toString();
          for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
            const event = readEvent(text.slice(0, end));
            text = text.slice(end + 2);
            if (event !== undefined) events.push(event);
          }
        });
        response.on("error", () => undefined);
        resolve({
          response,
          events,
          closed: new Promise((end) => response.on("close", () => end())),
          close: () => outgoing.destroy(),
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(body === undefined ? undefined : JSON.stringify(body));
  });
