/** The bus between processes with its transports, and reads of own writes on replicas. */
export { bus } from "./bus/bus.ts";
export { natsBus } from "./bus/nats.ts";
export { notifyBus } from "./bus/notify.ts";
export { redisBus } from "./bus/redis.ts";
export { redisLimits } from "./bus/redis-limits.ts";
export { readYourWrites } from "./read-your-writes/index.ts";
