/** Which tables and functions may give the root field of a name, so that a document needs no others. @rule R-SC-12 */
import type { Pieces } from "../../../core/index.ts";
import type { GqlFunction, GqlNamePart, GqlTable } from "../served.ts";

/** What gives root fields. */
interface Giving {
  readonly word: GqlNamePart;
  readonly rootFields: Readonly<Partial<Record<string, { readonly name?: string }>>>;
}

/** Whatever conventions make of a word: they change the case of letters, and underscores. */
const plain = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** In the order of `all`. The proof that none is missing: names of root fields are made by `rootName` of words, the
 *  table's or function's own among them, which is then a part of the name; or they are in the metadata. */
const indexOf = function* <One extends Giving>(all: readonly One[]): Pieces<(name: string) => readonly One[]> {
  const byWord = new Map<string, number | number[]>();
  const byName = new Map<string, number | number[]>();
  let longest = 0;
  const add = (map: Map<string, number | number[]>, key: string, at: number): void => {
    const known = map.get(key);
    if (known === undefined) map.set(key, at);
    else if (typeof known === "number") map.set(key, [known, at]);
    else known.push(at);
  };
  for (const [at, { word, rootFields }] of all.entries()) {
    const key = plain(word.text);
    longest = Math.max(longest, key.length);
    add(byWord, key, at);
    for (const field of Object.values(rootFields)) if (field?.name !== undefined) add(byName, field.name, at);
    yield;
  }
  return (name) => {
    const found = new Set<number>();
    const take = (places: number | readonly number[] | undefined): void => {
      if (typeof places === "number") found.add(places);
      else for (const place of places ?? []) found.add(place);
    };
    const letters = plain(name);
    take(byName.get(name));
    take(byWord.get(""));
    for (let from = 0; from < letters.length; from++)
      for (let to = from + 1; to <= Math.min(letters.length, from + longest); to++)
        take(byWord.get(letters.slice(from, to)));
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
): Pieces<RootIndex> {
  return { tables: yield* indexOf(tables), functions: yield* indexOf(functions) };
};
