/** Errors of the auth hook. */
import { presetError, RelApiError, tokenRejected } from "../../../core/index.ts";

/** Returns the error for a setting that is not a usable URL. @rule X-HOOK-1 */
export const authHookUrlInvalid = (): RelApiError =>
  presetError("authHook (AUTH_HOOK) must be an http or https URL without user and password");

/** Returns the error for two settings that exclude each other. @rule X-HOOK-1 */
export const authHookContradictory = (): RelApiError =>
  presetError(
    "authHook (AUTH_HOOK) and jwtSecret (JWT_SECRET) are both set: callers are identified by a webhook or by tokens, so unset one of them",
  );

/** Returns the error for a caller whose credentials the webhook answered with 401. @rule X-HOOK-6 */
export const callerRejected = (): RelApiError => tokenRejected("Authentication hook unauthorized this request");

const hookFailed = (code: string, message: string): RelApiError =>
  new RelApiError({ code, status: 500, message, path: "$" });

/** Returns the error for a webhook that gave no answer. @rule X-HOOK-7 */
export const hookCallFailed = (): RelApiError =>
  hookFailed("auth-hook-failed", "webhook authentication request failed");

/** Returns the error for an answer of the webhook that is not valid. @rule X-HOOK-7 */
export const hookAnswerInvalid = (reason?: string): RelApiError =>
  hookFailed(
    "auth-hook-failed",
    `Invalid response from authorization hook${reason === undefined ? "" : `: ${reason}`}`,
  );

/** Returns the error for an answer of the webhook without a role. @rule X-HOOK-7 */
export const hookRoleMissing = (): RelApiError =>
  hookFailed("auth-hook-role-missing", "x-session-role not found in session variables");
