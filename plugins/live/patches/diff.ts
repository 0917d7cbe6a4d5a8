/** Computes a JSON Patch (RFC 6902) between two JSON texts, as JSON text. Numbers keep their digits. */
import { isDeepStrictEqual } from "node:util";
import { isJsonObject, parseJson, writeJson, type Json, type JsonObject } from "../../../core/index.ts";

/** The largest depth of changes. Values at deeper levels are replaced as a whole. */
const MAX_DEPTH = 16;
/** The largest number of rows that move within one list. If more rows move, the list is replaced. */
const MAX_MOVES = 100;

/** The number of characters of an operation without its path and value. */
const REPLACE_LENGTH = '{"op":"replace","path":"","value":},'.length;

const isList = (value: Json): value is readonly Json[] => Array.isArray(value);
const isScalar = (value: Json): boolean => !isList(value) && !isJsonObject(value);

interface PatchDraft {
  readonly operations: string[];
  /** The characters left until the patch is as long as the new text. */
  remainingLength: number;
}

/** Thrown if the patch would not be shorter than the new text. */
class PatchTooLargeError extends Error {}

/** Computes the patch between two texts. Undefined if the new text is shorter than the patch. @rule X-PAT-4 */
export const diff = (before: string, after: string): string | undefined => {
  const draft: PatchDraft = { operations: [], remainingLength: after.length - "[]".length };
  try {
    compare(draft, parseJson(before), parseJson(after), "", 0);
  } catch (error) {
    // Texts that are nested too deeply for the call stack raise a RangeError.
    if (error instanceof PatchTooLargeError || error instanceof RangeError) return undefined;
    throw error;
  }
  return `[${draft.operations.join(",")}]`;
};

const pushOperation = (draft: PatchDraft, operation: string): void => {
  draft.remainingLength -= operation.length + 1;
  if (draft.remainingLength <= 0) throw new PatchTooLargeError();
  draft.operations.push(operation);
};

const addOperation = (draft: PatchDraft, op: "add" | "replace", path: string, value: Json): void =>
  pushOperation(draft, `{"op":"${op}","path":${JSON.stringify(path)},"value":${writeJson(value)}}`);

const removeOperation = (draft: PatchDraft, path: string): void =>
  pushOperation(draft, `{"op":"remove","path":${JSON.stringify(path)}}`);

const escapePointer = (name: string): string => name.replaceAll("~", "~0").replaceAll("/", "~1");

const compare = (draft: PatchDraft, before: Json, after: Json, path: string, depth: number): void => {
  const { remainingLength: lengthBefore } = draft;
  const { length } = draft.operations;
  if (depth < MAX_DEPTH && isJsonObject(before) && isJsonObject(after))
    compareObjects(draft, before, after, path, depth + 1);
  else if (depth < MAX_DEPTH && isList(before) && isList(after)) compareLists(draft, before, after, path, depth + 1);
  else return isDeepStrictEqual(before, after) ? undefined : addOperation(draft, "replace", path, after);
  if (
    draft.operations.length - length <= 1 ||
    lengthBefore - draft.remainingLength <= writeJson(after).length + path.length + REPLACE_LENGTH
  )
    return;
  // Replacing the whole value is shorter than its changes.
  draft.operations.length = length;
  draft.remainingLength = lengthBefore;
  addOperation(draft, "replace", path, after);
};

const compareObjects = (draft: PatchDraft, old: JsonObject, fresh: JsonObject, path: string, depth: number): void => {
  for (const name of Object.keys(old))
    if (!Object.hasOwn(fresh, name)) removeOperation(draft, `${path}/${escapePointer(name)}`);
  for (const [name, value] of Object.entries(fresh)) {
    const at = `${path}/${escapePointer(name)}`;
    if (Object.hasOwn(old, name)) compare(draft, old[name] as Json, value, at, depth);
    else addOperation(draft, "add", at, value);
  }
};

const compareLists = (
  draft: PatchDraft,
  old: readonly Json[],
  fresh: readonly Json[],
  path: string,
  depth: number,
): void => {
  const shorter = Math.min(old.length, fresh.length);
  let from = 0;
  while (from < shorter && isDeepStrictEqual(old[from], fresh[from])) from++;
  let suffixLength = 0;
  while (suffixLength < shorter - from && isDeepStrictEqual(old.at(-1 - suffixLength), fresh.at(-1 - suffixLength)))
    suffixLength++;
  const position = { list: fresh, path, from, depth };
  compareRows(
    draft,
    old.slice(from, old.length - suffixLength),
    fresh.slice(from, fresh.length - suffixLength),
    position,
  );
};

interface ListPosition {
  /** The list after the change. */
  readonly list: readonly Json[];
  readonly path: string;
  /** The number of rows of the list before the compared rows. */
  readonly from: number;
  readonly depth: number;
}

/** Compares the rows of two lists. It removes rows first, then adds and moves rows from front to back, and finally
 *  compares the rows that remain. */
