/** Implements the exchange of surfaces and the credentials of auth plugins in one object that reads everything on
 *  demand. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import type { CredentialRules, Credentials, Session } from "../kernel/session.ts";
import { createTextReader, decodeText, readBody, withoutByteOrderMark, type BodyLimits } from "./body.ts";
import type { AddedSurface, Exchange } from "./exchange.ts";
import type { PendingBodies, PendingBody } from "./pending-bodies.ts";
import { findCookie, listFirstHeaders } from "./request-headers.ts";

export interface ExchangeSettings {
  readonly body: BodyLimits;
  readonly pendingBodies: PendingBodies;
  readonly isTimed: boolean;
}

/** A body up to this size is decoded in one call, which is faster than a decoder of chunks. */
const SHORT_BODY_BYTES = 64 * 1024;

type Phase = Parameters<Exchange["endPhase"]>[0];

const NO_HEADER_NAMES: readonly string[] = [];
const NO_TIMINGS: ReadonlyMap<string, number> = new Map();

/** The exchange of one request. It is a class, because a prototype is cheaper than closures for each request. */
export class RequestExchange implements Exchange, Credentials {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The headers of the request. They are read once, because property access is slow after Express has changed the
   *  request object. */
  readonly rawHeaders: readonly string[];
  readonly method: string;
  readonly path: string;
  readonly query: string | undefined;
  /** The surface that serves the request. */
  readonly owner: AddedSurface;
  readonly surface: string;
  readonly rules: CredentialRules | undefined;
  readonly isSocket = false;
  /** The session of the caller, set by the authorize step, or earlier for a call with a session. */
  caller: Session | undefined;
  isUnlogged = false;
  plans: unknown = undefined;
  operation: Exchange["operation"] = undefined;
  errorCode: string | undefined = undefined;
  requestId: string | undefined = undefined;
  slots: unknown[] | undefined = undefined;
  parent: Exchange["parent"] = undefined;
  readonly startedAtMs = performance.now();
  /** The memory of the body, released with the response. */
  pendingBody: PendingBody | undefined;
  private readonly settings: ExchangeSettings;
  private readonly sentHeaders: IncomingHttpHeaders;
  private bytes: Promise<Buffer> | undefined;
  private disconnectListeners: ((() => void) | undefined)[] | undefined;
  private marks: Map<string, number> | undefined;
  private markedAtMs: number;

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    path: string,
    query: string | undefined,
    owner: AddedSurface,
    settings: ExchangeSettings,
  ) {
    this.request = request;
    this.response = response;
    this.rawHeaders = request.rawHeaders;
    this.sentHeaders = request.headers;
    this.method = request.method ?? "GET";
    this.path = path;
    this.query = query;
    this.owner = owner;
    this.surface = owner.name;
    this.rules = owner.credentialRules;
    this.settings = settings;
    this.markedAtMs = this.startedAtMs;
  }

  get session(): Session {
    return this.caller as Session; // steps before the authorize step use a type without the session
  }

  get credentials(): Credentials {
    return this;
  }

  get exposedHeaders(): readonly string[] {
    return this.owner.exposedHeaders ?? NO_HEADER_NAMES;
  }

  header(name: string): string | undefined {
    const key = name.toLowerCase();
    const headerValue = this.sentHeaders[key];
    if (headerValue === undefined) return undefined;
    if (typeof headerValue !== "string") return headerValue[0];
    // Node joins repeated headers with a comma, which a single value may also contain.
    return headerValue.includes(", ") ? (findFirstHeader(this.rawHeaders, key) ?? headerValue) : headerValue;
  }

  headers(): Iterable<readonly [name: string, value: string]> {
    return listFirstHeaders(this.rawHeaders);
  }

  headerNames(): readonly string[] {
    return this.rawHeaders.filter((_, index) => index % 2 === 0);
  }

  cookie(name: string): string | undefined {
    return findCookie(this.sentHeaders.cookie, name);
  }

  body(): Promise<Buffer> {
    this.bytes ??= readBody(
      this.request,
      this.response,
      (this.pendingBody = this.settings.pendingBodies.open()),
      this.settings.body,
    ).then((body) => withoutByteOrderMark(body, this.sentHeaders["content-type"]));
    return this.bytes;
  }

  /** Decodes a long body while it arrives, so that memory does not hold both its bytes and its text. */
  text(): Promise<string | undefined> {
    if (this.bytes !== undefined || Number(this.sentHeaders["content-length"]) <= SHORT_BODY_BYTES)
      return this.body().then(decodeText);
    const reader = createTextReader(this.sentHeaders["content-type"]);
    return this.streamBody(reader.take).then(reader.end);
  }

  async streamBody(onChunk: (chunk: Buffer) => void): Promise<void> {
    if (this.bytes !== undefined) return onChunk(await this.bytes);
    this.pendingBody = this.settings.pendingBodies.open();
    this.bytes = readBody(this.request, this.response, this.pendingBody, this.settings.body, onChunk);
    await this.bytes;
  }

  /** Shares one listener on the response. The listener remains, because removing it would cost more. */
  onDisconnect(listener: () => void): () => void {
    const { response } = this;
    if (response.destroyed && !response.writableEnded) {
      listener();
      return () => {};
    }
    if (this.disconnectListeners === undefined) {
      this.disconnectListeners = [];
      response.on("close", () => {
        if (!response.writableEnded)
          for (const disconnectListener of this.disconnectListeners ?? []) disconnectListener?.();
      });
    }
    const listeners = this.disconnectListeners;
    const index = listeners.push(listener) - 1;
    return () => {
      listeners[index] = undefined;
    };
  }

  endPhase(phase: Phase): void {
    if (!this.settings.isTimed) return;
    const nowMs = performance.now();
    this.marks ??= new Map();
    this.marks.set(phase, (this.marks.get(phase) ?? 0) + nowMs - this.markedAtMs);
    this.markedAtMs = nowMs;
  }

  get timings(): ReadonlyMap<string, number> {
    return this.marks ?? NO_TIMINGS;
  }
}

const findFirstHeader = (rawHeaders: readonly string[], key: string): string | undefined => {
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === key) return rawHeaders[i + 1];
  return undefined;
};
