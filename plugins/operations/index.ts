/** The admin listener, metrics, logs, traces, request ids and CORS. */
export { adminServer, type AdminServerOptions } from "./admin/index.ts";
export { accessLog } from "./http/access-log.ts";
export { cors } from "./http/cors.ts";
export { requestIds } from "./http/request-ids.ts";
export { structuredLog } from "./http/structured-log.ts";
export { traceHeader } from "./http/trace-header.ts";
export { metrics } from "./metrics/index.ts";
export { slowQueries } from "./slow-queries/index.ts";
export { tracing } from "./tracing/index.ts";
