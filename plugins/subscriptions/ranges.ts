/** Ranges of one column, and which of them a value lies in: the work for a value does not grow with the number of those
 *  that it does not lie in. @rule G-SUB-18 */
import type { Kind } from "./comparable.ts";

/** Values of one kind compare as the database compares them. Numbers and bigints compare with each other. */
export type Ordered = number | bigint | string;

/** Kinds whose order is that of their texts, or of numbers. Of texts it depends on a collation, of labels on their
 *  type. */
export const isOrdered = (kind: Kind): boolean => kind === "whole" || kind === "date" || kind === "uuid";

/** Digits that a number has without loss. */
const SAFE_DIGITS = 15;

/** `text`: as values of the kind have it in common. */
export const orderedOf = (kind: Kind, text: string): Ordered =>
  kind !== "whole" ? text : text.length <= SAFE_DIGITS ? Number(text) : BigInt(text);

/** One end of a range. */
export interface End {
  readonly text: string;
  readonly isIncluded: boolean;
}

/** Undefined: it is open there. */
export interface Range {
  readonly lower: End | undefined;
  readonly upper: End | undefined;
}

/** The same for equal ranges. */
export const keyOfRange = ({ lower, upper }: Range): string => JSON.stringify([lower, upper]);

interface Known {
  readonly key: string;
  readonly lower: Ordered | undefined;
  readonly hasLower: boolean;
  readonly upper: Ordered | undefined;
  readonly hasUpper: boolean;
}

/** So many are looked through one by one before they join the others. */
const MAX_LATE = 500;

export class RangeIndex {
  readonly #kind: Kind;
  readonly #known = new Map<string, Known>();
  /** By their lower ends, as a tree: the middle of each part is its root. Some may be gone. */
  #sorted: readonly Known[] = [];
  /** The highest upper end below each root; undefined: one is open. */
  #highest: (Ordered | undefined)[] = [];
  readonly #late = new Set<Known>();
  #goneCount = 0;

  constructor(kind: Kind) {
    this.#kind = kind;
  }

  add(key: string, { lower, upper }: Range): void {
    if (this.#known.has(key)) return;
    const known: Known = {
      key,
      lower: lower && orderedOf(this.#kind, lower.text),
      hasLower: lower?.isIncluded === true,
      upper: upper && orderedOf(this.#kind, upper.text),
      hasUpper: upper?.isIncluded === true,
    };
    this.#known.set(key, known);
    this.#late.add(known);
  }

  remove(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) return;
    this.#known.delete(key);
    if (!this.#late.delete(known)) this.#goneCount++;
  }

  /** Calls with the key of each that the value lies in. */
  find(value: Ordered, found: (key: string) => void): void {
    if (this.#late.size > MAX_LATE || this.#goneCount > MAX_LATE + this.#sorted.length / 2) this.#sort();
    for (const known of this.#late) if (contains(known, value)) found(known.key);
    this.#walk(0, this.#sorted.length, value, found);
  }

  #walk(from: number, to: number, value: Ordered, found: (key: string) => void): void {
    if (from >= to) return;
    const middle = (from + to) >> 1;
    const highest = this.#highest[middle];
    if (highest !== undefined && highest < value) return;
    this.#walk(from, middle, value, found);
    const known = this.#sorted[middle] as Known; // middle is within its length
    if (known.lower !== undefined && known.lower > value) return;
    if (contains(known, value) && this.#known.get(known.key) === known) found(known.key);
    this.#walk(middle + 1, to, value, found);
  }

  #sort(): void {
    this.#sorted = [...this.#known.values()].sort((a, b) =>
      a.lower === b.lower ? 0 : a.lower === undefined ? -1 : b.lower === undefined ? 1 : a.lower < b.lower ? -1 : 1,
    );
    this.#highest = [];
    this.#late.clear();
    this.#goneCount = 0;
    this.#raise(0, this.#sorted.length);
  }

  /** The part is not empty. */
  #raise(from: number, to: number): Ordered | undefined {
    if (from >= to) return undefined;
    const middle = (from + to) >> 1;
    let highest = this.#sorted[middle]?.upper;
    for (const [start, end] of [
      [from, middle],
      [middle + 1, to],
    ] as const) {
      if (start >= end) continue;
      const other = this.#raise(start, end);
      if (highest !== undefined && (other === undefined || other > highest)) highest = other;
    }
    this.#highest[middle] = highest;
    return highest;
  }
}

const contains = ({ lower, hasLower, upper, hasUpper }: Known, value: Ordered): boolean =>
  (lower === undefined || lower < value || (hasLower && lower === value)) &&
  (upper === undefined || upper > value || (hasUpper && upper === value));
