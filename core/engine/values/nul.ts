/** The character that no text of PostgreSQL can contain. It is refused before a statement is sent: every statement that
 *  fails is a line in the server's log, and any caller could fill it. */
import { nulCharacter, nulEscape } from "../../kernel/errors.ts";
import type { SentValue } from "../sql/fragment.ts";

const NUL = "\u0000";
const ESCAPE = "\\u0000";
const BACKSLASH = "\\";

/** Whether a string of JSON text contains the character: as an escape, behind an even number of other backslashes. */
export const hasNulEscape = (json: string): boolean => {
  for (let at = json.indexOf(ESCAPE); at !== -1; at = json.indexOf(ESCAPE, at + ESCAPE.length)) {
    let first = at;
    while (json[first - 1] === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return true;
  }
  return false;
};

/** No escape is split between two pieces. */
const piecesHaveEscape = (pieces: readonly Uint8Array[]): boolean =>
  pieces.some((piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    return bytes.includes(ESCAPE) && hasNulEscape(bytes.toString("latin1"));
  });

/** `isJson`: PostgreSQL reads the strings of the JSON text, so that it takes no escape of NUL either. `path`: place in
 *  the request. @throws RelApiError `22021`, `22P05` @rule R-ERR-7 */
export const refuseNul = (value: SentValue, isJson = false, path?: string): void => {
  if (typeof value === "string") {
    if (value.includes(NUL)) throw nulCharacter(path);
    if (isJson && hasNulEscape(value)) throw nulEscape(path);
  } else if (value !== null && "utf8" in value) {
    if (value.utf8.some((piece) => piece.includes(0))) throw nulCharacter(path);
    if (isJson && piecesHaveEscape(value.utf8)) throw nulEscape(path);
  }
};
