/** JSON Patch (RFC 6902) between two JSON texts, itself a text: values go in as they stand in the new one. */
import { isSame, itemsOf, kindOf, membersOf, spanOf, textOf, type Span } from "./spans.ts";
import { matchRows } from "./match-rows.ts";

/** Deeper parts are replaced as a whole. */
const MAX_DEPTH = 64;
/** Rows of one list that change their place; if there are more, the list is replaced. */
const MAX_MOVES = 100;
/** Characters that may be looked at, as a multiple of both texts. */
const MAX_LOOKED = 8;

/** Characters of an operation without its path and value. */
const REPLACE_LENGTH = '{"op":"replace","path":"","value":},'.length;

/** What a patch in the making may still cost. */
interface Draft {
  readonly operations: string[];
  /** Characters until the patch is as long as the new text. */
  room: number;
  /** Characters until it has taken too long. */
  patience: number;
}

/** The patch is not worth it. */
class TooLarge extends Error {}

const push = (draft: Draft, operation: string): void => {
  draft.room -= operation.length + 1;
  if (draft.room <= 0) throw new TooLarge();
  draft.operations.push(operation);
};

const withValue = (draft: Draft, op: "add" | "replace", path: string, value: Span): void => {
  // before the text is put together
  if (value.end - value.start > draft.room) throw new TooLarge();
  push(draft, `{"op":"${op}","path":${JSON.stringify(path)},"value":${textOf(value)}}`);
};

const remove = (draft: Draft, path: string): void => push(draft, `{"op":"remove","path":${JSON.stringify(path)}}`);

const escaped = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

/** Undefined: the new text is shorter than the patch, or it would take too long to find out. @rule X-PAT-4 */
export const diff = (before: string, after: string): string | undefined => {
  const draft: Draft = {
    operations: [],
    room: after.length - "[]".length,
    patience: (before.length + after.length) * MAX_LOOKED,
  };
  try {
    compare(draft, spanOf(before), spanOf(after), "", 0);
  } catch (error) {
    if (error instanceof TooLarge) return undefined;
    throw error;
  }
  return `[${draft.operations.join(",")}]`;
};

const compare = (draft: Draft, before: Span, after: Span, path: string, depth: number): void => {
  if (isSame(before, after)) return;
  const kind = kindOf(after);
  if (kind === "scalar" || kindOf(before) !== kind || depth >= MAX_DEPTH)
    return withValue(draft, "replace", path, after);
  draft.patience -= before.end - before.start + after.end - after.start;
  if (draft.patience < 0) throw new TooLarge();
  const { room } = draft;
  const { length } = draft.operations;
  if (kind === "object") compareObjects(draft, before, after, path, depth + 1);
  else compareLists(draft, before, after, path, depth + 1);
  if (room - draft.room <= after.end - after.start + path.length + REPLACE_LENGTH) return;
  // the whole is shorter than what has changed of it
  draft.operations.length = length;
  draft.room = room;
  withValue(draft, "replace", path, after);
};

const compareObjects = (draft: Draft, before: Span, after: Span, path: string, depth: number): void => {
  const [old, fresh] = [membersOf(before), membersOf(after)];
  for (const name of old.keys()) if (!fresh.has(name)) remove(draft, `${path}/${escaped(name)}`);
  for (const [name, value] of fresh) {
    const known = old.get(name);
    const at = `${path}/${escaped(name)}`;
    if (known === undefined) withValue(draft, "add", at, value);
    else compare(draft, known, value, at, depth);
  }
};

const compareLists = (draft: Draft, before: Span, after: Span, path: string, depth: number): void => {
  const [old, fresh] = [itemsOf(before), itemsOf(after)];
  const shorter = Math.min(old.length, fresh.length);
  let from = 0;
  while (from < shorter && isSame(old[from] as Span, fresh[from] as Span)) from++;
  let same = 0;
  while (same < shorter - from && isSame(old[old.length - 1 - same] as Span, fresh[fresh.length - 1 - same] as Span))
    same++;
  compareRows(draft, old.slice(from, old.length - same), fresh.slice(from, fresh.length - same), {
    list: after,
    path,
    from,
    depth,
  });
};

interface Place {
  /** The new list. */
  readonly list: Span;
  readonly path: string;
  /** Rows of the list before these. */
  readonly from: number;
  readonly depth: number;
}

/** First rows leave, then from the front rows come and change places, and in the end those that stay are compared. */
const compareRows = (draft: Draft, old: readonly Span[], fresh: readonly Span[], place: Place): void => {
  const { path, from, depth } = place;
  const at = (index: number): string => `${path}/${from + index}`;
  const isOneEach = old.length === 1 && fresh.length === 1;
  const [oldKeys, freshKeys] = isOneEach ? [["0"], ["0"]] : matchRows(old, fresh);
  const indexOf = new Map(oldKeys.map((key, i) => [key, i]));
  const wanted = new Set(freshKeys);
  const moving = movingOf(freshKeys.flatMap((key) => indexOf.get(key) ?? [])).map((i) => oldKeys[i] as string);
  if (moving.length > MAX_MOVES) return withValue(draft, "replace", path, place.list);

  for (let i = old.length - 1; i >= 0; i--) if (!wanted.has(oldKeys[i] as string)) remove(draft, at(i));
  const now = oldKeys.filter((key) => wanted.has(key));
  const unplaced = new Set(moving);
  /** Where the next row belongs. */
  let next = 0;
  for (const [i, key] of freshKeys.entries()) {
    while (unplaced.size > 0 && unplaced.has(now[next] ?? "") && now[next] !== key) next++;
    if (!indexOf.has(key)) {
      withValue(draft, "add", at(next), fresh[i] as Span);
      if (moving.length > 0) now.splice(next, 0, key);
    } else if (unplaced.delete(key) && now[next] !== key) {
      const stands = now.indexOf(key);
      if (stands < next) next--;
      push(draft, `{"op":"move","from":${JSON.stringify(at(stands))},"path":${JSON.stringify(at(next))}}`);
      now.splice(stands, 1);
      now.splice(next, 0, key);
    }
    next++;
  }
  for (const [i, key] of freshKeys.entries()) {
    const index = indexOf.get(key);
    if (index !== undefined) compare(draft, old[index] as Span, fresh[i] as Span, at(i), depth);
  }
};

/** Of numbers that are to be in order: those that do not belong to the longest part that is. */
const movingOf = (order: readonly number[]): readonly number[] => {
  /** By length of a rising part: where its smallest end stands. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  for (const [i, value] of order.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((order[ends[middle] as number] as number) < value) low = middle + 1;
      else high = middle;
    }
    previous.push(low === 0 ? undefined : ends[low - 1]);
    ends[low] = i;
  }
  const staying = new Set<number>();
  for (let i = ends.at(-1); i !== undefined; i = previous[i]) staying.add(order[i] as number);
  return order.filter((value) => !staying.has(value));
};
