/** Passes messages through Redis: `BUS_URL=redis://user:password@host:6379`, encrypted with `rediss://`. @rule
 *  X-BUS-4 */
import { setTimeout as pause } from "node:timers/promises";
import { definePlugin } from "../../../core/index.ts";
import { openBusHook, type BusHandlers, type BusTransport } from "../api.ts";
import { createRedisClient, type Redis } from "./redis-client.ts";

/** The largest message. Redis accepts larger ones; the limit protects the memory of slow receivers. */
const MAX_BYTES = 1024 * 1024;
const CLOSE_MS = 500;

/** Passes the messages of the bus through Redis. */
export const redisBus = definePlugin({
  name: "redis-bus",
  requires: ["bus"],
  apply: (_hooks, { use, logger, options: { freshUrl } }) => {
    use(openBusHook).tap("redis-bus", (url, namespace, handlers) => {
      if (!/^rediss?:\/\//i.test(url)) return undefined;
      const readUrl = (): string => freshUrl?.("busUrl") ?? url;
      return createRedisBus(readUrl, namespace, handlers, (reason) =>
        logger.warn("the bus cannot be reached yet; trying again", { reason }),
      );
    });
  },
});

const createRedisBus = (
  readUrl: () => string,
  namespace: string,
  { onMessage, onConnect, onDisconnect }: BusHandlers,
  logUnreachable: (reason: string) => void,
): BusTransport => {
  const listeners = new Map<string, (text: string) => void>();
  const buildChannel = (topic: string): string => `${namespace}.${topic}`;
  let publisher: Redis | undefined;
  /** The connection for subscriptions. It is separate, because a subscribed connection accepts no other commands. */
  let subscriber: Redis | undefined;
  let isStartReported = false;
  let isClosed = false;

  /** The last command of the subscriber. Commands run one after another, because the client counts a channel as
   *  subscribed until its `UNSUBSCRIBE` is answered. */
  let lastCommand: Promise<unknown> = Promise.resolve();
  const runCommand = (send: (client: Redis) => Promise<void>): void => {
    lastCommand = lastCommand
      // If the connection is lost meanwhile, `handleReady` subscribes again.
      .then(() => (subscriber?.isReady === true ? send(subscriber) : undefined))
      .catch(() => undefined);
  };

  const listen = (topic: string, listener: (text: string) => void): void =>
    runCommand((client) => client.subscribe(buildChannel(topic), listener));

  const isReady = (): boolean => publisher?.isReady === true && subscriber?.isReady === true;

  const handleError = (error: unknown): void => {
    if (isClosed) return;
    const reason = error instanceof Error ? error.message || error.name : String(error);
    onDisconnect(reason);
    if (isStartReported) return;
    isStartReported = true; // only the first failure is logged
    logUnreachable(reason);
  };

  const handleReady = (): void => {
    isStartReported = true;
    // Redis ignores a second subscription of the same listener.
    for (const [topic, listener] of listeners) listen(topic, listener);
    if (!isReady()) return;
    void lastCommand.then(() => {
      if (isReady() && !isClosed) onConnect();
    });
  };

  const end = (): void => {
    for (const client of [publisher, subscriber]) if (client?.isOpen === true) client.destroy();
  };

  const connect = async (): Promise<void> => {
    try {
      [publisher, subscriber] = await Promise.all([
        createRedisClient(readUrl, namespace, "redis-bus"),
        createRedisClient(readUrl, namespace, "redis-bus"),
      ]);
    } catch (error) {
      return handleError(error); // the package is missing
    }
    if (isClosed) return;
    for (const client of [publisher, subscriber]) {
      client.on("error", handleError).on("ready", handleReady);
      client.connect().catch(handleError);
    }
  };

  void connect();
  return {
    maxBytes: MAX_BYTES,
    // Receivers notice a lost message by the gap in the numbers.
    publish: (topic, text) => void publisher?.publish(buildChannel(topic), text).catch(() => undefined),
    subscribe: (topic) => {
      const listener = (text: string): void => onMessage(topic, text);
      listeners.set(topic, listener);
      listen(topic, listener);
    },
    unsubscribe: (topic) => {
      listeners.delete(topic);
      runCommand((client) => client.unsubscribe(buildChannel(topic)));
    },
    close: async () => {
      isClosed = true;
      // The reply to a ping arrives after the published messages were received.
      if (publisher?.isReady === true)
        await Promise.race([publisher.ping().catch(() => undefined), pause(CLOSE_MS, undefined, { ref: false })]);
      end();
    },
  };
};
