/** What the main thread and the thread of the database say to each other. */
import type { Batch } from "./messages.ts";

/** How the database comes to life, in `workerData`. */
export interface Boot {
  /** Folder of the cluster; absent: in memory. */
  readonly dataFolder?: string;
  /** gzipped tar of a cluster, unpacked before the start */
  readonly imagePath?: string;
  /** SQL files, then SQL text, run after the start, in this order */
  readonly scriptPaths: readonly string[];
  readonly loadScript?: string;
  readonly extensions: readonly string[];
}

export type Request = ({ readonly kind: "run" } & Batch) | { readonly kind: "dump" } | { readonly kind: "stop" };

/** `bytes`: messages for the client, or the image. `isIdle`: the backend is in no transaction and between groups. */
export interface Answer {
  readonly kind: "answer";
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isIdle: boolean;
  /** NotificationResponses in `bytes`, for the other clients */
  readonly notifications: readonly Uint8Array[];
}

/** `greeting`: the response to a client's startup packet. `alarm`: PostgreSQL wants to be woken after this time, to end the
 *  running statement; 0: no longer. `failed`: it could not start. `died`: it started and can no longer continue. */
export type FromThread =
  | { readonly kind: "ready"; readonly greeting: Uint8Array }
  | { readonly kind: "alarm"; readonly milliseconds: number }
  | Answer
  | { readonly kind: "failed" | "died"; readonly message: string };
