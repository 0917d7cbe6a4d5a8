/** Reads parts of a request's headers in the form in which they were sent. */
import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";

/** Decodes the UTF-8 of a header value, because Node reads the bytes of headers as Latin-1. */
export const decodeUtf8Header = (headerValue: string): string =>
  /[\u0080-\u00ff]/.test(headerValue) ? Buffer.from(headerValue, "latin1").toString("utf8") : headerValue;

/** Encodes text as UTF-8, in the form in which Node reads and writes headers. Values that have this form are left
 *  unchanged. */
export const encodeUtf8Header = (text: string): string => {
  const isEncoded = !/[^\0-\xff]/.test(text) && isUtf8(Buffer.from(text, "latin1"));
  return isEncoded ? text : Buffer.from(text, "utf8").toString("latin1");
};

/** Yields the first value of each header, by lower-case name. */
export function* listFirstHeaders(rawHeaders: readonly string[]): Iterable<readonly [name: string, value: string]> {
  const seenNames = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // the index is within the length
    if (seenNames.has(name)) continue;
    seenNames.add(name);
    yield [name, rawHeaders[i + 1] as string];
  }
}

/** Parses a `Cookie` header; quotes around a value are removed. */
export function* parseCookies(header: string | undefined): Iterable<readonly [name: string, value: string]> {
  for (const part of header?.split(";") ?? []) {
    const equals = part.indexOf("=");
    if (equals !== -1)
      yield [
        part.slice(0, equals).trim(),
        part
          .slice(equals + 1)
          .trim()
          .replace(/^"(.*)"$/, "$1"),
      ];
  }
}

/** Returns the first cookie of that name. */
export const findCookie = (header: string | undefined, name: string): string | undefined => {
  for (const [cookieName, value] of parseCookies(header)) if (cookieName === name) return value;
  return undefined;
};

/** Returns the path at which an application has mounted the api, such as `/db`; empty without a mount, or at its
 *  root. */
export const findMountPath = (request: Pick<IncomingMessage, "url">): string => {
  // Express and similar frameworks set these members.
  const { originalUrl, baseUrl, url = "" } = request as MountedRequest;
  if (baseUrl !== undefined) return baseUrl;
  return originalUrl?.endsWith(url) === true ? originalUrl.slice(0, originalUrl.length - url.length) : "";
};

interface MountedRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly url?: string;
}
