/** Passes messages through the database with `NOTIFY`, if no other bus is configured. @rule X-BUS-4 */
import { createHash } from "node:crypto";
import { definePlugin, type PluginContext } from "../../../core/index.ts";
import { sql, bindValue } from "../../../core/sql/fragment.ts";
import { openBusHook, type BusHandlers, type BusTransport } from "../api.ts";

/** The maximum size of a message. PostgreSQL requires payloads shorter than 8000 bytes. */
const MAX_BYTES = 7900;
/** The largest number of messages that wait for the previous statement. Later messages are dropped, and receivers
 *  miss them. */
const MAX_WAITING = 1000;

/** Builds the name of a channel. PostgreSQL requires names shorter than 64 bytes. */
const buildChannel = (namespace: string, topic: string): string =>
  `relapi_${createHash("sha256").update(`${namespace} ${topic}`).digest("hex").slice(0, 24)}`;

/** Passes the messages of the bus through `NOTIFY` of the database. */
export const notifyBus = definePlugin({
  name: "notify-bus",
  requires: ["bus"],
  apply: (_hooks, context) => {
    context
      .use(openBusHook)
      .tap("notify-bus", (url, namespace, handlers) =>
        url === "notify:" ? createNotifyBus(context, namespace, handlers) : undefined,
      );
  },
});

const createNotifyBus = (
  context: PluginContext,
  namespace: string,
  { onMessage, onConnect, onMissed }: BusHandlers,
): BusTransport => {
  const unsubscribers = new Map<string, () => void>();
  let waitingMessages: (readonly [channel: string, text: string])[] = [];
  let sending: Promise<void> | undefined;

  /** Runs one statement at a time, so that messages stay in order. */
  const send = async (): Promise<void> => {
    while (waitingMessages.length > 0) {
      const messages = waitingMessages;
      waitingMessages = [];
      await context
        .query(
          sql`select pg_catalog.pg_notify(m.value ->> 0, m.value ->> 1) from pg_catalog.jsonb_array_elements(${bindValue(JSON.stringify(messages), "jsonb")}) with ordinality as m order by m.ordinality`,
        )
        .catch(() => undefined); // receivers notice the gap in the numbers
    }
    sending = undefined;
  };

  queueMicrotask(onConnect);
  return {
    maxBytes: MAX_BYTES,
    publish: (topic, text) => {
      if (waitingMessages.length >= MAX_WAITING) return;
      waitingMessages.push([buildChannel(namespace, topic), text]);
      sending ??= send();
    },
    subscribe: (topic) => {
      unsubscribers.get(topic)?.();
      unsubscribers.set(
        topic,
        context.listen(
          buildChannel(namespace, topic),
          (text) => onMessage(topic, text),
          (reason) => (reason === "lost" ? onConnect() : onMissed(topic)),
        ),
      );
    },
    unsubscribe: (topic) => {
      unsubscribers.get(topic)?.();
      unsubscribers.delete(topic);
    },
    close: async () => {
      for (const unsubscribe of unsubscribers.values()) unsubscribe();
      await sending;
    },
  };
};
