/** The GraphQL surface. `graphql` is the base, and each family of fields is a plugin of its own. */
export { restEndpoints } from "./http/endpoints.ts";
export { graphqlGet } from "./http/get-requests.ts";
export { graphql } from "./graphql.ts";
export { graphqlHints } from "./hints.ts";
export { graphqlIntrospection } from "./introspection/introspection.ts";
export { persistedQueries } from "./stored-documents/persisted-queries.ts";
export { trustedDocuments } from "./stored-documents/trusted-documents.ts";
export { aggregatePredicates } from "./types/aggregate-predicates.ts";
export { graphqlAggregates } from "./types/aggregates.ts";
export { graphqlCasts, graphqlComparisons } from "./types/comparisons.ts";
export { graphqlComputedFields } from "./types/computed-fields.ts";
export { graphqlDeletes } from "./types/deletes.ts";
export { graphqlFunctions } from "./types/functions.ts";
export { graphqlInserts } from "./types/inserts.ts";
export { graphqlQueries } from "./types/queries.ts";
export { graphqlRelationships } from "./types/relationships.ts";
export { graphqlUpdates } from "./types/updates.ts";
