/** The interface between the shared reader of changes and its plugin. */
import { RelApiError, type PluginContext } from "../../../core/index.ts";
import type { Bus } from "../../cluster/api.ts";
import type { TableChanges } from "../api.ts";

export interface SharedChanges {
  /** True if all changes are currently reported. */
  readonly isOpen: boolean;
  /** True if the database cannot report changes by replication. */
  readonly isRejected: boolean;
  /** Starts to read changes, because there are live queries. */
  start(): void;
  /** Stops reading changes, because the last live query has ended. */
  stop(): void;
  /** Called when the database can be reached again, possibly on a different server. */
  databaseReached(): void;
  /** Requests the values of the new `columns` from the process that reads the changes. */
  columnsChanged(): void;
  close(): Promise<void>;
}

export interface SharedChangesParts {
  readonly context: PluginContext;
  readonly bus: Bus | undefined;
  /** The columns whose values this process needs from changed rows. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** Returns whether there are no live queries, on any change source. */
  readonly isIdle: () => boolean;
  readonly onChanges: (changes: TableChanges) => void;
  /** Called when changes may be missing. All live queries must then run again. */
  readonly onMissed: () => void;
  /** Called when all changes are reported from now on. */
  readonly onOpen: (isLeader: boolean) => void;
  /** Called when changes are no longer reported. The next call of `onOpen` ends this state. */
  readonly onLost: (reason: string) => void;
  readonly onRejected: (reason: string) => void;
}

/** Returns whether the error may be temporary. `CREATE_REPLICATION_SLOT` fails with these states while the server
 *  starts or is full. An error without a state means that the server was not reached. */
export const isTemporary = (error: unknown): boolean => {
  if (!(error instanceof RelApiError)) return false;
  const { sqlstate } = error.facts;
  return typeof sqlstate !== "string" || /^(?:08|53|57|28P01)/.test(sqlstate);
};

/** Returns whether a hot standby rejected. The standby may be promoted later. */
export const isStandbyError = (error: unknown): boolean =>
  error instanceof RelApiError && error.facts["sqlstate"] === "25006";

export const describeError = (error: unknown): string => {
  if (!(error instanceof RelApiError)) return String(error);
  return typeof error.details === "string" && error.code === "connection-failed" ? error.details : error.message;
};
