/** Passes messages between processes through a transport, and numbers them, so that receivers detect missing ones.
 *  @rule X-BUS-1 */
import { randomBytes } from "node:crypto";
import {
  getErrorMessage,
  definePlugin,
  buildErrorFields,
  presetError,
  type PluginContext,
} from "../../../core/index.ts";
import { busService, openBusHook, type Bus, type BusTransport } from "../api.ts";
import { loadNamespace } from "./namespace.ts";
import { busSettings } from "../settings.ts";

const RETRY_MS = 1000;
/** The prefix `sender number ` of each message. */
const ENVELOPE_BYTES = 32;
/** The largest number of senders whose last message is known. Most senders may have ended long ago. */
const MAX_SENDERS = 10_000;

/** The URL of the default transport, which a preset may lack. */
const NOTIFY = "notify:";

/** Passes messages between the processes that serve one database. */
export const bus = definePlugin({
  name: "bus",
  settings: busSettings,
  apply: (_hooks, context) => {
    const { busUrl = NOTIFY, database } = context.options;
    // An embedded database has only one process.
    if (database !== undefined) return;
    const { bus: service, open, close } = createBus(context, busUrl);
    context.offer(busService, service);
    // The bus opens before the model is loaded, because a reload may be requested meanwhile; until then, the loader
    // logs errors of the database.
    open(false);
    context.onModel(() => open(true));
    context.onClose(close);
  },
});

interface TopicSubscription {
  readonly onMessage: (text: string, sender: string) => void;
  readonly onMissed: (() => void) | undefined;
}

interface OpenedBus {
  readonly bus: Bus;
  /** Opens the transport. With `isLoaded` the database has answered once, so a failure is logged, and opening is
   *  retried. */
  open(isLoaded: boolean): void;
  close(): Promise<void>;
}

const createBus = (context: PluginContext, url: string): OpenedBus => {
  const openBus = context.use(openBusHook);
  const { logger } = context;
  const id = randomBytes(9).toString("base64url");
  const topics = new Map<string, Set<TopicSubscription>>();
  /** The number of the last sent message by topic. */
  const sentNumbers = new Map<string, number>();
  /** The number of the last received message by topic and sender. */
  const receivedNumbers = new Map<string, number>();
  let transport: BusTransport | undefined;
  let isOpening = false;
  let isModelLoaded = false;
  let isMissing = false;
  let isUp = false;
  let wasUp = false;
  let isClosed = false;
  let timer: NodeJS.Timeout | undefined;

  /** Logs the error of a subscriber, which must not affect other subscribers or the transport. */
  const forEachSubscription = (topic: string, notify: (subscription: TopicSubscription) => void): void => {
    for (const subscription of topics.get(topic) ?? [])
      try {
        notify(subscription);
      } catch (error) {
        logger.error("a subscriber of the bus failed", { topic, ...buildErrorFields(error) });
      }
  };

  const reportMissed = (topic: string): void => forEachSubscription(topic, (subscription) => subscription.onMissed?.());

  const receiveMessage = (topic: string, message: string): void => {
    const first = message.indexOf(" ");
    const second = message.indexOf(" ", first + 1);
    const sender = message.slice(0, first);
    const number = Number(message.slice(first + 1, second));
    if (sender === id || first < 1 || second === -1 || !Number.isSafeInteger(number)) return;
    const key = `${topic} ${sender}`;
    const last = receivedNumbers.get(key);
    // A transport may deliver a message twice.
    if (last !== undefined && number <= last) return;
    receivedNumbers.delete(key);
    receivedNumbers.set(key, number);
    // The map is not empty.
    if (receivedNumbers.size > MAX_SENDERS) receivedNumbers.delete(receivedNumbers.keys().next().value as string);
    if (last !== undefined && number > last + 1) reportMissed(topic);
    const text = message.slice(second + 1);
    forEachSubscription(topic, (subscription) => subscription.onMessage(text, sender));
  };

  const handleConnect = (): void => {
    isUp = true;
    if (wasUp) {
      logger.info("the bus is available again; its subscribers read their data again");
      for (const topic of topics.keys()) reportMissed(topic);
    }
    wasUp = true;
  };

  const handleDisconnect = (reason: string): void => {
    if (isUp && !isClosed) logger.warn("lost the bus between processes", { reason });
    isUp = false;
  };

  const open = async (): Promise<void> => {
    if (isOpening || isClosed) return;
    isOpening = true;
    try {
      const namespace = await loadNamespace(context);
      if (isClosed) return;
      transport = openBus.call(url, namespace, {
        onMessage: receiveMessage,
        onConnect: handleConnect,
        onMissed: reportMissed,
        onDisconnect: handleDisconnect,
      });
      if (transport === undefined) {
        isMissing = true;
        const scheme = /^[^:]*/.exec(url)?.[0];
        return url === NOTIFY
          ? undefined
          : logger.error("no plugin of the preset opens this bus; processes exchange no messages", { scheme });
      }
      for (const topic of topics.keys()) transport.subscribe(topic);
    } catch (error) {
      isOpening = false;
      if (!isModelLoaded) return;
      logger.warn("failed to open the bus between processes", { reason: getErrorMessage(error) });
      timer = setTimeout(() => void open(), RETRY_MS);
    }
  };

  return {
    bus: {
      group: `${context.options.busName} ${/^[^:]*/.exec(url)?.[0]}`,
      usesNotify: url === NOTIFY,
      get maxBytes() {
        return (transport?.maxBytes ?? 0) - ENVELOPE_BYTES;
      },
      get isMissing() {
        return isMissing;
      },
      get isUp() {
        return isUp;
      },
      publish: (topic, text) => {
        if (/\s/.test(topic)) throw presetError(`the topic "${topic}" of the bus has a blank`);
        const number = (sentNumbers.get(topic) ?? 0) + 1;
        sentNumbers.set(topic, number);
        // If the message is not sent, receivers notice the gap in the numbers.
        if (isUp && !isClosed) transport?.publish(topic, `${id} ${number} ${text}`);
      },
      subscribe: (topic, onMessage, onMissed) => {
        const subscription: TopicSubscription = { onMessage, onMissed };
        let subscriptions = topics.get(topic);
        if (subscriptions === undefined) {
          topics.set(topic, (subscriptions = new Set()));
          transport?.subscribe(topic);
        }
        subscriptions.add(subscription);
        return () => {
          if (!subscriptions.delete(subscription) || subscriptions.size > 0 || topics.get(topic) !== subscriptions)
            return;
          topics.delete(topic);
          transport?.unsubscribe(topic);
          // Without a subscriber, no message counts as missed.
          for (const key of receivedNumbers.keys()) if (key.startsWith(`${topic} `)) receivedNumbers.delete(key);
        };
      },
    },
    open: (isLoaded) => {
      isModelLoaded ||= isLoaded;
      void open();
    },
    close: async () => {
      clearTimeout(timer);
      isClosed = true;
      await transport?.close();
    },
  };
};
