/** For a connection that mostly waits: a question now and then, so that one which leads nowhere is noticed. */
import type { Connection } from "./connection.ts";

const BEAT_MS = 3000;

/** Until it ends. What is not answered before the next question ends it. */
export const keepAwake = (connection: Connection): void => {
  let isWaiting = false;
  const timer = setInterval(() => {
    if (isWaiting) return void connection.end();
    isWaiting = true;
    connection.query("select", []).then(
      () => {
        isWaiting = false;
      },
      () => undefined, // it has ended
    );
  }, BEAT_MS);
  timer.unref();
  connection.onEnd(() => clearInterval(timer));
};
