/** A request, read as far as that goes without its body and without the database: steps 4 to 8 of R-PIPE-1. */
import { utf8Text, type Exchange } from "../../../core/index.ts";
import type { RestTarget } from "../api.ts";
import { limitOnPut } from "../errors.ts";
import type { Rest, RestRequest } from "../request.ts";
import { locate } from "./path.ts";
import { parsePreferences } from "./prefer.ts";
import { chooseProfile } from "./profile.ts";
import { resolveRange } from "./range.ts";
import { templateOf } from "./template.ts";

const NONE: readonly string[] = [];

/** `kind`: of the target. @throws RelApiError in the order of R-PIPE-1 @rule R-PIPE-1 */
export const parseRequest = (rest: Rest, exchange: Exchange, kind: RestTarget["kind"]): RestRequest => {
  const { method } = exchange;
  const model = rest.context.model();
  const location = locate(rest.context.options, exchange.path);
  const profile = chooseProfile(model, exchange);
  const isReading = method === "GET" || method === "HEAD";
  const template = isReading && kind === "relation" ? templateOf(rest.grammar, exchange.query) : undefined;
  const queryText = template === undefined ? exchange.query : template.text;
  const queryKind = kind === "routine" && isReading ? "arguments" : "filters";
  const query = rest.parseQuery(queryText, queryKind);
  const range = resolveRange(query.range, method === "GET" ? exchange.header("range") : undefined);
  if (method === "PUT" && (query.range.limit !== undefined || query.range.offset !== undefined)) throw limitOnPut();
  const prefer = exchange.request.headers.prefer as string | undefined; // Node joins repeated ones
  const preferences = parsePreferences(prefer === undefined ? undefined : utf8Text(prefer));
  exchange.mark("parse");
  return {
    rest,
    exchange,
    model,
    method,
    schema: location.schema ?? profile.schema,
    isProfileNamed: profile.isNamed,
    name: location.name,
    path: location.path,
    query,
    queryText,
    queryKind,
    filterValues: template === undefined ? NONE : template.values,
    range,
    preferences,
  };
};
