/** Requests of the application itself, which pass through the pipeline without a connection. */
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { requestCancelled } from "../kernel/errors.ts";
import { VARIABLE_PREFIX, type Session } from "../kernel/session.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { encodeUtf8Header } from "./request-headers.ts";
import { memoize } from "../kernel/memoize.ts";

/** Methods that plugins add to an api, such as calls from the application. Their `api.ts` declares them. */
export interface ApiMethods {} // oxlint-disable-line typescript/no-empty-object-type -- declared by plugins

/** The caller of a request from the application: a session, or the parts of one that differ from the defaults. */
export interface Caller {
  /** The role, and also the database role, unless `isAdmin` or `databaseRole` is set. */
  readonly role: string;
  readonly databaseRole?: string;
  /** True if the caller is an administrator, who runs as the login role. */
  readonly isAdmin?: boolean;
  readonly claims?: Session["claims"];
  /** Session variables by name, with or without `x-session-`: `{ "user-id": "7" }`. */
  readonly variables?: Readonly<Record<string, string>>;
}

/** The options that calls from the application have in common. */
export interface CallOptions {
  /** If undefined, the auth schemes read `headers`, as for HTTP requests. */
  readonly session?: Caller;
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborts the call and cancels its statement. */
  readonly signal?: AbortSignal;
}

/** A request of the application. `path` is below the mount and includes the query: `/api/vessels?id=eq.1`. */
export interface ApiCall extends CallOptions {
  readonly method: string;
  readonly path: string;
  /** Strings and bytes are sent unchanged, other values as JSON. */
  readonly body?: unknown;
  /** The request that this call is part of. The call has the caller of that request unless `session` is set. It counts
   *  as sent by the same client, and belongs to the same trace. @rule X-CALL-5 */
  readonly parent?: Exchange;
}

/** A response with an error status, in a form that the error handlers of Express and other frameworks accept. @rule
 *  X-CALL-3 */
export class CallError extends Error {
  /** The HTTP status with which error handlers respond. */
  readonly status: number;
  readonly statusCode: number;
  /** The surface's error code: `42501`, `access-denied`. */
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The response body that a client would have received. */
  readonly body: string;

  constructor(fields: Pick<CallError, "status" | "code" | "message" | "headers" | "body">) {
    super(fields.message);
    this.name = "CallError";
    this.status = this.statusCode = fields.status;
    this.code = fields.code;
    this.headers = fields.headers;
    this.body = fields.body;
  }
}

const normalizeVariableName = (name: string): string => {
  const lower = name.toLowerCase();
  return lower.startsWith(VARIABLE_PREFIX) ? lower : VARIABLE_PREFIX + lower;
};

/** Returns one session per caller object, so that the values that depend on the session are computed once.
 *  @experimental */
export const createCallerSession = memoize((caller: Caller): Session => {
  const {
    role,
    isAdmin = false,
    databaseRole = isAdmin ? undefined : role,
    claims,
    variables = {},
    ...otherFields
  } = caller;
  const variableEntries = Object.entries(variables).map(([name, text]) => [normalizeVariableName(name), text]);
  return Object.freeze({
    ...otherFields,
    role,
    ...(databaseRole === undefined ? {} : { databaseRole }),
    isAdmin,
    claims: Object.freeze({ ...claims, role }),
    variables: Object.freeze({ ...Object.fromEntries(variableEntries), "x-session-role": role }),
  });
});

const encodeCallBody = (body: unknown): Buffer | undefined => {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
};

const isRawBody = (body: unknown): boolean => typeof body === "string" || body instanceof Uint8Array;

/** A request that the application itself makes through a method of the api. */
class OwnCall extends IncomingMessage {}

export const isOwnCall = (request: IncomingMessage): boolean => request instanceof OwnCall;

/** Percent-encodes text that a URL cannot contain. @throws URIError for half a surrogate pair @rule X-CALL-1a */
const encodeUrlText = (path: string): string => path.replace(/[^\0-\x7f]+/g, encodeURIComponent);

