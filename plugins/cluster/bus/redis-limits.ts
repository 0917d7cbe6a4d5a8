/** Counts requests for rate limits in Redis, with its clock, so that all processes share the buckets. @rule X-BUS-5 */
import { createHash } from "node:crypto";
import { definePlugin, type PluginContext, type ValueOf } from "../../../core/index.ts";
import { redisBucketsService } from "../../limits/api.ts";
import { loadNamespace } from "./namespace.ts";
import { createRedisClient, type Redis } from "./redis-client.ts";
import { busSettings, redisLimitSettings } from "../settings.ts";

/** The time that a request waits for Redis. */
const RESPONSE_TIMEOUT_MS = 500;
/** The pause after a failure, in which Redis is not used. */
const FAILURE_PAUSE_MS = 1000;

/** The algorithm of plugins/limits/token-buckets.ts, with tokens and the time in milliseconds. A bucket expires when it
 *  would be full. */
const SCRIPT = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + clock[2] / 1000
local rate = tonumber(ARGV[1]) / 60000
local burst = tonumber(ARGV[2])
local bucket = redis.call('HMGET', KEYS[1], 'tokens', 'at')
local tokens = burst
if bucket[1] then
  tokens = math.min(burst, tonumber(bucket[1]) + math.max(0, now - tonumber(bucket[2])) * rate)
end
local wait = 0
if tokens < 1 then wait = (1 - tokens) / rate end
if wait == 0 or ARGV[3] == '1' then tokens = math.max(tokens - 1, -burst) end
redis.call('HSET', KEYS[1], 'tokens', string.format('%.6f', tokens), 'at', string.format('%.3f', now))
redis.call('PEXPIRE', KEYS[1], math.ceil((burst - tokens) / rate) + 1000)
return string.format('%.3f', wait)`;

const SCRIPT_SHA = createHash("sha1").update(SCRIPT).digest("hex");

/** Counts rate limits in Redis, for all processes together. */
export const redisLimits = definePlugin({
  name: "redis-limits",
  settings: [...redisLimitSettings, ...busSettings],
  apply: (_hooks, context) => {
    const { rateLimitRedisUrl, busUrl, freshUrl } = context.options;
    const url = rateLimitRedisUrl ?? (/^rediss?:/i.test(busUrl ?? "") ? busUrl : undefined);
    if (url === undefined) return;
    const option = rateLimitRedisUrl === undefined ? "busUrl" : "rateLimitRedisUrl";
    context.offer(
      redisBucketsService,
      createBuckets(context, () => freshUrl?.(option) ?? url),
    );
  },
});

const isMissingScript = (error: unknown): boolean => error instanceof Error && error.message.startsWith("NOSCRIPT");

const createBuckets = (context: PluginContext, readUrl: () => string): ValueOf<typeof redisBucketsService> => {
  const { logger } = context;
  let redis: Redis | undefined;
  let namespace: string | undefined;
  let isOpening = false;
  let isClosed = false;
  let isUnavailable = false;
  let pausedUntilMs = 0;

  const handleUnavailable = (error: unknown): undefined => {
    pausedUntilMs = performance.now() + FAILURE_PAUSE_MS;
    if (isUnavailable || isClosed) return;
    isUnavailable = true;
    logger.warn("rate limits are counted in each process: Redis does not respond", {
      reason: error instanceof Error ? error.message || error.name : String(error),
    });
  };

  const open = async (): Promise<void> => {
    if (isOpening) return;
    isOpening = true;
    try {
      namespace = await loadNamespace(context);
      redis = await createRedisClient(readUrl, namespace, "redis-limits");
      if (isClosed) return;
      redis.on("error", handleUnavailable);
      redis.connect().catch(handleUnavailable);
    } catch (error) {
      isOpening = false;
      handleUnavailable(error);
    }
  };

  const runScript = async (
    from: Redis,
    parameters: { readonly keys: string[]; readonly arguments: string[] },
  ): Promise<number> => {
    let waitMs: unknown;
    try {
      waitMs = await from.evalSha(SCRIPT_SHA, parameters);
    } catch (error) {
      if (!isMissingScript(error)) throw error;
      waitMs = await from.eval(SCRIPT, parameters);
    }
    return Number(waitMs);
  };

  context.onClose(() => {
    isClosed = true;
    if (redis?.isOpen === true) redis.destroy();
  });

  return {
    open: () => void open(),
    take: async (key, perMinute, burst, isOwed = false) => {
      if (redis?.isReady !== true || namespace === undefined || performance.now() < pausedUntilMs) return undefined;
      // The key is hashed, because Redis must not show properties of callers.
      const name = `${namespace}.rate.${createHash("sha256").update(key).digest("base64url")}`;
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<never>((_resolve, reject) => {
        timer = setTimeout(() => reject(new Error("it took too long")), RESPONSE_TIMEOUT_MS);
      });
      try {
        const response = runScript(redis, {
          keys: [name],
          arguments: [String(perMinute), String(burst), isOwed ? "1" : "0"],
        });
        const waitMs = await Promise.race([response, timeout]);
        if (isUnavailable) {
          isUnavailable = false;
          logger.info("rate limits are counted in Redis again");
        }
        return waitMs;
      } catch (error) {
        return handleUnavailable(error);
      } finally {
        clearTimeout(timer);
      }
    },
  };
};
