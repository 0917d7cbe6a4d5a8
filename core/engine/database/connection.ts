/** A connection to PostgreSQL: where it leads, and what it can do. */
import type { Duplex } from "node:stream";
import type { Cleaner, CleaningKind } from "./cleaning.ts";
import type { LongValue } from "./value-taker.ts";
import type { PlanOwner, PreparedStatements } from "./prepared.ts";
import type { Backend, PoolerMode } from "./sharing.ts";
import type { ScriptResult } from "./script-result.ts";
import type { WirePlan, WireResult } from "./wire.ts";

/** Where connections lead. */
export type Target =
  | { readonly url: string; readonly pooler: PoolerMode }
  | { readonly stream: () => Duplex; readonly ready?: Promise<void> };

export interface Connection {
  readonly prepared: PreparedStatements;
  /** Asked for when it was opened, and again when it has lost prepared statements. */
  backend: Backend;
  /** The role for which functions have planned statements on it; the database session keeps those plans for the next
   *  caller. Undefined: none have. @rule R-TX-14 */
  planOwner: PlanOwner | undefined;
  /** Sends one batch; send the next when its result has arrived. `cleaning`: sent after it, to remove what it leaves
   *  behind. `long`: a value that is not held. */
  run(plan: WirePlan, cleaning?: CleaningKind, long?: LongValue): Promise<WireResult>;
  /** Whose `cleaned` settles when the cleaning is done that was sent last. */
  readonly cleaner: Pick<Cleaner, "cleaned">;
  /** An ordinary query with values parsed by their types. */
  query<Row>(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Any number of statements, with the result of each; values as text. */
  script(text: string): Promise<readonly ScriptResult[]>;
  /** Starts a copy in both directions, which goes on until the connection ends. Rejects when the server refuses or ends
   *  it. */
  copyBoth(text: string, take: (bytes: Buffer) => void): Promise<void>;
  /** The client's part of such a copy. */
  sendCopy(bytes: Buffer): void;
  /** Asks the server to cancel the running statement. Resolves when the server has received the request, so that it
   *  cannot hit a later statement. */
  cancel(): Promise<void>;
  /** Calls for each `NOTIFY` of the channels listened to. */
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Called once when the connection ends, from whichever side. */
  onEnd(listener: () => void): void;
  readonly isEnded: boolean;
  /** A statement was sent and is not answered in full. */
  isAwaiting(): boolean;
  /** Received so far. */
  heardBytes(): number;
  /** Of the backend, or what a pooler says instead. */
  readonly processId: number | null;
  /** Where it leads. */
  readonly place: string;
  /** Another one to the same server. @throws what connecting throws */
  reopen(timeoutMs: number): Promise<Connection>;
  /** Ends it at once; what runs on it fails with the error. */
  kill(error: Error): void;
  /** What the server says of it, now; undefined: it does not say. */
  session(): { readonly isStandby: boolean; readonly isReadOnly: boolean } | undefined;
  end(): Promise<void>;
}

export interface ConnectionKind {
  /** The purpose of a connection that serves no requests, as part of its `application_name`. */
  readonly purpose?: "listener" | "replication" | "replica check";
  /** It takes commands of the replication protocol too. */
  readonly replicates?: boolean;
  /** Bytes of the result of one batch; a larger one ends the connection. */
  readonly maxResultBytes?: number;
  /** Called for each result that was too large. */
  readonly refused?: () => void;
}
