/** Request bodies: read whole, up to a limit. */
import type { IncomingMessage } from "node:http";
import { bodyNestedTooDeep, bodyTooLarge, requestCancelled } from "../errors.ts";

/** What an earlier body parser of the application leaves behind. */
export type ParsedRequest = IncomingMessage & { readonly body?: unknown };

const NOTHING = Buffer.alloc(0);

/** @throws RelApiError `body-too-large`, `request-cancelled` when the client goes away in the middle */
export const readBody = (request: ParsedRequest, maxBytes: number, warn: (message: string) => void): Promise<Buffer> => {
  if (request.readableEnded) return new Promise((resolve) => resolve(restoreBody(request, warn)));
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (encoding === undefined && (length === undefined || length === "0")) return Promise.resolve(NOTHING);
  if (length !== undefined && Number(length) > maxBytes) return Promise.reject(bodyTooLarge(maxBytes));
  // it went away while its credential was looked at: nothing will be heard of it
  if (request.destroyed) return Promise.reject(requestCancelled());
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = (): void => {
      leave();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, bytes));
    };
    const take = (chunk: Buffer): void => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        leave();
        request.resume(); // what is left is thrown away, so that the answer can be read
        reject(bodyTooLarge(maxBytes));
        return;
      }
      chunks.push(chunk);
    };
    const fail = (): void => {
      leave();
      reject(requestCancelled());
    };
    const leave = (): void => {
      request.off("data", take).off("end", end).off("error", fail).off("close", fail);
    };
    request.on("data", take).on("end", end).on("error", fail).on("close", fail);
    request.resume(); // a handler before may have paused it
  });
};

let hasWarned = false;

/** The stream was read by somebody else: their value is written as JSON (or the form it was) again, which loses what parsing loses. */
const restoreBody = (request: ParsedRequest, warn: (message: string) => void): Buffer => {
  const { body } = request;
  if (body === undefined || body === null) return NOTHING;
  if (!hasWarned) {
    hasWarned = true;
    warn("request bodies were parsed before they reached relapi (express.json()?): mount relapi before body parsers, so that payloads arrive as they were sent");
  }
  if (Buffer.isBuffer(body)) return body;
  if (typeof body === "string") return Buffer.from(body);
  if (typeof body === "object" && Object.keys(body).length === 0 && request.headers["content-length"] === undefined && request.headers["transfer-encoding"] === undefined) return NOTHING;
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
  for (const [name, field] of Object.entries(fields)) for (const one of Array.isArray(field) ? field : [field]) form.append(name, typeof one === "string" ? one : JSON.stringify(one));
  return form.toString();
};
