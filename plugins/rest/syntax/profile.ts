/** `Accept-Profile: sea`, `Content-Profile: sea`: which exposed schema a request is about. */
import { utf8Text, type Exchange, type Model } from "../../../core/index.ts";
import { schemaNotExposed } from "../errors.ts";

export interface Profile {
  readonly schema: string;
  /** The answer says which. @rule R-PROF-3 */
  readonly isNamed: boolean;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** @throws RelApiError `schema-not-exposed` @rule R-PROF-1 R-PROF-2 R-PROF-5 */
export const chooseProfile = (model: Model, exchange: Pick<Exchange, "method" | "header">): Profile => {
  const sent = exchange.header(READING.has(exchange.method) ? "accept-profile" : "content-profile");
  const name = sent === undefined ? undefined : utf8Text(sent);
  if (name !== undefined && !model.schemas.includes(name)) throw schemaNotExposed(name, model.schemas);
  return { schema: name ?? model.schemas[0] ?? "public", isNamed: name !== undefined || model.schemas.length > 1 };
};
