/** Reads parts of a request's headers in the form in which they were sent. */
import type { IncomingMessage } from "node:http";

/** Decodes UTF-8 that clients send, because Node reads the bytes of headers as Latin-1. */
export const utf8Text = (sent: string): string =>
  /[\u0080-\u00ff]/.test(sent) ? Buffer.from(sent, "latin1").toString("utf8") : sent;

/** Yields the first value of each header, by lower-case name. */
export function* firstHeaders(rawHeaders: readonly string[]): Iterable<readonly [name: string, value: string]> {
  const seen = new Set<string>();
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    const name = (rawHeaders[i] as string).toLowerCase(); // i is within its length
    if (seen.has(name)) continue;
    seen.add(name);
    yield [name, rawHeaders[i + 1] as string];
  }
}

/** Parses a `Cookie` header; quotes around a value are removed. */
function* cookiesOf(header: string | undefined): Iterable<readonly [name: string, value: string]> {
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
export const cookieOf = (header: string | undefined, name: string): string | undefined => {
  for (const [sent, value] of cookiesOf(header)) if (sent === name) return value;
  return undefined;
};

const MAX_MEMBERS = 1000;
const MAX_MEMBER_LENGTH = 64;

// matches texts that JSON leaves unescaped
const PLAIN = /^[ !#-[\]-~]*$/;

/** With more headers than this, duplicates are found with a Map. */
const MAX_LOOKED_THROUGH = 40;

/** Encodes headers as one JSON text, without the hidden ones. */
const createHeaderEncoder = (hidden: ReadonlySet<string>): ((rawHeaders: readonly string[]) => string) => {
  /** `"x-tenant":` by name. It is cached because the same few names occur in every request. */
  const members = new Map<string, string>();

  /** Returns the empty string for hidden headers. */
  const memberOf = (name: string): string => {
    let member = members.get(name);
    if (member === undefined) {
      const key = name.toLowerCase();
      member = hidden.has(key) ? "" : `${JSON.stringify(key)}:`;
      if (name.length <= MAX_MEMBER_LENGTH && members.size < MAX_MEMBERS) members.set(name, member);
    }
    return member;
  };

  const encodeRepeated = (rawHeaders: readonly string[]): string => {
    const headers = new Map<string, string>();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = memberOf(rawHeaders[i] as string); // i is within its length
      if (member !== "") headers.set(member, JSON.stringify(utf8Text(rawHeaders[i + 1] as string)));
    }
    return `{${Array.from(headers, ([member, value]) => member + value).join(",")}}`;
  };

  return (rawHeaders) => {
    const names: string[] = [];
    let text = "";
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      const member = memberOf(rawHeaders[i] as string); // i is within its length
      if (member === "") continue;
      if (i > MAX_LOOKED_THROUGH * 2 || names.includes(member)) return encodeRepeated(rawHeaders);
      names.push(member);
      const value = rawHeaders[i + 1] as string;
      text += `${text === "" ? "" : ","}${member}${PLAIN.test(value) ? `"${value}"` : JSON.stringify(utf8Text(value))}`;
    }
    return `{${text}}`;
  };
};

const encodeCookies = (header: string): string => {
  const cookies = new Map<string, string>();
  for (const [name, value] of cookiesOf(header)) if (name !== "") cookies.set(utf8Text(name), utf8Text(value));
  return JSON.stringify(Object.fromEntries(cookies));
};

export type RequestSettings = (
  request: Pick<IncomingMessage, "method" | "headers" | "rawHeaders">,
  path: string,
) => readonly (readonly [name: string, value: string])[];

/** Returns the settings through which SQL can read a request: `current_setting('request.headers', true)::json ->>
 *  'x-tenant'`. The last of repeated headers counts. `secret` lists headers that SQL never sees; cookies have their own
 *  setting. `path` is the path that SQL sees. @rule R-TX-6 G-SES-10 */
export const createRequestSettings = (secret: readonly string[]): RequestSettings => {
  const encodeHeaders = createHeaderEncoder(new Set(["cookie", ...secret]));
  return ({ method, headers, rawHeaders }, path) => [
    ["request.method", method ?? "GET"],
    ["request.path", path],
    ["request.headers", encodeHeaders(rawHeaders)],
    ["request.cookies", headers.cookie === undefined ? "{}" : encodeCookies(headers.cookie)],
  ];
};

/** Returns the path at which an application has mounted the api, such as `/db`; empty without a mount, or at its
 *  root. */
export const mountOf = (request: Pick<IncomingMessage, "url">): string => {
  const { originalUrl, baseUrl, url = "" } = request as MountedRequest; // Express and similar frameworks set these
  if (baseUrl !== undefined) return baseUrl;
  return originalUrl?.endsWith(url) === true ? originalUrl.slice(0, originalUrl.length - url.length) : "";
};

interface MountedRequest {
  readonly originalUrl?: string;
  readonly baseUrl?: string;
  readonly url?: string;
}
