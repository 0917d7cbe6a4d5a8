/** Functions that close the resources of a test file after its last test, in reverse order (see setup.ts). */
const closers: (() => Promise<void>)[] = [];

export const atFileEnd = (close: () => Promise<void>): void => {
  closers.unshift(close);
};

export const closeAll = async (): Promise<void> => {
  for (const close of closers.splice(0)) await close();
};
