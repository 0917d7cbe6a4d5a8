/** `application/x-www-form-urlencoded` bodies: `name=Ada&note=caf%C3%A9+x`. */
import type { Limits } from "../../../core/index.ts";
import { tooManyColumns } from "../errors.ts";
import type { BodyRows } from "../api.ts";

/** Name and value pairs in order. Malformed escapes stay, bytes that are not UTF-8 become U+FFFD. @throws RelApiError
 *  `too-many-columns` @rule R-BODY-7 R-LIM-3 */
export const parseForm = (body: Buffer, limits: Limits): readonly (readonly [name: string, value: string])[] => {
  const text = body.toString("utf8");
  let count = 0;
  for (const _ of text.matchAll(/[^&]+/g)) if (++count > limits.maxColumns) throw tooManyColumns(limits);
  return [...new URLSearchParams(`&${text}`)]; // a question mark at the beginning would be taken for no part of it
};

/** One row; the last of repeated names wins. @rule R-BODY-7 */
export const formRow = (body: Buffer, limits: Limits): BodyRows => {
  const row = new Map(parseForm(body, limits));
  const members = [...row].map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`);
  return { text: `{${members.join(",")}}`, shape: "object", keys: [...row.keys()].sort(), isEmpty: false };
};
