/** The order of a page in REST syntax, and a position in it. */
import { quoteRestValue, unquoteRestValue } from "../../rest/api.ts";
import type { KeysetPosition } from "./keyset.ts";
import { pageImpossible } from "./errors.ts";

/** A term such as `tonnage.desc.nullslast` or `"a.b"`, without leading spaces. */
const TERM = /^((?:"(?:[^"\\]|\\.)*"|[^".,()])+)(\.asc|\.desc)?(\.nullsfirst|\.nullslast)?$/s;

/** Matches the text between two commas outside of quotes. An unterminated string extends to the end of the text, so that
 *  the expression never backtracks into it. */
const TERM_TEXT = /(?:"(?:[^"\\]|\\.)*"?|[^",])+/gs;

/** Returns the fields of `order`, followed by the key columns that it lacks, in filter syntax: `title`, `"a.b"`,
 *  `data->>a`. @throws RelApiError for terms that filters cannot express */
export const parseOrderFields = (order: string, primaryKey: readonly string[]): readonly string[] => {
  const fields = (order.match(TERM_TEXT) ?? []).map((text) => {
    const [, field] = TERM.exec(text.replace(/^ +/, "")) ?? [];
    if (field === undefined) throw pageImpossible(`"${text}" is not a column by which rows can be compared`);
    return field;
  });
  const columnNames = new Set(fields.filter((field) => !field.includes("->")).map(unquoteRestValue));
  return [...fields, ...primaryKey.filter((column) => !columnNames.has(column)).map(quoteRestValue)];
};

/** Parameter names that are never filters. */
const RESERVED_PARAMETERS = /^(?:select|columns|on_conflict|order|limit|offset|and|or|not|having|cursor)$/;

/** Returns whether a field can be the name of a filter parameter. */
export const isFilterName = (name: string): boolean =>
  /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) && !RESERVED_PARAMETERS.test(name);

/**
 * Encodes the position as parameters after all others, which are bound and checked as filters. `planPage` converts them
 * back. With plain names as filters, all positions share one plan. @rule P-CUR-2
 */
export const encodePosition = (
  fields: readonly string[],
  values: KeysetPosition,
): readonly (readonly [name: string, value: string])[] => {
  const names = fields.map(unquoteRestValue);
  if (names.every(isFilterName))
    return names.map((name, i) => [name, values[i] == null ? "is.null" : `eq.${values[i]}`]);
  const parts = fields.map((field, i) => {
    const value = values[i] ?? null;
    return value === null ? `${field}.is.null` : `${field}.eq.${quoteRestValue(value)}`;
  });
  return [["and", `(${parts.join()})`]];
};
