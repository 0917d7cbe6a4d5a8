/** Settings of the bus, of rate limits in Redis, and of reads of own writes. */
import { defineSetting, settingKinds, type SettingKind, type ValuesOf } from "../../core/index.ts";

const { oneOf } = settingKinds;

/** One server URL of any scheme, or several of a cluster, separated by commas. A tap of `openBusHook` recognises its
 *  scheme. */
const busUrl: SettingKind<string> = {
  accepts: "nats://host:4222 (several, separated by commas), redis://host:6379, or notify:",
  parse: (value) =>
    value === "notify:" || value.split(",").every((url) => /^\s*[a-z][a-z0-9+]*:\/\/\S+\s*$/i.test(url))
      ? value.trim()
      : undefined,
};

const redisUrl: SettingKind<string> = {
  accepts: "a URL of Redis, redis://user:password@host:6379/0 or rediss://…",
  parse: (value) => (/^rediss?:\/\/\S+$/i.test(value.trim()) ? value.trim() : undefined),
};

/** Settings of the plugin `bus`. */
export const busSettings = [
  defineSetting({
    name: "busUrl",
    environment: ["BUS_URL"],
    kind: busUrl,
    description:
      "the URL of the service that carries changes and reloads between processes: `nats://…` (package `@nats-io/transport-node`) or `redis://…` (package `@redis/client`)",
    whenUnset: "`NOTIFY` of the database",
    isSecret: true,
    isFixed: true,
  }),
  defineSetting({
    name: "busName",
    environment: ["BUS_NAME"],
    kind: {
      accepts: "letters, digits, - and _, 40 at most",
      parse: (value) => (/^[\w-]{1,40}$/.test(value.trim()) ? value.trim() : undefined),
    },
    default: "relapi",
    description: "the name of the group of processes: processes with the same name, bus and database exchange messages",
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `redis-limits`. */
export const redisLimitSettings = [
  defineSetting({
    name: "rateLimitRedisUrl",
    environment: ["RATE_LIMIT_REDIS_URL", "HASURA_GRAPHQL_RATE_LIMIT_REDIS_URL"],
    kind: redisUrl,
    description:
      "the URL of the Redis that counts requests for rate limits, for all processes of all machines together (X-BUS-5)",
    whenUnset: "`BUS_URL` if it is a Redis; otherwise each machine counts for itself",
    isSecret: true,
    isFixed: true,
  }),
] as const;

/** Settings of the plugin `read-your-writes`. */
export const readYourWritesSettings = [
  defineSetting({
    name: "readYourWrites",
    environment: ["READ_YOUR_WRITES"],
    kind: oneOf(["off", "header", "cookie", "both"]),
    default: "off",
    description:
      "with replicas, how a request shows which writes of its caller the answering replica must contain (R-RYW-1): `header` (`X-Write-Position`), `cookie`, or `both`. `off`: a read may miss the caller's latest write",
    isFixed: true,
  }),
] as const;

declare module "../../core/index.ts" {
  interface ResolvedOptions
    extends
      ValuesOf<typeof busSettings>,
      ValuesOf<typeof redisLimitSettings>,
      ValuesOf<typeof readYourWritesSettings> {}
}
