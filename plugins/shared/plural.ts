/** Returns the form of a noun that fits the count: `chooseNoun(1, "row")` is `row`, and `chooseNoun(0, "query",
 *  "queries")` is `queries`. */
export const chooseNoun = (count: number, singular: string, plural = `${singular}s`): string =>
  count === 1 ? singular : plural;

/** Formats the count and its noun: `1 row`, `2 queries`. */
export const formatCount = (count: number, singular: string, plural?: string): string =>
  `${count} ${chooseNoun(count, singular, plural)}`;
