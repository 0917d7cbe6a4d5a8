/** Which transactions are run again when their connection is lost. A write only where it is certain that nothing of it
 *  has run: the client repeats what is answered with 503 at its own risk, we never do. */
import { isRelApiError } from "../../kernel/errors.ts";
import { isFatal, isInterrupted, isPgError, isRecoveryConflict, isUnreachable } from "./pg-errors.ts";

/** What has become of earlier attempts. */
export interface Attempts {
  readonly count: number;
  /** Of them, lost without a word from the server. A statement that brings the server down does so once: all connections
   *  go with it, and a new one is not to be had before it has recovered. */
  readonly silentCount: number;
  readonly pauseMs: number;
}

export interface Loss {
  readonly error: unknown;
  /** The connection could not be opened. */
  readonly isOpening: boolean;
  /** On a replica: the primary is there for what it cannot do. */
  readonly isReplica: boolean;
  readonly isRead: boolean;
  /** The server ended the session before anything of it ran. */
  readonly hasNoEffect: boolean;
}

const FIRST: Attempts = { count: 0, silentCount: 0, pauseMs: 0 };
const MAX_COUNT = 6;
const MAX_SILENT = 3;
const PAUSE_MS = 10;

/** Undefined: the error stands. @rule R-HST-7 */
export const nextAttempt = (loss: Loss, attempts: Attempts = FIRST): Attempts | undefined => {
  const count = attempts.count + 1;
  if (count > MAX_COUNT) return undefined;
  if (loss.isOpening) {
    if (loss.isReplica) return { ...attempts, count, pauseMs: 0 };
    // the server ended it before it was ours; one that is away is not there a moment later either
    return isEndedEarly(loss.error) ? { ...attempts, count, pauseMs: PAUSE_MS * 2 ** count } : undefined;
  }
  if (isUnreachable(loss.error) && !loss.isReplica) return undefined;
  const isConflict = loss.isReplica && isRecoveryConflict(loss.error);
  if (!isConflict && !isLoss(loss.error)) return undefined;
  if (!loss.isRead && !loss.hasNoEffect) return undefined;
  const silentCount = attempts.silentCount + (isConflict || isInterrupted(loss.error) ? 0 : 1);
  return silentCount > MAX_SILENT ? undefined : { count, silentCount, pauseMs: 0 };
};

/** A result that is too large ends its connection too, and would do so again. */
const isLoss = (error: unknown): boolean =>
  isRelApiError(error)
    ? error.code === "connection-lost" && error.facts["isFinal"] !== true
    : !isPgError(error) || isFatal(error);

/** What pg says of a connection that the server has ended: while it waits for an answer, and when it is asked later. */
const ENDED: ReadonlySet<string> = new Set([
  "Connection terminated unexpectedly",
  "Client has encountered a connection error and is not queryable",
]);

const isEndedEarly = (error: unknown): boolean => {
  if (!isRelApiError(error) || error.code !== "connection-failed") return false;
  const { cause } = error;
  if (isPgError(cause)) return isInterrupted(cause);
  const { code, message, syscall } = cause as { code?: string; message?: string; syscall?: string };
  return ENDED.has(message ?? "") || (code === "ECONNRESET" && syscall !== "connect");
};
