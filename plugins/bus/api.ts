/** What the bus says to other plugins: types and tokens. It passes messages between the processes that serve one database. */
import { SyncBailHook } from "tapable";
import { defineService, defineHook } from "../../core/index.ts";

export interface Bus {
  /** What processes have in common that hear each other on the bus of a database. */
  readonly group: string;
  /** Bytes that the text of a message may have. */
  readonly maxBytes: number;
  /** It is the database's `NOTIFY`. */
  readonly usesNotify: boolean;
  /** No plugin of the preset opens it: there is nobody to talk to. */
  readonly isMissing: boolean;
  /** Messages can be sent at the moment. */
  readonly isUp: boolean;
  /** To the other processes, never to this one. In order, and once at most: what cannot be sent now is dropped, and the
   *  receivers find out (`missed`). */
  publish(topic: string, text: string): void;
  /** `sender`: another one after each start of a process. `missed`: messages of the topic may have been lost, so whatever
   *  they stand for must be read anew. Returns how to stop. */
  subscribe(topic: string, heard: (text: string, sender: string) => void, missed?: () => void): () => void;
}

/** Offered by the plugin `bus`, unless the database belongs to this process alone. */
export const busService = defineService<Bus>("bus");

// --- transports -----------------------------------------------------------------------------------------------------

/** What a transport calls. */
export interface BusHandlers {
  heard(topic: string, text: string): void;
  /** It is connected, and subscribed to what it was asked for. Messages may have been lost before. */
  up(): void;
  /** It is subscribed to the topic only now. Messages may have been lost before. */
  missed(topic: string): void;
  /** It is not connected any more, and tries again by itself. */
  down(reason: string): void;
}

/** A connection to whatever passes the messages on. */
export interface BusTransport {
  /** Bytes of a message. */
  readonly maxBytes: number;
  /** Messages of one sender and topic arrive in order, or not at all. */
  publish(topic: string, text: string): void;
  subscribe(topic: string): void;
  unsubscribe(topic: string): void;
  /** Sends what was published, and ends. */
  close(): Promise<void>;
}

/** Declared by the plugin `bus`: asked once, with the URL of the settings, `notify:` where there is none. `namespace`:
 *  letters, digits and `-_.`, which tells the processes of one database from others on the same server. */
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
