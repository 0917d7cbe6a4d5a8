/** The resources that a tested process has used. */

export interface ResourceUsage {
  readonly cpuMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
}

/** With `isCollecting`, garbage is collected first, if the process has `--expose-gc`. */
export const readUsage = (isCollecting: boolean): ResourceUsage => {
  if (isCollecting) (globalThis as { gc?: () => void }).gc?.();
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  return { cpuMs: (user + system) / 1000, rssBytes: rss, heapBytes: heapUsed };
};
