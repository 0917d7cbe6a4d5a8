/** A request, read as far as that goes without its body and without the database: steps 4 to 8 of R-PIPE-1. */
import { utf8Text, type Exchange } from "../../../core/index.ts";
import { limitOnPut } from "../errors.ts";
import type { Place, Rest, RestRequest } from "../request.ts";
import { parsePreferences } from "./prefer.ts";
import { resolveRange } from "./range.ts";
import { templateOf } from "./template.ts";

const NONE: readonly string[] = [];

/** @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (rest: Rest, exchange: Exchange, place: Place): RestRequest => {
  const { method } = exchange;
  const isReading = method === "GET" || method === "HEAD";
  const template = isReading && place.kind === "relation" ? templateOf(rest.grammar, exchange.query) : undefined;
  const queryText = template === undefined ? exchange.query : template.text;
  const queryKind = place.kind === "routine" && isReading ? "arguments" : "filters";
  const query = rest.parseQuery(queryText, queryKind);
  const range = resolveRange(query.range, method === "GET" ? exchange.header("range") : undefined);
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined)) throw limitOnPut();
  const prefer = exchange.request.headers.prefer as string | undefined; // Node joins repeated ones
  const preferences = parsePreferences(prefer === undefined ? undefined : utf8Text(prefer));
  exchange.mark("parse");
  return {
    ...place,
    rest,
    exchange,
    method,
    query,
    queryText,
    queryKind,
    filterValues: template === undefined ? NONE : template.values,
    range,
    preferences,
  };
};
