/** The messages between the main thread and the database thread, as types. */
import type { Image } from "./images.ts";
import type { Batch } from "./client-messages.ts";

/** The boot parameters of the database, in `workerData`. */
export interface BootParameters {
  /** The folder of the cluster. Undefined for a database in memory. */
  readonly dataFolder?: string;
  /** The image that is unpacked before the start. */
  readonly image?: Image;
  /** The SQL files that run after the start, before `loadScript`. */
  readonly scriptPaths: readonly string[];
  readonly loadScript?: string;
  readonly extensions: readonly string[];
  /** The compiled PostgreSQL, if an earlier thread of this process has compiled it. */
  readonly engine?: WebAssembly.Module;
  /** The decompressed tar of a built image, if an earlier thread of this process has decompressed it. */
  readonly tar?: SharedArrayBuffer;
}

export type ThreadRequest = ({ readonly kind: "run" } & Batch) | { readonly kind: "dump" } | { readonly kind: "stop" };

/** `bytes` holds messages for the client, or the image. `isIdle` says that the backend is in no transaction and between
 *  groups. */
export interface ThreadResponse {
  readonly kind: "response";
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly isIdle: boolean;
  /** The NotificationResponses in `bytes`, for the other clients. */
  readonly notifications: readonly Uint8Array[];
}

/** `greeting` is the response to a client's startup packet, `engine` is the compiled PostgreSQL, and `tar` the
 *  decompressed built image. `timer` requests a call after this time, which ends the running statement; 0 cancels it.
 *  `failed` means that the database could not start, `died` that it cannot continue. */
export type ThreadMessage =
  | {
      readonly kind: "ready";
      readonly greeting: Uint8Array;
      readonly engine: WebAssembly.Module;
      readonly tar: SharedArrayBuffer | undefined;
    }
  | { readonly kind: "timer"; readonly milliseconds: number }
  | ThreadResponse
  | { readonly kind: "failed" | "died"; readonly message: string };
