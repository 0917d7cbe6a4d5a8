/** Those operations of Hasura for administrators that need no separate service. */
export { configApi } from "./config-api.ts";
export { graphqlExplain } from "./explain.ts";
export { metadataApi } from "./metadata-api.ts";
export { runSql } from "./run-sql.ts";
