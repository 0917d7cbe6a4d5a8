/** Tracks the channels of relapi's own listeners for each database. If all connections share one session, cleaning must
 *  keep these channels, and remove those that a function has listened to. */

/** An object that identifies a database with only one session. */
type Shared = object;

const wanted = new WeakMap<Shared, Set<ReadonlyMap<string, unknown>>>();

/** Registers the channels of one listener, by name. The map changes with the channels in use. Returns a function that
 *  removes them. */
export const wantChannels = (database: Shared, channels: ReadonlyMap<string, unknown>): (() => void) => {
  let listeners = wanted.get(database);
  if (listeners === undefined) {
    listeners = new Set();
    wanted.set(database, listeners);
  }
  listeners.add(channels);
  return () => void listeners.delete(channels);
};

/** Returns the channels of all listeners, sorted and without duplicates. */
export const wantedChannels = (database: Shared): readonly string[] =>
  [...new Set([...(wanted.get(database) ?? [])].flatMap((channels) => [...channels.keys()]))].sort();
