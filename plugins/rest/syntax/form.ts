/** Reads bodies of the type `application/x-www-form-urlencoded`: `name=Ada&note=caf%C3%A9+x`. */
import type { Exchange, Limits } from "../../../core/index.ts";
import { tooManyColumns } from "../errors.ts";
import type { BodyRows } from "../api.ts";

type Pairs = readonly (readonly [name: string, value: string])[];

/** Receives name and value pairs, in order. Malformed escapes stay, and bytes that are not UTF-8 become U+FFFD. @throws
 *  RelApiError `too-many-columns` @rule R-BODY-7 R-LIM-3 */
export const receiveForm = async (exchange: Exchange, limits: Limits): Promise<Pairs> => {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  await exchange.streamBody((piece) => {
    text += decoder.decode(replacePlusSigns(piece), { stream: true });
  });
  text += decoder.decode();
  let count = 0;
  for (const _ of text.matchAll(/[^&]+/g)) if (++count > limits.maxColumns) throw tooManyColumns(limits);
  return [...new URLSearchParams(text.replace(/^\?/, "%3F"))]; // URLSearchParams would leave out the question mark
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
