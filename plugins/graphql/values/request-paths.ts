/** Builds paths in a request: `$.selectionSet.album.args.where.id._eq`, `….objects[0]['odd key']`. @rule G-ERR-2
 *  G-ERR-3 */

/** Matches keys that need no quotes: `artist_id`, `x-y`. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/;

export const appendKey = (path: string, key: string): string =>
  PLAIN_KEY.test(key) ? `${path}.${key}` : `${path}['${key}']`;

export const appendIndex = (path: string, index: number): string => `${path}[${index}]`;
