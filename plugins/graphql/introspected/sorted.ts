/** Sorts names in time slices, because tens of thousands of them take longer than one slice. */
import type { Pieces } from "../../../core/index.ts";

/** The number of names that are sorted in one slice. */
const SORTED_AT_ONCE = 4000;

export const sortedInPieces = function* (names: readonly string[]): Pieces<readonly string[]> {
  if (names.length <= SORTED_AT_ONCE) return [...names].sort();
  const half = Math.ceil(names.length / 2);
  const left = yield* sortedInPieces(names.slice(0, half));
  yield;
  const right = yield* sortedInPieces(names.slice(half));
  const all: string[] = [];
  let at = 0;
  for (const name of left) {
    while (at < right.length && right[at]! < name) all.push(right[at++]!); // the index is below its length
    all.push(name);
    if (all.length % 100 === 0) yield;
  }
  return all.concat(right.slice(at));
};
