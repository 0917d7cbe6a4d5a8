/** Calls each member at once and then every five seconds, with one timer for all. */
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

export const createHeartbeat = (): Heartbeat => {
  const slots = Array.from({ length: SLOT_COUNT }, () => new Set<Beating>());
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const step = (): void => {
    at = (at + 1) % SLOT_COUNT;
    for (const member of slots[at] ?? []) member.beat();
  };
  return {
    join: (member) => {
      slots[at]?.add(member);
      if (count++ === 0) timer = setInterval(step, PERIOD_MS / SLOT_COUNT);
      member.beat();
    },
    leave: (member) => {
      if (slots.some((slot) => slot.delete(member)) && --count === 0) clearInterval(timer);
    },
    close: () => clearInterval(timer),
  };
};
