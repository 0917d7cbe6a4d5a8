/** Which rows of two lists are the same row: those with equal keys. */
import { kindOf, membersOf, textOf, type Span } from "./spans.ts";

/** One per row, different in all rows of a list. */
export type Keys = readonly string[];

/** Members that may be the key, or half of it: the first ones. */
const MAX_SINGLE = 8;
const MAX_PAIRED = 4;

type Row = ReadonlyMap<string, Span>;

const rowsOf = (list: readonly Span[]): readonly Row[] | undefined =>
  list.every((item) => kindOf(item) === "object") ? list.map(membersOf) : undefined;

/** Undefined: not all rows have them, or two rows have the same. */
const valuesOf = (rows: readonly Row[], names: readonly string[]): Keys | undefined => {
  const keys: string[] = [];
  for (const row of rows) {
    let key = "";
    for (const name of names) {
      const value = row.get(name);
      if (value === undefined || kindOf(value) !== "scalar") return undefined;
      key += `${textOf(value)},`;
    }
    if (key.startsWith("null,")) return undefined;
    keys.push(key);
  }
  return new Set(keys).size === keys.length ? keys : undefined;
};

const overlapOf = (a: Keys, b: Keys): number => {
  const known = new Set(a);
  return b.reduce((count, key) => (known.has(key) ? count + 1 : count), 0);
};

/** Rows that have no key are what they consist of; equal ones are counted. */
const byText = (list: readonly Span[]): Keys => {
  const counts = new Map<string, number>();
  return list.map((item) => {
    const text = textOf(item);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${text} ${count}`;
  });
};

const namesToTry = ([first]: readonly Row[]): readonly (readonly string[])[] => {
  const names = [...(first ?? [])].flatMap(([name, value]) => (kindOf(value) === "scalar" ? [name] : []));
  const some = names.slice(0, MAX_PAIRED);
  return [
    ...names.slice(0, MAX_SINGLE).map((name) => [name]),
    ...some.flatMap((name, i) => some.slice(i + 1).map((other) => [name, other])),
  ];
};

/** By the member, or the two members, in which all rows of each list differ and most rows of both agree; the first of
 *  several. A primary key is one, if the answer carries it. @rule X-PAT-5 */
export const matchRows = (before: readonly Span[], after: readonly Span[]): readonly [Keys, Keys] => {
  const [old, fresh] = [rowsOf(before), rowsOf(after)];
  let found: readonly [Keys, Keys] | undefined;
  let most = 0;
  if (old !== undefined && fresh !== undefined) {
    const best = Math.min(before.length, after.length);
    for (const names of namesToTry(fresh)) {
      if (most === best || (names.length > 1 && found !== undefined)) break;
      const [a, b] = [valuesOf(old, names), valuesOf(fresh, names)];
      if (a === undefined || b === undefined) continue;
      const overlap = overlapOf(a, b);
      if (overlap <= most) continue;
      most = overlap;
      found = [a, b];
    }
  }
  return found ?? [byText(before), byText(after)];
};
