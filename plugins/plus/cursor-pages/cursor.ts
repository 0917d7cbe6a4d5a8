/** A cursor: the place of a row in an order, as text that means nothing to clients. */
import { cursorInvalid } from "./errors.ts";

/** A place to go on from. */
export interface Cursor {
  readonly relation: string;
  /** The order that it is a place in, as it was written. */
  readonly order: string;
  /** The page before the place, not the one behind it. */
  readonly isBackward: boolean;
  /** What the row has for each term of the order. */
  readonly values: readonly (string | null)[];
}

const VERSION = 1;

export const encodeCursor = ({ relation, order, isBackward, values }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, relation, order, isBackward ? 1 : 0, ...values])).toString("base64url");

const isValue = (value: unknown): value is string | null =>
  value === null || (typeof value === "string" && !value.includes("\u0000"));

/** Anybody may write one: it says no more than a filter does. @throws RelApiError @rule P-CUR-5 */
export const decodeCursor = (text: string): Cursor => {
  let parts: unknown;
  try {
    parts = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
  } catch {
    throw cursorInvalid("It is not one of this server");
  }
  if (!Array.isArray(parts)) throw cursorInvalid("It is not one of this server");
  const [version, relation, order, direction, ...values] = parts as readonly unknown[];
  if (
    version !== VERSION ||
    typeof relation !== "string" ||
    typeof order !== "string" ||
    (direction !== 0 && direction !== 1) ||
    !values.every(isValue)
  )
    throw cursorInvalid("It is not one of this server");
  return { relation, order, isBackward: direction === 1, values };
};
