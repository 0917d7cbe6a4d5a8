/** Functions that close the resources of a test file after its last test, in reverse order (see setup.ts). */
const closers: (() => Promise<void>)[] = [];

export const atFileEnd = (close: () => Promise<void>): void => {
  closers.unshift(close);
};

/** Closes every resource. @throws the errors, because a resource that stays open fails the files after this one */
export const closeAll = async (): Promise<void> => {
  const errors: unknown[] = [];
  for (const close of closers.splice(0)) await close().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join("\n"));
};
