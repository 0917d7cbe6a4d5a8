/**
 * Subscribers in a separate process, each with a WebSocket. The process implements the protocol itself, because a
 * client package would use more of the machine than the measured server.
 */
import { connect, type Socket } from "node:net";
import { nowMs, type Arrivals, type Order, type Report } from "./live-swarm.ts";

interface Client {
  readonly socket: Socket;
  readonly id: number;
  /** The value of its last result, -1 before the first one. */
  n: number;
  isOpen: boolean;
  /** The start of a frame that is not complete. */
  rest: Buffer | undefined;
}

const MASK_BIT = 0x80;
const TEXT_FRAME = 0x81;
const CLOSE_FRAME = 0x88;
const MASK = [0x37, 0xfa, 0x21, 0x3d] as const;

/** Encodes a text message of a client. */
const encodeFrame = (text: string): Buffer => {
  const bytes = Buffer.from(text);
  const head = bytes.length < 126 ? [TEXT_FRAME, MASK_BIT | bytes.length] : [TEXT_FRAME, MASK_BIT | 126, bytes.length >> 8, bytes.length & 255]; // prettier-ignore
  return Buffer.concat([Buffer.from([...head, ...MASK]), bytes.map((byte, i) => byte ^ (MASK[i & 3] ?? 0))]);
};

const INIT = encodeFrame('{"type":"connection_init"}');
const PONG = encodeFrame('{"type":"pong"}');
const VALUE = Buffer.from('"n":');
const ACK = Buffer.from('{"type":"connection_ack"');
const PING = Buffer.from('{"type":"ping"');
const ERROR = Buffer.from('"errors"');
const HEAD_END = Buffer.from("\r\n\r\n");
const ZERO = 48;
const READ_BYTES = 64 * 1024;
const RETURN_MS = 200;
/** The number of connections that are opened concurrently. */
const AT_ONCE = 200;

const clients: Client[] = [];
let query = "";
let onOpen = (_client: Client): void => undefined;
let onAnswer = (_client: Client): void => undefined;
let faults = 0;
let lastFault = "";
let returns = 0;

const fault = (message: string): void => {
  faults++;
  lastFault = message;
};

const startsWith = (bytes: Buffer, offset: number, text: Buffer): boolean =>
  bytes.compare(text, 0, text.length, offset, offset + text.length) === 0;

const take = (client: Client, bytes: Buffer, from: number, to: number): void => {
  if (startsWith(bytes, from, PING)) return void client.socket.write(PONG);
  if (startsWith(bytes, from, ACK)) {
    client.isOpen = true;
    return onOpen(client);
  }
  const offset = bytes.indexOf(VALUE, from);
  if (offset === -1 || offset >= to) {
    if (bytes.subarray(from, to).includes(ERROR)) fault(bytes.toString("utf8", from, to));
    return;
  }
  let n = 0;
  for (let i = offset + VALUE.length; i < to; i++) {
    const digit = (bytes[i] ?? 0) - ZERO;
    if (digit < 0 || digit > 9) break;
    n = n * 10 + digit;
  }
  client.n = n;
  onAnswer(client);
};

/** Parses all complete frames and keeps the rest for the next chunk. */
const read = (client: Client, chunk: Buffer): void => {
  const bytes = client.rest === undefined ? chunk : Buffer.concat([client.rest, chunk]);
  let offset = 0;
  while (bytes.length - offset >= 2) {
    const shortLength = bytes[offset + 1] ?? 0;
    const start = offset + (shortLength < 126 ? 2 : shortLength === 126 ? 4 : 10);
    if (bytes.length < start) break;
    const length = shortLength < 126 ? shortLength : shortLength === 126 ? bytes.readUInt16BE(offset + 2) : Number(bytes.readBigUInt64BE(offset + 2)); // prettier-ignore
    if (bytes.length < start + length) break;
    if (bytes[offset] === TEXT_FRAME) take(client, bytes, start, start + length);
    else if (bytes[offset] === CLOSE_FRAME) client.socket.end();
    offset = start + length;
  }
  client.rest = offset === bytes.length ? undefined : Buffer.from(bytes.subarray(offset));
};

