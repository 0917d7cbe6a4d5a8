/** `limit=10&offset=20`, `Range: 20-29`: reads which rows of the root are requested. */
import type { BoundValue } from "../../../core/index.ts";
import { limitNegative, rangeReversed } from "../errors.ts";
import type { NodeRange, RootRange, Window } from "../request.ts";

const WHOLE_NUMBER = /^\s*-?[0-9]+\s*$/;

/** Parses a whole number. Returns undefined for other text, which counts as absent. @rule R-RNG-1 */
export const parseWholeNumber = (text: string): bigint | undefined =>
  text.length < 1000 && WHOLE_NUMBER.test(text) ? BigInt(text.trim()) : undefined;

/** Returns the numbers of the root's limit and offset, in the order in which a read binds them. */
export const buildWindowValues = ({ limit, offset }: RootRange): readonly string[] => [
  ...(limit === undefined ? [] : [String(limit)]),
  ...(offset === 0n ? [] : [String(offset)]),
];

/** Returns the planned values without the slots of the window, which come last. */
export const removeWindow = (values: readonly BoundValue[], { hasLimit, hasOffset }: Window): readonly BoundValue[] =>
  values.slice(0, values.length - Number(hasLimit) - Number(hasOffset));

const RANGE_HEADER = /^[0-9]+-[0-9]*$/;

/**
 * Combines `limit`, `offset` and the header (only for GET). @throws RelApiError `range-not-satisfiable` @rule R-RNG-2
 * R-RNG-3 R-RNG-4
 */
export const resolveRange = ({ limit, offset }: NodeRange, header: string | undefined): RootRange => {
  let first = 0n;
  let last: bigint | undefined;
  if (header !== undefined && RANGE_HEADER.test(header)) {
    const [from, to] = header.split("-");
    first = BigInt(from ?? 0);
    if (to !== undefined && to !== "") last = BigInt(to);
    if (last !== undefined && last < first) throw rangeReversed();
  }
  if (offset !== undefined && offset > first) first = offset;
  if (limit !== undefined) {
    if (limit < 0n) throw limitNegative();
    const end = (offset ?? 0n) + limit - 1n;
    // An empty range that begins at the first row is intended.
    if (limit === 0n && first === 0n && end === -1n) return { offset: 0n, limit: 0n };
    if (last === undefined || end < last) last = end;
  }
  if (last === undefined) return { offset: first };
  if (last < first) throw limitNegative();
  return { offset: first, limit: last - first + 1n };
};
