/** `/ports` where `/api/ports` was meant: what to say of a path that no surface serves. @rule R-PATH-12 */
import { relationOf, routinesOf, sightOf, type Model, type RelApiError, type Session } from "../../core/index.ts";
import type { GraphqlService } from "../graphql/api.ts";
import { pathNotServed } from "./errors.ts";
import type { Rest } from "./request.ts";
import { decodePercent } from "./syntax/parameters.ts";
import { restPrefixesOf } from "./syntax/place.ts";

/** Names that the caller may see alone. */
const nameMeant = (
  { suggestions }: Pick<Rest, "suggestions">,
  model: Model,
  session: Session,
  isRoutine: boolean,
  written: string,
): string | undefined => {
  const sight = sightOf(model, session, "rest");
  const schema = model.schemas[0] ?? "public";
  const isSeen = (name: string): boolean => {
    if (isRoutine) return routinesOf(model, { schema, name }).some((routine) => sight.calls(routine));
    const relation = relationOf(model, { schema, name });
    return relation !== undefined && sight.knowsRelation(relation);
  };
  if (isSeen(written)) return written;
  const near = isRoutine
    ? suggestions()?.routine(model, schema, written)
    : suggestions()?.relation(model, schema, written);
  return near !== undefined && isSeen(near) ? near : undefined;
};

/** `session`: absent where nobody is known to call. */
export const refusePath = (
  rest: Pick<Rest, "context" | "suggestions">,
  { path, session }: { readonly path: string; readonly session?: Session },
): RelApiError => {
  const { options, model, service } = rest.context;
  const prefixes = restPrefixesOf(options);
  const [, rpc = "", last = ""] = /(\/rpc)?\/([^/]+)$/.exec(path) ?? [];
  const name =
    session === undefined || last === ""
      ? undefined
      : nameMeant(rest, model(), session, rpc !== "", decodePercent(last));
  return pathNotServed(
    prefixes,
    service<GraphqlService>("graphql")?.path,
    name && `${prefixes[0] ?? ""}${rpc}/${encodeURIComponent(name)}`,
  );
};
