/** The interface of upgrades for other plugins: types and tokens. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { SyncBailHook } from "tapable";
import { defineHook, type AnyServer } from "../../../core/index.ts";

/** A WebSocket upgrade request. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** The path below the mount path. If the mount path is unknown, the hook is called for the whole path, and then for
   *  each suffix of it. So a tap must only accept paths that it knows. */
  readonly path: string;
}

export interface UpgradeTap {
  /** The body of the 404 response if no tap accepts the upgrade. */
  readonly refusal?: string;
}

/** Declared by the plugin `upgrades` and called for each upgrade. A tap returns `true` if it has accepted the
 *  upgrade. */
export const takeUpgradeHook = defineHook(
  "takeUpgrade",
  "upgrades",
  () => new SyncBailHook<[upgrade: Upgrade], true | undefined, UpgradeTap>(["upgrade"]),
);

declare module "../../../core/index.ts" {
  interface ApiMethods {
    /** Accepts WebSocket upgrades of that server. Needed only if the server's listener hides this middleware. `mount`
     *  is its mount path there, which distinguishes several apis on one server. */
    attach(server: AnyServer, mount?: string): void;
  }
}
