/** Finds the tables or functions that may have a root field of a name, so that a document does not need the others.
 *  @rule R-SC-12 */
import type { GqlNamePart } from "../catalog-types.ts";

/** A table or function with root fields. */
interface RootFieldSource {
  readonly namePart: GqlNamePart;
  readonly rootFields: Readonly<Partial<Record<string, { readonly name?: string }>>>;
}

export interface RootIndex<Field> {
  add(field: Field): void;
  /** Returns the results in the order in which they were added. */
  find(name: string): readonly Field[];
}

/** Removes the differences that conventions make to a name: the case of letters, and underscores. */
const normalizeName = (name: string): string => name.toLowerCase().replaceAll("_", "");

/** Creates an index that finds every table and function. A root field has a name from the metadata, or a name that
 *  contains the name part of its table or function. */
export const createRootIndex = <Field extends RootFieldSource>(): RootIndex<Field> => {
  const fields: Field[] = [];
  const byNamePart = new Map<string, number[]>();
  const byName = new Map<string, number[]>();
  let longest = 0;
  const addPosition = (positions: Map<string, number[]>, key: string, at: number): void => {
    const position = positions.get(key);
    if (position === undefined) positions.set(key, [at]);
    else position.push(at);
  };
  return {
    add: (field) => {
      const at = fields.push(field) - 1;
      const namePart = normalizeName(field.namePart.text);
      longest = Math.max(longest, namePart.length);
      addPosition(byNamePart, namePart, at);
      for (const key in field.rootFields) {
        const name = field.rootFields[key]?.name;
        if (name !== undefined) addPosition(byName, name, at);
      }
    },
    find: (name) => {
      const letters = normalizeName(name);
      const matches = new Set([...(byName.get(name) ?? []), ...(byNamePart.get("") ?? [])]);
      for (let from = 0; from < letters.length; from++)
        for (let to = from + 1; to <= Math.min(letters.length, from + longest); to++)
          for (const at of byNamePart.get(letters.slice(from, to)) ?? []) matches.add(at);
      return [...matches].sort((a, b) => a - b).flatMap((at) => fields[at] ?? []);
    },
  };
};
