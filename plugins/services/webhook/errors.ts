/** Errors of the client for webhooks. Messages contain no URL, because it may contain secrets. */
import { presetError, RelApiError } from "../../../core/index.ts";
import type { WebhookFailure } from "../api.ts";

const webhookFailed = (reason: WebhookFailure, message: string): RelApiError =>
  new RelApiError({ code: "webhook-failed", status: 502, message, facts: { reason } });

/** Returns the error for an address that is not an HTTP URL. @rule X-HTTP-1 */
export const webhookUrlInvalid = (): RelApiError =>
  webhookFailed("url", "the address of the webhook is not an http or https URL");

/** Returns the error for a header that HTTP cannot send. @rule X-HTTP-1 */
export const webhookHeaderInvalid = (name: string): RelApiError =>
  webhookFailed("header", `the header ${JSON.stringify(name)} of the webhook cannot be sent`);

/** Returns the error for a private address that the setting does not allow. @rule X-HTTP-4 */
export const webhookAddressRejected = (): RelApiError =>
  webhookFailed("address", "the webhook has a private address, which WEBHOOK_ALLOWED_HOSTS does not allow");

/** `code` is a code of Node, such as `ECONNREFUSED`. @rule X-HTTP-6 */
export const webhookConnectionFailed = (code: string): RelApiError =>
  webhookFailed("connection", `the connection to the webhook failed: ${code}`);

/** Returns the error for a webhook that exceeded its time limit. @rule X-HTTP-2 */
export const webhookTooSlow = (timeoutMs: number): RelApiError =>
  webhookFailed("timeout", `the webhook gave no complete answer within ${timeoutMs / 1000} s`);

/** Returns the error for an answer that exceeded the limit. @rule X-HTTP-2 */
export const webhookAnswerTooLarge = (maxBytes: number): RelApiError =>
  webhookFailed("size", `the answer of the webhook is larger than ${maxBytes} bytes`);

/** Returns the error for a missing environment variable of a webhook. @rule X-HTTP-5 */
export const webhookVariableMissing = (name: string): RelApiError =>
  new RelApiError({
    code: "webhook-variable-missing",
    status: 500,
    message: `the environment variable ${name} is not set`,
  });

/** Returns the error for an allowed host that is not valid. @rule X-HTTP-4 */
export const allowedHostInvalid = (item: string): RelApiError =>
  presetError(
    `webhookAllowedHosts (WEBHOOK_ALLOWED_HOSTS) contains ${JSON.stringify(item)}, which is not a host name, address or range such as 10.0.0.0/8`,
  );

/** Returns the code of the first failed connection: `ECONNREFUSED`. Messages of Node contain addresses. */
export const describeFailure = (error: unknown): string => {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  return (first as NodeJS.ErrnoException | undefined)?.code ?? "unknown reason";
};
