/**
 * Measures how the CPU time of an algorithm grows with its input. Unlike wall-clock time, it does not depend on other
 * load of the machine.
 */
const MIN_ROUNDS = 2;
/** The maximum of rounds, of which the fastest counts, because other load only makes rounds slower. */
const MAX_ROUNDS = 10;
const MEASURABLE_MS = 20;
const MAX_REPETITIONS = 4096;
/**
 * Nonlinear growth is measured again with twice the work, in which garbage collection, more frequent for large inputs,
 * has less weight.
 */
const MAX_ATTEMPTS = 4;
/** Linear work takes 4 times as long for an input 4 times as long, quadratic work 16 times. */
const MAX_RATIO = 8;

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const measure = async (run: () => unknown, repetitions: number): Promise<number> => {
  const startMs = cpuMs();
  for (let i = 0; i < repetitions; i++) await run();
  return cpuMs() - startMs;
};

/**
 * Runs `run(n)` and `run(4 * n)` alternately and compares their CPU time. @throws Error with both times if the growth
 * is not nearly linear
 */
export const requireLinearTime = async (run: (n: number) => unknown, n: number): Promise<void> => {
  await run(n); // compiles the code before it is measured
  let repetitions = 1;
  while (repetitions < MAX_REPETITIONS && (await measure(() => run(n), repetitions)) < MEASURABLE_MS) repetitions *= 2;
  let [smallMs, largeMs] = [Infinity, Infinity];
  const isLinear = (): boolean => largeMs <= MAX_RATIO * Math.max(smallMs, 1);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++, repetitions *= 2) {
    [smallMs, largeMs] = [Infinity, Infinity];
    for (let round = 0; round < MIN_ROUNDS || (round < MAX_ROUNDS && !isLinear()); round++) {
      smallMs = Math.min(smallMs, await measure(() => run(n), repetitions));
      largeMs = Math.min(largeMs, await measure(() => run(4 * n), repetitions));
    }
    if (isLinear()) return;
  }
  throw new Error(`CPU time grows faster than the input: ${smallMs} ms for ${n}, ${largeMs} ms for ${4 * n}`);
};
