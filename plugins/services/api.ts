/** The client for webhooks, which this family offers to other plugins: types and the token. */
import type { IncomingHttpHeaders } from "node:http";
import { defineService, type OpenExchange } from "../../core/index.ts";

/** A request to a webhook. */
export interface WebhookRequest {
  /** The URL, with scheme `http` or `https`. */
  readonly url: string;
  /** The method, by default `POST`. */
  readonly method?: "GET" | "POST";
  readonly headers?: Readonly<Record<string, string>>;
  /** The body as JSON text. */
  readonly body?: string;
  /** The time until the complete answer has arrived, in milliseconds. */
  readonly timeoutMs: number;
  /** The largest accepted size of the answer in bytes, by default `webhookMaxAnswerBytes`. The body of an answer with
   *  another status than 2xx is cut off there. */
  readonly maxAnswerBytes?: number;
  /** Ends the request when it is aborted. */
  readonly signal?: AbortSignal;
  /** The request of the client. The webhook receives its trace in the header `traceparent`. */
  readonly exchange?: OpenExchange | undefined;
}

/** The answer of a webhook, with any status. */
export interface WebhookResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** The body, decoded as UTF-8. */
  readonly text: string;
}

/** The client for webhooks. */
export interface WebhookClient {
  /** Sends a request and returns the answer. Redirects are not followed. @throws RelApiError `webhook-failed`,
   *  whose `facts.reason` is a `WebhookFailure`, or the error with which the signal was aborted
   *  @rule X-HTTP-1 … X-HTTP-6 */
  send(request: WebhookRequest): Promise<WebhookResponse>;
}

/** The reasons of a request without an answer. */
export type WebhookFailure = "url" | "header" | "address" | "connection" | "timeout" | "size";

/** The service by which other plugins call webhooks, provided by the plugin `webhooks`. */
export const webhookService = defineService<WebhookClient>("webhooks");
