/** Reads whole request bodies, up to a limit. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Transform } from "node:stream";
import { TextDecoder } from "node:util";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import {
  pendingBodiesTooLarge,
  bodyEncodingUnknown,
  bodyTimedOut,
  bodyNestedTooDeep,
  bodyTooLarge,
  bodyUnreadable,
  requestCancelled,
  type RelApiError,
} from "../kernel/errors.ts";
import type { PendingBody } from "./pending-bodies.ts";
import type { UploadWatch } from "./slow-uploads.ts";

/** A request whose body the application may have parsed before. */
type RequestWithBody = IncomingMessage & { readonly body?: unknown };

const EMPTY_BODY = Buffer.alloc(0);

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Returns the number of bytes of the byte order mark at the start of the text. Returns 0 if there is no mark. */
const countByteOrderMarkBytes = (text: Buffer): number =>
  text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

const JSON_TYPE = /json/i;

/** Returns whether the byte order mark of the body is ignored. RFC 8259 allows that for JSON only. @rule R-BODY-9 */
const ignoresMark = (contentType: string | undefined): boolean =>
  contentType === undefined || JSON_TYPE.test(contentType);

/** Removes the byte order mark of JSON. */
export const withoutByteOrderMark = (body: Buffer, contentType: string | undefined): Buffer =>
  ignoresMark(contentType) ? body.subarray(countByteOrderMarkBytes(body)) : body;

/** Returns undefined if the body is not UTF-8. */
export const decodeText = (body: Buffer): string | undefined => (isUtf8(body) ? body.toString("utf8") : undefined);

/** Decodes a body that arrives in chunks. `end` returns undefined if the body is not UTF-8. */
export const createTextReader = (contentType: string | undefined) => {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: !ignoresMark(contentType) });
  let text: string | undefined = "";
  const decode = (chunk?: Buffer): void => {
    if (text === undefined) return;
    try {
      text += decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      text = undefined;
    }
  };
  return {
    take: (chunk: Buffer): void => decode(chunk),
    end: (): string | undefined => {
      decode();
      const decodedText = text;
      text = undefined; // listeners of the request retain this object, but not the text
      return decodedText;
    },
  };
};

export interface BodyLimits {
  readonly maxBytes: number;
  /** The limit on the pending bodies of all requests in total. */
  readonly maxPendingBytes: number;
  readonly uploadWatch: UploadWatch;
  /** Called for each body that other middleware has parsed. */
  readonly onParsedBody: () => void;
}

type Decode = () => Transform;

const CHUNK_BYTES = 64 * 1024;
/** The size above which a body is assembled while it arrives, so that memory does not hold the body twice. */
const LARGE_BYTES = 256 * 1024;
const MIN_SHARE_OF_ANNOUNCED = 8;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", () => createGunzip({ chunkSize: CHUNK_BYTES })],
  ["x-gzip", () => createGunzip({ chunkSize: CHUNK_BYTES })],
  ["deflate", () => createInflate({ chunkSize: CHUNK_BYTES })],
  ["br", () => createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
]);

/** Resolves with the body. Limits apply to the decompressed bytes. The caller releases `pendingBody` after the
 *  response. With `onChunk`, each chunk is passed on instead of being stored. @throws RelApiError `body-too-large`,
 *  `body-late`, `body-encoding-unknown`, `body-unreadable`; `request-cancelled` if the client disconnects @rule
 *  R-BND-3 R-BND-4 R-BND-7 */
export const readBody = (
  request: RequestWithBody,
  response: ServerResponse,
  pendingBody: PendingBody,
  limits: BodyLimits,
  onChunk?: (chunk: Buffer) => void,
): Promise<Buffer> => {
  try {
    return receive(request, response, pendingBody, limits, onChunk);
  } catch (error) {
    return Promise.reject(error as Error); // `receive` throws only RelApiErrors
  }
};

