/** Tracks the channels of relapi's own listeners for each database. If all connections share one session, cleaning must
 *  keep these channels, and remove channels that a function has listened to. */

/** An object that identifies a database with only one session. */
type SharedDatabase = object;

const channelsByDatabase = new WeakMap<SharedDatabase, Set<ReadonlyMap<string, unknown>>>();

/** Registers the channels of one listener, by name. The map changes with the channels in use. Returns a function that
 *  removes the channels. */
export const registerChannels = (database: SharedDatabase, channels: ReadonlyMap<string, unknown>): (() => void) => {
  let listeners = channelsByDatabase.get(database);
  if (listeners === undefined) {
    listeners = new Set();
    channelsByDatabase.set(database, listeners);
  }
  listeners.add(channels);
  return () => void listeners.delete(channels);
};

/** Returns the channels of all listeners, sorted and without duplicates. */
export const listRegisteredChannels = (database: SharedDatabase): readonly string[] =>
  [...new Set([...(channelsByDatabase.get(database) ?? [])].flatMap((channels) => [...channels.keys()]))].sort();
