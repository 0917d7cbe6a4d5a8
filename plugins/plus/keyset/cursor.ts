/** A cursor: the position of a row in an order, as an opaque string. */
import { isKeysetPosition, decodeList, type KeysetPosition } from "./keyset.ts";
import { cursorInvalid } from "./errors.ts";

/** A position to continue from. */
export interface Cursor {
  readonly relation: string;
  /** The `order` parameter that the cursor was made for. */
  readonly order: string;
  /** Whether the page is the one before the position. */
  readonly isBackward: boolean;
  readonly values: KeysetPosition;
}

const VERSION = 1;

export const encodeCursor = ({ relation, order, isBackward, values }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, relation, order, isBackward ? 1 : 0, ...values])).toString("base64url");

/**
 * Decodes a cursor. Clients may forge one, because it reveals no more than a filter does. @throws RelApiError
 * @rule P-CUR-5
 */
export const decodeCursor = (text: string): Cursor => {
  const [version, relation, order, direction, ...values] = decodeList(text);
  if (
    version !== VERSION ||
    typeof relation !== "string" ||
    typeof order !== "string" ||
    (direction !== 0 && direction !== 1) ||
    !isKeysetPosition(values)
  )
    throw cursorInvalid("It is not one of this server");
  return { relation, order, isBackward: direction === 1, values };
};
