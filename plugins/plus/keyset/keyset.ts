/**
 * Keysets: an order that distinguishes all rows, and the values of one row for its terms, after which a page begins.
 * Plans express the condition as a `keyset` predicate.
 */
import type { Json, OrderBy, Relation } from "../../../core/index.ts";

/** The values of a row for the terms of an order, as strings. */
export type KeysetPosition = readonly (string | null)[];

export const isOrderedByColumn = ({ expression }: OrderBy, name: string): boolean =>
  expression.kind === "column" && expression.name === name && expression.path === undefined;

/** Returns the requested order, followed by the primary key columns that it lacks. @rule P-CUR-2 P-RLY-4 */
export const addKeyToOrder = (order: readonly OrderBy[], { primaryKey }: Relation): readonly OrderBy[] => [
  ...order,
  ...primaryKey
    .filter((name) => !order.some((term) => isOrderedByColumn(term, name)))
    .map((name): OrderBy => ({ expression: { kind: "column", name }, direction: "asc", nulls: "last" })),
];

/** Reverses the order. The default position of nulls changes with the direction. */
export const reverseOrder = ({ expression, direction, nulls }: OrderBy): OrderBy => ({
  expression,
  direction: direction === "desc" ? "asc" : "desc",
  ...(nulls !== undefined && { nulls: nulls === "first" ? "last" : "first" }),
});

/**
 * Decodes a cursor or global id, a JSON list in base64 of either alphabet. Returns an empty list for any other text.
 */
export const decodeList = (text: string, parse: (json: string) => Json = JSON.parse): readonly Json[] => {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return [];
  try {
    const list = parse(Buffer.from(text, "base64").toString("utf8"));
    return Array.isArray(list) ? (list as readonly Json[]) : [];
  } catch {
    return [];
  }
};

/** Returns whether the values are strings that PostgreSQL accepts, which excludes NUL characters, or nulls. */
export const isKeysetPosition = (values: readonly unknown[]): values is KeysetPosition =>
  values.every((value) => value === null || (typeof value === "string" && !value.includes("\u0000")));
