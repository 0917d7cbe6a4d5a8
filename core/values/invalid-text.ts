/** Text that PostgreSQL cannot store: with NUL, or with half of a surrogate pair. It is rejected before a statement is
 *  sent, because each failing statement adds a line to the server's log, which any caller could fill. */
import { nulCharacterInvalid, nulEscapeInvalid, surrogateUnpaired } from "../kernel/errors.ts";
import { getBoundValue, type SentValue } from "../sql/fragment.ts";

const NUL = "\u0000";
const ESCAPE = "\\u0000";
const BACKSLASH = "\\";

/** Returns whether a string in the JSON text contains the character, as an escape that is not itself escaped. */
export const hasNulEscape = (json: string): boolean => {
  for (
    let position = json.indexOf(ESCAPE);
    position !== -1;
    position = json.indexOf(ESCAPE, position + ESCAPE.length)
  ) {
    let first = position;
    while (json[first - 1] === BACKSLASH) first--;
    if ((position - first) % 2 === 0) return true;
  }
  return false;
};

/** Rejects invalid text. With `isJson`, PostgreSQL reads the strings of the JSON text, so escapes of NUL are rejected
 *  too. `path` is the position in the request. @throws RelApiError `22021`, `22P05` @rule R-ERR-7 R-ERR-7a */
export const rejectInvalidText = (value: SentValue, isJson = false, path?: string): void => {
  const text = getBoundValue(value);
  if (isJson && text instanceof Uint8Array) {
    const bytes = Buffer.from(text.buffer, text.byteOffset, text.length);
    if (bytes.includes(ESCAPE) && hasNulEscape(bytes.toString("latin1"))) throw nulEscapeInvalid(path);
  }
  if (typeof text !== "string") return;
  if (text.includes(NUL)) throw nulCharacterInvalid(path);
  // Otherwise the encoder would replace the surrogate by another character.
  if (!text.isWellFormed()) throw surrogateUnpaired(text, path);
  if (isJson && hasNulEscape(text)) throw nulEscapeInvalid(path);
};
