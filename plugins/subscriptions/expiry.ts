/** Tokens end while their connections go on. */
import type { Session } from "../../core/index.ts";

/** Timers end at 24 days. */
const LONGEST_TIMER_MS = 2_147_483_647;

/** Calls when the session's token ends. Returns how to forget it. @rule G-WS-15 */
export const atExpiry = ({ expiresAtMs }: Session, expired: () => void): (() => void) => {
  if (expiresAtMs === undefined) return () => undefined;
  let timer: NodeJS.Timeout;
  const wait = (): void => {
    const leftMs = expiresAtMs - Date.now();
    if (leftMs <= 0) return expired();
    timer = setTimeout(wait, Math.min(leftMs, LONGEST_TIMER_MS));
  };
  timer = setTimeout(wait, 0);
  return () => clearTimeout(timer);
};
