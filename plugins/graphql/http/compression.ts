/** Compresses answers for clients that accept gzip. @rule G-HTTP-10 */
import { promisify } from "node:util";
import { gzip, gzipSync } from "node:zlib";
import type { Answer, Exchange, Headers } from "../../../core/index.ts";

/** The minimum size of bodies that are compressed. */
const MIN_GZIP_BYTES = 700;

/** The maximum size of bodies that are compressed synchronously. Handing the work to another thread would take
 *  longer. */
const MAX_SYNC_GZIP_BYTES = 16 * 1024;

const GZIP_HEADERS: Headers = [
  ["Content-Encoding", "gzip"],
  ["Vary", "Accept-Encoding"],
];

const gzipAsync = promisify(gzip);

type CompressionRequest = Pick<Exchange, "header">;

export const acceptsGzip = (exchange: CompressionRequest): boolean =>
  exchange
    .header("accept-encoding")
    ?.split(",")
    .some((part) => /^\s*(?:gzip|x-gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$)[\d.]+\s*)?$/i.test(part)) === true;

/** Adds the headers of a compressed response. The caller replaces the body. */
export const addGzipHeaders = (answer: Answer): Answer => ({
  ...answer,
  headers: [...answer.headers, ...GZIP_HEADERS],
});

/** Compresses the body if the client accepts gzip and the body is long enough. @rule G-HTTP-10 */
export const compressAnswer = (exchange: CompressionRequest, answer: Answer): Answer | Promise<Answer> => {
  const { body } = answer;
  if (body === undefined || !acceptsGzip(exchange)) return answer;
  return compressBody(answer, body);
};

const compressBody = async (answer: Answer, body: string | Uint8Array): Promise<Answer> => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body;
  if (bytes.length < MIN_GZIP_BYTES) return { ...answer, body: bytes };
  const small =
    bytes.length <= MAX_SYNC_GZIP_BYTES ? gzipSync(bytes, { level: 1 }) : await gzipAsync(bytes, { level: 1 });
  return { ...addGzipHeaders(answer), body: small };
};
