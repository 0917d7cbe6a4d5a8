/**
 * Sends requests unchanged: the path is sent as written, and the response keeps its reason phrase, all headers and the
 * bytes of its body.
 */
import { request as send, type Agent } from "node:http";

export const ANY_MEDIA_TYPE = "*/*";

/** The headers of a browser that opens a page. */
export const BROWSER = { accept: `text/html,application/xhtml+xml,application/xml;q=0.9,${ANY_MEDIA_TYPE};q=0.8` };

export type HeaderValues = Readonly<Record<string, string | readonly string[] | null | undefined>>;

export interface RequestParts {
  /** A value of null or undefined leaves the header out. */
  readonly headers?: HeaderValues;
  /** Strings and bytes are sent unchanged, other values as JSON with its `Content-Type`. */
  readonly body?: unknown;
}

export interface Answer {
  readonly status: number;
  /** The reason phrase. */
  readonly statusText: string;
  /** Headers with lower-case names. Repeated ones are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** The headers as sent, with their own case and repetitions. */
  readonly rawHeaders: readonly (readonly [name: string, value: string])[];
  readonly bytes: Buffer;
  readonly text: string;
  /** Parses the body. @throws SyntaxError if the body is not JSON */
  json(): any;
}

/** Escapes characters that a request line cannot contain (blanks, quotes, other alphabets). `%` and the rest stay. */
export const encodePath = (path: string): string => path.replace(/[^\x21-\x7e]+|["<>\\^`{|}]/gu, encodeURIComponent);

const buildHeaders = (parts: RequestParts, payload: Buffer | undefined): Record<string, string | string[]> => {
  const headers: Record<string, string | string[]> = {};
  if (parts.body !== undefined && typeof parts.body !== "string" && !(parts.body instanceof Uint8Array)) {
    headers["content-type"] = "application/json";
  }
  if (payload !== undefined) headers["content-length"] = String(payload.length);
  for (const [name, header] of Object.entries(parts.headers ?? {})) {
    if (header === undefined) continue;
    delete headers[name.toLowerCase()];
    if (header !== null) headers[name.toLowerCase()] = typeof header === "string" ? header : [...header];
  }
  return headers;
};

const encodePayload = (body: unknown): Buffer | undefined => {
  if (body === undefined) return undefined;
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
};

const groupPairs = (flat: readonly string[]): [string, string][] => {
  const pairs: [string, string][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) pairs.push([flat[i]!, flat[i + 1]!]);
  return pairs;
};

export const sendRequest = (
  target: { readonly port: number; readonly agent: Agent },
  method: string,
  path: string,
  parts: RequestParts = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload = encodePayload(parts.body);
    const outgoing = send(
      {
        host: "127.0.0.1",
        port: target.port,
        agent: target.agent,
        method,
        path: encodePath(path),
        headers: buildHeaders(parts, payload),
      },
      (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
        incoming.on("error", reject);
        incoming.on("end", () => {
          const bytes = Buffer.concat(chunks);
          const rawHeaders = groupPairs(incoming.rawHeaders);
          const headers: Record<string, string> = {};
          for (const [name, header] of rawHeaders) {
            const key = name.toLowerCase();
            headers[key] = headers[key] === undefined ? header : `${headers[key]}, ${header}`;
          }
          const text = bytes.toString("utf8");
          resolve({
            status: incoming.statusCode ?? 0,
            statusText: incoming.statusMessage ?? "",
            headers,
            rawHeaders,
            bytes,
            text,
            json: () => JSON.parse(text),
          });
        });
      },
    );
    outgoing.on("error", reject);
    outgoing.end(payload);
  });
