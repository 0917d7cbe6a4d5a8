/** Suggestions for misspelt names. */

/** Returns the number of single-character changes that turn one text into the other. */
export const levenshtein = (a: readonly string[], b: readonly string[]): number => {
  let row = b.map((_, j) => j + 1);
  a.forEach((character, i) => {
    let left = i + 1;
    let diagonal = i;
    row = row.map((above, j) => {
      left = Math.min(left + 1, above + 1, diagonal + (character === b[j] ? 0 : 1));
      diagonal = above;
      return left;
    });
  });
  return row[b.length - 1] ?? a.length;
};

/** The maximum length of names that are compared. Identifiers have at most 63 bytes, so a longer name resembles
 *  none. */
const MAX_NAME_LENGTH = 63;

const MAX_CHANGES = 3;

/** Returns the nearest candidates by the rules of PostgreSQL's column suggestions. They differ in at most `maxChanges`
 *  characters and at most half of the name. The result is empty if more than two are equally near, because a long list
 *  does not help. @experimental */
export const findClosestNames = (
  name: string,
  candidates: Iterable<string>,
  maxChanges: number = MAX_CHANGES,
): readonly string[] => {
  const characters = [...name];
  if (characters.length > MAX_NAME_LENGTH) return [];
  let maxDistance = Math.min(maxChanges, Math.floor(characters.length / 2));
  let nearest: string[] = [];
  for (const candidate of candidates) {
    const letters = [...candidate];
    if (Math.abs(letters.length - characters.length) > maxDistance) continue;
    const changes = levenshtein(characters, letters);
    if (changes > maxDistance) continue;
    if (changes < maxDistance) nearest = [];
    maxDistance = changes;
    nearest.push(candidate);
  }
  return nearest.length > 2 ? [] : nearest;
};

/** Returns the end of a message: `; did you mean "sea_lanes"?`, or the empty string. @experimental */
export const buildSuggestion = (name: string, candidates: Iterable<string>): string => {
  const closestNames = findClosestNames(name, candidates).map((closestName) => `"${closestName}"`);
  return closestNames.length === 0 ? "" : `; did you mean ${closestNames.join(" or ")}?`;
};
