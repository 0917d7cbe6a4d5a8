/** Features that neither PostgREST nor Hasura v2 has, one folder each. */
export { graphqlGroupBy } from "./group-by/graphql.ts";
export { restHaving } from "./group-by/rest.ts";
export { configApi } from "./hasura/config-api.ts";
export { graphqlExplain } from "./hasura/explain.ts";
export { metadataApi } from "./hasura/metadata-api.ts";
export { runSql } from "./hasura/run-sql.ts";
export { cursorConnections, graphqlConnections } from "./keyset/connections.ts";
export { cursorPages } from "./keyset/cursor-pages.ts";
export { relay } from "./keyset/relay.ts";
export { mcp } from "./mcp/index.ts";
export { nativeQueries } from "./native-queries/index.ts";
export { ndjson } from "./ndjson/index.ts";
export { nearest } from "./nearest/index.ts";
export { nestedWrites } from "./nested-writes/index.ts";
export { restBatch } from "./rest-batch/index.ts";
export { rowHistory } from "./row-history/index.ts";
export { softDelete } from "./soft-delete/index.ts";
export { whyEmpty } from "./why/index.ts";
