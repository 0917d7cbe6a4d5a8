/** For a connection that mostly waits: a question now and then, so that one which leads nowhere is noticed. */
import type { Connection } from "./connection.ts";

const BEAT_MS = 3000;
/** Of a connection that nobody depends on: often enough for firewalls that forget silent connections. */
const IDLE_BEATS = 20;

/** Until it ends. What is not answered before the next question ends it. Returns how to ask at once. */
export const keepAwake = (connection: Connection, isIdle: () => boolean): (() => void) => {
  let isWaiting = false;
  let beats = 0;
  const ask = (): void => {
    if (isWaiting) return;
    beats = 0;
    isWaiting = true;
    connection.query("select", []).then(
      () => {
        isWaiting = false;
      },
      () => undefined, // it has ended
    );
  };
  const timer = setInterval(() => {
    if (isWaiting) return void connection.end();
    if (++beats >= IDLE_BEATS || !isIdle()) ask();
  }, BEAT_MS);
  timer.unref();
  connection.onEnd(() => clearInterval(timer));
  return ask;
};
