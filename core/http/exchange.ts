/** The types of requests and responses in the pipeline. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RelApiError } from "../kernel/errors.ts";
import type { CredentialRules, Credentials, Session } from "../kernel/session.ts";

/** A request and its response on their way through the pipeline. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** The path below the mount, still percent-encoded, without the query. */
  readonly path: string;
  /** The text after `?`, still encoded. Undefined without a query. */
  readonly query: string | undefined;
  /** The session of the caller, which the authorize step sets. */
  readonly session: Session;
  readonly credentials: Credentials;
  /** Returns the first value of a request header; `name` is lower-case. */
  header(name: string): string | undefined;
  /** Reads the whole body. A body beyond `maxBodyBytes` is rejected. */
  body(): Promise<Buffer>;
  /** Decodes the body. A long body is decoded while it arrives, and `body()` may be empty afterwards. Undefined if the
   *  body is not UTF-8. */
  text(): Promise<string | undefined>;
  /** Passes on the body while it arrives, without storing it; `body()` is empty afterwards. If the body was read
   *  before, it arrives as one chunk. */
  streamBody(onChunk: (chunk: Buffer) => void): Promise<void>;
  /** Calls the listener if the client disconnects before its response. Returns a function that removes the listener. */
  onDisconnect(listener: () => void): () => void;
  /** Ends a phase for Server-Timing and records the milliseconds since the request arrived: `endPhase("parse")`. */
  endPhase(phase: "jwt" | "parse" | "plan" | "transaction" | "response"): void;
  /** The milliseconds of each ended phase. The surface may send them as `Server-Timing`. */
  readonly timings: ReadonlyMap<string, number>;
  /** The response headers of the surface that pages of other origins may read. */
  readonly exposedHeaders: readonly string[];
  /** The name of the surface that serves the request. */
  readonly surface: string;
  /** The requested operation, which the surface sets as soon as it is known. */
  operation: Operation | undefined;
  errorCode: string | undefined;
  /** The identifier for log lines and responses, set by a plugin. */
  requestId: string | undefined;
  /** The plans of the request as plain JSON, which the surface sets for the `planKey` of request steps. */
  plans: unknown;
  /** The values that plugins store for the request (`createExchangeSlot`). */
  slots: unknown[] | undefined;
  /** True if a plugin inspects the response before the pipeline sends it, so the body must not be streamed. */
  readonly needsBody?: boolean;
  /** The request that this one is part of (`context.call({ parent })`). */
  readonly parent?: OpenExchange | undefined;
  /** Preferences that replace those of the request. */
  readonly prefer?: string;
  /** True if the response concerns only the browser, as a preflight does. Such a request is not logged. */
  isUnlogged: boolean;
}

/** The operation that a request asks for. */
export interface Operation {
  /** A keyword of the surface: `read`, `mutation`. */
  readonly kind: string;
  /** The name that the client uses. */
  readonly name?: string | undefined;
  /** The path for the log, if the actual path contains values: `/albums/:id`. */
  readonly path?: string;
}

/** An exchange whose caller may still be unknown. */
export type OpenExchange = Omit<Exchange, "session"> & { readonly session?: Session };

/** Header names and values, in the order in which they are sent. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A response: status, headers, and a body or a stream. */
export interface Answer {
  readonly status: number;
  readonly statusText?: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
  /** True if the surface has sent the response itself (static files). */
  readonly isSent?: boolean;
  /** Writes the response instead of a body (event streams). The pipeline calls this function after it has sent the
   *  headers. If the function returns a promise, the request counts as running until the promise settles. */
  readonly stream?: (response: ServerResponse) => Promise<void> | void;
  /** The length of the streamed body. Undefined if unknown. */
  readonly streamBytes?: number;
}

/** The data of an answered request or a WebSocket operation for logs, metrics and traces. A query or mutation is
 *  recorded at its end, a subscription at its first result. */
export interface RequestRecord {
  /** The request; for a WebSocket operation, the one that opened the WebSocket. */
  readonly request: IncomingMessage;
  /** Undefined for operations of a WebSocket. */
  readonly exchange?: OpenExchange;
  readonly surface: string;
  /** Undefined if the request was rejected before the surface knew the operation. */
  readonly operation?: Operation | undefined;
  /** The HTTP status. Operations of a WebSocket have 200, or 400 if they failed. */
  readonly status: number;
  readonly errorCode?: string | undefined;
  /** The length of the body. */
  readonly bytes: number;
  /** The time since the request arrived. */
  readonly durationMs: number;
  /** Undefined if the caller could not be identified. */
  readonly session?: Session | undefined;
  /** A key of 22 characters for metrics, which is computed on access. Requests that differ only in values have equal
   *  keys. Undefined if there was no plan. */
  readonly planKey?: string | undefined;
}

/** The functions that a plugin runs around each request of every surface, in the order of the plugins. An answer ends
 *  the request; an error is encoded by the surface. A step without work can leave a function undefined. @rule
 *  X-STEP-1 */
export interface RequestStep {
  readonly name: string;
  /** Runs before the credentials are read. */
  beforeAuthorize?(exchange: OpenExchange): Promise<Answer | undefined> | Answer | undefined;
  /** Runs after the caller is known and before the surface handles the request. Rate limits belong here. */
  afterAuthorize?(exchange: Exchange): Promise<Answer | undefined> | Answer | undefined;
  /** Returns headers for each response. Headers of the response itself win. */
  headers?(exchange: OpenExchange): Headers;
  /** Runs after the response was written. */
  afterResponse?(exchange: OpenExchange, record: RequestRecord): void;
}

/** A part of the URL space. Surfaces are matched in the order of their plugins, and the first match serves the
 *  request. */
export interface Surface {
  readonly name: string;
  /** Returns the paths below the mount: `/soap`, or `/soap/*` for a prefix. Each load of the schema reads the paths
   *  again. If undefined, `match` is called for every path. */
  readonly paths?: () => readonly string[];
  /** The methods that the surface serves, by default all. */
  readonly methods?: readonly string[];
  /** Returns whether the surface serves a request of these paths, by default true. `request` is for pages that share a
   *  path with another surface and depend on `Accept`. */
  match?(path: string, method: string, request: IncomingMessage): boolean;
  /** Serves requests that need no credentials (playground, health, WebSocket hints). Returns undefined to continue. */
  beforeAuthorize?(exchange: Omit<Exchange, "session">): Promise<Answer | undefined> | Answer | undefined;
  handle(exchange: Exchange): Promise<Answer> | Answer;
  /** Encodes an error, which is always a RelApiError. */
  encodeError(error: RelApiError, exchange: OpenExchange): Answer;
  /** The rules for reading the callers' tokens, and the wording of rejections. By default, a token names the database
   *  role. @rule X-AUTH-2 */
  readonly credentialRules?: CredentialRules;
  /** True if the surface consists of pages besides other surfaces. Such a surface never answers unknown paths, which
   *  the last other surface answers. */
  readonly isPage?: boolean;
  /** True if the surface is matched after all others. If the api is mounted at the root of an application, the
   *  application handles these requests instead. @rule X-SURF-2 */
  readonly isFallback?: boolean;
  /** The surface's response headers that pages of other origins may read. All other rules of CORS are common to all
   *  surfaces (R-COR). */
  readonly exposedHeaders?: readonly string[];
}

/** A surface and the plugin that added it. @experimental */
export interface AddedSurface extends Surface {
  readonly plugin: string;
}

/** A step and the plugin that added it. @experimental */
export interface AddedStep {
  readonly plugin: string;
  readonly step: RequestStep;
}
