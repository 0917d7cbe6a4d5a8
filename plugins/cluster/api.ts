/** The interface of the bus for other plugins: types, a service and a hook. The bus passes messages between the
 *  processes that serve one database. */
import { SyncBailHook } from "tapable";
import { defineService, defineHook } from "../../core/index.ts";

/** The bus as other plugins use it. @experimental */
export interface Bus {
  /** A text that is equal for all processes on the same bus of a database. */
  readonly group: string;
  /** The largest size of a message text in bytes. Callers split or shorten larger messages. */
  readonly maxBytes: number;
  /** True if the transport is `NOTIFY` of the database. */
  readonly usesNotify: boolean;
  /** True if no plugin of the preset can open the bus, so that there are no other processes. */
  readonly isMissing: boolean;
  /** True if messages can be sent at the moment. */
  readonly isUp: boolean;
  /** Sends a message to the other processes, never to this one. Messages arrive in order and at most once. A message
   *  that cannot be sent now is dropped, and `onMissed` reports it to the receivers. */
  publish(topic: string, text: string): void;
  /** Returns a function that unsubscribes. `sender` changes with each start of a process. `onMissed` is called when
   *  messages of the topic may have been lost, so that their information must be read again. */
  subscribe(topic: string, onMessage: (text: string, sender: string) => void, onMissed?: () => void): () => void;
}

/** The service by which other plugins use the bus. Provided by the plugin `bus`, unless the database belongs to
 *  this process only. @experimental */
export const busService = defineService<Bus>("bus");

/** The callbacks of a transport. */
export interface BusHandlers {
  onMessage(topic: string, text: string): void;
  /** Called when the transport is connected and has its subscriptions. Earlier messages may have been lost. */
  onConnect(): void;
  /** Called when the transport has subscribed to the topic. Earlier messages may have been lost. */
  onMissed(topic: string): void;
  /** Called when the connection is lost. The transport reconnects by itself. */
  onDisconnect(reason: string): void;
}

/** A connection to the server that delivers the messages. */
export interface BusTransport {
  /** The largest size of a message in bytes. */
  readonly maxBytes: number;
  /** Sends a message. Messages of one sender and topic arrive in order, or not at all. */
  publish(topic: string, text: string): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Sends the published messages, and ends. */
  close(): Promise<void>;
}

/** Declared by the plugin `bus` and called once, with the configured URL, or `notify:` by default. `namespace`
 *  distinguishes the processes of one database from others on the same server. It consists of letters, digits and
 *  `-_.`. A tap returns undefined for a URL of another scheme. */
export const openBusHook = defineHook(
  "openBus",
  "bus",
  () =>
    new SyncBailHook<[url: string, namespace: string, handlers: BusHandlers], BusTransport | undefined>([
      "url",
      "namespace",
      "handlers",
    ]),
);
