/** Waits for a condition. Tests wait in no other way. */
const DEADLINE_MS = 120_000;
const INTERVAL_MS = 10;
/** The real timer, which a test with a fake clock does not replace. */
const startTimer = setTimeout;

/**
 * Resolves when the condition holds. The deadline of 120 s only ends a test that would hang. @throws Error that names
 * the condition, after the deadline
 */
export const until = async (condition: () => boolean | Promise<boolean>, name: string): Promise<void> => {
  const deadlineMs = performance.now() + DEADLINE_MS;
  while (!(await condition())) {
    if (performance.now() > deadlineMs) throw new Error(`${name}: not so after ${DEADLINE_MS / 1000} s`);
    await new Promise((resolve) => startTimer(resolve, INTERVAL_MS));
  }
};
