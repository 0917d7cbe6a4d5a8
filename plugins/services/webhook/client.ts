/** Sends requests to webhooks, with limits on their time, the bytes of the response and the requests to one server. No
 *  redirect is followed. */
import {
  Agent as HttpAgent,
  request as requestHttp,
  type AgentOptions,
  type ClientRequest,
  type IncomingMessage,
} from "node:http";
import { pipeline, type Readable, type Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { RelApiError, requestCancelled, type PluginContext } from "../../../core/index.ts";
import { tracingService } from "../../operations/api.ts";
import { webhookCallEndedSignal, type WebhookClient, type WebhookRequest, type WebhookResponse } from "../api.ts";
import { createAddressCheck } from "./addresses.ts";
import {
  describeFailure,
  webhookAnswerTooLarge,
  webhookConnectionFailed,
  webhookHeaderInvalid,
  webhookTooSlow,
  webhookUrlInvalid,
} from "./errors.ts";
import { isSendable } from "./templates.ts";
import { createConcurrencyLimit } from "./concurrency-limit.ts";

/** Connections stay open for a shorter time than servers keep them, so that few requests meet a closed one. */
const IDLE_MS = 4000;

/** The codes of errors of a connection that the server has closed. */
const CLOSED_CODES: ReadonlySet<unknown> = new Set(["ECONNRESET", "EPIPE"]);

interface ClientOptions {
  /** Hosts with private addresses to which the client may connect. With `*` it may connect to all hosts. */
  readonly allowedHosts: readonly string[];
  readonly maxAnswerBytes: number;
  /** The largest number of requests that one server gets at the same time. */
  readonly maxConnections: number;
}

/** Creates the client that calls webhooks. @throws RelApiError `preset` if an allowed host cannot be read
 *  @rule X-HTTP-1 … X-HTTP-6 */
export const createWebhookClient = (
  context: PluginContext,
  { allowedHosts, maxAnswerBytes, maxConnections }: ClientOptions,
): WebhookClient => {
  const addresses = createAddressCheck(allowedHosts);
  const createAgents = (options: AgentOptions): Agents => {
    const agentOptions = { ...options, ...(addresses && { lookup: addresses.lookup }) };
    return { http: new HttpAgent(agentOptions), https: new HttpsAgent(agentOptions) };
  };
  const agents = createAgents({ keepAlive: true, timeout: IDLE_MS });
  const agentsWithoutReuse = createAgents({ keepAlive: false });
  const runLimited = createConcurrencyLimit(maxConnections);
  // The callers end their requests, because deliveries have time until `SHUTDOWN_GRACE`.
  context.onClose(() => {
    for (const { freeSockets } of [agents.http, agents.https])
      for (const socket of Object.values(freeSockets).flat()) socket?.destroy();
  });

  const start = (url: URL, request: WebhookRequest, signal: AbortSignal, { http, https }: Agents): ClientRequest => {
    const { method = "POST", body, exchange } = request;
    const traceParent = exchange && context.use(tracingService)?.findTraceParent(exchange);
    const options = {
      method,
      signal,
      headers: {
        accept: "application/json",
        "user-agent": "relapi",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...checkHeaders(request.headers ?? {}),
        ...(traceParent === undefined ? {} : { traceparent: traceParent }),
        ...(body === undefined ? {} : { "content-length": Buffer.byteLength(body) }),
      },
    };
    const clientRequest =
      url.protocol === "https:"
        ? requestHttps(url, { ...options, agent: https })
        : requestHttp(url, { ...options, agent: http });
    // A body of text would give the headers its encoding, but their strings are bytes.
    return clientRequest.end(body === undefined ? undefined : Buffer.from(body));
  };

  /** The server may have closed an idle connection before a request on it arrives. */
  const open = async (url: URL, request: WebhookRequest, signal: AbortSignal): Promise<IncomingMessage> => {
    const { isRepeatable = request.method === "GET" } = request;
    const clientRequest = start(url, request, signal, agents);
    try {
      return await waitForResponse(clientRequest);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!isRepeatable || !clientRequest.reusedSocket || !CLOSED_CODES.has(code)) throw error;
      return waitForResponse(start(url, request, signal, agentsWithoutReuse));
    }
  };

  const send = async (request: WebhookRequest): Promise<WebhookResponse> => {
    const { timeoutMs, signal } = request;
    const url = parseUrl(request.url);
    addresses?.checkLiteral(url.hostname.replace(/^\[|\]$/g, ""));
    const timeout = AbortSignal.timeout(timeoutMs);
    const end = signal === undefined ? timeout : AbortSignal.any([timeout, signal]);
    try {
      const exchangeMessages = async (): Promise<WebhookResponse> => {
        const response = await open(url, request, end);
        const text = await readResponseText(response, request.maxAnswerBytes ?? maxAnswerBytes);
        return { status: response.statusCode ?? 0, headers: response.headers, text };
      };
      return await runLimited(url.origin, exchangeMessages, end);
    } catch (error) {
      if (error instanceof RelApiError) throw error;
      if (signal?.aborted === true) throw signal.reason instanceof RelApiError ? signal.reason : requestCancelled();
      if (timeout.aborted) throw webhookTooSlow(timeoutMs);
      throw webhookConnectionFailed(describeFailure(error));
    }
  };

  const calls = context.use(webhookCallEndedSignal);
  return {
    openSocket: async (request) => {
      const url = parseUrl(request.url);
      addresses?.checkLiteral(url.hostname.replace(/^\[|\]$/g, ""));
      const { openSocket } = await import("./socket.ts"); // few processes need the package for sockets
      return openSocket(url, request, {
        headers: { "user-agent": "relapi", ...checkHeaders(request.headers ?? {}) },
        handshakeTimeout: request.timeoutMs,
        maxPayload: maxAnswerBytes,
        ...(addresses && { lookup: addresses.lookup }),
      });
    },
    send: async (request) => {
      const startedAtMs = performance.now();
      const emit = (outcome: string): void =>
        calls.emit({ purpose: request.purpose ?? "other", outcome, durationMs: performance.now() - startedAtMs });
      try {
        const response = await send(request);
        emit(`${Math.floor(response.status / 100)}xx`);
        return response;
      } catch (error) {
        emit(describeOutcome(error));
        throw error;
      }
    },
  };
};

