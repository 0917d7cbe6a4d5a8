/** Which tables and functions may give the root field of a name, so that a document needs no others. @rule R-SC-12 */
import type { Pieces } from "../../../core/index.ts";
import type { GqlFunction, GqlNamePart, GqlTable } from "../served.ts";

/** What gives root fields. */
interface Giving {
  readonly word: GqlNamePart;
  readonly rootFields: Readonly<Partial<Record<string, { readonly name?: string }>>>;
}

/** Often enough to give way. */
const ALL_AT_ONCE = 64;

/** Whatever conventions make of a word: they change the case of letters, and underscores. */
const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");

type Places = Map<string, number | number[]>;

const add = (map: Places, key: string, at: number): void => {
  const known = map.get(key);
  if (known === undefined) map.set(key, at);
  else if (typeof known === "number") map.set(key, [known, at]);
  else known.push(at);
};

/** In the order of `all`. The proof that none is missing: names of root fields are made by `rootName` of words, the
 *  table's or function's own among them, which is then a part of the name; or they are in the metadata. `words`: numbers
 *  by word, where conventions leave words as they are. */
const indexOf = function* <One extends Giving>(
  all: readonly One[],
  words: ReadonlyMap<string, number> | undefined,
): Pieces<(name: string) => readonly One[]> {
  const byWord: Places = new Map();
  const byName: Places = new Map();
  let longest = 0;
  let count = 0;
  for (const { word, rootFields } of all) {
    longest = Math.max(longest, word.text.length);
    if (words === undefined) add(byWord, plain(word.text), count);
    for (const key in rootFields) {
      const name = rootFields[key]?.name;
      if (name !== undefined) add(byName, name, count);
    }
    if (++count % ALL_AT_ONCE === 0) yield;
  }
  return (name) => {
    const found = new Set<number>();
    const take = (places: number | readonly number[] | undefined): void => {
      if (typeof places === "number") found.add(places);
      else for (const place of places ?? []) found.add(place);
    };
    const letters = words === undefined ? plain(name) : name;
    const known = words ?? byWord;
    take(byName.get(name));
    take(known.get(""));
    for (let from = 0; from < letters.length; from++)
      for (let to = from + 1; to <= Math.min(letters.length, from + longest); to++)
        take(known.get(letters.slice(from, to)));
    return [...found].sort((a, b) => a - b).flatMap((at) => all[at] ?? []);
  };
};

export interface RootIndex {
  tables(name: string): readonly GqlTable[];
  functions(name: string): readonly GqlFunction[];
}

export const createRootIndex = function* (
  tables: readonly GqlTable[],
  functions: readonly GqlFunction[],
  words: ReadonlyMap<string, number> | undefined,
): Pieces<RootIndex> {
  return { tables: yield* indexOf(tables, words), functions: yield* indexOf(functions, undefined) };
};
