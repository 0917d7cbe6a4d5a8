/** Calls each member at once and then every period, with one timer for all. */
export interface Heartbeat {
  join(member: Beating): void;
  leave(member: Beating): void;
  close(): void;
}

export interface Beating {
  beat(): void;
}

const PERIOD_MS = 5000;
/** Members of one slot beat together. */
const SLOT_COUNT = 50;
/** A beat is two system calls and the client's reply a third: more of them a second would be most of what idle sockets
 *  cost. @rule G-WS-22 */
const MAX_BEATS_PER_SECOND = 2000;
/** No client waits longer than this for a sign of life by default. */
const MAX_PERIOD_MS = 20_000;

/** How long a beat of `count` members is from the next one. */
const periodFor = (count: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(MAX_PERIOD_MS, (count / MAX_BEATS_PER_SECOND) * 1000));

export const createHeartbeat = (periodMs = PERIOD_MS): Heartbeat => {
  const slots = Array.from({ length: SLOT_COUNT }, () => new Set<Beating>());
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(step, periodFor(count, periodMs) / SLOT_COUNT);
  };
  const step = (): void => {
    wait(); // first, so that what the beats take does not add up
    at = (at + 1) % SLOT_COUNT;
    for (const member of slots[at] ?? []) member.beat();
  };
  return {
    join: (member) => {
      slots[at]?.add(member);
      if (count++ === 0) wait();
      member.beat();
    },
    leave: (member) => {
      if (slots.some((slot) => slot.delete(member)) && --count === 0) clearTimeout(timer);
    },
    close: () => clearTimeout(timer),
  };
};
