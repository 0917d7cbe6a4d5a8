/** Features that call other services over HTTP. */
export { authHook } from "./auth-hook/index.ts";
export { remoteSchemaFields, remoteSchemas, type RemoteSchema } from "./remote-schemas/index.ts";
export { webhooks } from "./webhook/index.ts";
