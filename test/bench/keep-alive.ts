/** A client that costs little: requests over connections that stay open, one after the other on each. */
import { connect, type Socket } from "node:net";

export interface KeepAlive {
  /** Resolves when the answer is there. @throws Error when it is no success, or one of GraphQL's errors */
  ask(request: string): Promise<void>;
  close(): void;
}

const HEAD_END = "\r\n\r\n";
const BODY_LENGTH = /\r\ncontent-length: (\d+)/i;

/** The text of a request; with a body it is one of GraphQL. `more`: header lines, each with its end. */
export const requestText = (path: string, body?: string, more = ""): string => {
  const head = `${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: bench\r\n${more}`;
  return body === undefined
    ? `GET ${head}\r\n`
    : `POST ${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

export const openKeepAlive = async (port: number): Promise<KeepAlive> => {
  const socket = await new Promise<Socket>((resolve, reject) => {
    const opened = connect(port, "127.0.0.1", () => resolve(opened)).once("error", reject);
  });
  socket.setNoDelay(true);
  let waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined;
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (text: string) => {
    received += text;
    const headEnd = received.indexOf(HEAD_END);
    if (headEnd === -1) return;
    const length = Number(BODY_LENGTH.exec(received)?.[1]);
    const answer = received;
    if (Number.isNaN(length)) return waiting?.reject(new Error(`no length: ${answer}`));
    if (answer.length < headEnd + HEAD_END.length + length) return;
    received = "";
    if (!answer.startsWith("HTTP/1.1 20") || answer.includes('{"errors"', headEnd))
      return waiting?.reject(new Error(answer));
    waiting?.resolve();
  });
  socket.on("close", () => waiting?.reject(new Error("the server has closed the connection")));
  return {
    ask: (request) =>
      new Promise((resolve, reject) => {
        if (socket.destroyed) return reject(new Error("the server has closed the connection"));
        waiting = { resolve, reject };
        socket.write(request);
      }),
    close: () => void socket.destroy(),
  };
};
