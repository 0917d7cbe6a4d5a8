/** Channels that listeners want, by the database they listen to: on a session that is everybody's, cleaning must tell
 *  them from those that a function has listened to. */

/** Whatever stands for a database that has one session only. */
type Shared = object;

const wanted = new WeakMap<Shared, Set<ReadonlyMap<string, unknown>>>();

/** `channels`: those of one listener, by name; it changes as they come and go. Returns how to take it back. */
export const wantChannels = (database: Shared, channels: ReadonlyMap<string, unknown>): (() => void) => {
  let listeners = wanted.get(database);
  if (listeners === undefined) {
    listeners = new Set();
    wanted.set(database, listeners);
  }
  listeners.add(channels);
  return () => void listeners.delete(channels);
};

/** Sorted, each once. */
export const wantedChannels = (database: Shared): readonly string[] =>
  [...new Set([...(wanted.get(database) ?? [])].flatMap((channels) => [...channels.keys()]))].sort();
