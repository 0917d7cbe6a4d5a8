/** Names that tables have taken: those of their types and root fields. @rule G-NAM-3 G-NAM-6 */
import type { GqlCustomization, GqlNamePart } from "../served.ts";

export interface TakenNames {
  /** Takes the names of a table; false: one of them is taken. `roots`: those of its root fields; `hasOwnRoots`: metadata
   *  says some of them. */
  take(word: GqlNamePart, type: string, hasOwnRoots: boolean, roots: () => readonly string[]): boolean;
  hasRoot(name: string): boolean;
  /** The tables' words with their numbers, in the order in which they took their names; undefined: the convention
   *  changes words. */
  readonly words: ReadonlyMap<string, number> | undefined;
}

/** What stands between a prefix and a suffix; undefined: the name has not both. */
export const between = (name: string, prefix = "", suffix = ""): string | undefined =>
  name.length >= prefix.length + suffix.length && name.startsWith(prefix) && name.endsWith(suffix)
    ? name.slice(prefix.length, name.length - suffix.length)
    : undefined;

const listed = (ownTypes: readonly string[]): TakenNames => {
  const types = new Set(ownTypes);
  const taken = new Set<string>();
  return {
    words: undefined,
    hasRoot: (name) => taken.has(name),
    take: (_word, type, _hasOwnRoots, roots) => {
      const names = roots();
      if (types.has(type) || names.some((name) => taken.has(name))) return false;
      types.add(type);
      for (const name of names) taken.add(name);
      return true;
    },
  };
};

/** What a table's word has behind it in names of its root fields. */
const ENDINGS = ["_by_pk", "_aggregate"];

/** Where names are words with something before and behind them, the words say which are taken: of tens of thousands of
 *  tables no names are put together. Two names of the same kind are equal where the words are; a name of one kind is a
 *  word with an ending, which can only be a name of another kind if a word has that ending itself. */
const byWords = (ownTypes: readonly string[], { rootPrefix, rootSuffix }: GqlCustomization): TakenNames => {
  const reserved = new Set(ownTypes);
  const words = new Map<string, number>();
  /** Tables whose root fields have names of their own: none follows from the word. */
  const renamed = new Set<string>();
  const ownRoots = new Set<string>();
  /** Of words that have an ending, what is before it. */
  const stems = new Set<string>();
  const givesRoots = (word: string): boolean => words.has(word) && !renamed.has(word);
  const isRoot = (text: string): boolean =>
    givesRoots(text) || ENDINGS.some((ending) => text.endsWith(ending) && givesRoots(text.slice(0, -ending.length)));
  const hasRoot = (name: string): boolean => {
    if (ownRoots.has(name)) return true;
    const text = between(name, rootPrefix, rootSuffix);
    return text !== undefined && isRoot(text);
  };
  return {
    words,
    hasRoot,
    take: ({ text }, type, hasOwnRoots, roots) => {
      if (words.has(text) || reserved.has(type)) return false;
      if (hasOwnRoots || ownRoots.size > 0) {
        const names = roots();
        if (names.some(hasRoot)) return false;
        if (hasOwnRoots) {
          for (const name of names) ownRoots.add(name);
          renamed.add(text);
        }
      } else if (stems.has(text) || isRoot(text)) {
        return false;
      }
      words.set(text, words.size);
      if (!hasOwnRoots)
        for (const ending of ENDINGS) if (text.endsWith(ending)) stems.add(text.slice(0, -ending.length));
      return true;
    },
  };
};

/** `ownTypes`: names of types that belong to no table. */
export const createTakenNames = (ownTypes: readonly string[], customization: GqlCustomization): TakenNames =>
  customization.namingConvention === "graphql-default" ? listed(ownTypes) : byWords(ownTypes, customization);
