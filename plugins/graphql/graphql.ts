/** The base of the GraphQL surface: schemas per role, documents, HTTP. */
import { GraphQLInt } from "graphql";
import { definePlugin } from "../../core/index.ts";
import { checkGqlDocumentHook, findGqlDocumentHook, graphqlService } from "./api.ts";
import { createEngine } from "./engine/engine.ts";
import { createHttpSurface } from "./http/http.ts";
import { rejectPartNames } from "./part-names.ts";
import { PATH } from "./http/surface-paths.ts";
import { gqlPlanFunctions as planFunctions } from "./plan/functions.ts";
import { graphqlLimits, graphqlSettings } from "./settings.ts";
import { surfaceSettings } from "../shared/settings.ts";
import { buildEntry, collectFields, forTable, tapFields } from "./types/field-taps.ts";
import { wrapNonNull, wrapNonNullList } from "./types/non-null-list.ts";
import { buildRowType } from "./types/type-names.ts";

/** The result type of inserts, updates and deletes: `{ affected_rows returning { … } }`. @rule G-OUT-7 G-GEN-14 */
const buildMutationResponseFields = forTable((build, table) => {
  const row = build.rights(table).select === undefined ? undefined : buildRowType(build, table);
  return collectFields([
    buildEntry(
      build.fieldName("affected_rows"),
      wrapNonNull(GraphQLInt),
      { kind: "affected-rows" },
      { description: "number of rows affected by the mutation" },
    ),
    buildEntry(
      "returning",
      row && wrapNonNullList(row),
      { kind: "returning" },
      { description: "data from the rows affected by the mutation" },
    ),
  ]);
});

/** The base of the GraphQL surface: a schema for each role, documents and HTTP. */
export const graphql = definePlugin({
  name: "graphql",
  // The paths of this surface are more specific than the paths of tables.
  before: ["rest"],
  settings: [...graphqlSettings, ...graphqlLimits, ...surfaceSettings],
  functions: planFunctions,
  apply: (hooks, context) => {
    rejectPartNames(context.registry);
    tapFields(hooks, "graphql", { mutation_response: buildMutationResponseFields });
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
