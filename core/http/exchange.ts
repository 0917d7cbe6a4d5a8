/** A request on its way through the pipeline, and its response. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { CredentialRules, Credentials, Session } from "../kernel/session.ts";

/** A request and its response on their way through the pipeline. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  /** Path below the mount, still percent-encoded, without the query. */
  readonly path: string;
  /** Text after `?`, undecoded; undefined without one. */
  readonly query: string | undefined;
  /** Set by the authorize step. */
  readonly session: Session;
  /** What it brought to show who calls. */
  readonly credentials: Credentials;
  /** First value of a request header, lower-case name. */
  header(name: string): string | undefined;
  /** The whole body; refused beyond `maxBodyBytes`. */
  body(): Promise<Buffer>;
  /** Hands the body over while it arrives, instead of holding it: `body()` is empty afterwards. If it was read before, it
   *  comes in one piece. */
  bodyInPieces(take: (piece: Buffer) => void): Promise<void>;
  /** Calls the listener if the client disconnects before its response. Returns a function that removes the listener. */
  onGone(listener: () => void): () => void;
  /** Milliseconds since the request came in, for Server-Timing: `mark("parse")` ends a phase. */
  mark(phase: "jwt" | "parse" | "plan" | "transaction" | "response"): void;
  readonly timings: ReadonlyMap<string, number>;
  /** Response headers of the surface that pages of other origins may read. */
  readonly exposedHeaders: readonly string[];
  /** The surface that serves it. */
  readonly surface: string;
  /** What is asked for: set by the surface as soon as that is known. */
  operation: Operation | undefined;
  /** The code of the error that it is answered with. */
  errorCode: string | undefined;
  /** What log lines and answers call it: set by a plugin. */
  requestId: string | undefined;
  /** The plans that answer it, as plain JSON: set by the surface, for the `planKey` of request steps. */
  planned: unknown;
  /** The values of plugins, read and written through `createExchangeSlot`. */
  slots: unknown[] | undefined;
  /** A plugin looks at the answer before it is sent: its body must be there, whole. */
  readonly needsBody?: boolean;
  /** The request that it is part of (`context.call({ within })`). */
  readonly within?: OpenExchange | undefined;
  /** Preferences in place of those of the request. */
  readonly prefer?: string;
  /** Answered for the browser's own sake, as a preflight is: not a request to log. */
  isUnlogged: boolean;
}

/** What a request asks for. */
export interface Operation {
  /** One of a few words of the surface: `read`, `mutation`. */
  readonly kind: string;
  /** As the client says it. */
  readonly name?: string | undefined;
  /** For the log, where the path itself has values in it: `/albums/:id`. */
  readonly path?: string;
}

/** An exchange whose caller may not be known yet. */
export type OpenExchange = Omit<Exchange, "session"> & { readonly session?: Session };

/** Header names and values, in the order in which they are written. */
export type Headers = readonly (readonly [name: string, value: string])[];

/** A response: status, headers, and a body or a stream. */
export interface Answer {
  readonly status: number;
  readonly statusText?: string;
  readonly headers: Headers;
  readonly body?: string | Uint8Array;
  /** The surface has written the response itself (static files). */
  readonly isSent?: boolean;
  /** Instead of a body: called once the headers are out, and writes until it ends the response (event streams). If it
   *  returns a promise, the request counts as running until that settles. */
  readonly stream?: (response: ServerResponse) => Promise<void> | void;
  /** Length of what the stream writes; absent: it is not known. */
  readonly streamBytes?: number;
}

/** What logs, metrics and traces read of a request that has been answered, or of an operation of a WebSocket: a query or
 *  mutation that has ended, a subscription that has its first result. */
export interface RequestRecord {
  /** Of an operation of a WebSocket: the request that opened it. */
  readonly request: IncomingMessage;
  /** Absent: it is an operation of a WebSocket. */
  readonly exchange?: OpenExchange;
  readonly surface: string;
  /** Absent: it was refused before the surface knew what was asked for. */
  readonly operation?: Operation | undefined;
  /** An operation of a WebSocket has 200, or 400 where it failed. */
  readonly status: number;
  /** The code of its error. */
  readonly errorCode?: string | undefined;
  /** Of the body. */
  readonly bytes: number;
  /** Since the request came in. */
  readonly durationMs: number;
  /** Absent: nobody was found to call. */
  readonly session?: Session | undefined;
  /** The same for requests that differ only in values: what they are measured and counted by. 22 characters, made when
   *  it is read. Absent: no plan was made. */
  readonly planKey?: string | undefined;
}

/** What a plugin does around each request of every surface, in the order of the plugins. An answer ends the request; an
 *  error that is thrown is answered in the words of the surface. Which of the functions it has is looked at with each load
 *  of the schema: one that has nothing to do need not be there. @rule X-STEP-1 */
export interface RequestStep {
  readonly name: string;
  /** Before the credential is looked at. */
  before?(exchange: OpenExchange): Promise<Answer | undefined> | Answer | undefined;
  /** When it is known who calls, before the surface does its work: the place for limits. */
  authorized?(exchange: Exchange): Promise<Answer | undefined> | Answer | undefined;
  /** Headers of each answer; those that the answer has itself stay. */
  headers?(exchange: OpenExchange): Headers;
  /** When the answer is written. */
  after?(exchange: OpenExchange, record: RequestRecord): void;
}

/** A part of the URL space. Surfaces are asked in the order of their plugins; the first that matches serves the
 *  request. */
export interface Surface {
  readonly name: string;
  /** Its paths below the mount: `/soap`, or `/soap/*` for all that begin so. Read again with each load of the schema.
   *  Absent: `match` is asked for every path. */
  readonly paths?: () => readonly string[];
  /** The methods of its requests; absent: any. */
  readonly methods?: readonly string[];
  /** Whether a request of these paths is its own. `request`: for pages that share a path with something else and go by
   *  `Accept`. Absent: every one is. */
  match?(path: string, method: string, request: IncomingMessage): boolean;
  /** Serves requests that need no credentials (playground, health, WebSocket hints); undefined: continue. */
  beforeAuthorize?(exchange: Omit<Exchange, "session">): Promise<Answer | undefined> | Answer | undefined;
  handle(exchange: Exchange): Promise<Answer> | Answer;
  /** Called with a RelApiError only. */
  encodeError(error: import("../kernel/errors.ts").RelApiError, exchange: OpenExchange): Answer;
  /** How its callers' tokens are read, and its words of refusal. Absent: a token names the database role. @rule
   *  X-AUTH-2 */
  readonly credentialRules?: CredentialRules;
  /** Pages beside other surfaces: it never answers for a path of no surface, as the last of the others does. */
  readonly isPage?: boolean;
  /** Asked for what no other surface matches. At the root of an application that goes on after the api, the application
   *  is asked instead. @rule X-SURF-2 */
  readonly isFallback?: boolean;
  /** Its own response headers that pages of other origins may read. All else of CORS is the same for all surfaces
   *  (R-COR). */
  readonly exposedHeaders?: readonly string[];
}

/** A surface, and the plugin that has added it. */
export interface AddedSurface extends Surface {
  readonly plugin: string;
}

export interface AddedStep {
  readonly plugin: string;
  readonly step: RequestStep;
}
