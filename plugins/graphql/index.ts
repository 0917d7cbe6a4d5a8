/** The GraphQL surface. `graphql` is the base: schemas per role, documents, HTTP. Each family of fields is a separate
 *  plugin. */
import { definePlugin } from "../../core/index.ts";
import { checkGqlDocumentHook, findGqlDocumentHook, graphqlService } from "./api.ts";
import { createEngine } from "./engine.ts";
import { createHttpSurface } from "./http.ts";
import { refuseNames } from "./part-names.ts";
import { PATH } from "./paths.ts";
import { graphqlFunctions as planFunctions } from "./plan/functions.ts";
import { graphqlLimits, graphqlSettings } from "./settings.ts";
import {
  compatMode,
  dbMaxRows,
  dbTxEnd,
  maxFilters,
  maxJsonDepth,
  maxOrderTerms,
  maxPathKeys,
  maxRelationDepth,
} from "../shared/settings.ts";
import { mutationResponseFields } from "./types/mutation-responses.ts";
import { tapFields } from "./types/tap.ts";

export const graphql = definePlugin({
  name: "graphql",
  // its paths are more specific than those of tables
  before: ["rest"],
  settings: [
    ...graphqlSettings,
    ...graphqlLimits,
    compatMode,
    dbMaxRows,
    dbTxEnd,
    maxJsonDepth,
    maxRelationDepth,
    maxFilters,
    maxOrderTerms,
    maxPathKeys,
  ],
  functions: planFunctions,
  apply: (hooks, context) => {
    refuseNames(context.registry);
    tapFields(hooks, "graphql", { mutation_response: mutationResponseFields });
    const find = context.use(findGqlDocumentHook);
    const engine = createEngine(hooks, context, { find, check: context.use(checkGqlDocumentHook) });
    context.offer(graphqlService, engine);
    context.addSurface(createHttpSurface(context, engine, (request) => find.call(request)));
    context.addMethod("graphql", async ({ query, variables, operationName, ...options }) => {
      const { body } = await context.call({
        ...options,
        method: "POST",
        path: PATH,
        body: { query, variables, operationName },
      });
      return JSON.parse(String(body));
    });
  },
});

export { graphqlGet } from "./get.ts";
export { graphqlHints } from "./hints.ts";
export { restEndpoints } from "./endpoints.ts";
export { persistedQueries } from "./persisted.ts";
export { trustedDocuments } from "./trusted.ts";
export { aggregatePredicates } from "./types/aggregate-predicates.ts";
export { graphqlAggregates } from "./types/aggregates.ts";
export { graphqlCasts, graphqlComparisons } from "./types/comparisons.ts";
export { graphqlComputedFields } from "./types/computed-fields.ts";
export { graphqlDeletes } from "./types/deletes.ts";
export { graphqlFunctions } from "./types/functions.ts";
export { graphqlInserts } from "./types/inserts.ts";
export { graphqlIntrospection } from "./introspection.ts";
export { graphqlQueries } from "./types/queries.ts";
export { graphqlRelationships } from "./types/relationships.ts";
export { graphqlUpdates } from "./types/updates.ts";
