/** Calls each member once on joining and then periodically, with one timer for all. */
export interface Heartbeat {
  join(member: BeatingConnection): void;
  leave(member: BeatingConnection): void;
  close(): void;
}

export interface BeatingConnection {
  beat(): void;
}

const PERIOD_MS = 5000;
/** The number of slots. The members of one slot beat together. */
const SLOT_COUNT = 50;
/** The largest rate of beats. A beat costs two system calls, and the client's reply a third. Above this rate, beats
 *  would be most of the cost of idle sockets. @rule G-WS-22 */
const MAX_BEATS_PER_SECOND = 2000;
/** The longest default period. By default no client waits longer for a heartbeat. */
const MAX_PERIOD_MS = 20_000;

/** Computes the period of the beats for `count` members. */
const computePeriodMs = (count: number, leastMs: number): number =>
  Math.max(leastMs, Math.min(MAX_PERIOD_MS, (count / MAX_BEATS_PER_SECOND) * 1000));

/** Creates a heartbeat that all connections of a transport share. */
export const createHeartbeat = (periodMs = PERIOD_MS): Heartbeat => {
  const slots = Array.from({ length: SLOT_COUNT }, () => new Set<BeatingConnection>());
  let position = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const wait = (): void => {
    timer = setTimeout(beatNextSlot, computePeriodMs(count, periodMs) / SLOT_COUNT);
  };
  const beatNextSlot = (): void => {
    wait(); // the timer starts before the beats, so that their duration does not accumulate
    position = (position + 1) % SLOT_COUNT;
    for (const member of slots[position] ?? []) member.beat();
  };
  return {
    join: (member) => {
      slots[position]?.add(member);
      if (count++ === 0) wait();
      member.beat();
    },
    leave: (member) => {
      if (slots.some((slot) => slot.delete(member)) && --count === 0) clearTimeout(timer);
    },
    close: () => clearTimeout(timer),
  };
};
