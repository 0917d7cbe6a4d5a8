/** Written by `npm run docs:settings` from the declarations of the settings. */
import type { RelApiOptions } from "../core/index.ts";
// what their plugins add to `RelApiOptions`
export type { AuthOptions, JwtSecret } from "../plugins/auth/settings.ts";
export type { BusOptions } from "../plugins/bus/settings.ts";
export type { StoreOptions } from "../plugins/database-settings/settings.ts";
export type { GraphqlOptions } from "../plugins/graphql/settings.ts";
export type { TraceOptions } from "../plugins/http/settings.ts";
export type { LimitOptions } from "../plugins/limits/settings.ts";
export type { LivePatchOptions } from "../plugins/live-patches/settings.ts";
export type { MediaOptions } from "../plugins/media/settings.ts";
export type { MetadataOptions } from "../plugins/metadata/settings.ts";
export type { BatchOptions } from "../plugins/plus/rest-batch/settings.ts";
export type { SoftDeleteOptions } from "../plugins/plus/soft-delete/settings.ts";
export type { ChannelOptions } from "../plugins/reload/settings.ts";
export type { RestOptions } from "../plugins/rest/settings.ts";
export type { SharedOptions } from "../plugins/settings.ts";
export type { StreamOptions } from "../plugins/streamed-answers/settings.ts";
export type { LiveQueryOptions } from "../plugins/subscriptions/settings.ts";

