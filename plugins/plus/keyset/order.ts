/** The order of a page in the words of REST, and a place in it. */
import type { Place } from "./keyset.ts";
import { pageImpossible } from "./errors.ts";

/** A term of the order. */
export interface Term {
  /** As filters write it: `title`, `"a.b"`, `data->>a`. */
  readonly field: string;
}

/** `tonnage.desc.nullslast`, `"a.b"`, `data->>"a.b".asc`, without blanks in front. */
const TERM = /^((?:"(?:[^"\\]|\\.)*"|[^".,()])+)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?$/s;

/** A string is taken to its end, or to that of the text, so that no part of it is looked at again. */
const PIECE = /"(?:[^"\\]|\\.)*"?|[^",]+|,/gs;

/** Commas between terms, not those in quotes. */
const splitTerms = (order: string): readonly string[] => {
  const terms = [""];
  for (const [piece] of order.matchAll(PIECE)) {
    if (piece === ",") terms.push("");
    else terms[terms.length - 1] += piece;
  }
  return terms.filter((term) => term !== "");
};

const unquoted = (field: string): string =>
  field.startsWith('"') ? field.slice(1, -1).replace(/\\(.)/g, "$1") : field;

const quoted = (text: string): string => `"${text.replace(/["\\]/g, "\\$&")}"`;

/** The terms of `order`, then the columns of the key that are not among them. @throws RelApiError for terms that no
 *  filter can express */
export const readTerms = (order: string, primaryKey: readonly string[]): readonly Term[] => {
  const terms = splitTerms(order).map((text): Term => {
    const [, field] = TERM.exec(text.replace(/^ +/, "")) ?? [];
    if (field === undefined) throw pageImpossible(`"${text}" is no column that rows can be compared by`);
    return { field };
  });
  const named = new Set(terms.flatMap(({ field }) => (field.includes("->") ? [] : [unquoted(field)])));
  return [...terms, ...primaryKey.filter((column) => !named.has(column)).map((column) => ({ field: quoted(column) }))];
};

/** Names that are no filters. */
const OTHER = /^(?:select|columns|on_conflict|order|limit|offset|and|or|not|having|cursor)$/;

/** It can be the name of a parameter. */
export const isFilterName = (name: string): boolean => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !OTHER.test(name);

/** The place, term by term, as parameters behind all others. They are bound and checked as filters, and then read as a
 *  place (`planPage`). Filters with plain names make one plan for all places. @rule P-CUR-2 */
export const placeOf = (terms: readonly Term[], values: Place): readonly (readonly [name: string, value: string])[] => {
  const fields = terms.map(({ field }) => (field.startsWith('"') ? unquoted(field) : field));
  if (fields.every(isFilterName))
    return fields.map((field, i) => [field, values[i] == null ? "is.null" : `eq.${values[i]}`]);
  const parts = terms.map(({ field }, i) => {
    const value = values[i] ?? null;
    return value === null ? `${field}.is.null` : `${field}.eq.${quoted(value)}`;
  });
  return [["and", `(${parts.join()})`]];
};
