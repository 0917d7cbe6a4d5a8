/** Plugins that process every request, on every surface. */
export { accessLog } from "./access-log.ts";
export { cors } from "./cors.ts";
export { requestIds } from "./request-ids.ts";
export { structuredLog } from "./structured-log.ts";
export { traceHeader } from "./trace-header.ts";