/** Options of the presets, with what each does: docs/reference/settings.md in camelCase. */
export interface PresetOptions extends RelApiOptions {
  /** Libpq-style connection string of the login role (PostgreSQL 14 or newer): a URL or `host=… dbname=…`, with one host or several (R-HST-1). `sslmode` as in libpq; without it the connection is encrypted where the server asks for that (`allow`). Unset: the embedded database with the demo schema. */
  readonly databaseUrl?: NonNullable<RelApiOptions["databaseUrl"]> | undefined;
  /** Connection string that leads to the server itself where `DATABASE_URL` leads to a connection pooler: for notifications and logical replication, which need a database session of their own. Unset: `DATABASE_URL`. */
  readonly databaseDirectUrl?: NonNullable<RelApiOptions["databaseDirectUrl"]> | undefined;
  /** What is in front of the database: a connection pooler in `transaction` mode, where nothing is prepared (R-TX-15), or in `session` mode or nothing; `auto` asks each new connection, and takes any pooler for one in transaction mode. Default: `"auto"`. */
  readonly databasePooler?: NonNullable<RelApiOptions["databasePooler"]> | undefined;
  /** Comma-separated read replicas for reads; queries that follow changes run on the primary, which tells of changes first. Default: `[]`. */
  readonly databaseReplicaUrls?: NonNullable<RelApiOptions["databaseReplicaUrls"]> | undefined;
  /** A replica that is further behind the primary answers no reads until it has caught up (R-HST-8). Default: `10` (seconds). */
  readonly databaseReplicaMaxLag?: NonNullable<RelApiOptions["databaseReplicaMaxLag"]> | undefined;
  /** Comma-separated exposed schemas, the first is the default profile. Default: `["public"]`. */
  readonly dbSchemas?: NonNullable<RelApiOptions["dbSchemas"]> | undefined;
  /** Appended to `search_path` of every request (the login role's own may follow, G-SES-11). Default: `["public"]`. */
  readonly dbExtraSearchPath?: NonNullable<RelApiOptions["dbExtraSearchPath"]> | undefined;
  /** Connections at most per process. Default: `10`. */
  readonly dbPool?: NonNullable<RelApiOptions["dbPool"]> | undefined;
  /** Wait for a free connection, then 504. Default: `10` (seconds). */
  readonly dbPoolAcquisitionTimeout?: NonNullable<RelApiOptions["dbPoolAcquisitionTimeout"]> | undefined;
  /** How long requests in progress may take to end once the api closes; then their statements are cancelled and they are answered 503 (R-ADM-4). Default: `10` (seconds). */
  readonly shutdownGrace?: NonNullable<RelApiOptions["shutdownGrace"]> | undefined;
  /** Pooled connections are renewed after that time. Default: `1800` (seconds). */
  readonly dbPoolMaxLifetime?: NonNullable<RelApiOptions["dbPoolMaxLifetime"]> | undefined;
  /** Pooled connections that were idle for that time are closed. Default: `30` (seconds). */
  readonly dbPoolMaxIdletime?: NonNullable<RelApiOptions["dbPoolMaxIdletime"]> | undefined;
  /** How long the start goes on trying when the database refuses the login, or a certificate is missing or not valid; then it ends with exit code 1 (C-SET-5). A database that cannot be reached is always waited for. Default: `0` (seconds). */
  readonly dbLoginPatience?: NonNullable<RelApiOptions["dbLoginPatience"]> | undefined;
  /** When a statement has said nothing for so long, the server is asked whether it still runs; a connection that is dead is replaced (R-HST-9). Default: `3` (seconds). */
  readonly dbSilenceCheck?: NonNullable<RelApiOptions["dbSilenceCheck"]> | undefined;
  /** A statement that has said nothing for so long is given up, and its request answered 503 (R-HST-10); `statement_timeout` of a role is the limit for statements as such. Default: `900` (seconds). */
  readonly dbSilenceLimit?: NonNullable<RelApiOptions["dbSilenceLimit"]> | undefined;
  /** `false`: no statement is prepared (behind a connection pooler in transaction mode none is anyway). Default: `true`. */
  readonly dbPreparedStatements?: NonNullable<RelApiOptions["dbPreparedStatements"]> | undefined;
  /** Statements prepared on each connection; those unused for longest go. Default: `250`. */
  readonly dbMaxPreparedStatements?: NonNullable<RelApiOptions["dbMaxPreparedStatements"]> | undefined;
  /** Bytes of their texts, on each connection; those unused for longest go. A longer text than an eighth of the bytes is never prepared. Default: `1048576`. */
  readonly dbMaxPreparedBytes?: NonNullable<RelApiOptions["dbMaxPreparedBytes"]> | undefined;
  /** Function called in each transaction before the main statement. */
  readonly dbPreRequest?: NonNullable<RelApiOptions["dbPreRequest"]> | undefined;
  /** Plans, statements, documents and whatever else is kept between requests, in bytes as far as they can be estimated; those used longest ago make room. `0`: nothing is kept (R-CAC-1), which with `DB_PREPARED_STATEMENTS=false` makes a server whose answers owe nothing to earlier requests: for comparison, not for use. Default: `67108864`. */
  readonly cacheBytes?: NonNullable<RelApiOptions["cacheBytes"]> | undefined;
  /** Path and query of a request, percent-encoded; a longer URL is refused with 414 before it is read. It holds for each request of a batch, of an MCP tool and of the application itself too. The standalone server takes as many bytes again for the headers. Default: `65536`. */
  readonly maxUrlBytes?: NonNullable<RelApiOptions["maxUrlBytes"]> | undefined;
  /** A larger request body is refused with 413; compressed ones count unpacked, CSV as the JSON of its rows too. At most 268435456. Default: `33554432`. */
  readonly maxBodyBytes?: NonNullable<RelApiOptions["maxBodyBytes"]> | undefined;
  /** Bytes of request bodies that are not answered yet, all together, unpacked; a body that finds no room is refused with 413 and `Retry-After`. Bodies of up to 64 KiB, and one on its own, are always taken. Default: `134217728`. */
  readonly maxPendingBodyBytes?: NonNullable<RelApiOptions["maxPendingBodyBytes"]> | undefined;
  /** A larger answer of the database is refused with 500 before it is read. At most 268435456. Default: `134217728`. */
  readonly maxResultBytes?: NonNullable<RelApiOptions["maxResultBytes"]> | undefined;
  /** Bytes of answers that wait in the process for clients to read them; beyond it connections are closed, those first that have read nothing for longest. Default: `134217728`. */
  readonly maxUnreadBytes?: NonNullable<RelApiOptions["maxUnreadBytes"]> | undefined;
  /** A connection that reads nothing of its answer for so long is closed. Default: `30` (seconds). */
  readonly unreadTimeout?: NonNullable<RelApiOptions["unreadTimeout"]> | undefined;
  /** For the headers of a request (standalone server), and for a body that comes in slower than 8 KiB a second. Default: `30` (seconds). */
  readonly requestTimeout?: NonNullable<RelApiOptions["requestTimeout"]> | undefined;
  /** `silent`, `error`, `warn`, `info`, `debug`. Default: `"info"`. */
  readonly logLevel?: NonNullable<RelApiOptions["logLevel"]> | undefined;
  /** SQL of each request in the log (never its parameters). Default: `false`. */
  readonly logQuery?: NonNullable<RelApiOptions["logQuery"]> | undefined;
  /** `Server-Timing` header. Default: `false`. */
  readonly serverTimingEnabled?: NonNullable<RelApiOptions["serverTimingEnabled"]> | undefined;
  /** `text`; `json`: each line an object (X-LOG-1); `pretty`: the same for the eye, which needs `pino-pretty`. Default: `"text"`. */
  readonly logFormat?: NonNullable<RelApiOptions["logFormat"]> | undefined;
  /** Comma-separated origins. Default: `["*"]`. */
  readonly corsAllowedOrigins?: NonNullable<RelApiOptions["corsAllowedOrigins"]> | undefined;
  /** Request header echoed in the answer and the log. */
  readonly serverTraceHeader?: NonNullable<RelApiOptions["serverTraceHeader"]> | undefined;
  /** Reads that are asked at the same moment have one round trip to the database, so many at most (R-TX-17); 1: each has its own. Default: `16`. */
  readonly maxCoalescedReads?: NonNullable<RelApiOptions["maxCoalescedReads"]> | undefined;
  /** With replicas: how a caller who has written is known again, so that its reads see what it wrote (R-RYW-1): by the header `X-Write-Position`, by a cookie, or by both. Default: `"off"`. */
  readonly readYourWrites?: NonNullable<RelApiOptions["readYourWrites"]> | undefined;
  /** A transaction that has a connection for so long is logged, with its statements, the role and the key of its plan (X-SLW-1). Unset: none is. */
  readonly slowQueryMs?: NonNullable<RelApiOptions["slowQueryMs"]> | undefined;
  /** `true`: such a statement is explained too, as the same role, once a minute at most (X-SLW-2). Default: `false`. */
  readonly slowQueryPlans?: NonNullable<RelApiOptions["slowQueryPlans"]> | undefined;
  /** `true`: spans for the OpenTelemetry SDK that the process has (X-TRC-1); needs `@opentelemetry/api`. Default: `false`. */
  readonly tracing?: NonNullable<RelApiOptions["tracing"]> | undefined;
  /** With `TRACING`, the share of requests and runs of live queries that begin a trace, from `0` to `1`; a request of a trace follows that trace (X-TRC-5). Default: `0.01`. */
  readonly traceRatio?: NonNullable<RelApiOptions["traceRatio"]> | undefined;
  /** With `TRACING`, how the database learns of a sampled trace: `application-name` sets it for the transaction, at no cost; `comment` puts a comment in the format of sqlcommenter behind the statement, which is then parsed and planned each time (X-TRC-4). Default: `"off"`. */
  readonly traceStatements?: NonNullable<RelApiOptions["traceStatements"]> | undefined;
  /** Redis that counts for rate limits, for all processes of all machines together (X-BUS-5). Unset: `BUS_URL`, where that is Redis; else each machine counts for itself. */
  readonly rateLimitRedisUrl?: NonNullable<RelApiOptions["rateLimitRedisUrl"]> | undefined;
  /** What passes changes and reloads between processes: `nats://…` (package `@nats-io/transport-node`) or `redis://…` (package `@redis/client`). Unset: the database's own `NOTIFY`. */
  readonly busUrl?: NonNullable<RelApiOptions["busUrl"]> | undefined;
  /** Processes with the same name, bus and database belong together. Default: `"relapi"`. */
  readonly busName?: NonNullable<RelApiOptions["busName"]> | undefined;
  /** Requests per minute by role, `*` for all others: `anonymous=60,*=600`; a GraphQL batch counts once per entry (R-LIM-6). Before those of the metadata. */
  readonly rateLimits?: NonNullable<RelApiOptions["rateLimits"]> | undefined;
  /** Requests that a caller who was idle may send at once. Unset: as many as in a minute. */
  readonly rateLimitBurst?: NonNullable<RelApiOptions["rateLimitBurst"]> | undefined;
  /** Comma-separated, what tells callers of one role apart: `address`, a claim (`sub`), a session variable (`x-session-user-id`). Empty: a role's callers share its limit. Default: `[]`. */
  readonly rateLimitBy?: NonNullable<RelApiOptions["rateLimitBy"]> | undefined;
  /** Proxies in front, for the address of a caller: so many entries of `X-Forwarded-For` can be trusted, counted from the right. `0`: what Express says (`trust proxy`), or the connection. Default: `0`. */
  readonly trustedProxies?: NonNullable<RelApiOptions["trustedProxies"]> | undefined;
  /** JSON in the format of the metadata's `api_limits`, before which it goes: `{"depth_limit":{"global":7,"per_role":{"editor":12}}}` (G-LIM-8). */
  readonly apiLimits?: NonNullable<RelApiOptions["apiLimits"]> | undefined;
  /** Rows of each list by role, `*` for all others: `anonymous=100,*=10000`; what is beyond is left out, as with `DB_MAX_ROWS` (R-LIM-7, G-LIM-10). Before the `row_limit` of `API_LIMITS` and the metadata. */
  readonly rowLimits?: NonNullable<RelApiOptions["rowLimits"]> | undefined;
  /** Total cost that the planner may expect of a request, by role, `*` for all others: `anonymous=10000` (R-LIM-8, G-LIM-11). Before the `cost_limit` of `API_LIMITS` and the metadata. */
  readonly costLimits?: NonNullable<RelApiOptions["costLimits"]> | undefined;
  /** Rows that the planner may expect from the largest step of a statement, its repetitions counted, by role: `anonymous=100000` (R-LIM-8, G-LIM-11). Before the `estimated_row_limit` of `API_LIMITS` and the metadata. */
  readonly estimatedRowLimits?: NonNullable<RelApiOptions["estimatedRowLimits"]> | undefined;
  /** `statement_timeout` of callers with the anonymous role, where neither the server, the database, the role, the login role nor the request has one (R-LIM-9, G-LIM-12). `0`: none. Unset: 10, with `COMPAT_MODE` none. */
  readonly anonStatementTimeout?: NonNullable<RelApiOptions["anonStatementTimeout"]> | undefined;
  /** Role of a caller who presents no credential. Unset: callers without a credential get 401. */
  readonly anonRole?: NonNullable<RelApiOptions["anonRole"]> | undefined;
  /** `true`: REST paths also work at the root, without `/api`, and errors say no more than PostgREST and Hasura do (R-HNT-6, G-HNT-4). Default: `false`. */
  readonly compatMode?: NonNullable<RelApiOptions["compatMode"]> | undefined;
  /** `true`: updates and deletes without a filter are refused (R-LIM-5, G-LIM-7). Default: `false`. */
  readonly safeWrites?: NonNullable<RelApiOptions["safeWrites"]> | undefined;
  /** The body of a REST read, or the `data` of a GraphQL query, that is longer goes to the client while it arrives from the database, which waits for the client (R-STR). Default: `1048576`. */
  readonly streamAboveBytes?: NonNullable<RelApiOptions["streamAboveBytes"]> | undefined;
  /** How long a client may keep the database waiting for it to read such a body; then what is left is read and held, and the connection is free. Default: `60` (seconds). */
  readonly streamPatience?: NonNullable<RelApiOptions["streamPatience"]> | undefined;
  /** Channel on which `NOTIFY` asks for a schema or settings reload. Default: `"pgrst"`. */
  readonly dbChannel?: NonNullable<RelApiOptions["dbChannel"]> | undefined;
  /** Whether that channel is listened to. Default: `true`. */
  readonly dbChannelEnabled?: NonNullable<RelApiOptions["dbChannelEnabled"]> | undefined;
  /** How often the server is asked whether its schema has changed, which then is reloaded (R-SC-9); `0`: never, only notifications and signals reload it. Default: `2` (seconds). */
  readonly dbSchemaPollInterval?: NonNullable<RelApiOptions["dbSchemaPollInterval"]> | undefined;
  /** Settings kept in the database (`ALTER ROLE ... SET pgrst.<name>`) go before the options. Default: `true`. */
  readonly dbConfig?: NonNullable<RelApiOptions["dbConfig"]> | undefined;
  /** Function that sets them. */
  readonly dbPreConfig?: NonNullable<RelApiOptions["dbPreConfig"]> | undefined;
  /** Metadata folder (YAML) or single JSON file, as an option also the metadata object itself: table and relationship names, permissions, functions, computed fields. */
  readonly metadata?: NonNullable<RelApiOptions["metadata"]> | undefined;
  /** Functions follow the permission on the table they return. Default: `true`. */
  readonly inferFunctionPermissions?: NonNullable<RelApiOptions["inferFunctionPermissions"]> | undefined;
  /** Checks of permissions run in a statement behind the write, so that they see what it has changed in other rows: quotas (G-PRM-19). Default: `false`. */
  readonly checksAfterStatement?: NonNullable<RelApiOptions["checksAfterStatement"]> | undefined;
  /** Roles of the metadata have its permissions on the REST surface too, instead of the database's grants. Default: `false`. */
  readonly metadataPermissionsForRest?: NonNullable<RelApiOptions["metadataPermissionsForRest"]> | undefined;
  /** The admin secret. Unset: nobody is administrator. */
  readonly adminSecret?: NonNullable<RelApiOptions["adminSecret"]> | undefined;
  /** JSON list of admin secrets, any of which matches; for rotation. */
  readonly adminSecrets?: NonNullable<RelApiOptions["adminSecrets"]> | undefined;
  /** A plain HS256 secret (32 bytes or more), a JWK, a JWKS, or an object `{type, key \| jwk_url, claims_namespace, claims_format, claims_map, header, audience, issuer, allowed_skew}`. */
  readonly jwtSecret?: NonNullable<RelApiOptions["jwtSecret"]> | undefined;
  /** The plain secret is base64. Default: `false`. */
  readonly jwtSecretIsBase64?: NonNullable<RelApiOptions["jwtSecretIsBase64"]> | undefined;
  /** Required audience. */
  readonly jwtAud?: NonNullable<RelApiOptions["jwtAud"]> | undefined;
  /** Where the REST role stands in the claims when there is no `x-session-default-role`; jq-style `.a.b[0]` and JSON Path `$.a.b[0]` are both read. Default: `".role"`. */
  readonly jwtRoleClaimKey?: NonNullable<RelApiOptions["jwtRoleClaimKey"]> | undefined;
  /** Verified tokens kept; `0` turns the cache off. Default: `1000`. */
  readonly jwtCacheMaxEntries?: NonNullable<RelApiOptions["jwtCacheMaxEntries"]> | undefined;
  /** `true`: a token without `exp` is refused (R-AUT-4, G-AUTH-14). Default: `false`. */
  readonly jwtRequireExp?: NonNullable<RelApiOptions["jwtRequireExp"]> | undefined;
  /** G-AUTH-19. Default: `false`. */
  readonly adminRoleInTokens?: NonNullable<RelApiOptions["adminRoleInTokens"]> | undefined;
  /** Arrays and objects inside each other: in a request body, the variables of a GraphQL operation, the claims of a token. What walks over JSON recurses, here and in PostgreSQL. Default: `500`. */
  readonly maxJsonDepth?: NonNullable<RelApiOptions["maxJsonDepth"]> | undefined;
  /** Subscribers answered by one statement. Default: `100`. */
  readonly liveQueryBatchSize?: NonNullable<RelApiOptions["liveQueryBatchSize"]> | undefined;
  /** Bytes that live queries keep, all together: about 3000 each, and 16 for each character of their values; a further one is refused with an error. Default: `536870912`. */
  readonly maxLiveQueryBytes?: NonNullable<RelApiOptions["maxLiveQueryBytes"]> | undefined;
  /** `commit`, `commit-allow-override`, `rollback`, `rollback-allow-override`. Default: `"commit"`. */
  readonly dbTxEnd?: NonNullable<RelApiOptions["dbTxEnd"]> | undefined;
  /** A larger result of a live query is sent whole, also to subscribers who ask for patches. Default: `1048576`. */
  readonly maxLivePatchBytes?: NonNullable<RelApiOptions["maxLivePatchBytes"]> | undefined;
  /** Bytes of results that are kept for subscribers who ask for patches, all together; whoever comes then gets whole results. Default: `67108864`. */
  readonly maxLivePatchTotalBytes?: NonNullable<RelApiOptions["maxLivePatchTotalBytes"]> | undefined;
  /** Longest time until a change reaches a subscriber. Default: `1000` (ms). */
  readonly liveQueryInterval?: NonNullable<RelApiOptions["liveQueryInterval"]> | undefined;
  /** `true`: GraphQL errors carry near names and the place where a text breaks off in `extensions` (G-HNT-1, G-HNT-3). The demo has them. Default: `false`. */
  readonly errorHints?: NonNullable<RelApiOptions["errorHints"]> | undefined;
  /** `true`: statuses and media types of `/v1/graphql` are those of the specification GraphQL over HTTP (G-OVH), in place of 200 for every error. Default: `false`. */
  readonly graphqlOverHttp?: NonNullable<RelApiOptions["graphqlOverHttp"]> | undefined;
  /** G-TYP-30. Default: `false`. */
  readonly stringifyNumericTypes?: NonNullable<RelApiOptions["stringifyNumericTypes"]> | undefined;
  /** `where: {col: {_eq: null}}` counts as true instead of being refused. Default: `false`. */
  readonly v1BooleanNullCollapse?: NonNullable<RelApiOptions["v1BooleanNullCollapse"]> | undefined;
  /** G-TYP-38. Default: `false`. */
  readonly disablePostgresArrays?: NonNullable<RelApiOptions["disablePostgresArrays"]> | undefined;
  /** A nullable variable without a value or default is omitted where it is used, instead of counting as null: G-VAR-11. Default: `false`. */
  readonly noNullUnboundVariableDefault?: NonNullable<RelApiOptions["noNullUnboundVariableDefault"]> | undefined;
  /** `graphql-default`: G-NAM-7, where the metadata names none. Default: `"hasura-default"`. */
  readonly defaultNamingConvention?: NonNullable<RelApiOptions["defaultNamingConvention"]> | undefined;
  /** Size of a GraphQL document; reading one of this size takes about 0.2 s. Default: `524288`. */
  readonly maxDocumentBytes?: NonNullable<RelApiOptions["maxDocumentBytes"]> | undefined;
  /** Selection sets inside each other, fragments put in place; the usual introspection query has 15. Default: `50`. */
  readonly maxDocumentDepth?: NonNullable<RelApiOptions["maxDocumentDepth"]> | undefined;
  /** Fields of an operation, fragments put in place and before equal ones are merged. Default: `20000`. */
  readonly maxDocumentFields?: NonNullable<RelApiOptions["maxDocumentFields"]> | undefined;
  /** Fields of an operation that have an alias, counted the same way; PostgreSQL answers 1664 columns of a row at most. Default: `1600`. */
  readonly maxAliases?: NonNullable<RelApiOptions["maxAliases"]> | undefined;
  /** Root fields of an operation; a thousand take about half a second. Default: `1000`. */
  readonly maxRootFields?: NonNullable<RelApiOptions["maxRootFields"]> | undefined;
  /** Relationships in the conditions of an operation. Default: `200`. */
  readonly maxRelatedConditions?: NonNullable<RelApiOptions["maxRelatedConditions"]> | undefined;
  /** Lists of fields inside each other in introspection (`fields { type { fields … } }`), each of which multiplies the answer by the size of the schema; tools ask for one. Default: `2`. */
  readonly maxIntrospectionDepth?: NonNullable<RelApiOptions["maxIntrospectionDepth"]> | undefined;
  /** `__type`, `types` and the lists of fields in the introspection of an operation, each of which takes as long as the schema is large; tools ask for five. Default: `20`. */
  readonly maxIntrospectionLists?: NonNullable<RelApiOptions["maxIntrospectionLists"]> | undefined;
  /** Bytes of a GraphQL request beside its documents. Default: `16777216`. */
  readonly maxVariablesBytes?: NonNullable<RelApiOptions["maxVariablesBytes"]> | undefined;
  /** Items of one list of values (`_in`) in GraphQL. Default: `100000`. */
  readonly maxListItems?: NonNullable<RelApiOptions["maxListItems"]> | undefined;
  /** Objects and their fields in the inserts of one GraphQL operation; a hundred thousand take about a second. Default: `200000`. */
  readonly maxInsertValues?: NonNullable<RelApiOptions["maxInsertValues"]> | undefined;
  /** Requests of one GraphQL batch. Default: `100`. */
  readonly maxBatchEntries?: NonNullable<RelApiOptions["maxBatchEntries"]> | undefined;
  /** Bytes of the answers of one batch; entries that come after are answered with an error and not run. Default: `67108864`. */
  readonly maxBatchBytes?: NonNullable<RelApiOptions["maxBatchBytes"]> | undefined;
  /** Hard limit on rows of a read. */
  readonly dbMaxRows?: NonNullable<RelApiOptions["dbMaxRows"]> | undefined;
  /** Relationships inside each other: embeds of a `select`, conditions of a GraphQL `where`; planned together, as with `MAX_EMBEDS`. Default: `20`. */
  readonly maxRelationDepth?: NonNullable<RelApiOptions["maxRelationDepth"]> | undefined;
  /** Conditions of one request: filters of a URL with those in its logic trees; comparisons and boolean expressions of a GraphQL operation. Default: `10000`. */
  readonly maxFilters?: NonNullable<RelApiOptions["maxFilters"]> | undefined;
  /** Terms of one `order` or `order_by`. Default: `200`. */
  readonly maxOrderTerms?: NonNullable<RelApiOptions["maxOrderTerms"]> | undefined;
  /** Keys of one JSON path, `data->a->b`; PostgreSQL refuses some thousands, by its `max_stack_depth`. Default: `100`. */
  readonly maxPathKeys?: NonNullable<RelApiOptions["maxPathKeys"]> | undefined;
  /** GraphQL answers trusted documents alone, except to administrators (G-ALW). Default: `false`. */
  readonly enableAllowlist?: NonNullable<RelApiOptions["enableAllowlist"]> | undefined;
  /** Folder of `.graphql` files and of `.json` manifests (Apollo's, Relay's, GraphQL Code Generator's) whose documents are trusted. */
  readonly trustedDocuments?: NonNullable<RelApiOptions["trustedDocuments"]> | undefined;
  /** Bytes of GraphQL documents that are kept by their hash (G-APQ); those unused for longest go. Default: `8388608`. */
  readonly persistedQueryBytes?: NonNullable<RelApiOptions["persistedQueryBytes"]> | undefined;
  /** Object relationships are nullable wherever the related row may be hidden from the role: G-REL-11. Default: `false`. */
  readonly nullableRelationships?: NonNullable<RelApiOptions["nullableRelationships"]> | undefined;
  /** Time between two signs of life on a WebSocket (G-WS-3); longer, up to 20 s, while a process has so many sockets that it would send more than 2,000 a second (G-WS-22). Default: `5` (seconds). */
  readonly websocketKeepalive?: NonNullable<RelApiOptions["websocketKeepalive"]> | undefined;
  /** WebSockets open at a time per process; further ones are refused with 503. Default: `100000`. */
  readonly maxSockets?: NonNullable<RelApiOptions["maxSockets"]> | undefined;
  /** Operations running at a time on one WebSocket; a further one is refused with an error message. Default: `1000`. */
  readonly maxSocketOperations?: NonNullable<RelApiOptions["maxSocketOperations"]> | undefined;
  /** A larger message ends its WebSocket with close code 1009. Default: `4194304`. */
  readonly maxSocketMessageBytes?: NonNullable<RelApiOptions["maxSocketMessageBytes"]> | undefined;
  /** GraphQL queries with `@live` are live queries, and live queries with `@live(patch: true)` send what has changed (G-LIV). Default: `false`. */
  readonly liveDirective?: NonNullable<RelApiOptions["liveDirective"]> | undefined;
  /** Comma-separated paths that REST is served under: `/api,/rest/v1` for supabase-js. `api.rest` and the banner use the first. Unset: `/api`. */
  readonly restPrefixes?: NonNullable<RelApiOptions["restPrefixes"]> | undefined;
  /** The same for one path (an option only). Default: `"/api"`. */
  readonly restPath?: NonNullable<RelApiOptions["restPath"]> | undefined;
  /** Aggregate functions in the REST `select`. Default: `false`. */
  readonly dbAggregatesEnabled?: NonNullable<RelApiOptions["dbAggregatesEnabled"]> | undefined;
  /** Function that answers the REST root. */
  readonly dbRootSpec?: NonNullable<RelApiOptions["dbRootSpec"]> | undefined;
  /** `follow-privileges`, `ignore-privileges`, `disabled`. Default: `"follow-privileges"`. */
  readonly openapiMode?: NonNullable<RelApiOptions["openapiMode"]> | undefined;
  /** `minimal`: error bodies carry `code` and `message` alone. Default: `"verbose"`. */
  readonly clientErrorVerbosity?: NonNullable<RelApiOptions["clientErrorVerbosity"]> | undefined;
  /** R-EMB-7. Default: `true`. */
  readonly urlUseLegacyTargetNames?: NonNullable<RelApiOptions["urlUseLegacyTargetNames"]> | undefined;
  /** Columns that one REST body, row or `columns` names; a table of PostgreSQL has no more. Default: `1600`. */
  readonly maxColumns?: NonNullable<RelApiOptions["maxColumns"]> | undefined;
  /** Parameters of one URL; Node's usual 16 KB of headers hold few more. Default: `2000`. */
  readonly maxParameters?: NonNullable<RelApiOptions["maxParameters"]> | undefined;
  /** Fields of one `select`, those of its embeds included; PostgreSQL answers 1664 columns at most. Default: `1600`. */
  readonly maxSelectFields?: NonNullable<RelApiOptions["maxSelectFields"]> | undefined;
  /** Embeds of one `select`. Each `!inner` one is another relation in one join: PostgreSQL plans 50 in half a second, 200 in a minute. Default: `50`. */
  readonly maxEmbeds?: NonNullable<RelApiOptions["maxEmbeds"]> | undefined;
  /** `and` and `or` inside each other in a URL. Default: `100`. */
  readonly maxLogicDepth?: NonNullable<RelApiOptions["maxLogicDepth"]> | undefined;
  /** Function `SET` clauses lifted to the transaction. Default: `["statement_timeout","plan_filter.statement_cost_limit","default_transaction_isolation"]`. */
  readonly dbHoistedTxSettings?: NonNullable<RelApiOptions["dbHoistedTxSettings"]> | undefined;
  /** REST reads carry an `ETag`; `If-None-Match` and `If-Match` count (R-ETG). Default: `false`. */
  readonly etags?: NonNullable<RelApiOptions["etags"]> | undefined;
  /** The OpenAPI document says that a token is needed. Default: `false`. */
  readonly openapiSecurityActive?: NonNullable<RelApiOptions["openapiSecurityActive"]> | undefined;
  /** Address of the API in the OpenAPI document, as clients of a proxy see it. */
  readonly openapiServerProxyUri?: NonNullable<RelApiOptions["openapiServerProxyUri"]> | undefined;
  /** Execution plans by `Accept`. Default: `false`. */
  readonly dbPlanEnabled?: NonNullable<RelApiOptions["dbPlanEnabled"]> | undefined;
  /** `/v2/query` runs SQL of administrators as the login role: whoever has the admin secret then has the database. Default: `false`. */
  readonly runSql?: NonNullable<RelApiOptions["runSql"]> | undefined;
  /** Tools of the Model Context Protocol that write, and calls of volatile functions, as far as the caller's role may. Default: `false`. */
  readonly mcpWrites?: NonNullable<RelApiOptions["mcpWrites"]> | undefined;
  /** Rows that one tool of the Model Context Protocol reads or writes at most. Default: `100`. */
  readonly mcpMaxRows?: NonNullable<RelApiOptions["mcpMaxRows"]> | undefined;
  /** A larger answer to a tool of the Model Context Protocol is refused: models pay for each byte. Default: `262144`. */
  readonly mcpMaxBytes?: NonNullable<RelApiOptions["mcpMaxBytes"]> | undefined;
  /** A tool of the Model Context Protocol that takes longer is given up, and its statement cancelled. Default: `10` (seconds). */
  readonly mcpTimeout?: NonNullable<RelApiOptions["mcpTimeout"]> | undefined;
  /** Pages of these origins may use the Model Context Protocol, `http://localhost:6274`; a request of any other page is refused, also where its name leads to this server. Default: `[]`. */
  readonly mcpAllowedOrigins?: NonNullable<RelApiOptions["mcpAllowedOrigins"]> | undefined;
  /** Issuers of the tokens that the Model Context Protocol takes: clients learn them from OAuth's metadata of the resource, `https://login.example.com`. Default: `[]`. */
  readonly mcpAuthorizationServers?: NonNullable<RelApiOptions["mcpAuthorizationServers"]> | undefined;
  /** Where clients reach the Model Context Protocol, `https://api.example.com/mcp`: the resource that OAuth's metadata describes. Unset: there is no such metadata. */
  readonly mcpResourceUrl?: NonNullable<RelApiOptions["mcpResourceUrl"]> | undefined;
  /** Requests of one REST batch (P-BAT-6). Default: `50`. */
  readonly maxBatchRequests?: NonNullable<RelApiOptions["maxBatchRequests"]> | undefined;
  /** A REST batch that has had its connection for so long is undone and answered 504 (P-BAT-8). The statements of each request have their own limit (`statement_timeout`). Default: `30` (seconds). */
  readonly batchTimeout?: NonNullable<RelApiOptions["batchTimeout"]> | undefined;
  /** A time that DELETE sets instead of deleting, in tables that have such a column, and that hides the row (P-DEL-1). Unset: rows are deleted. */
  readonly softDeleteColumn?: NonNullable<RelApiOptions["softDeleteColumn"]> | undefined;
  /** Roles that reach deleted rows, beside the administrator, where they compare `SOFT_DELETE_COLUMN` (P-DEL-6). Default: `[]`. */
  readonly softDeleteRoles?: NonNullable<RelApiOptions["softDeleteRoles"]> | undefined;
  /** Who may ask by `X-Relapi-Why` which conditions took rows away: `admin` callers with the admin secret, whatever role they act as; `roles` all callers but anonymous ones too, about the rows that their role sees (P-WHY-1). Default: `"off"`. */
  readonly explainEmpty?: NonNullable<RelApiOptions["explainEmpty"]> | undefined;
}
