/** A cursor: the position of a row in an order, as an opaque string. */
import type { QualifiedName } from "../../../core/index.ts";
import { isKeysetPosition, decodeList, type KeysetPosition } from "./keyset.ts";
import { cursorInvalid } from "./errors.ts";

/** A position to continue from. */
export interface Cursor {
  readonly relation: QualifiedName;
  /** The `order` parameter that the cursor was made for. */
  readonly order: string;
  /** True if the page is the one before the position. */
  readonly isBackward: boolean;
  readonly values: KeysetPosition;
}

const VERSION = 2;

/** Encodes a position in ordered rows as a cursor. */
export const encodeCursor = ({ relation, order, isBackward, values }: Cursor): string =>
  Buffer.from(JSON.stringify([VERSION, relation.schema, relation.name, order, isBackward ? 1 : 0, ...values])).toString(
    "base64url",
  );

/**
 * Decodes a cursor. Clients may forge one, because it reveals no more than a filter does. @throws RelApiError
 * @rule P-CUR-5
 */
export const decodeCursor = (text: string): Cursor => {
  const [version, schema, name, order, direction, ...values] = decodeList(text);
  if (
    version !== VERSION ||
    typeof schema !== "string" ||
    typeof name !== "string" ||
    typeof order !== "string" ||
    (direction !== 0 && direction !== 1) ||
    !isKeysetPosition(values)
  )
    throw cursorInvalid("It is not one of this server");
  return { relation: { schema, name }, order, isBackward: direction === 1, values };
};
