/** What is equal as one object: names, columns and lists of them repeat from table to table, and of tens of thousands they
 *  would take most of the memory. */
import type { Column, QualifiedName, Relation } from "../../core/index.ts";

/** Of those that have the same key: where many differ, looking for one would take longer than it is worth. */
const MAX_ALIKE = 8;

const areEqualLists = (a: readonly unknown[], b: readonly unknown[]): boolean => {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
};

const areEqual = <Item extends object>(a: Item, b: Item): boolean => {
  if (Array.isArray(a) && Array.isArray(b)) return areEqualLists(a, b);
  for (const key in a) if (a[key] !== b[key]) return false;
  for (const key in b) if (!(key in a)) return false;
  return true;
};

/** `keyOf`: the same for those that are equal. Members are compared by identity. */
const sharing = <Item extends object>(keyOf: (item: Item) => unknown): (<One extends Item>(item: One) => One) => {
  const known = new Map<unknown, Item[]>();
  return <One extends Item>(item: One): One => {
    const key = keyOf(item);
    const alike = known.get(key);
    if (alike === undefined) {
      known.set(key, [item]);
      return item;
    }
    for (const other of alike) if (areEqual(other, item)) return other as One; // it has the same members
    if (alike.length < MAX_ALIKE) alike.push(item);
    return item;
  };
};

/** What is made of an object, made once. */
export const once = <From extends object, To>(make: (from: From) => To): ((from: From) => To) => {
  const made = new WeakMap<From, { readonly made: To }>();
  return (from) => {
    let found = made.get(from);
    if (found === undefined) made.set(from, (found = { made: make(from) }));
    return found.made;
  };
};

/** Arrays that have grown keep room for more. */
export const exact = <Item>(list: readonly Item[]): readonly Item[] => list.slice();

export interface Share {
  text(text: string): string;
  name(name: QualifiedName): QualifiedName;
  column(column: Column): Column;
  attribute<Attribute extends { readonly name: string }>(attribute: Attribute): Attribute;
  writable(writable: Relation["writable"]): Relation["writable"];
  /** Of texts, and of objects that are shared. */
  list<List extends readonly unknown[]>(list: List): List;
}

export const createShare = (): Share => {
  const texts = new Map<string, string>();
  return {
    text: (text) => {
      const found = texts.get(text);
      if (found === undefined) texts.set(text, text);
      return found ?? text;
    },
    name: sharing(({ name }: QualifiedName) => name),
    column: sharing(({ name }: Column) => name),
    attribute: sharing(({ name }: { readonly name: string }) => name),
    writable: sharing(() => 0), // there are eight
    list: sharing(([first]: readonly unknown[]) => first),
  };
};