const open = (port: number, localAddress: string, id: number): void => {
  let isUpgraded = false;
  let head = "";
  const sharedBuffer = buffer;
  const socket = connect({
    host: "127.0.0.1",
    port,
    localAddress,
    noDelay: true,
    onread: {
      buffer: sharedBuffer,
      callback: (length) => {
        const chunk = sharedBuffer.subarray(0, length);
        if (isUpgraded) read(client, chunk);
        else {
          head += chunk.toString("latin1");
          if (!head.includes(HEAD_END.toString())) return true;
          if (!head.startsWith("HTTP/1.1 101")) {
            socket.destroy();
            return false;
          }
          isUpgraded = true;
          socket.write(INIT);
        }
        return true;
      },
    },
  });
  const client: Client = { socket, id, n: -1, isOpen: false, rest: undefined };
  clients.push(client);
  // On a busy machine the server may time out, and clients reconnect.
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (client.isOpen) return fault("closed");
    returns++;
    clients.splice(clients.indexOf(client), 1);
    setTimeout(open, RETURN_MS, port, localAddress, id);
  });
  socket.write(
    `GET /v1/graphql/ws HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Protocol: graphql-transport-ws\r\nOrigin: http://127.0.0.1\r\nUser-Agent: bench\r\n\r\n`,
  );
};

const buffer = Buffer.alloc(READ_BYTES);

const subscribe = ({ socket, id }: Client): void => {
  const payload = { query, variables: { id } };
  socket.write(encodeFrame(JSON.stringify({ id: "1", type: "subscribe", payload })));
};

/** Resolves when the condition holds, or after the time limit. */
const until = (isDone: () => boolean, patienceMs: number, hook: (check: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, patienceMs);
    const check = (): void => {
      if (!isDone()) return;
      clearTimeout(timer);
      resolve();
    };
    hook(check);
    check();
  });

let times: number[] = [];
let arrivals: Arrivals = { ids: [], ns: [], atMs: [] };
let expectedResults: Promise<void> = Promise.resolve();

const orders: { readonly [Name in Order["do"]]: (order: Extract<Order, { do: Name }>) => Promise<Partial<Report>> } = {
  open: async ({ port, localAddress, count, firstId, isShared, subscribing, patienceMs, query: newQuery }) => {
    query = newQuery;
    let openCount = 0;
    let startedCount = 0;
    let answerCount = 0;
    onAnswer = () => void answerCount++;
    const openMore = (): void => {
      const limit = subscribing ? count : Math.min(count, openCount + AT_ONCE);
      for (; startedCount < limit; startedCount++)
        open(port, localAddress, isShared ? firstId : firstId + startedCount);
    };
    const hook = (check: () => void): void => {
      onOpen = (client) => {
        openCount++;
        if (subscribing) subscribe(client);
        openMore();
        check();
      };
      onAnswer = () => {
        answerCount++;
        check();
      };
    };
    openMore();
    await until(() => openCount === count && (!subscribing || answerCount >= count), patienceMs, hook);
    return { count: subscribing ? Math.min(answerCount, openCount) : openCount };
  },
  subscribe: async ({ patienceMs }) => {
    times = [];
    const allAnswered = until(
      () => times.length >= clients.length,
      patienceMs,
      (check) => {
        onAnswer = () => {
          times.push(nowMs());
          check();
        };
      },
    );
    for (const client of clients) subscribe(client);
    await allAnswered;
    return { count: times.length, times };
  },
  /** Reports that the process records results from now on. `report` contains the results since then. */
  expect: async ({ n, count, patienceMs }) => {
    times = [];
    expectedResults = until(
      () => times.length >= count,
      patienceMs,
      (check) => {
        onAnswer = (client) => {
          if (client.n !== n) return;
          times.push(nowMs());
          check();
        };
      },
    );
    return {};
  },
  report: async () => {
    await expectedResults;
    return { count: times.length, times };
  },
  record: async () => {
    arrivals = { ids: [], ns: [], atMs: [] };
    onAnswer = ({ id, n }) => {
      arrivals.ids.push(id);
      arrivals.ns.push(n);
      arrivals.atMs.push(nowMs());
    };
    return {};
  },
  recorded: async () => ({ count: arrivals.ids.length, arrivals }),
};

process.on("message", (order: Order) => {
  const run = orders[order.do] as (order: Order) => Promise<Partial<Report>>; // each function takes the order of its name
  void run(order).then((report) => process.send?.({ count: 0, ...report, faults, lastFault, returns }));
});
process.on("disconnect", () => process.exit(0));
