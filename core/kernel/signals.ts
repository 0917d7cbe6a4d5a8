/** What happens inside an api, for plugins that measure it. Where nobody listens nothing is made of it. */

/** One kind of event. */
export interface Signal<Event> {
  /** Ask before making an event, and before looking at a clock for one. */
  readonly isHeard: boolean;
  emit(event: Event): void;
}

export interface Signals {
  /** The same object for the same name. */
  of(name: string): Signal<unknown>;
  listen(name: string, listener: (event: unknown) => void): void;
}

interface OpenSignal extends Signal<unknown> {
  readonly listeners: ((event: unknown) => void)[];
  isHeard: boolean;
}

/** @rule X-SIG-1 */
export const createSignals = (): Signals => {
  const signals = new Map<string, OpenSignal>();
  const of = (name: string): OpenSignal => {
    let signal = signals.get(name);
    if (signal === undefined) {
      const listeners: OpenSignal["listeners"] = [];
      signal = {
        isHeard: false,
        listeners,
        emit: (event) => {
          for (const listener of listeners) listener(event);
        },
      };
      signals.set(name, signal);
    }
    return signal;
  };
  return {
    of,
    listen: (name, listener) => {
      const signal = of(name);
      signal.listeners.push(listener);
      signal.isHeard = true;
    },
  };
};