/** Creates a request like Node's own, and a response whose output is discarded. */
export const openCall = ({ method, path, headers = {}, body, signal, session, parent }: ApiCall) => {
  const socket = new Socket();
  // Only the client's address is copied; the connection belongs to the outer request.
  if (parent !== undefined)
    Object.defineProperty(socket, "remoteAddress", { value: parent.request.socket.remoteAddress });
  const isOwn = parent === undefined || session !== undefined;
  const request = new (isOwn ? OwnCall : IncomingMessage)(socket);

  const bytes = encodeCallBody(body);
  const callHeaders: Record<string, string> = { host: "localhost" };
  if (bytes !== undefined && !isRawBody(body)) callHeaders["content-type"] = "application/json";
  for (const [name, value] of Object.entries(headers)) callHeaders[name.toLowerCase()] = encodeUtf8Header(value);
  if (bytes !== undefined) callHeaders["content-length"] = String(bytes.length);
  request.method = method.toUpperCase();
  request.url = encodeUrlText(path);
  request.httpVersion = "1.1";
  request.headers = callHeaders;
  request.rawHeaders = Object.entries(callHeaders).flat();
  if (bytes !== undefined) request.push(bytes);
  request.push(null);
  request.complete = true;
  const response = new ServerResponse(request);
  const abort = (): void => {
    response.destroy();
    response.emit("close");
  };
  if (signal?.aborted === true) throw requestCancelled();
  signal?.addEventListener("abort", abort, { once: true });
  return { request, response, end: () => signal?.removeEventListener("abort", abort) };
};

/** The error for event streams, and for files that a surface sends itself. */
const STREAM_ERROR_BODY = JSON.stringify({
  code: "stream-not-callable",
  details: null,
  hint: null,
  message: "A streamed response is only available over HTTP",
});
const NOT_ACCEPTABLE = 406;

/** The response to a call. */
export interface ApiAnswer {
  readonly status: number;
  /** Header values by lower-case name. Repeated headers are joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Parses the body. */
  json<Value = any>(): Value; // callers know the type
}

const readBodyText = (body: string | Uint8Array): string =>
  typeof body === "string" ? body : Buffer.from(body).toString();

const joinHeaders = ({ headers }: Answer): Readonly<Record<string, string>> => {
  const joinedHeaders: Record<string, string> = {};
  for (const [name, value] of headers) {
    const key = name.toLowerCase();
    if (key !== "") joinedHeaders[key] = key in joinedHeaders ? `${joinedHeaders[key]}, ${value}` : value;
  }
  return joinedHeaders;
};

/** Converts an answer of a surface to the answer of a call.
 *  @throws CallError for statuses from 400 on, and for streams @rule X-CALL-1 X-CALL-3 */
export const toApiAnswer = (answer: Answer): ApiAnswer => {
  if (answer.stream !== undefined || answer.isSent === true)
    throw createCallError(NOT_ACCEPTABLE, {}, STREAM_ERROR_BODY);
  const { status, body = "" } = answer;
  const headers = joinHeaders(answer);
  if (status >= 400) throw createCallError(status, headers, readBodyText(body));
  return { status, headers, body, json: () => JSON.parse(readBodyText(body)) };
};

const createCallError = (status: number, headers: Readonly<Record<string, string>>, body: string): CallError => {
  let parsedBody: { readonly code?: unknown; readonly message?: unknown; readonly error?: unknown } = {};
  try {
    parsedBody = JSON.parse(body) as typeof parsedBody; // the code below checks the members
  } catch {
    // The body is not JSON, so the error has only the status.
  }
  const message = parsedBody?.message ?? parsedBody?.error;
  return new CallError({
    status,
    headers,
    body,
    code: typeof parsedBody?.code === "string" ? parsedBody.code : String(status),
    message: typeof message === "string" ? message : `status ${status}`,
  });
};
