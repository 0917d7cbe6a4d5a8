/** Many subscribers, each with a WebSocket and a row. */
import { WebSocket } from "ws";

/** Hears of the value `n` of each answer. */
export interface Client {
  readonly socket: WebSocket;
  /** Of its last answer. */
  n: number;
}

const QUERY = "subscription ($id: Int!) { seat_by_pk(id: $id) { id n name } }";

const connect = (port: number, id: number, heard: (client: Client) => void): Promise<Client> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/graphql/ws`, ["graphql-transport-ws"], {
      perMessageDeflate: false,
    });
    const client: Client = { socket, n: -1 };
    socket.on("error", reject);
    socket.on("open", () => {
      socket.send('{"type":"connection_init"}');
      socket.send(JSON.stringify({ id: "1", type: "subscribe", payload: { query: QUERY, variables: { id } } }));
    });
    socket.on("message", (data: Buffer) => {
      const text = data.toString();
      const at = text.indexOf('"n":');
      if (at === -1) {
        if (text.startsWith('{"type":"ping"')) socket.send('{"type":"pong"}');
        return;
      }
      const isFirst = client.n === -1;
      client.n = Number.parseInt(text.slice(at + 4), 10);
      if (isFirst) resolve(client);
      heard(client);
    });
  });

export const connectAll = async (
  port: number,
  count: number,
  idOf: (i: number) => number,
  heard: (client: Client) => void,
): Promise<readonly Client[]> => {
  const clients: Client[] = [];
  for (let i = 0; i < count; i += 100) {
    const some = Array.from({ length: Math.min(100, count - i) }, (_, k) => connect(port, idOf(i + k), heard));
    clients.push(...(await Promise.all(some)));
  }
  return clients;
};

export const percentile = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
