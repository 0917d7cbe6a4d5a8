/** Logs the failures of webhooks, which may fail for every request. */

const MINUTE_MS = 60_000;
const MAX_REASONS = 100;

/** Logs a reason. The same reason of the same subject is logged at most once a minute. */
export type ProblemLog = (subject: string, reason: string) => void;

/** Creates a log of problems. `write` logs one of them. */
export const createProblemLog = (write: ProblemLog): ProblemLog => {
  const lastLoggedMs = new Map<string, number>();
  return (subject, reason) => {
    const key = `${subject}: ${reason}`;
    const nowMs = performance.now();
    if (nowMs < (lastLoggedMs.get(key) ?? -Infinity) + MINUTE_MS) return;
    if (lastLoggedMs.size >= MAX_REASONS) lastLoggedMs.clear();
    lastLoggedMs.set(key, nowMs);
    write(subject, reason);
  };
};
