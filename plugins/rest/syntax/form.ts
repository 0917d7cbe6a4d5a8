/** Reads bodies of the type `application/x-www-form-urlencoded`: `name=Ada&note=caf%C3%A9+x`. */
import type { Exchange, Limits } from "../../../core/index.ts";
import { bodyNotUtf8, tooManyColumns } from "../errors.ts";
import type { BodyRows } from "../api.ts";

type Pairs = readonly (readonly [name: string, value: string])[];

/** Receives name and value pairs, in order. Malformed escapes stay. @throws RelApiError `bad-body` if the form is not
 *  UTF-8 or has too many names @rule R-BODY-7 R-LIM-3 */
export const receiveForm = async (exchange: Exchange, limits: Limits): Promise<Pairs> => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true, fatal: true });
  const decode = (piece?: Buffer): string => {
    try {
      return decoder.decode(piece, { stream: piece !== undefined });
    } catch {
      throw bodyNotUtf8();
    }
  };
  let text = "";
  await exchange.streamBody((piece) => {
    text += decode(replacePlusSigns(piece));
  });
  text += decode();
  let count = 0;
  for (const _ of text.matchAll(/[^&]+/g)) if (++count > limits.maxColumns) throw tooManyColumns(limits);
  const pairs = [...new URLSearchParams(text.replace(/^\?/, "%3F"))]; // URLSearchParams would leave out the question mark
  const hasReplacement = pairs.some((pair) => pair.some((part) => part.includes("\ufffd")));
  if (hasReplacement && !hasUtf8Escapes(text)) throw bodyNotUtf8();
  return pairs;
};

/** Escapes that begin with a byte beyond ASCII, up to the length of a character: `%C3%A9`. */
const ESCAPED_CHARACTER = /%[89a-f][\da-f](?:%[89ab][\da-f]){0,3}/gi;

/** Returns whether the escapes are UTF-8. URLSearchParams replaces other bytes by U+FFFD. */
const hasUtf8Escapes = (text: string): boolean => {
  try {
    for (const [character] of text.matchAll(ESCAPED_CHARACTER)) decodeURIComponent(character);
    return true;
  } catch {
    return false;
  }
};

const PLUS_SIGN = "+".charCodeAt(0);
const SPACE = " ".charCodeAt(0);

/** Replaces plus signs, which mean spaces. URLSearchParams and `replaceAll` would create a string for each plus
 *  sign. */
const replacePlusSigns = (piece: Buffer): Buffer => {
  const copy = Buffer.from(piece);
  for (let at = copy.indexOf(PLUS_SIGN); at !== -1; at = copy.indexOf(PLUS_SIGN, at + 1)) copy[at] = SPACE;
  return copy;
};

/** Builds one row, in which the last of repeated names wins. @rule R-BODY-7 */
export const buildFormRow = (pairs: Pairs): BodyRows => {
  const row = Object.fromEntries(pairs);
  return { text: JSON.stringify(row), shape: "object", keys: Object.keys(row).sort(), isEmpty: false };
};
