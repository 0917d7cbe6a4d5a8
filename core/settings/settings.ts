/** The settings that core itself reads. Each plugin declares its own. */
import { defineSetting, type Setting } from "./define-setting.ts";
import { settingKinds } from "./setting-kinds.ts";

const { flag, listOf, oneOf, text, wholeNumber } = settingKinds;

const MAX_SECONDS = 2_000_000; // Node's timers accept no longer times
const MAX_MESSAGE_BYTES = 268_435_456; // JavaScript strings may be twice as long

export const coreSettings = [
  defineSetting({
    name: "dbSchemas",
    environment: ["DB_SCHEMAS"],
    kind: listOf("names of schemas"),
    default: ["public"],
    description:
      "the schemas that the API exposes, separated by commas; requests that name no schema use the first one",
  }),
  defineSetting({
    name: "dbExtraSearchPath",
    environment: ["DB_EXTRA_SEARCH_PATH"],
    kind: listOf("names of schemas"),
    default: ["public"],
    description:
      "schemas that follow the schema of the request in the `search_path` of each transaction, separated by commas; the login role's own search path may follow (G-SES-11)",
    acceptsEmpty: true,
  }),
  defineSetting({
    name: "dbPool",
    environment: ["DB_POOL"],
    kind: wholeNumber(1, 10_000),
    default: 10,
    description: "the maximum number of database connections of each process",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolAcquisitionTimeout",
    environment: ["DB_POOL_ACQUISITION_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description: "the time for which a request waits for a free connection; then it is answered 504",
    isFixed: true,
  }),
  defineSetting({
    name: "shutdownGrace",
    environment: ["SHUTDOWN_GRACE"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description:
      "the time that requests in progress have to finish when the api closes; then their statements are cancelled, and they are answered 503 (R-ADM-4)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolMaxLifetime",
    environment: ["DB_POOL_MAX_LIFETIME"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 1800,
    unit: "seconds",
    description: "the age after which a pooled connection is replaced by a new one",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolMaxIdletime",
    environment: ["DB_POOL_MAX_IDLETIME"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description: "the time after which an unused pooled connection is closed",
    isFixed: true,
  }),
  defineSetting({
    name: "dbLoginPatience",
    environment: ["DB_LOGIN_PATIENCE"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 0,
    unit: "seconds",
    description:
      "the time for which the start retries if the database rejects the login, or if a certificate is missing or not valid; then the process ends with exit code 1 (C-SET-5). A database that cannot be reached is retried without a limit",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreparedStatements",
    environment: ["DB_PREPARED_STATEMENTS"],
    kind: flag,
    default: true,
    description:
      "`false`: statements are not prepared, which costs time. Behind a connection pooler in transaction mode they are never prepared",
    isFixed: true,
  }),
  defineSetting({
    name: "dbMaxPreparedStatements",
    environment: ["DB_MAX_PREPARED_STATEMENTS"],
    kind: wholeNumber(1, 100_000),
    default: 250,
    description:
      "the maximum number of prepared statements on each connection; above it, the least recently used one is removed",
    isFixed: true,
  }),
  defineSetting({
    name: "dbMaxPreparedBytes",
    environment: ["DB_MAX_PREPARED_BYTES"],
    kind: wholeNumber(1),
    default: 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of the SQL of all prepared statements on each connection; above it, the least recently used one is removed. A statement larger than an eighth of this size is never prepared",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreRequest",
    environment: ["DB_PRE_REQUEST"],
    kind: text,
    description: "a function in the database that each transaction calls before its main statement",
    whenUnset: "no function is called",
  }),
  defineSetting({
    name: "cacheBytes",
    environment: ["CACHE_BYTES"],
    kind: wholeNumber(0),
    default: 64 * 1024 * 1024,
    unit: "bytes",
    description:
      "the estimated maximum size of all cached values of a process, such as plans, statements and documents; above it, the least recently used ones are removed (R-CAC-1). `0`: nothing is cached. This value is meant for comparisons and not for use",
  }),
  defineSetting({
    name: "maxUrlBytes",
    environment: ["MAX_URL_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024,
    unit: "bytes",
    description:
      "the maximum size of the path and query of a request, percent-encoded; a longer URL is rejected with 414. The limit also holds for each request of a batch, of an MCP tool and of the application. The standalone server accepts headers of the same size in addition",
    isLimit: true,
    isFixed: true,
  }),
  defineSetting({
    name: "maxBodyBytes",
    environment: ["MAX_BODY_BYTES"],
    kind: wholeNumber(1, MAX_MESSAGE_BYTES),
    default: 32 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of a request body, at most 268435456; a larger body is rejected with 413. A compressed body counts with its decompressed size, and CSV also as the JSON of its rows",
    isLimit: true,
    isFixed: true,
  }),
  defineSetting({
    name: "maxPendingBodyBytes",
    environment: ["MAX_PENDING_BODY_BYTES"],
    kind: wholeNumber(1),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum total size of the decompressed bodies of all unanswered requests; a body above it is rejected with 413 and `Retry-After`. Bodies of up to 64 KiB are always accepted, and so is a body if no other one is pending",
    isLimit: true,
    isFixed: true,
  }),
  defineSetting({
    name: "maxResultBytes",
    environment: ["MAX_RESULT_BYTES"],
    kind: wholeNumber(1, MAX_MESSAGE_BYTES),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum size of a response from the database, at most 268435456; a request with a larger one is rejected with 500 before the response is read",
    isLimit: true,
    isFixed: true,
  }),
  defineSetting({
    name: "maxUnreadBytes",
    environment: ["MAX_UNREAD_BYTES"],
    kind: wholeNumber(1),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description:
      "the maximum total size of responses that clients have not read yet; above it, connections are closed, and the first one is the connection whose client has been inactive for longest",
    isFixed: true,
  }),
  defineSetting({
    name: "unreadTimeout",
    environment: ["UNREAD_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description: "the time after which a connection is closed if its client reads nothing of its response",
    isFixed: true,
  }),
  defineSetting({
    name: "requestTimeout",
    environment: ["REQUEST_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description:
      "the time in which the headers of a request must arrive at the standalone server; a body may take longer if it arrives at 8 KiB per second or faster",
    isFixed: true,
  }),
  defineSetting({
    name: "logLevel",
    environment: ["LOG_LEVEL"],
    kind: oneOf(["silent", "error", "warn", "info", "debug"], { crit: "silent" }),
    whenUnset: "`info` in the standalone server; `warn` without a request log in an application (X-LOG-5)",
    description: "the lowest level of the lines in the log: `silent`, `error`, `warn`, `info` or `debug`",
    isFixed: true,
  }),
  defineSetting({
    name: "name",
    kind: text,
    description: "the name of the api in each line of the log, for a process with several apis (X-LOG-6)",
    whenUnset: "lines have no name",
    isFixed: true,
  }),
  defineSetting({
    name: "logQuery",
    environment: ["LOG_QUERY"],
    kind: flag,
    default: false,
    description: "`true`: the log contains the SQL of each request, without its parameters",
    isFixed: true,
  }),
  defineSetting({
    name: "serverTimingEnabled",
    environment: ["SERVER_TIMING_ENABLED"],
    kind: flag,
    default: false,
    description: "`true`: responses have a `Server-Timing` header with the duration of each phase",
    isFixed: true,
  }),
] as const satisfies readonly Setting[];
