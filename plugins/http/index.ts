/** What happens around each request, on every surface. */
export { accessLog } from "./access-log.ts";
export { cors } from "./cors.ts";
export { traceHeader } from "./trace-header.ts";
