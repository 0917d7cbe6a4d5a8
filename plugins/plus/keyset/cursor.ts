/** A cursor: the place of a row in an order, as text that means nothing to clients. */
import { isPlace, readList, type Place } from "./keyset.ts";
import { cursorInvalid } from "./errors.ts";

/** A place to go on from. */
export interface Cursor {
  readonly relation: string;
  /** The order that it is a place in, as it was written. */
  readonly order: string;
  /** The page before the place, not the one behind it. */
  readonly isBackward: boolean;
  readonly values: Place;
}

const VERSION = 1;

export const encodeCursor = ({ relation, order, isBackward, values }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, relation, order, isBackward ? 1 : 0, ...values])).toString("base64url");

/** Anybody may write one: it says no more than a filter does. @throws RelApiError @rule P-CUR-5 */
export const decodeCursor = (text: string): Cursor => {
  const [version, relation, order, direction, ...values] = readList(text);
  if (
    version !== VERSION ||
    typeof relation !== "string" ||
    typeof order !== "string" ||
    (direction !== 0 && direction !== 1) ||
    !isPlace(values)
  )
    throw cursorInvalid("It is not one of this server");
  return { relation, order, isBackward: direction === 1, values };
};