interface Agents {
  readonly http: HttpAgent;
  readonly https: HttpsAgent;
}

const waitForResponse = (clientRequest: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    clientRequest.on("response", resolve).on("error", reject);
    // A server that switches protocols causes no other event.
    clientRequest.on("close", () => reject(new Error("closed")));
  });

/** Returns the reason why a request has no response. Any other error is the reason of the aborted signal. */
const describeOutcome = (error: unknown): string =>
  error instanceof RelApiError && typeof error.facts["reason"] === "string" && error.code === "webhook-failed"
    ? error.facts["reason"]
    : "cancelled";

/** Returns the URL of a webhook. @throws RelApiError `webhook-failed` */
const parseUrl = (text: string): URL => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw webhookUrlInvalid();
  return url;
};

/** Headers by which HTTP delimits a message. The client sets them. */
const FRAMING = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Returns the headers that may be sent, with names in lower case.
 *  @throws RelApiError `webhook-failed` for a header that HTTP cannot send @rule X-HTTP-1 */
const checkHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> => {
  const checkedHeaders: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lowerCase = name.toLowerCase();
    if (FRAMING.has(lowerCase)) continue;
    if (!isSendable(name, value)) throw webhookHeaderInvalid(name);
    checkedHeaders[lowerCase] = value;
  }
  return checkedHeaders;
};

/** The content encodings that some servers use although no request asks for them. */
const DECODERS: ReadonlyMap<string, () => Transform> = new Map([
  ["gzip", createGunzip],
  ["x-gzip", createGunzip],
  ["deflate", createInflate],
  ["br", createBrotliDecompress],
]);

const decompress = (response: IncomingMessage): Readable => {
  const decoder = DECODERS.get(response.headers["content-encoding"]?.toLowerCase() ?? "")?.();
  // The reader receives the errors.
  return decoder === undefined ? response : pipeline(response, decoder, () => undefined);
};

/** Returns the body of a response as text.
 *  @throws RelApiError `webhook-failed` if the body of a successful response is larger than the limit @rule X-HTTP-2 */
const readResponseText = async (response: IncomingMessage, maxBytes: number): Promise<string> => {
  const chunks: Buffer[] = [];
  let bytes = 0;
  // Leaving the loop destroys the response.
  for await (const chunk of decompress(response) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes <= maxBytes) continue;
    if (isSuccess(response)) throw webhookAnswerTooLarge(maxBytes);
    break;
  }
  return Buffer.concat(chunks).toString("utf8", 0, Math.min(bytes, maxBytes));
};

const isSuccess = ({ statusCode = 0 }: IncomingMessage): boolean => statusCode >= 200 && statusCode < 300;
