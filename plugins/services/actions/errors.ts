/** Errors of actions, with the words of Hasura. */
import { RelApiError, type JsonObject } from "../../../core/index.ts";

const actionFailed = (message: string): RelApiError => new RelApiError({ code: "unexpected", status: 500, message });

/** Returns the error for a webhook that gave no answer. @rule X-ACT-7 */
export const actionCallFailed = (): RelApiError => actionFailed("http exception when calling webhook");

/** Returns the error for an answer that is not JSON. @rule X-ACT-7 */
export const actionAnswerNotJson = (): RelApiError => actionFailed("not a valid json response from webhook");

/** Returns the error for an answer with an unexpected status. @rule X-ACT-7 */
export const actionStatusInvalid = (): RelApiError => actionFailed("internal error");

/** Returns the error for an answer that does not have the type of the action. @rule X-ACT-6 */
export const actionResultInvalid = (reason: string): RelApiError =>
  actionFailed(`unexpected response from webhook: ${reason}`);

/** Returns the error that the webhook sends with a status 4xx. @rule X-ACT-5 */
export const actionRejected = (
  status: number,
  message: string,
  code: string,
  extensions: JsonObject | undefined,
): RelApiError => new RelApiError({ code, status, message, facts: extensions === undefined ? {} : { extensions } });

/** Returns the error for arguments that the schema of the action rejects. @rule X-ACT-16 */
export const actionInputInvalid = (message: string): RelApiError =>
  new RelApiError({ code: "validation-failed", status: 400, message });

/** Returns the error for an asynchronous action without the tables of actions. @rule X-ACT-12d */
export const actionsNotInstalled = (): RelApiError =>
  new RelApiError({
    code: "not-supported",
    status: 500,
    message: 'asynchronous actions are not installed in the database: run "relapi --preset plus events install"',
  });

/** Returns the error for a `request_transform` that failed. @rule X-ACT-13 */
export const actionRequestTransformFailed = (): RelApiError => actionFailed("Request Transformation Failed");

/** Returns the error for a `response_transform` that failed. @rule X-ACT-13 */
export const actionResponseTransformFailed = (): RelApiError => actionFailed("Response Transformation Failed");
