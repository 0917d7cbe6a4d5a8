/** Calls each member at once and then every five seconds, with one timer for all. */
export interface Heartbeat {
  /** Returns how to leave. */
  join(beat: () => void): () => void;
  close(): void;
}

const PERIOD_MS = 5000;
/** Members of one slot beat together. */
const SLOT_COUNT = 50;

export const createHeartbeat = (): Heartbeat => {
  const slots = Array.from({ length: SLOT_COUNT }, () => new Set<() => void>());
  let at = 0;
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  const step = (): void => {
    at = (at + 1) % SLOT_COUNT;
    for (const beat of slots[at] ?? []) beat();
  };
  return {
    join: (beat) => {
      const slot = slots[at];
      slot?.add(beat);
      if (count++ === 0) timer = setInterval(step, PERIOD_MS / SLOT_COUNT);
      beat();
      return () => {
        if (slot?.delete(beat) === true && --count === 0) clearInterval(timer);
      };
    },
    close: () => clearInterval(timer),
  };
};
