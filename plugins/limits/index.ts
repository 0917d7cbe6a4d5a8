/** Limits on rates, rows, costs, durations and writes. */
export { anonymousTimeout } from "./anonymous-timeout.ts";
export { apiLimits } from "./api-limits.ts";
export { costLimits } from "./cost-limits.ts";
export { rateLimits } from "./rate-limits.ts";
export { rowLimits } from "./row-limits.ts";
export { safeWrites } from "./safe-writes.ts";
export { workerLimits } from "./worker-limits.ts";
