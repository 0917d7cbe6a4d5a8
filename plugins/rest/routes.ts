/** Which methods answer for a target: the surface's own, and what `buildRestRoute` taps make of them. Built when first
 *  asked for. */
import type { Ask, Caches, Model, Question, RelApiHooks } from "../../core/index.ts";
import type { RestHandler, RestRoute, RestTarget } from "./api.ts";

/** The surface's own methods by kind of target, in the order of `Allow`. */
export type Methods = Readonly<Record<RestTarget["kind"], ReadonlyMap<string, RestHandler>>>;

interface Place {
  readonly model: Model;
  readonly schema: string;
  readonly target: RestTarget;
}

const MODEL: Question<Place, Model> = { name: "model", of: ({ model }) => model };
const SCHEMA: Question<Place, string> = { name: "schema", of: ({ schema }) => schema };
const KIND: Question<Place, RestTarget["kind"]> = { name: "kind", of: ({ target }) => target.kind };
/** Relations and overloads are the model's own, so their identity says which. */
const SUBJECT: Question<Place, RestTarget> = {
  name: "target",
  of: ({ target }) => target,
  key: (target) =>
    target.kind === "relation" ? target.relation : target.kind === "routine" ? target.routines : target.kind,
};

const BYTES_PER_ROUTE = 1000;

export const createRoutes = (
  hooks: RelApiHooks,
  caches: Caches,
  methods: Methods,
): ((model: Model, schema: string, target: RestTarget) => RestRoute) => {
  const routes = caches.create({
    name: "rest routes",
    make: (ask: Ask<Place>): RestRoute =>
      hooks.buildRestRoute.call(
        { target: ask(SUBJECT), methods: methods[ask(KIND)] },
        { model: ask(MODEL), schema: ask(SCHEMA) },
      ),
    bytesOf: () => BYTES_PER_ROUTE,
  });
  return (model, schema, target) => {
    const found = routes.get({ model, schema, target });
    // a name the model lacks would be kept for whoever asks for it
    if (target.kind !== "routine" || target.routines.length > 0) found.keep();
    return found.made;
  };
};
