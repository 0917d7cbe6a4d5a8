/** What the reader of changes and the plugin around it say to each other. */
import { isRelApiError, type PluginContext } from "../../core/index.ts";
import type { Bus } from "../bus/api.ts";
import type { TableChanges } from "./api.ts";

export interface SharedChanges {
  /** All changes are heard of now. */
  readonly isOpen: boolean;
  /** The database does not tell of changes in this way. */
  readonly isRefused: boolean;
  /** There are live queries. */
  want(): void;
  /** There are none any more. */
  unwant(): void;
  /** The database was reached again, maybe another server than before. */
  reached(): void;
  /** `columns` has others. */
  columnsChanged(): void;
  close(): Promise<void>;
}

export interface SharedChangesParts {
  readonly context: PluginContext;
  readonly bus: Bus | undefined;
  /** The columns whose values this process wants of changed rows. */
  readonly columns: ReadonlyMap<string, readonly string[]>;
  /** There are no live queries, whoever watches them. */
  readonly isIdle: () => boolean;
  readonly changed: (changes: TableChanges) => void;
  /** Changes may be missing: everything is to be read anew. */
  readonly missed: () => void;
  /** All changes are heard of from now on. */
  readonly opened: (isLeader: boolean) => void;
  /** Until it is opened again they are not. */
  readonly lost: (reason: string) => void;
  readonly refused: (reason: string) => void;
}

/** `CREATE_REPLICATION_SLOT` fails so where the server starts or is full; no state at all: it was not reached. */
export const mayPass = (error: unknown): boolean => {
  if (!isRelApiError(error)) return false;
  const { sqlstate } = error.facts;
  return typeof sqlstate !== "string" || /^(?:08|53|57|28P01)/.test(sqlstate);
};

/** Refused by a hot standby, which may be promoted. */
export const isOfStandby = (error: unknown): boolean => isRelApiError(error) && error.facts["sqlstate"] === "25006";

export const reasonOf = (error: unknown): string => {
  if (!isRelApiError(error)) return String(error);
  return typeof error.details === "string" && error.code === "connection-failed" ? error.details : error.message;
};
