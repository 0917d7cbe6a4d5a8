/** Settings of connections, of schema reloads, and of the settings in the database. */
import { defineSetting, settingKinds, type ValuesOf } from "../../core/index.ts";

const { databaseUrl, databaseUrls, flag, oneOf, text, wholeNumber } = settingKinds;

const MAX_SECONDS = 2_000_000; // timers accept no longer intervals

/** Settings of the plugin `connector`. */
export const connectorSettings = [
  defineSetting({
    name: "databaseUrl",
    environment: ["DATABASE_URL", "PGRST_DB_URI", "HASURA_GRAPHQL_DATABASE_URL"],
    kind: databaseUrl,
    description:
      "the connection string of the login role, as for libpq: a URL or `host=… dbname=…`, with one or several hosts (R-HST-1), to PostgreSQL 14 or newer. `sslmode` works as in libpq; without it, the connection is encrypted if the server requires encryption (`allow`)",
    whenUnset: "the standalone server starts the embedded demo; an application must set `database` instead",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "databaseDirectUrl",
    environment: ["DATABASE_DIRECT_URL"],
    kind: databaseUrl,
    description:
      "a connection string to the database server itself, if `DATABASE_URL` leads to a connection pooler. It is used for notifications and logical replication, which need a database session of their own",
    whenUnset: "`DATABASE_URL`",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "databasePooler",
    environment: ["DATABASE_POOLER"],
    kind: oneOf(["auto", "session", "transaction"]),
    default: "auto",
    description:
      "the mode of a connection pooler in front of the database. `transaction`: no statement is prepared (R-TX-15). `session`: the pooler is in session mode, or is missing. `auto`: each new connection is tested, and any pooler counts as one in transaction mode",
    isFixed: true,
  }),
  defineSetting({
    name: "databaseReplicaUrls",
    environment: ["DATABASE_REPLICA_URLS", "HASURA_GRAPHQL_READ_REPLICA_URLS"],
    kind: databaseUrls,
    default: [],
    description:
      "the connection strings of read replicas, separated by commas; reads run on them. Live queries run on the primary, which reports changes first",
    whenUnset: "reads run on the primary",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "databaseReplicaMaxLag",
    environment: ["DATABASE_REPLICA_MAX_LAG"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description:
      "the maximum delay of a replica behind the primary; a replica that is further behind receives no reads until it has caught up (R-HST-8)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbSilenceCheck",
    environment: ["DB_SILENCE_CHECK"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 3,
    unit: "seconds",
    description:
      "the time without a message from a running statement after which the server is asked whether the statement still runs; a dead connection is replaced (R-HST-9)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbSilenceLimit",
    environment: ["DB_SILENCE_LIMIT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 900,
    unit: "seconds",
    description:
      "the time without a message after which a statement counts as failed, and its request is answered 503 (R-HST-10). To limit statements that run, set `statement_timeout` of the role",
    isFixed: true,
  }),
] as const;

/** Settings of the plugins `reload-channel` and `reload-all`. */
export const channelSettings = [
  defineSetting({
    name: "dbChannelEnabled",
    environment: ["DB_CHANNEL_ENABLED", "PGRST_DB_CHANNEL_ENABLED"],
    kind: flag,
    default: true,
    description: "`false`: the server does not listen on `DB_CHANNEL`, so no notification reloads the schema",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `reload-poll`. */
export const reloadPollSettings = [
  defineSetting({
    name: "dbSchemaPollInterval",
    environment: ["DB_SCHEMA_POLL_INTERVAL"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 2,
    unit: "seconds",
    description:
      "the interval in which the server checks whether the schema has changed, and then reloads it (R-SC-9). `0`: no checks, so that only notifications and signals reload the schema",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `database-settings`. */
export const storeSettings = [
  defineSetting({
    name: "dbConfig",
    environment: ["DB_CONFIG", "PGRST_DB_CONFIG"],
    kind: flag,
    default: true,
    description:
      "`true`: settings that the database stores (`ALTER ROLE … SET pgrst.<name>`) override the options (R-SC-8)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreConfig",
    environment: ["DB_PRE_CONFIG", "PGRST_DB_PRE_CONFIG"],
    kind: text,
    description:
      "a function in the database that sets additional `pgrst.<name>` settings, which override the stored ones (R-SC-8)",
    whenUnset: "no function is called",
    isFixed: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof connectorSettings>,
      ValuesOf<typeof channelSettings>,
      ValuesOf<typeof reloadPollSettings>,
      ValuesOf<typeof storeSettings> {}
}
