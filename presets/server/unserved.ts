/**
 * Settings of PostgREST (12 to 16) and Hasura (v2) that this server lacks, with advice. Supported ones are aliases of
 * its own settings.
 */

const AUTH_SCHEME = "write an auth scheme: docs/guides/write-an-auth-scheme.md";
const NO_EVENTS = "there are no event triggers, actions and cron triggers: use a job queue beside the database";
const NO_REMOTE = "there are no remote schemas: join them in a GraphQL gateway";
const NO_REDIS = "answers are not cached: use an HTTP cache in front, with ETAGS=true";
const NO_CONSOLE = "there is no console; GraphiQL is at /v1/graphql";
const PER_SOURCE = "set DB_POOL";

const POSTGREST: Readonly<Record<string, string>> = {
  ADMIN_SERVER_UNIX_SOCKET: "set ADMIN_HOST and ADMIN_PORT",
  DB_POOL_AUTOMATIC_RECOVERY: "the pool always recovers: leave it out",
  DB_POOL_TIMEOUT: "set DB_POOL_MAX_IDLETIME",
  DB_SCHEMA: "set DB_SCHEMAS",
  DB_TIMEZONE_ENABLED: "time zones of Prefer are always taken: leave it out",
  DB_USE_LEGACY_GUCS: "claims are only in request.jwt.claims, as JSON",
  JWT_CACHE_MAX_LIFETIME: "verified tokens are kept until they end: set JWT_CACHE_MAX_ENTRIES, 0 to keep none",
  MAX_ROWS: "set DB_MAX_ROWS",
  PRE_REQUEST: "set DB_PRE_REQUEST",
  RAW_MEDIA_TYPES: "declare the media types in the database: a function that returns a domain of that name",
  ROLE_CLAIM_KEY: "set JWT_ROLE_CLAIM_KEY",
  ROOT_SPEC: "set DB_ROOT_SPEC",
  SECRET_IS_BASE64: "set JWT_SECRET_IS_BASE64",
  SERVER_PROXY_URI: "set OPENAPI_SERVER_PROXY_URI",
  SERVER_REUSEPORT: "set WORKERS: processes that share the port",
};

