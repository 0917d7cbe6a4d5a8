import { aliases } from "./aliases.ts";

/** Splits a list of names at white space. */
const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/**
 * The names of all plugins of the package. A plugin may be ordered `before` one of them even if the preset leaves it
 * out.
 */
export const knownPlugins: readonly string[] = words(`
  access-log admin-secret admin-server aggregate-embeds aggregate-functions aggregate-predicates anonymous
  anonymous-timeout api-limits array-range-operators bus catalog-introspection coalesced-reads column-arrays command-line
  comparison-operators computed-relationships config-api connections connector cors cost-limits csv-bodies csv-media
  cursor-pages custom-media database-settings document-operators etag explain-media front-page
  full-text-operators geo-operators geojson-media graphql graphql-aggregates graphql-casts graphql-comparisons
  graphql-computed-fields graphql-connections graphql-deletes graphql-explain graphql-functions graphql-get
  graphql-group-by graphql-hints graphql-inserts graphql-introspection graphql-queries graphql-relationships
  graphql-updates hasura-session inc-operator json-media json-operators jwt-tokens legacy-websocket
  live-directive live-patches live-queries live-triggers ltree-operators mcp metadata metadata-api
  metadata-loader metadata-permissions metrics multipart native-queries nats-bus ndjson nearest nest-embeds
  nested-writes notify-bus notify-changes openapi openapi-3 openapi-page persisted-queries plan-proof playground
  poll-changes raised-errors rate-limits read-your-writes redis-bus redis-limits relationships relay reload-all
  reload-channel reload-poll replication-changes request-ids request-settings response-settings rest rest-batch rest-endpoints
  rest-having rest-hints rest-live rest-options rest-rpc rest-writes row-history row-limits run-sql safe-writes
  session-settings set-operator singular-media slow-queries soft-delete spread-embeds sse start-report
  streamed-answers stripped-media structured-log suggestions text-operators trace-header tracing
  trusted-documents upgrades websocket-transport why-empty worker-limits
`);

/** The option names of all plugins of the package. Presets accept them even if they leave the plugin out. */
export const knownOptions: readonly string[] = words(`
  adminRoleInTokens adminSecret adminSecrets anonRole anonStatementTimeout apiLimits batchTimeout busName busUrl
  checksAfterStatement clientErrorVerbosity compatMode corsAllowedOrigins costLimits databaseDirectUrl databasePooler databaseReplicaMaxLag databaseReplicaUrls
  databaseUrl dbAggregatesEnabled dbChannel
  dbChannelEnabled
  dbConfig dbHoistedTxSettings dbMaxRows dbPlanEnabled dbPreConfig dbRootSpec dbSchemaPollInterval dbSilenceCheck dbSilenceLimit dbTxEnd
  defaultNamingConvention disablePostgresArrays enableAllowlist errorHints estimatedRowLimits etags explainEmpty graphqlOverHttp
  inferFunctionPermissions jwtAud jwtCacheMaxEntries jwtRequireExp jwtRoleClaimKey jwtSecret jwtSecretIsBase64
  liveDirective liveQueryBatchSize liveQueryInterval logFormat maxAliases maxBatchBytes maxBatchEntries
  maxBatchRequests maxCoalescedReads maxColumns maxDocumentBytes maxDocumentDepth maxDocumentFields maxEmbeds
  maxFilters maxInsertValues maxIntrospectionDepth maxIntrospectionLists maxJsonDepth maxListItems maxLivePatchBytes
  maxLivePatchTotalBytes maxLiveQueryBytes maxLogicDepth maxOrderTerms maxParameters maxPathKeys
  maxRelatedConditions maxRelationDepth maxRootFields maxSelectFields maxSocketMessageBytes maxSocketOperations maxSockets
  maxVariablesBytes maxWriteStatements mcpAllowedOrigins mcpAuthorizationServers mcpMaxBytes mcpMaxRows mcpResourceUrl mcpTimeout
  mcpWrites metadata
  metadataPermissionsForRest noNullUnboundVariableDefault nullableRelationships openapiMode
  openapiSecurityActive openapiServerProxyUri persistedQueryBytes rateLimitBurst rateLimitBy rateLimitRedisUrl
  rateLimits readYourWrites restPath restPrefixes rowLimits runSql safeWrites serverTraceHeader slowQueryMs
  slowQueryPlans softDeleteColumn softDeleteRoles streamAboveBytes streamPatience stringifyNumericTypes traceRatio
  traceStatements tracing trustedDocuments trustedProxies urlUseLegacyTargetNames v1BooleanNullCollapse
  websocketKeepalive
`);

/** The members that all presets of the package share, beside plugins and options. */
export const ofThePackage = { known: knownPlugins, knownOptions, aliases };
