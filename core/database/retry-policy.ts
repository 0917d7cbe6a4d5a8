/** Decides which transactions are retried after a lost connection. A write is retried only if none of its statements
 *  can have run. The client may repeat a request after a 503 at its own risk. */
import { RelApiError } from "../kernel/errors.ts";
import { isFatal, isInterrupted, isPgError, isRecoveryConflict, isUnreachable } from "./pg-errors.ts";

/** The outcome of earlier attempts. */
export interface Attempts {
  readonly count: number;
  /** The number of attempts that were lost without an error of the server. A crash of the server counts only once: all
   *  connections end with the crash, and new ones fail until the server has recovered. */
  readonly silentCount: number;
  readonly pauseMs: number;
}

interface ConnectionLoss {
  readonly error: unknown;
  /** True if the connection could not be opened. */
  readonly isOpening: boolean;
  /** True if the attempt ran on a replica, so that the primary can run the transaction instead. */
  readonly isReplica: boolean;
  readonly isRead: boolean;
  /** True if the server ended the session before any statement of the transaction ran. */
  readonly hasNoEffect: boolean;
}

const FIRST_ATTEMPT: Attempts = { count: 0, silentCount: 0, pauseMs: 0 };
const MAX_ATTEMPTS = 6;
const MAX_SILENT_ATTEMPTS = 3;
const RETRY_PAUSE_MS = 10;

/** Returns the record for another attempt, or undefined if the error is final. @rule R-HST-7 */
export const nextAttempt = (loss: ConnectionLoss, attempts: Attempts = FIRST_ATTEMPT): Attempts | undefined => {
  const count = attempts.count + 1;
  if (count > MAX_ATTEMPTS) return undefined;
  if (loss.isOpening) {
    if (loss.isReplica) return { ...attempts, count, pauseMs: 0 };
    // A retry helps if the server ended the session during the login; an absent server would still be absent.
    return hasEndedEarly(loss.error) ? { ...attempts, count, pauseMs: RETRY_PAUSE_MS * 2 ** count } : undefined;
  }
  if (isUnreachable(loss.error) && !loss.isReplica) return undefined;
  const isConflict = loss.isReplica && isRecoveryConflict(loss.error);
  if (!isConflict && !isConnectionLoss(loss.error)) return undefined;
  if (!loss.isRead && !loss.hasNoEffect) return undefined;
  const silentCount = attempts.silentCount + (isConflict || isInterrupted(loss.error) ? 0 : 1);
  return silentCount > MAX_SILENT_ATTEMPTS ? undefined : { count, silentCount, pauseMs: 0 };
};

/** Returns whether the connection was lost. A result that exceeds the limit does not count: it also ends the
 *  connection, but a retry would fail again. */
const isConnectionLoss = (error: unknown): boolean =>
  error instanceof RelApiError
    ? error.code === "connection-lost" && error.facts["isFinal"] !== true
    : !isPgError(error) || isFatal(error);

/** The messages of pg for a connection that the server has ended, during a statement and afterwards. */
const ENDED_MESSAGES: ReadonlySet<string> = new Set([
  "Connection terminated unexpectedly",
  "Client has encountered a connection error and is not queryable",
]);

const hasEndedEarly = (error: unknown): boolean => {
  if (!(error instanceof RelApiError) || error.code !== "connection-failed") return false;
  const { cause } = error;
  if (isPgError(cause)) return isInterrupted(cause);
  const { code, message, syscall } = cause as { code?: string; message?: string; syscall?: string };
  return ENDED_MESSAGES.has(message ?? "") || (code === "ECONNRESET" && syscall !== "connect");
};
