/** The order of a page in the words of REST, and the filter that stands for "behind this row" in it. */
import { pageImpossible } from "./errors.ts";

/** A term of the order. */
export interface Term {
  /** As filters write it: `title`, `"a.b"`, `data->>a`. */
  readonly field: string;
  /** The column, where it is a plain one. */
  readonly column: string | undefined;
  readonly isDescending: boolean;
  readonly areNullsLast: boolean;
}

/** `tonnage.desc.nullslast`, `"a.b"`, `data->>"a.b".asc`. */
const TERM = /^ *((?:"(?:[^"\\]|\\.)*"|[^".,()])+)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?$/;

/** Commas between terms, not those in quotes. */
const splitTerms = (order: string): readonly string[] => order.match(/(?:"(?:[^"\\]|\\.)*"|[^",])+/g) ?? [];

const unquoted = (field: string): string =>
  field.startsWith('"') ? field.slice(1, -1).replace(/\\(.)/g, "$1") : field;

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The terms of `order`, then the columns of the key that are not among them. @throws RelApiError for terms that no
 *  filter can express */
export const readTerms = (order: string, primaryKey: readonly string[]): readonly Term[] => {
  const terms = splitTerms(order).map((text): Term => {
    const [, field, direction, nulls] = TERM.exec(text) ?? [];
    if (field === undefined) throw pageImpossible(`"${text}" is no column that rows can be compared by`);
    const isDescending = direction === ".desc";
    return {
      field,
      column: field.includes("->") ? undefined : unquoted(field),
      isDescending,
      areNullsLast: nulls === undefined ? !isDescending : nulls === ".nullslast",
    };
  });
  const named = new Set(terms.map(({ column }) => column));
  return [
    ...terms,
    ...primaryKey
      .filter((column) => !named.has(column))
      .map((column) => ({ field: quoted(column), column, isDescending: false, areNullsLast: true })),
  ];
};

const turned = (term: Term): Term => ({
  ...term,
  isDescending: !term.isDescending,
  areNullsLast: !term.areNullsLast,
});

const and = (conditions: readonly string[]): string =>
  conditions.length === 1 ? conditions.join() : `and(${conditions.join()})`;

/** Value of the parameter `and`: rows behind the one with these values, or before it. `isNullable`: of a column.
 *  @rule P-CUR-2 P-CUR-3 */
export const rowsBeyond = (
  terms: readonly Term[],
  values: readonly (string | null)[],
  isBackward: boolean,
  isNullable: (column: string | undefined) => boolean,
): string => {
  const known: string[] = []; // equal so far
  const alternatives: string[] = [];
  let bound: readonly string[] = [];
  for (const [i, forward] of terms.entries()) {
    const { field, column, isDescending, areNullsLast } = isBackward ? turned(forward) : forward;
    const value = values[i] ?? null;
    const operator = isDescending ? "lt" : "gt";
    const nullsFollow = areNullsLast && value !== null && isNullable(column);
    if (value === null ? !areNullsLast : true)
      alternatives.push(
        and([...known, value === null ? `${field}.not.is.null` : `${field}.${operator}.${quoted(value)}`]),
      );
    if (nullsFollow) alternatives.push(and([...known, `${field}.is.null`]));
    // says nothing new, but is what an index can begin at
    if (i === 0 && value !== null && !nullsFollow) bound = [`${field}.${operator}e.${quoted(value)}`];
    known.push(value === null ? `${field}.is.null` : `${field}.eq.${quoted(value)}`);
  }
  return `(${[...(alternatives.length > 1 ? bound : []), `or(${alternatives.join()})`].join()})`;
};