const receive = (
  request: RequestWithBody,
  response: ServerResponse,
  pendingBody: PendingBody,
  limits: BodyLimits,
  onChunk: ((chunk: Buffer) => void) | undefined,
): Promise<Buffer> => {
  const { maxBytes, maxPendingBytes, uploadWatch } = limits;
  const sizeExceeded = (): RelApiError => bodyTooLarge(maxBytes);
  const totalExceeded = (): RelApiError => pendingBodiesTooLarge(maxPendingBytes);
  if (request.readableEnded) {
    const restoredBody = restoreBody(request, limits.onParsedBody);
    if (restoredBody.length > maxBytes) throw sizeExceeded();
    if (!pendingBody.reserveBytes(restoredBody.length)) throw totalExceeded();
    if (onChunk === undefined) return Promise.resolve(restoredBody);
    onChunk(restoredBody);
    return Promise.resolve(EMPTY_BODY);
  }
  const { "content-length": length, "transfer-encoding": transfer, "content-encoding": encoding } = request.headers;
  if (transfer === undefined && (length === undefined || length === "0")) return Promise.resolve(EMPTY_BODY);
  const coding = encoding?.trim().toLowerCase() ?? "";
  const decode = DECODERS.get(coding);
  if (decode === undefined && coding !== "" && coding !== "identity")
    throw bodyEncodingUnknown(coding, [...DECODERS.keys()]);
  if (length !== undefined && Number(length) > maxBytes) throw sizeExceeded();
  // The client disconnected during authentication, so no event will follow.
  if (request.destroyed) throw requestCancelled();
  return new Promise((resolve, reject) => {
    const decoder = decode?.();
    const source: Readable = decoder ?? request;
    const announcedBytes = decode === undefined && transfer === undefined ? Number(length) : 0;
    let chunks: Buffer[] = [];
    let bytes = 0;
    /** The buffer of a large body. */
    let buffer: Buffer | undefined;
    const end = (): void => {
      // The garbage collector frees listeners with the request, and removing them would cost more.
      if (decoder === undefined) stopWatching?.();
      else cleanUp();
      resolve(buffer ?? (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)));
    };
    /** Reserves the announced size only once part of the body has arrived, because a client can announce any size for
     *  free. */
    const reserveBytes = (): void => {
      buffer = Buffer.allocUnsafeSlow(announcedBytes);
      let offset = 0;
      for (const chunk of chunks) offset += chunk.copy(buffer, offset);
      chunks = [];
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) return rejectBody(sizeExceeded());
      if (!pendingBody.reserveBytes(chunk.length)) return rejectBody(totalExceeded());
      if (onChunk !== undefined) return pass(chunk);
      if (buffer !== undefined) return void chunk.copy(buffer, bytes - chunk.length);
      chunks.push(chunk);
      if (bytes > LARGE_BYTES && bytes > announcedBytes / MIN_SHARE_OF_ANNOUNCED && bytes < announcedBytes)
        reserveBytes();
    };
    const pass = (chunk: Buffer): void => {
      try {
        onChunk?.(chunk);
      } catch (error) {
        rejectBody(error as RelApiError);
      }
    };
    const rejectBody = (error: RelApiError): void => {
      cleanUp();
      request.resume(); // discards the remaining bytes, so that the client can read the response
      reject(error);
    };
    const failTimedOut = (): void => {
      response.setHeader("Connection", "close");
      rejectBody(bodyTimedOut());
    };
    const failUndecodable = (): void => rejectBody(bodyUnreadable(coding));
    const onDisconnect = (): void => {
      if (request.readableEnded) return; // the body is complete, and decompression continues
      cleanUp();
      reject(requestCancelled());
    };
    const cleanUp = (): void => {
      stopWatching?.();
      source.off("data", take).off("end", end);
      request.off("error", onDisconnect).off("close", onDisconnect);
      if (decoder === undefined) return;
      request.unpipe(decoder);
      decoder
        .off("error", failUndecodable)
        .on("error", () => undefined)
        .destroy();
    };
    source.on("data", take).on("end", end);
    request.on("error", onDisconnect).on("close", onDisconnect);
    const stopWatching = uploadWatch.watch(request, failTimedOut);
    if (decoder !== undefined) request.pipe(decoder.on("error", failUndecodable));
    request.resume(); // earlier middleware may have paused the request
  });
};

/** Restores a body that other middleware has parsed, by serializing it as JSON or as a form. Details that parsing lost
 *  remain lost. */
const restoreBody = (request: RequestWithBody, onParsedBody: () => void): Buffer => {
  const { body } = request;
  if (body === undefined || body === null) return EMPTY_BODY;
  onParsedBody();
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (
    typeof body === "object" &&
    Object.keys(body).length === 0 &&
    request.headers["content-length"] === undefined &&
    request.headers["transfer-encoding"] === undefined
  )
    return EMPTY_BODY;
  if (typeof body === "object" && FORM.test(request.headers["content-type"] ?? ""))
    return Buffer.from(encodeForm(body));
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    if (error instanceof RangeError) throw bodyNestedTooDeep(); // unlike the parser, `JSON.stringify` recurses
    throw error;
  }
};

const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

/** Returns the fields as a form, in which lists are repeated fields. */
const encodeForm = (fields: object): string => {
  const form = new URLSearchParams();
  for (const [name, field] of Object.entries(fields))
    for (const value of Array.isArray(field) ? field : [field])
      form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  return form.toString();
};
