/** Tracks the channels of relapi's own listeners for each database. If all connections share one session, cleaning must
 *  keep these channels, and remove channels that a function has listened to. */
import { memoize } from "../../../core/index.ts";

/** Returns the set of channel maps of a database with only one session, which the object identifies. */
const getChannelMaps = memoize((_database: object) => new Set<ReadonlyMap<string, unknown>>());

/** Registers the channels of one listener, by name. The map changes with the channels in use. Returns a function that
 *  removes the channels. */
export const registerChannels = (database: object, channels: ReadonlyMap<string, unknown>): (() => void) => {
  const channelMaps = getChannelMaps(database).add(channels);
  return () => void channelMaps.delete(channels);
};

/** Returns the channels of all listeners, sorted and without duplicates. */
export const listRegisteredChannels = (database: object): readonly string[] =>
  [...new Set([...getChannelMaps(database)].flatMap((channels) => [...channels.keys()]))].sort();
