/** Combines conditions on a row as a list of alternatives. If there are too many alternatives, weaker conditions
 *  replace them. */
import type { Slot } from "../../../core/index.ts";
import type { ComparableKind } from "./comparable-types.ts";

/** The source of the values of a column: one value, or a list as an array literal. */
export type Term =
  | { readonly slot: Slot; readonly isList: boolean }
  | { readonly text: string }
  | { readonly isNull: true };

/** The values that a row may have, by column. */
export type Condition = ReadonlyMap<string, ColumnTerms>;

export interface ColumnTerms {
  readonly kind: ComparableKind;
  readonly terms: readonly Term[];
}

/** The alternatives of which one must hold. If one of them is empty, every row matches, and `ANY_ROW` replaces the
 *  list. */
export type Alternatives = readonly Condition[];

/** The alternatives that every row matches. */
export const ANY_ROW: Alternatives = [new Map()];
export const isAnyRow = (alternatives: Alternatives): boolean => alternatives.some((condition) => condition.size === 0);

/** The largest number of alternatives. Beyond this number, the conditions are weakened. */
const MAX_ALTERNATIVES = 16;

export const joinByOr = (parts: readonly Alternatives[]): Alternatives => {
  const conditions = parts.flat();
  if (isAnyRow(conditions)) return ANY_ROW;
  // The loop turns `a = 1 or a = 2` into `a in (1, 2)`.
  const single = new Map<string, ColumnTerms>();
  const otherConditions: Condition[] = [];
  for (const condition of conditions) {
    const [alternative, ...otherAlternatives] = condition;
    if (alternative === undefined || otherAlternatives.length > 0) {
      otherConditions.push(condition);
      continue;
    }
    const [name, { kind, terms }] = alternative;
    single.set(name, { kind, terms: [...(single.get(name)?.terms ?? []), ...terms] });
  }
  const alternatives = [...otherConditions, ...[...single].map((entry): Condition => new Map([entry]))];
  return alternatives.length > MAX_ALTERNATIVES ? ANY_ROW : alternatives;
};

export const joinByAnd = (a: Alternatives, b: Alternatives): Alternatives => {
  if (isAnyRow(a)) return b;
  if (isAnyRow(b)) return a;
  if (a.length * b.length > MAX_ALTERNATIVES) return a.length <= b.length ? a : b;
  return a.flatMap((condition) => b.map((otherCondition): Condition => new Map([...otherCondition, ...condition])));
};

export const joinAllByAnd = (parts: readonly Alternatives[]): Alternatives => parts.reduce(joinByAnd, ANY_ROW);
