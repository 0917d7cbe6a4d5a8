/** Sends regular queries on a connection that mostly waits, in order to detect a dead connection. */
import type { Connection } from "../../../core/database/connection.ts";

const BEAT_MS = 3000;
/** The interval on an idle connection, in beats. It is short enough for firewalls that drop silent connections. */
const IDLE_BEATS = 20;

/** Sends queries until the connection ends, and ends it if a query has no response before the next one. Returns a
 *  function that sends a query immediately. */
export const startHeartbeat = (connection: Connection, isIdle: () => boolean): (() => void) => {
  let isWaiting = false;
  let beats = 0;
  const sendQuery = (): void => {
    if (isWaiting) return;
    beats = 0;
    isWaiting = true;
    connection.query("select", []).then(
      () => {
        isWaiting = false;
      },
      () => undefined, // the connection has ended
    );
  };
  const timer = setInterval(() => {
    if (isWaiting) return void connection.end();
    if (++beats >= IDLE_BEATS || !isIdle()) sendQuery();
  }, BEAT_MS);
  timer.unref();
  connection.onEnd(() => clearInterval(timer));
  return sendQuery;
};
