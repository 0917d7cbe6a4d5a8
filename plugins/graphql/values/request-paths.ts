/** Builds paths in a request: `$.selectionSet.album.args.where.id._eq`, `….objects[0]['odd key']`. @rule G-ERR-2
 *  G-ERR-3 */

/** Matches keys that need no quotes: `artist_id`, `x-y`. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

/** Appends the key of an object to the path of an input. */
export const appendKey = (path: string, key: string): string =>
  PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}['${key}']`;

/** Appends the index of a list to the path of an input. */
export const appendIndex = (path: string, index: number): string => `${path}[${index}]`;
