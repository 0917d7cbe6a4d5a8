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
    description: "comma-separated exposed schemas, the first is the default profile",
  }),
  defineSetting({
    name: "dbExtraSearchPath",
    environment: ["DB_EXTRA_SEARCH_PATH"],
    kind: listOf("names of schemas"),
    default: ["public"],
    description: "appended to `search_path` of every request (the login role's own may follow, G-SES-11)",
    acceptsEmpty: true,
  }),
  defineSetting({
    name: "dbPool",
    environment: ["DB_POOL"],
    kind: wholeNumber(1, 10_000),
    default: 10,
    description: "connections at most per process",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolAcquisitionTimeout",
    environment: ["DB_POOL_ACQUISITION_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description: "wait for a free connection, then 504",
    isFixed: true,
  }),
  defineSetting({
    name: "shutdownGrace",
    environment: ["SHUTDOWN_GRACE"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description:
      "how long requests in progress may take to end once the api closes; then their statements are cancelled and they are answered 503 (R-ADM-4)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolMaxLifetime",
    environment: ["DB_POOL_MAX_LIFETIME"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 1800,
    unit: "seconds",
    description: "pooled connections are renewed after that time",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPoolMaxIdletime",
    environment: ["DB_POOL_MAX_IDLETIME"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description: "pooled connections that were idle for that time are closed",
    isFixed: true,
  }),
  defineSetting({
    name: "dbLoginPatience",
    environment: ["DB_LOGIN_PATIENCE"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 0,
    unit: "seconds",
    description:
      "how long the start goes on trying when the database refuses the login, or a certificate is missing or not valid; then it ends with exit code 1 (C-SET-5). A database that cannot be reached is always waited for",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreparedStatements",
    environment: ["DB_PREPARED_STATEMENTS"],
    kind: flag,
    default: true,
    description: "`false`: no statement is prepared (behind a connection pooler in transaction mode none is anyway)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbMaxPreparedStatements",
    environment: ["DB_MAX_PREPARED_STATEMENTS"],
    kind: wholeNumber(1, 100_000),
    default: 250,
    description: "statements prepared on each connection; those unused for longest go",
    isFixed: true,
  }),
  defineSetting({
    name: "dbMaxPreparedBytes",
    environment: ["DB_MAX_PREPARED_BYTES"],
    kind: wholeNumber(1),
    default: 1024 * 1024,
    unit: "bytes",
    description:
      "bytes of their texts, on each connection; those unused for longest go. A longer text than an eighth of the bytes is never prepared",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreRequest",
    environment: ["DB_PRE_REQUEST"],
    kind: text,
    description: "function called in each transaction before the main statement",
  }),
  defineSetting({
    name: "cacheBytes",
    environment: ["CACHE_BYTES"],
    kind: wholeNumber(0),
    default: 64 * 1024 * 1024,
    unit: "bytes",
    description:
      "plans, statements, documents and whatever else is kept between requests, in bytes as far as they can be estimated; those used longest ago make room. `0`: nothing is kept (R-CAC-1), which with `DB_PREPARED_STATEMENTS=false` makes a server whose answers owe nothing to earlier requests: for comparison, not for use",
  }),
  defineSetting({
    name: "maxUrlBytes",
    environment: ["MAX_URL_BYTES"],
    kind: wholeNumber(1),
    default: 64 * 1024,
    unit: "bytes",
    description:
      "path and query of a request, percent-encoded; a longer URL is refused with 414 before it is read. It holds for each request of a batch, of an MCP tool and of the application itself too. The standalone server takes as many bytes again for the headers",
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
      "a larger request body is refused with 413; compressed ones count unpacked, CSV as the JSON of its rows too. At most 268435456",
    isFixed: true,
  }),
  defineSetting({
    name: "maxPendingBodyBytes",
    environment: ["MAX_PENDING_BODY_BYTES"],
    kind: wholeNumber(1),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description:
      "bytes of request bodies that are not answered yet, all together, unpacked; a body that finds no room is refused with 413 and `Retry-After`. Bodies of up to 64 KiB, and one on its own, are always taken",
    isFixed: true,
  }),
  defineSetting({
    name: "maxResultBytes",
    environment: ["MAX_RESULT_BYTES"],
    kind: wholeNumber(1, MAX_MESSAGE_BYTES),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description: "a larger answer of the database is refused with 500 before it is read. At most 268435456",
    isFixed: true,
  }),
  defineSetting({
    name: "maxUnreadBytes",
    environment: ["MAX_UNREAD_BYTES"],
    kind: wholeNumber(1),
    default: 128 * 1024 * 1024,
    unit: "bytes",
    description:
      "bytes of answers that wait in the process for clients to read them; beyond it connections are closed, those first that have read nothing for longest",
    isFixed: true,
  }),
  defineSetting({
    name: "unreadTimeout",
    environment: ["UNREAD_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description: "the time after which a connection that reads nothing of its answer is closed",
    isFixed: true,
  }),
  defineSetting({
    name: "requestTimeout",
    environment: ["REQUEST_TIMEOUT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 30,
    unit: "seconds",
    description:
      "for the headers of a request (standalone server), and for a body that comes in slower than 8 KiB a second",
    isFixed: true,
  }),
  defineSetting({
    name: "logLevel",
    environment: ["LOG_LEVEL"],
    kind: oneOf(["silent", "error", "warn", "info", "debug"], { crit: "silent" }),
    whenUnset: "`info` for the standalone server; in an application `warn`, and no requests (X-LOG-5)",
    description: "the lowest level of lines in the log: `silent`, `error`, `warn`, `info`, `debug`",
    isFixed: true,
  }),
  defineSetting({
    name: "name",
    kind: text,
    description: "the name of the api in each line of the log, for a process with several (X-LOG-6)",
    isFixed: true,
  }),
  defineSetting({
    name: "logQuery",
    environment: ["LOG_QUERY"],
    kind: flag,
    default: false,
    description: "SQL of each request in the log (never its parameters)",
    isFixed: true,
  }),
  defineSetting({
    name: "serverTimingEnabled",
    environment: ["SERVER_TIMING_ENABLED"],
    kind: flag,
    default: false,
    description: "`Server-Timing` header",
    isFixed: true,
  }),
] as const satisfies readonly Setting[];
