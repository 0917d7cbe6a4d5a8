/** `Accept-Profile: sea`, `Content-Profile: sea`: which exposed schema a request is about. */
import type { Exchange, Model } from "../../core/index.ts";
import { schemaNotExposed } from "./errors.ts";

export interface Profile {
  readonly schema: string;
  /** The answer says which. @rule R-PROF-3 */
  readonly isNamed: boolean;
}

const READING = new Set(["GET", "HEAD", "OPTIONS"]);

/** @throws RelApiError `schema-not-exposed` @rule R-PROF-1 R-PROF-2 R-PROF-5 */
export const chooseProfile = (model: Model, exchange: Pick<Exchange, "method" | "header">): Profile => {
  const sent = exchange.header(READING.has(exchange.method) ? "accept-profile" : "content-profile");
  const name = sent === undefined ? undefined : fromHeader(sent);
  if (name !== undefined && !model.schemas.includes(name)) throw schemaNotExposed(name, model.schemas);
  return { schema: name ?? model.schemas[0] ?? "public", isNamed: name !== undefined || model.schemas.length > 1 };
};

/** Node reads header bytes as Latin-1; names are UTF-8. */
const fromHeader = (sent: string): string => (/[\u0080-\u00ff]/.test(sent) ? Buffer.from(sent, "latin1").toString("utf8") : sent);
