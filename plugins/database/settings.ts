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
      "libpq-style connection string of the login role (PostgreSQL 14 or newer): a URL or `host=… dbname=…`, with one host or several (R-HST-1). `sslmode` as in libpq; without it the connection is encrypted where the server asks for that (`allow`)",
    whenUnset: "the embedded demo in the standalone server; an error elsewhere, unless `database` is given",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "databaseDirectUrl",
    environment: ["DATABASE_DIRECT_URL"],
    kind: databaseUrl,
    description:
      "connection string that leads to the server itself where `DATABASE_URL` leads to a connection pooler: for notifications and logical replication, which need a database session of their own",
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
      "the mode of a connection pooler in front of the database. In `transaction` mode nothing is prepared (R-TX-15); `session` is also for no pooler. `auto` asks each new connection, and takes any pooler for one in transaction mode",
    isFixed: true,
  }),
  defineSetting({
    name: "databaseReplicaUrls",
    environment: ["DATABASE_REPLICA_URLS", "HASURA_GRAPHQL_READ_REPLICA_URLS"],
    kind: databaseUrls,
    default: [],
    description:
      "comma-separated read replicas for reads; live queries run on the primary, which reports changes first",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "databaseReplicaMaxLag",
    environment: ["DATABASE_REPLICA_MAX_LAG"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 10,
    unit: "seconds",
    description: "a replica that is further behind the primary answers no reads until it has caught up (R-HST-8)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbSilenceCheck",
    environment: ["DB_SILENCE_CHECK"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 3,
    unit: "seconds",
    description:
      "after this time without a message from a statement, the server is asked whether it still runs; a dead connection is replaced (R-HST-9)",
    isFixed: true,
  }),
  defineSetting({
    name: "dbSilenceLimit",
    environment: ["DB_SILENCE_LIMIT"],
    kind: wholeNumber(1, MAX_SECONDS),
    default: 900,
    unit: "seconds",
    description:
      "after this time without a message, a statement is given up, and its request is answered 503 (R-HST-10); the limit for running statements is `statement_timeout` of a role",
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
    description: "whether that channel is listened to",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `reload-poll`. */
export const pollSettings = [
  defineSetting({
    name: "dbSchemaPollInterval",
    environment: ["DB_SCHEMA_POLL_INTERVAL"],
    kind: wholeNumber(0, MAX_SECONDS),
    default: 2,
    unit: "seconds",
    description:
      "how often the server is asked whether its schema has changed, which then is reloaded (R-SC-9); `0`: never, only notifications and signals reload it",
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
    description: "settings kept in the database (`ALTER ROLE ... SET pgrst.<name>`) go before the options",
    isFixed: true,
  }),
  defineSetting({
    name: "dbPreConfig",
    environment: ["DB_PRE_CONFIG", "PGRST_DB_PRE_CONFIG"],
    kind: text,
    description: "function that sets them",
    isFixed: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof connectorSettings>,
      ValuesOf<typeof channelSettings>,
      ValuesOf<typeof pollSettings>,
      ValuesOf<typeof storeSettings> {}
}
