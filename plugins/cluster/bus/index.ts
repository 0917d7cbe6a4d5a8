/** Messages between the processes that serve one database: `BUS_URL=nats://…`. Each transport is a plugin. */
export { bus } from "./bus.ts";
export { natsBus } from "./nats.ts";
export { notifyBus } from "./notify.ts";
export { redisBus } from "./redis.ts";
export { redisLimits } from "./redis-limits.ts";
