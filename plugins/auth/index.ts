/** Auth schemes, and the session as SQL sees it. */
export { adminSecret } from "./admin-secret.ts";
export { anonymous } from "./anonymous.ts";
export { jwtTokens } from "./jwt-tokens.ts";
export { requestSettings } from "./request-settings.ts";
export { hasuraSession, sessionSettings } from "./session-settings.ts";
