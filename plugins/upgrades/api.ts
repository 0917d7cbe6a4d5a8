/** What upgrades say to other plugins: types and tokens. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { SyncBailHook } from "tapable";
import { defineHook, type AnyServer } from "../../core/index.ts";

/** A request to speak WebSocket. */
export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** Below the mount path. If the mount path is unknown, the whole path, and then the rest of it below each possible
   *  mount path, so take only known paths. */
  readonly path: string;
}

export interface UpgradeTap {
  /** Body of the 404 for an upgrade that nobody takes. */
  readonly refusal?: string;
}

/** Declared by the plugin `upgrades`: asked for each upgrade. `true`: it is taken. */
export const takeUpgradeHook = defineHook(
  "takeUpgrade",
  "upgrades",
  () => new SyncBailHook<[upgrade: Upgrade], true | undefined, UpgradeTap>(["upgrade"]),
);

declare module "../../core/http/call.ts" {
  interface ApiMethods {
    /** Takes WebSocket upgrades of that server. Needed only if the server's listener hides this middleware. `mount`: its
     *  mount path there, which distinguishes several apis on one server. */
    attach(server: AnyServer, mount?: string): void;
  }
}
