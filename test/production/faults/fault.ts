/**
 * Defines a fault. To add one, copy a file of this folder, write its three functions, and list it in `all.ts`.
 * `npm run faults -- <part of its name>` runs a single fault, and `npm run faults` writes the table of
 * docs/reliability.md.
 */
import type { Server } from "../../support/postgres-server.ts";
import type { Standalone } from "../standalone.ts";

/** The running programs that receive requests. Their resources are closed by `atFileEnd`. */
export interface Scene {
  /** The URL of the requests. */
  readonly url: string;
  /** The database in which written rows are checked, without relapi. */
  readonly database: Pick<Server, "query">;
  /** The headers of each request. */
  readonly headers?: () => Readonly<Record<string, string>>;
  /** The servers whose logs are printed if the fault fails. */
  readonly servers: readonly Standalone[];
}

export interface Fault<Arranged extends Scene = Scene> {
  /** The name in the table. */
  readonly name: string;
  /** The Debian programs that it needs. The fault is skipped if one is missing. */
  readonly needs?: readonly string[];
  /** The duration of the fault, by default 5000. */
  readonly durationMs?: number;
  /** Creates the relation `shelf` with the columns `id` and `n`, which anonymous callers may read and write. */
  readonly arrange: () => Promise<Arranged>;
  readonly inject: (scene: Arranged) => Promise<unknown> | unknown;
  readonly remove: (scene: Arranged) => Promise<unknown> | unknown;
  /** The time after the removal in which failures are still allowed. */
  readonly recoversWithinMs?: number;
  /** A final check without load. @returns the fault that it found */
  readonly check?: (scene: Arranged) => Promise<string | undefined> | string | undefined;
}

/** Removes the scene's type, so that faults of different scenes fit in one list. */
// The script `run.ts` passes a scene only to its own fault.
export const fault = <Arranged extends Scene>(sceneFault: Fault<Arranged>): Fault => sceneFault as unknown as Fault;
