/** The character that no text of PostgreSQL can contain. It is refused before a statement is sent: every statement that
 *  fails is a line in the server's log, and any caller could fill it. */
import { nulCharacter, nulEscape } from "../../kernel/errors.ts";
import { boundOf, type SentValue } from "../sql/fragment.ts";

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

/** `isJson`: PostgreSQL reads the strings of the JSON text, so that it takes no escape of NUL either. `path`: place in
 *  the request. @throws RelApiError `22021`, `22P05` @rule R-ERR-7 */
export const refuseNul = (value: SentValue, isJson = false, path?: string): void => {
  const text = boundOf(value);
  if (typeof text !== "string") return;
  if (text.includes(NUL)) throw nulCharacter(path);
  if (isJson && hasNulEscape(text)) throw nulEscape(path);
};
