/** Errors of actions, with the words of Hasura. */
import { RelApiError, type JsonObject } from "../../../core/index.ts";

const actionFailed = (message: string): RelApiError => new RelApiError({ code: "unexpected", status: 500, message });

/** @rule X-ACT-7 */
export const actionCallFailed = (): RelApiError => actionFailed("http exception when calling webhook");

/** @rule X-ACT-7 */
export const actionAnswerNotJson = (): RelApiError => actionFailed("not a valid json response from webhook");

/** @rule X-ACT-7 */
export const actionStatusInvalid = (): RelApiError => actionFailed("internal error");

/** @rule X-ACT-6 */
export const actionResultInvalid = (reason: string): RelApiError =>
  actionFailed(`unexpected response from webhook: ${reason}`);

/** Returns the error that the webhook sends with a status 4xx. @rule X-ACT-5 */
export const actionRejected = (
  status: number,
  message: string,
  code: string,
  extensions: JsonObject | undefined,
): RelApiError => new RelApiError({ code, status, message, facts: extensions === undefined ? {} : { extensions } });

/** @rule X-ACT-16 */
export const actionInputInvalid = (message: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message });

/** @rule X-ACT-12d */
export const actionsNotInstalled = (): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 500,
    message: 'asynchronous actions are not installed in the database: run "relapi --preset plus events install"',
  });

/** @rule X-ACT-13 */
export const actionRequestTransformFailed = (): RelApiError => actionFailed("Request Transformation Failed");

/** @rule X-ACT-13 */
export const actionResponseTransformFailed = (): RelApiError => actionFailed("Response Transformation Failed");
