/** Reads long answers in a thread of its own, so that they do not delay those that are measured. */
import { request } from "node:http";
import { parentPort } from "node:worker_threads";
import type { Sent } from "./data.ts";

export interface Asked extends Sent {
  readonly port: number;
}

parentPort?.on("message", ({ port, method, path, headers, body }: Asked) => {
  const sent = request({ host: "127.0.0.1", port, method, path, headers }, (answer) => {
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode}`);
    answer.resume().on("end", () => parentPort?.postMessage("read"));
  });
  sent.end(body);
});
