/** Sockets of tests, opened and initiated. */
import type { TestApi } from "../support/api.ts";
import { openSocket, type SocketOptions, type TestSocket } from "../support/socket.ts";

/** A `graphql-transport-ws` connection, as administrator unless a payload is given. */
export const initiated = async (api: TestApi, payload?: unknown, options?: SocketOptions): Promise<TestSocket> => {
  const socket = await openSocket(api, options);
  await socket.init(payload);
  return socket;
};

export const subscribe = (socket: TestSocket, id: string, query: string, variables: Readonly<Record<string, unknown>> = {}): void =>
  socket.send({ id, type: "subscribe", payload: { query, variables } });

/** Waits until the check holds. @throws when it does not within the time */
export const until = async (holds: () => boolean, withinMs = 5000): Promise<void> => {
  const endMs = performance.now() + withinMs;
  while (!holds()) {
    if (performance.now() > endMs) throw new Error("it did not come to hold");
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
