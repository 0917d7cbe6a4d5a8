/** How the CPU time of an algorithm grows with its input. CPU time, unlike wall-clock time, does not depend on what else
 *  the machine does. */
const ROUNDS = 3;
const MEASURABLE_MS = 20;
const MAX_REPETITIONS = 4096;
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

const fastest = async (run: () => unknown, repetitions: number): Promise<number> => {
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round++) best = Math.min(best, await measure(run, repetitions));
  return best;
};

/** Runs `run(n)` and `run(4 * n)` and compares their CPU time.
 *  @throws Error with both times when the growth is not near linear */
export const requireLinearTime = async (run: (n: number) => unknown, n: number): Promise<void> => {
  let repetitions = 1;
  while (repetitions < MAX_REPETITIONS && (await measure(() => run(n), repetitions)) < MEASURABLE_MS) repetitions *= 2;
  const small = await fastest(() => run(n), repetitions);
  const large = await fastest(() => run(4 * n), repetitions);
  if (large > MAX_RATIO * Math.max(small, 1))
    throw new Error(`CPU time grows faster than the input: ${small} ms for ${n}, ${large} ms for ${4 * n}`);
};
