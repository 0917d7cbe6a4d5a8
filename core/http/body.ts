/** Request bodies: read whole, up to a limit. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Readable, Transform } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import {
  bodiesTooLarge,
  bodyEncodingUnknown,
  bodyLate,
  bodyNestedTooDeep,
  bodyTooLarge,
  bodyUnreadable,
  requestCancelled,
  type RelApiError,
} from "../kernel/errors.ts";
import type { HeldBody, Pace } from "./pace.ts";

/** What an earlier body parser of the application leaves behind. */
export type ParsedRequest = IncomingMessage & { readonly body?: unknown };

const NOTHING = Buffer.alloc(0);

const BYTE_ORDER_MARK = Buffer.from("\ufeff");

/** Bytes of the byte order mark that a text begins with. */
export const markBytes = (text: Buffer): number =>
  text.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0;

const JSON_TYPE = /json/i;

/** JSON of an editor may begin with a byte order mark, which RFC 8259 lets a reader ignore. Other texts are data.
 *  @rule R-BODY-9 */
export const withoutMark = (body: Buffer, contentType: string | undefined): Buffer =>
  contentType === undefined || JSON_TYPE.test(contentType) ? body.subarray(markBytes(body)) : body;

export interface BodyLimits {
  readonly maxBytes: number;
  /** Of all requests together. */
  readonly maxPendingBytes: number;
  readonly pace: Pace;
  readonly warn: (message: string) => void;
  /** Hears of each body that was refused for its size. */
  readonly refused: () => void;
}

type Decode = () => Transform;

const CHUNK_BYTES = 64 * 1024;
/** A larger body is put together while it arrives, so that it is not there twice. */
const LARGE_BYTES = 256 * 1024;
const SHARE_OF_ANNOUNCED = 8;

const DECODERS: ReadonlyMap<string, Decode> = new Map<string, Decode>([
  ["gzip", () => createGunzip({ chunkSize: CHUNK_BYTES })],
  ["x-gzip", () => createGunzip({ chunkSize: CHUNK_BYTES })],
  ["deflate", () => createInflate({ chunkSize: CHUNK_BYTES })],
  ["br", () => createBrotliDecompress({ chunkSize: CHUNK_BYTES })],
]);

/** Bytes count as what they unpack to. `held`: released by whoever answers. @throws RelApiError `body-too-large`,
 *  `body-late`, `body-encoding-unknown`, `body-unreadable`, `request-cancelled` when the client goes away in the middle.
 *  `handOver`: gets the bytes as they come, and none are kept
 *  @rule R-BND-3 R-BND-4 R-BND-7 */
export const readBody = (
  request: ParsedRequest,
  response: ServerResponse,
  held: HeldBody,
  limits: BodyLimits,
  handOver?: (piece: Buffer) => void,
): Promise<Buffer> => {
  try {
    return receive(request, response, held, limits, handOver);
  } catch (error) {
    return Promise.reject(error as Error); // a RelApiError
  }
};