const compareRows = (draft: PatchDraft, old: readonly Json[], fresh: readonly Json[], position: ListPosition): void => {
  const { path, from, depth } = position;
  const buildPointer = (index: number): string => `${path}/${from + index}`;
  const isOneEach = old.length === 1 && fresh.length === 1;
  const [oldKeys, freshKeys] = isOneEach ? [["0"], ["0"]] : matchRows(old, fresh);
  const oldIndexByKey = new Map(oldKeys.map((key, i) => [key, i]));
  const freshKeySet = new Set(freshKeys);
  const movedKeys = findMovedItems(freshKeys.flatMap((key) => oldIndexByKey.get(key) ?? [])).map(
    (i) => oldKeys[i] as string,
  );
  if (movedKeys.length > MAX_MOVES) return addOperation(draft, "replace", path, position.list as Json);

  for (let i = old.length - 1; i >= 0; i--)
    if (!freshKeySet.has(oldKeys[i] as string)) removeOperation(draft, buildPointer(i));
  const currentKeys = oldKeys.filter((key) => freshKeySet.has(key));
  const unplacedKeys = new Set(movedKeys);
  /** The position in the patched list at which the next row belongs. */
  let next = 0;
  for (const [i, key] of freshKeys.entries()) {
    while (unplacedKeys.size > 0 && unplacedKeys.has(currentKeys[next] ?? "") && currentKeys[next] !== key) next++;
    if (!oldIndexByKey.has(key)) {
      addOperation(draft, "add", buildPointer(next), fresh[i] as Json);
      if (movedKeys.length > 0) currentKeys.splice(next, 0, key);
    } else if (unplacedKeys.delete(key) && currentKeys[next] !== key) {
      const currentIndex = currentKeys.indexOf(key);
      if (currentIndex < next) next--;
      pushOperation(
        draft,
        `{"op":"move","from":${JSON.stringify(buildPointer(currentIndex))},"path":${JSON.stringify(buildPointer(next))}}`,
      );
      currentKeys.splice(currentIndex, 1);
      currentKeys.splice(next, 0, key);
    }
    next++;
  }
  for (const [i, key] of freshKeys.entries()) {
    const index = oldIndexByKey.get(key);
    if (index !== undefined) compare(draft, old[index] as Json, fresh[i] as Json, buildPointer(i), depth);
  }
};

/** Returns the numbers that are not part of the longest increasing subsequence. */
const findMovedItems = (order: readonly number[]): readonly number[] => {
  /** The position of the smallest last number, for each length of an increasing subsequence. */
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

/** The keys of rows, unique within a list. */
type RowKeys = readonly string[];

/** The number of members at the front of a row that are tried as the key of the row. `MAX_PAIR_MEMBERS` limits the
 *  members that are tried as half of a key. */
const MAX_KEY_MEMBERS = 8;
const MAX_PAIR_MEMBERS = 4;

/** Matches rows by a member, or by two members, whose values are unique within each list. Chooses the key that
 *  matches the most rows; of equal keys, the first. A primary key that the result contains qualifies. @rule X-PAT-5 */
const matchRows = (before: readonly Json[], after: readonly Json[]): readonly [RowKeys, RowKeys] => {
  let bestKeys: readonly [RowKeys, RowKeys] | undefined;
  let mostMatches = 0;
  if (before.every(isJsonObject) && after.every(isJsonObject)) {
    const best = Math.min(before.length, after.length);
    for (const names of listKeyCandidates(after)) {
      if (mostMatches === best || (names.length > 1 && bestKeys !== undefined)) break;
      const [old, fresh] = [buildRowKeys(before, names), buildRowKeys(after, names)];
      if (old === undefined || fresh === undefined) continue;
      const oldKeySet = new Set(old);
      const matchCount = fresh.filter((key) => oldKeySet.has(key)).length;
      if (matchCount <= mostMatches) continue;
      mostMatches = matchCount;
      bestKeys = [old, fresh];
    }
  }
  return bestKeys ?? [buildTextKeys(before), buildTextKeys(after)];
};

const listKeyCandidates = ([first]: readonly JsonObject[]): readonly (readonly string[])[] => {
  const names = Object.entries(first ?? {}).flatMap(([name, value]) => (isScalar(value) ? [name] : []));
  const pairNames = names.slice(0, MAX_PAIR_MEMBERS);
  return [
    ...names.slice(0, MAX_KEY_MEMBERS).map((name) => [name]),
    ...pairNames.flatMap((name, i) => pairNames.slice(i + 1).map((otherName) => [name, otherName])),
  ];
};

/** Builds the keys of rows from their members. Undefined if a row lacks a member, or if two rows have equal values. */
const buildRowKeys = (rows: readonly JsonObject[], names: readonly string[]): RowKeys | undefined => {
  const keys: string[] = [];
  for (const row of rows) {
    const values = names.map((name) => (Object.hasOwn(row, name) ? row[name] : undefined));
    if (values[0] === null || !values.every((value) => value !== undefined && isScalar(value))) return undefined;
    keys.push(values.map((value) => writeJson(value as Json)).join(","));
  }
  return new Set(keys).size === keys.length ? keys : undefined;
};

/** Builds keys from the texts of rows, because these rows have no other key. Equal rows are numbered. */
const buildTextKeys = (list: readonly Json[]): RowKeys => {
  const counts = new Map<string, number>();
  return list.map((item) => {
    const text = writeJson(item);
    const count = counts.get(text) ?? 0;
    counts.set(text, count + 1);
    return `${text} ${count}`;
  });
};
