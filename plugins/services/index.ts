/** Features that call other services over HTTP. */
export { actions, metadataActions, type Action, type ActionRequest } from "./actions/index.ts";
export { authHook } from "./auth-hook/index.ts";
export { webhooks } from "./webhook/index.ts";
