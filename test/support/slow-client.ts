/** Clients that read only on request, and the server's metrics about waiting clients. */
import { connect, type Socket } from "node:net";
import { atFileEnd } from "./file-end.ts";
import type { MeasuredApi } from "./metrics.ts";
import { until } from "./until.ts";

export interface SlowClient {
  readonly socket: Socket;
  receivedBytes(): number;
  readonly closed: Promise<void>;
}

/** Sends the text of a request, and reads nothing until the test resumes the socket. */
export const openSlowClient = (port: number, text: string): SlowClient => {
  let bytes = 0;
  const socket = connect(port, "127.0.0.1");
  socket.write(text);
  socket.on("data", (chunk) => (bytes += chunk.length)).on("error", () => undefined);
  socket.pause();
  atFileEnd(async () => void socket.destroy());
  return { socket, receivedBytes: () => bytes, closed: new Promise((resolve) => socket.on("close", () => resolve())) };
};

/** Waits until a metric has the expected value. */
export const untilFigure = (api: MeasuredApi, name: string, isExpected: (value: number) => boolean): Promise<void> =>
  until(async () => isExpected((await api.metrics())[name] ?? Number.NaN), `${name} has the expected value`);
