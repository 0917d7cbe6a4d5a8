/** Finds the most similar of a set of names: "Perhaps you meant 'vessels'". */
import { levenshtein } from "../../core/index.ts";

/** A set of names, indexed once for many searches. */
export interface FuzzySet {
  /** Returns the most similar name, if its similarity reaches `threshold` (0 to 1). */
  suggest(name: string, threshold: number): string | undefined;
  /** Returns whether the set has the name, ignoring case. */
  has(name: string): boolean;
}

/** The minimum similarity of suggested names. @rule R-FUZ-1 */
export const THRESHOLD = { relationship: 0.33, argument: 0.33, relation: 0.75, routine: 0.75 } as const;

const NGRAM_LENGTHS = [3, 2] as const;

/** Returns the letters, digits, blanks and commas of a lower-case name, with one `-` at each end. */
const normalizeName = (lower: string): string => `-${lower.replace(/[^\p{L}\p{N} ,]/gu, "")}-`;

const countNgrams = (lower: string, length: number): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  const characters = [...normalizeName(lower)];
  for (let i = 0; i + length <= characters.length; i++) {
    const run = characters.slice(i, i + length).join("");
    counts.set(run, (counts.get(run) ?? 0) + 1);
  }
  return counts;
};

const computeMagnitude = (counts: ReadonlyMap<string, number>): number =>
  Math.sqrt([...counts.values()].reduce((sum, count) => sum + count * count, 0));

const computeSimilarity = (a: string, b: string): number => {
  const [aCharacters, bCharacters] = [[...a], [...b]];
  const longer = Math.max(aCharacters.length, bCharacters.length);
  return longer === 0 ? 1 : 1 - levenshtein(aCharacters, bCharacters) / longer;
};

interface Entry {
  readonly name: string;
  readonly lower: string;
  readonly ngrams: ReadonlyMap<number, { readonly counts: ReadonlyMap<string, number>; readonly magnitude: number }>;
}

/** Indexes names by the n-grams that they share with a query. @rule R-FUZ-1 R-SC-7 */
export const createFuzzySet = (names: Iterable<string>): FuzzySet => {
  const entriesByNgram = new Map<string, Entry[]>();
  const lowerNames = new Set<string>();
  for (const name of new Set(names)) {
    const lower = name.toLowerCase();
    lowerNames.add(lower);
    const runs = new Map(
      NGRAM_LENGTHS.map((length) => {
        const counts = countNgrams(lower, length);
        return [length, { counts, magnitude: computeMagnitude(counts) }] as const;
      }),
    );
    const entry: Entry = { name, lower, ngrams: runs };
    for (const { counts } of runs.values()) {
      for (const run of counts.keys()) {
        const list = entriesByNgram.get(run);
        if (list === undefined) entriesByNgram.set(run, [entry]);
        else list.push(entry);
      }
    }
  }
  const suggest = (name: string, threshold: number): string | undefined => {
    // The name is longer than any identifier, so no name is similar, and the comparison would be slow.
    if (name.length > 500) return undefined;
    const lower = name.toLowerCase();
    for (const length of NGRAM_LENGTHS) {
      const queryNgrams = countNgrams(lower, length);
      const candidates = new Set([...queryNgrams.keys()].flatMap((run) => entriesByNgram.get(run) ?? []));
      if (candidates.size > 0) return findBestMatch(lower, queryNgrams, length, candidates, threshold);
    }
    return undefined;
  };
  return { suggest, has: (name) => lowerNames.has(name.toLowerCase()) };
};

const findBestMatch = (
  lower: string,
  gramCounts: ReadonlyMap<string, number>,
  length: number,
  candidates: Iterable<Entry>,
  threshold: number,
): string | undefined => {
  const queryMagnitude = computeMagnitude(gramCounts);
  let best: { readonly name: string; readonly score: number; readonly cosine: number } | undefined;
  for (const entry of candidates) {
    const score = computeSimilarity(lower, entry.lower);
    if (score < threshold || (best !== undefined && score < best.score)) continue;
    const runs = entry.ngrams.get(length);
    let product = 0;
    for (const [run, count] of gramCounts) product += count * (runs?.counts.get(run) ?? 0);
    const cosine = product / (queryMagnitude * (runs?.magnitude ?? 1));
    if (best === undefined || score > best.score || cosine > best.cosine) best = { name: entry.name, score, cosine };
  }
  return best?.name;
};
