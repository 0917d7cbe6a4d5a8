/** Reads bodies of the type `application/x-www-form-urlencoded`: `name=Ada&note=caf%C3%A9+x`. */
import type { Exchange, RequestLimits } from "../../../core/index.ts";
import { bodyNotUtf8, columnCountExceeded } from "../errors.ts";
import type { BodyRows } from "../api.ts";
import { decodePart } from "./parameters.ts";

type Pairs = readonly (readonly [name: string, value: string])[];

/** Receives name and value pairs, in order. Malformed escapes stay. @throws RelApiError `bad-body` if the form is not
 *  UTF-8 or has too many names @rule R-BODY-7 R-LIM-3 */
export const receiveForm = async (exchange: Exchange, limits: RequestLimits): Promise<Pairs> => {
  let text = ""; // one character for each byte, as in a query string
  await exchange.streamBody((chunk) => {
    text += chunk.toString("latin1");
  });
  const pairs: (readonly [string, string])[] = [];
  for (let start = 0; start < text.length;) {
    const nextSeparator = text.indexOf("&", start);
    const end = nextSeparator === -1 ? text.length : nextSeparator;
    if (end > start && pairs.push(parsePair(text.slice(start, end))) > limits.maxColumns)
      throw columnCountExceeded(limits);
    start = end + 1;
  }
  return pairs;
};

const parsePair = (text: string): readonly [name: string, value: string] => {
  const equals = text.indexOf("=");
  const [name, value] = equals === -1 ? [text, ""] : [text.slice(0, equals), text.slice(equals + 1)];
  return [decodePart(name, bodyNotUtf8), decodePart(value, bodyNotUtf8)];
};

/** Builds one row, in which the last of repeated names wins. @rule R-BODY-7 */
export const buildFormRow = (pairs: Pairs): BodyRows => {
  const row = Object.fromEntries(pairs);
  return { text: JSON.stringify(row), shape: "object", keys: Object.keys(row).sort(), isEmpty: false };
};