const receive = (
  request: ParsedRequest,
  response: ServerResponse,
  held: HeldBody,
  limits: BodyLimits,
  handOver: ((piece: Buffer) => void) | undefined,
): Promise<Buffer> => {
  const { maxBytes, maxPendingBytes, pace, refused } = limits;
  const tooLarge = (): RelApiError => {
    refused();
    return bodyTooLarge(maxBytes);
  };
  const tooMany = (): RelApiError => {
    refused();
    return bodiesTooLarge(maxPendingBytes);
  };
  if (request.readableEnded) {
    const restored = restoreBody(request, limits.warn);
    if (restored.length > maxBytes) throw tooLarge();
    if (!held.grow(restored.length)) throw tooMany();
    if (handOver === undefined) return Promise.resolve(restored);
    handOver(restored);
    return Promise.resolve(NOTHING);
  }
  const { "content-length": length, "transfer-encoding": transfer, "content-encoding": encoding } = request.headers;
  if (transfer === undefined && (length === undefined || length === "0")) return Promise.resolve(NOTHING);
  const coding = encoding?.trim().toLowerCase() ?? "";
  const decode = DECODERS.get(coding);
  if (decode === undefined && coding !== "" && coding !== "identity")
    throw bodyEncodingUnknown(coding, [...DECODERS.keys()]);
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge();
  // it disconnected while its credentials were checked: no event will follow
  if (request.destroyed) throw requestCancelled();
  return new Promise((resolve, reject) => {
    const decoder = decode?.();
    const source: Readable = decoder ?? request;
    const announced = decode === undefined && transfer === undefined ? Number(length) : 0;
    let chunks: Buffer[] = [];
    let bytes = 0;
    /** All of a large body. */
    let whole: Buffer | undefined;
    const end = (): void => {
      // the listeners go with the request: taking them off costs more than leaving them
      if (decoder === undefined) isThere?.();
      else leave();
      resolve(whole ?? (chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes)));
    };
    /** For all that was announced, once a part of it is there: announcing costs nothing. */
    const makeRoom = (): void => {
      whole = Buffer.allocUnsafeSlow(announced);
      let at = 0;
      for (const chunk of chunks) at += chunk.copy(whole, at);
      chunks = [];
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) return refuse(tooLarge());
      if (!held.grow(chunk.length)) return refuse(tooMany());
      if (handOver !== undefined) return pass(chunk);
      if (whole !== undefined) return void chunk.copy(whole, bytes - chunk.length);
      chunks.push(chunk);
      if (bytes > LARGE_BYTES && bytes > announced / SHARE_OF_ANNOUNCED && bytes < announced) makeRoom();
    };
    const pass = (chunk: Buffer): void => {
      try {
        handOver?.(chunk);
      } catch (error) {
        refuse(error as RelApiError);
      }
    };
    const refuse = (error: RelApiError): void => {
      leave();
      request.resume(); // discards what comes, so that the client can read the response
      reject(error);
    };
    const late = (): void => {
      response.setHeader("Connection", "close");
      refuse(bodyLate());
    };
    const garbled = (): void => refuse(bodyUnreadable(coding));
    const gone = (): void => {
      if (request.readableEnded) return; // it has arrived in full and is still being decompressed
      leave();
      reject(requestCancelled());
    };
    const leave = (): void => {
      isThere?.();
      source.off("data", take).off("end", end);
      request.off("error", gone).off("close", gone);
      if (decoder === undefined) return;
      request.unpipe(decoder);
      decoder
        .off("error", garbled)
        .on("error", () => undefined)
        .destroy();
    };
    source.on("data", take).on("end", end);
    request.on("error", gone).on("close", gone);
    const isThere = pace.watch(request, late);
    if (decoder !== undefined) request.pipe(decoder.on("error", garbled));
    request.resume(); // a handler before may have paused it
  });
};

let hasWarned = false;

/** Other middleware has read the stream: its value is serialized as JSON (or as a form) again, which loses what parsing
 *  lost. */
const restoreBody = (request: ParsedRequest, warn: (message: string) => void): Buffer => {
  const { body } = request;
  if (body === undefined || body === null) return NOTHING;
  if (!hasWarned) {
    hasWarned = true;
    warn(
      "request bodies were parsed before they reached relapi (by express.json()?): mount relapi before body parsers, so that it gets bodies as they were sent",
    );
  }
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (
    typeof body === "object" &&
    Object.keys(body).length === 0 &&
    request.headers["content-length"] === undefined &&
    request.headers["transfer-encoding"] === undefined
  )
    return NOTHING;
  if (typeof body === "object" && FORM.test(request.headers["content-type"] ?? "")) return Buffer.from(formText(body));
  try {
    return Buffer.from(JSON.stringify(body));
  } catch (error) {
    if (error instanceof RangeError) throw bodyNestedTooDeep(); // the parser before does not recurse, this does
    throw error;
  }
};

const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i;

/** Lists are repeated fields. */
const formText = (fields: object): string => {
  const form = new URLSearchParams();
  for (const [name, field] of Object.entries(fields))
    for (const one of Array.isArray(field) ? field : [field])
      form.append(name, typeof one === "string" ? one : JSON.stringify(one));
  return form.toString();
};
