/** Hasura's operations that need no service of their own, for administrators. */
export { configApi } from "./config-api.ts";
export { graphqlExplain } from "./explain.ts";
export { metadataApi } from "./metadata-api.ts";
export { runSql } from "./run-sql.ts";
