/** Suggestions for misspelt names. */

/** Number of single-character changes that turn one text into the other. */
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

/** Identifiers have no more bytes: a longer name is close to none of them, and comparing it would be slow. */
const MAX_NAME_LENGTH = 63;

const MAX_CHANGES = 3;

/** The nearest of the candidates as PostgreSQL suggests columns: at most `maxChanges` away, and no more than half of the
 *  name; one name or two equally near ones, since more would be no help. */
export const nearestNames = (
  name: string,
  candidates: Iterable<string>,
  maxChanges: number = MAX_CHANGES,
): readonly string[] => {
  const asked = [...name];
  if (asked.length > MAX_NAME_LENGTH) return [];
  let least = Math.min(maxChanges, Math.floor(asked.length / 2));
  let nearest: string[] = [];
  for (const candidate of candidates) {
    const letters = [...candidate];
    if (Math.abs(letters.length - asked.length) > least) continue;
    const changes = levenshtein(asked, letters);
    if (changes > least) continue;
    if (changes < least) nearest = [];
    least = changes;
    nearest.push(candidate);
  }
  return nearest.length > 2 ? [] : nearest;
};

/** For the end of a message: `; did you mean "sea_lanes"?`, or nothing. */
export const didYouMean = (name: string, candidates: Iterable<string>): string => {
  const near = nearestNames(name, candidates).map((one) => `"${one}"`);
  return near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
};