const HASURA: Readonly<Record<string, string>> = {
  ACCESS_KEY: "set ADMIN_SECRET",
  ADMIN_INTERNAL_ERRORS: "errors have no internal part: leave it out",
  ASYNC_ACTIONS_FETCH_BATCH_SIZE: NO_EVENTS,
  ASYNC_ACTIONS_FETCH_INTERVAL: NO_EVENTS,
  AUTH_HOOK: AUTH_SCHEME,
  AUTH_HOOK_MODE: AUTH_SCHEME,
  AUTH_HOOK_SEND_REQUEST_BODY: AUTH_SCHEME,
  BACKWARDS_COMPAT_NULL_IN_NONNULLABLE_VARIABLES:
    "null for a variable of a non-null type is refused: mend the documents",
  BIGQUERY_STRING_NUMERIC_INPUT: "PostgreSQL is the only database: leave it out",
  CACHE_MAX_ENTRY_TTL: NO_REDIS,
  CLI_ENVIRONMENT: "it is a setting of the other engine's image: leave it out",
  CLOSE_WEBSOCKETS_ON_METADATA_CHANGE: "sockets stay open when the metadata changes: leave it out",
  CONFIGURED_HEADER_PRECEDENCE: NO_EVENTS,
  CONNECTIONS_PER_READ_REPLICA: PER_SOURCE,
  CONNECTION_COMPRESSION: "compress in the proxy in front",
  CONSOLE_ASSETS_DIR: NO_CONSOLE,
  CONSOLE_SENTRY_DSN: NO_CONSOLE,
  DEV_MODE: "CLIENT_ERROR_VERBOSITY says how much errors tell",
  DISABLE_CORS: "set CORS_ALLOWED_ORIGINS",
  DISABLE_EVENTING: NO_EVENTS,
  DISABLE_NATIVE_QUERY_VALIDATION: "native queries are always tried out on the database: leave it out",
  DYNAMIC_SECRETS_ALLOWED_PATH_PREFIX: "name a file in DATABASE_URL=@/path: it is read at the start",
  EE_LICENSE_KEY: "there is no licence: leave it out",
  ENABLED_APIS: "leave plugins out of the preset: docs/guides/presets.md",
  ENABLED_LOG_TYPES: "set LOG_LEVEL and LOG_QUERY",
  ENABLE_APOLLO_FEDERATION: "there is no federation: put the schema behind a gateway that joins",
  ENABLE_CONSOLE: NO_CONSOLE,
  ENABLE_LOG_COMPRESSION: "compress what collects the log",
  ENABLE_MAINTENANCE_MODE: "metadata is a file and changes when that does: leave it out",
  ENABLE_METADATA_QUERY_LOGGING: "requests to the metadata API are logged like all others: leave it out",
  ENABLE_PERSISTED_QUERIES: "persisted queries are always on: set PERSISTED_QUERY_BYTES",
  ENABLE_QUERY_TRACING: "set LOG_QUERY",
  ENABLE_REMOTE_SCHEMA_PERMISSIONS: NO_REMOTE,
  ENABLE_TELEMETRY: "there is none: leave it out",
  ENABLE_TRIGGERS_ERROR_LOG_LEVEL: NO_EVENTS,
  EVENTS_FETCH_BATCH_SIZE: NO_EVENTS,
  EVENTS_FETCH_INTERVAL: NO_EVENTS,
  EVENTS_HTTP_POOL_SIZE: NO_EVENTS,
  GRACEFUL_SHUTDOWN_TIMEOUT: "set SHUTDOWN_GRACE",
  HTTP_LOG_QUERY_ONLY_ON_ERROR: "set LOG_QUERY",
  JWT_SECRETS: "set JWT_SECRET: it takes a list of key objects",
  MAX_CACHE_SIZE: NO_REDIS,
  MAX_TOTAL_HEADER_LENGTH: "set MAX_URL_BYTES: it limits the URL and the headers separately",
  METADATA_DATABASE_EXTENSIONS_SCHEMA: "metadata is a folder or a file, and needs no database: leave it out",
  METADATA_DATABASE_URL: "metadata is a folder or a file: set METADATA, and DATABASE_URL for the data",
  METADATA_DEFAULTS: "write them into the metadata, and set METADATA",
  METRICS_ENABLE_HIGH_CARDINALITY_LABELS: "metrics have no such labels: leave it out",
  METRICS_SECRET: "metrics are on a listener of their own: set ADMIN_PORT",
  MIGRATIONS_DIR: "run migrations with a tool of your own before the start",
  MIGRATIONS_DATABASE_ENV_VAR: "run migrations with a tool of your own before the start",
  MIGRATIONS_SERVER_PORT: "run migrations with a tool of your own before the start",
  MIGRATIONS_SERVER_TIMEOUT: "run migrations with a tool of your own before the start",
  NO_OF_RETRIES: "the connection is tried for as long as the server runs: leave it out",
  PERSISTED_QUERIES_TTL: "set PERSISTED_QUERY_BYTES: those unused for longest go",
  PG_CONNECTIONS: PER_SOURCE,
  PG_CONN_LIFETIME: "set DB_POOL_MAX_LIFETIME",
  PG_SSL_CERTIFICATE_PATH: "name the files in DATABASE_URL: sslrootcert, sslcert, sslkey",
  PG_STRIPES: PER_SOURCE,
  PG_TIMEOUT: "set DB_POOL_MAX_IDLETIME",
  POOL_TIMEOUT: "set DB_POOL_ACQUISITION_TIMEOUT",
  PRESERVE_401_ERRORS: AUTH_SCHEME,
  PRO_KEY: "there is no licence: leave it out",
  QUERY_PLAN_CACHE_SIZE: "set CACHE_BYTES",
  RATE_LIMIT_REDIS_TLS_HOSTNAME: "RATE_LIMIT_REDIS_URL names the host: leave it out",
  RATE_LIMIT_REDIS_USE_TLS: "RATE_LIMIT_REDIS_URL begins with rediss:// for TLS: leave it out",
  READ_REPLICA_URL: "set DATABASE_REPLICA_URLS",
  REDIS_TIMEOUT: NO_REDIS,
  REDIS_TLS_HOSTNAME: NO_REDIS,
  REDIS_TLS_SHARED_CA_STORE_PATH: NO_REDIS,
  REDIS_URL: NO_REDIS,
  REDIS_USE_TLS: NO_REDIS,
  REMOTE_SCHEMA_PRIORITIZE_DATA: NO_REMOTE,
  REMOTE_SCHEMA_SKIP_NULLS: NO_REMOTE,
  SCHEMA_SYNC_POLL_INTERVAL: "set DB_SCHEMA_POLL_INTERVAL",
  SSO_PROVIDERS: NO_CONSOLE,
  STREAMING_QUERIES_MULTIPLEXED_BATCH_SIZE: "set LIVE_QUERY_BATCH_SIZE",
  STREAMING_QUERIES_MULTIPLEXED_REFETCH_INTERVAL: "set LIVE_QUERY_INTERVAL",
  STRIPES_PER_READ_REPLICA: PER_SOURCE,
  TX_ISOLATION: "ALTER ROLE … SET default_transaction_isolation",
  USE_PREPARED_STATEMENTS: "set DB_PREPARED_STATEMENTS",
  WEBSOCKET_COMPRESSION: "compress in the proxy in front",
  WEBSOCKET_CONNECTION_INIT_TIMEOUT: "clients have 3 seconds: leave it out",
  WS_READ_COOKIE: "cookies count for origins of CORS_ALLOWED_ORIGINS",
};

const withPrefix = (prefix: string, names: Readonly<Record<string, string>>): readonly (readonly [string, string])[] =>
  Object.entries(names).map(([name, advice]) => [prefix + name, advice]);

/** Advice by the full name of the variable. @rule C-SET-2 */
export const unserved: ReadonlyMap<string, string> = new Map([
  ...withPrefix("PGRST_", POSTGREST),
  ...withPrefix("HASURA_GRAPHQL_", HASURA),
]);

/** Variables of the engine's tools, which have no effect on a server and are not reported. */
export const OF_TOOLS: ReadonlySet<string> = new Set(["HASURA_GRAPHQL_ENDPOINT"]);
