/** A webhook of tests: an HTTP server that keeps its requests and answers as the test says. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll } from "vitest";

interface HookRequest {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type AnswerHook = (response: ServerResponse, request: HookRequest) => void;

export interface HookServer {
  /** The URL, with a secret in its query. */
  readonly url: string;
  /** The requests so far. */
  readonly requests: HookRequest[];
  /** The function that answers. */
  answer: AnswerHook;
}

export const json =
  (members: unknown, status = 200): AnswerHook =>
  (response) =>
    void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(members));

/** Starts a server that the file stops at its end. */
export const startHook = async (): Promise<HookServer> => {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method, url, headers } = request;
      const hookRequest = { method, url, headers, body: Buffer.concat(chunks).toString() };
      hook.requests.push(hookRequest);
      hook.answer(response, hookRequest);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // a listening server has an address
  const hook: HookServer = {
    url: `http://127.0.0.1:${port}/hook?key=hook-secret`,
    requests: [],
    answer: json({ "X-Hasura-Role": "music_reader" }),
  };
  return hook;
};
