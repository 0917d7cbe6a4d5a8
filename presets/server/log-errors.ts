/** Keeps the server running when its log destination is full or gone. */
import type { Writable } from "node:stream";
import { definePlugin } from "../../core/index.ts";

const PROBLEM_MS = 60_000;

const streams = [
  ["stdout", process.stdout],
  ["stderr", process.stderr],
] as const;

/** Handles stream errors, with which Node would end the process. @rule C-CLI-8 */
export const ignoreLogErrors = (streams: readonly Writable[]): void => {
  for (const stream of streams) stream.on("error", () => undefined);
};

/** Reports the problem in `/ready` until a minute has passed without another failure. */
export const lostLog = definePlugin({
  name: "lost-log",
  apply: (_, context) => {
    for (const [name, stream] of streams) {
      const subject = `log on ${name}`;
      let timer: NodeJS.Timeout | undefined;
      const onLost = (error: NodeJS.ErrnoException): void => {
        context.healthProblems.set(subject, `it cannot be written: ${error.code ?? error.message}`);
        clearTimeout(timer);
        timer = setTimeout(() => context.healthProblems.set(subject, undefined), PROBLEM_MS);
        timer.unref();
      };
      stream.on("error", onLost);
      context.onClose(() => {
        clearTimeout(timer);
        stream.off("error", onLost);
      });
    }
  },
});
