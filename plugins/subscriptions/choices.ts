/** Conditions on a row, as alternatives of which one holds. Where they grow too many, weaker ones take their place. */
import type { Slot } from "../../core/index.ts";
import type { Kind } from "./comparable.ts";

/** Where values of a column come from: one, or a list of them as an array literal. */
export type Term =
  | { readonly slot: Slot; readonly isList: boolean }
  | { readonly text: string }
  | { readonly isNull: true };

/** By column: what its value is among. */
export type Condition = ReadonlyMap<string, ColumnTerms>;

export interface ColumnTerms {
  readonly kind: Kind;
  readonly terms: readonly Term[];
}

/** Any of these. With an empty condition among them every row will do, so there is no other then. */
export type Choice = readonly Condition[];

/** Any row. */
export const ANY: Choice = [new Map()];
export const isAny = (choice: Choice): boolean => choice.some((condition) => condition.size === 0);

/** More are not told apart. */
const MAX_CHOICES = 16;

export const either = (parts: readonly Choice[]): Choice => {
  const all = parts.flat();
  if (isAny(all)) return ANY;
  // `a = 1 or a = 2` is `a in (1, 2)`
  const single = new Map<string, ColumnTerms>();
  const others: Condition[] = [];
  for (const condition of all) {
    const [only, ...more] = condition;
    if (only === undefined || more.length > 0) {
      others.push(condition);
      continue;
    }
    const [name, { kind, terms }] = only;
    single.set(name, { kind, terms: [...(single.get(name)?.terms ?? []), ...terms] });
  }
  const found = [...others, ...[...single].map((one): Condition => new Map([one]))];
  return found.length > MAX_CHOICES ? ANY : found;
};

export const both = (a: Choice, b: Choice): Choice => {
  if (isAny(a)) return b;
  if (isAny(b)) return a;
  if (a.length * b.length > MAX_CHOICES) return a.length <= b.length ? a : b;
  return a.flatMap((one) => b.map((other): Condition => new Map([...other, ...one])));
};

export const allOf = (parts: readonly Choice[]): Choice => parts.reduce(both, ANY);
